"""Pictures of byte-pair encoding: the states of the automaton, or without an automaton, the merges."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from fst.automata.picture import Arc, Automaton, Picture, Step, byte_label, need_text
from fst.automata.rows import ROOT
from fst.machines.bpe import automaton, merge_list
from fst.machines.bpe.table import BpeTable
from fst.pretokens.byte_letters import spelled


def picture_of(table: BpeTable, text: str | None) -> Picture:
    """The automaton: a state is named by the last token so far, see `fst.machines.bpe.automaton`, and each pre-token begins at the start.
    Without an automaton: a state is the tokens of a pre-token after some merges, and an arc is the rank of the next merge.

    A pre-token that is a token regardless of merges is left out.
    """
    if not table.has_automaton:
        text = need_text(text, "merges without an automaton")
        return _merges(table, [part.encode() for part, special in table.parts(text) if special is None])
    tokens = dict(zip(table.token_ids.tolist(), table.contents, strict=True))

    def name(state: Any, *_: Any) -> str:
        return "start" if state == ROOT else spelled(tokens[automaton.ENTRY.unpack(table.entries[state]).target])

    shown = Automaton(ROOT, lambda state, byte: Step(automaton.step(table.entries, state, byte)), name, byte_label)
    if text is None:
        return shown.whole(automaton.UTF8_BYTES)
    pretokens = [part.encode() for part, special in table.parts(text) if special is None]
    return shown.around([each for each in pretokens if automaton.walk(table.entries, table.lengths, each) == table.run_pretoken(each)])


def _merges(table: BpeTable, pretokens: Iterable[bytes]) -> Picture:
    """The merges of some pre-tokens."""
    names, arcs, starts, finals = dict[Any, str](), list[Arc](), set[Any](), set[Any]()
    tokens = table.names_of_merges
    for pretoken in pretokens:
        if pretoken in table.whole_pretokens:
            continue
        ids = table.atoms_of(pretoken)
        states, ranks = list[Any](), list[int]()
        for rank, _, _ in merge_list.steps(table.ranks, table.merges, ids):
            states.append(tuple(ids))
            ranks.append(rank)
        states.append(tuple(ids))
        names |= {state: " ".join(map(tokens.__getitem__, state)) for state in states}
        arcs += [Arc(*pair, f"merge {rank}", is_taken=True) for pair, rank in zip(pairwise(states), ranks, strict=True)]
        starts.add(states[0])
        finals.add(states[-1])
    return Picture(names, arcs, starts, finals)
