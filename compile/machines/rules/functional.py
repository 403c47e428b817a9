"""Make the two passes of a functional transducer, see `fst.machines.rules.table`.

The set of the pass to the left at a boundary contains the states from which the rest of the text is accepted. The pass to the right is in
a state, and has the set after the next character: it takes the first arc on the character that leads to a state of the set. One such path
is enough, because all paths of a text write the same.

A text that the transducer does not accept is copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from fst.compile.algebra.machine import Fst
from fst.compile.machines.rules.passes import Numbering, Passes, Strings, merged_passes
from fst.compile.machines.rules.positions import Alphabet, bits
from fst.compile.patterns.code_points import of_text
from fst.errors import UnsupportedError, quoted
from fst.machines.rules.entries import COPY, NOTHING

MAX_ARCS = 1 << 20  # maximum number of arcs without ε
ASCII_END = 0x80
COPYING = -1  # the state of the pass to the right in a text that is not accepted
START = -2  # the state before the first character


class Arc(NamedTuple):
    """An arc that reads one character, and writes a string."""

    text: str
    target: int


class Machine(NamedTuple):
    """A transducer whose arcs read one character each.

    Attributes:
        arcs: for each state, the arcs on each character.
        finals: the string that each final state writes.
        start: the first state.
    """

    arcs: Sequence[dict[str, list[Arc]]]
    finals: dict[int, str]
    start: int


def passes(machine: Fst, strings: Strings) -> Passes:
    """Make both passes.

    Raises:
        UnsupportedError: the transducer is not functional, has weights, reads symbols of several characters or bytes, or is too large.
    """
    _check(machine)
    folded = _folded(machine.connect())
    characters = sorted({char for arcs in folded.arcs for char in arcs})
    alphabet = Alphabet([of_text(char) for char in characters])
    names = dict(zip(alphabet.of_text("".join(characters)), characters, strict=True))
    targets = [_targets(folded, names.get(read, "")) for read in range(alphabet.size)]
    sources = [_sources(folded, names.get(read, "")) for read in range(alphabet.size)]
    columns, sets, rows = Numbering[tuple[int, int]](1), Numbering(alphabet.size, _mask(folded.finals)), list[tuple[int, int]]()
    for accepted in sets.listed:
        for read in range(alphabet.size):
            live = accepted & targets[read]
            before = _mask(source for target in bits(live) for source in sources[read][target])
            rows.append((sets.number(before), columns.number((read, live))))
    states, entries, finals = Numbering(len(columns.listed), START), list[tuple[int, int, int]](), list[int]()
    for state in states.listed:
        for read, live in columns.listed:
            target, string, copies = _step(folded, state, names.get(read, ""), live, strings)
            entries.append((states.number(target), string, copies))
        text = folded.finals.get(folded.start if state == START else state, "")
        finals.append(strings.number(text) if text else NOTHING)
    made = np.array(entries, np.int64).reshape(len(finals), len(columns.listed), 3)
    return merged_passes(alphabet, rows, made, finals)


def _step(machine: Machine, state: int, char: str, live: int, strings: Strings) -> tuple[int, int, int]:
    """Read a character to the right: the new state, the number of the string to write, and `COPY` or 0."""
    arcs = machine.arcs[machine.start if state == START else state].get(char, []) if state != COPYING else []
    arc = next((arc for arc in arcs if live >> arc.target & 1), None)
    if arc is None:  # the text is not accepted, or no text leads here
        return COPYING, NOTHING, COPY
    if arc.text.endswith(char):
        before = arc.text.removesuffix(char)
        return arc.target, strings.number(before) if before else NOTHING, COPY
    return arc.target, strings.number(arc.text) if arc.text else NOTHING, 0


def _check(machine: Fst) -> None:
    if machine.is_weighted:
        raise UnsupportedError("the transducer has weights; expected none; compile it with fst.compile.best_path")
    labels = machine.ilabel
    if machine.unit == "utf-8" and bool((labels >= ASCII_END).any() or (machine.olabel >= ASCII_END).any()):
        raise UnsupportedError("the labels of the transducer are bytes beyond ASCII; expected code points")
    for symbol in machine.alphabet:
        if len(symbol) > 1:
            raise UnsupportedError(f"the transducer reads the symbol {quoted(symbol)}; expected single characters; use fst.compile.lookup")
    found = machine.find_ambiguity()
    if found:
        text, first, second = map(quoted, found)
        raise UnsupportedError(f"the transducer is not functional: {text} becomes {first} and {second}; use fst.compile.lookup")


def _folded(machine: Fst) -> Machine:
    """Fold the arcs that read nothing into the arcs after them, and into finals."""
    if not machine.states:
        return Machine([{}], {}, 0)
    arcs: list[dict[str, list[Arc]]] = [{} for _ in range(machine.states)]
    finals, count = dict[int, str](), 0
    for state in range(machine.states):
        for reached, before in _closure(machine, state).items():
            if np.isfinite(machine.final[reached]):
                finals[state] = before
            for read, written, target, _ in machine.arcs_of(reached):
                if read:
                    arcs[state].setdefault(chr(read), []).append(Arc(before + machine.text_of([written]), target))
                    count += 1
        if count > MAX_ARCS:
            raise UnsupportedError(f"the transducer has more than {MAX_ARCS:,} arcs without those that read nothing")
    return Machine(arcs, finals, machine.start)


def _closure(machine: Fst, state: int) -> dict[int, str]:
    """The states that can be reached without reading, each with the string that is written; it is unique in a functional machine."""
    found, waiting = {state: ""}, [state]
    while waiting:
        reached = waiting.pop()
        for read, written, target, _ in machine.arcs_of(reached):
            if not read and target not in found:
                found[target] = found[reached] + machine.text_of([written])
                waiting.append(target)
    return found


def _mask(states: Iterable[int]) -> int:
    found = 0
    for state in states:
        found |= 1 << state
    return found


def _targets(machine: Machine, char: str) -> int:
    """The mask of the targets of arcs on a character."""
    return _mask(arc.target for arcs in machine.arcs for arc in arcs.get(char, []))


def _sources(machine: Machine, char: str) -> dict[int, list[int]]:
    """For each target of arcs on a character, the states before it."""
    found: dict[int, list[int]] = {}
    for state, arcs in enumerate(machine.arcs):
        for arc in arcs.get(char, []):
            found.setdefault(arc.target, []).append(state)
    return found
