"""Explain the tokens of BPE or Unigram: for each pre-token of a text, show the steps of the automaton, the merges or the scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fst.machines.bpe.table import BpeTable
    from fst.machines.unigram.table import UnigramTable


def explained_bytes(tables: BpeTable | UnigramTable, text: str) -> Iterator[str]:
    """Yield the lines that explain a text: its special tokens and pre-tokens, in order."""
    from fst.machines.bpe.table import BpeTable
    from fst.machines.unigram.table import NO_ID

    names = {NO_ID: "unknown, and the vocabulary has no unk_id:", **dict(zip(tables.token_ids.tolist(), tables.tokens, strict=True))}
    for place, (part, special) in enumerate(tables.parts(text)):
        if place:
            yield ""
        if special is None:
            piece = part.encode()
            yield from _piece(tables, piece, names) if isinstance(tables, BpeTable) else _paths(tables, piece, names)
            yield "  tokens " + " ".join(f"{names[number]} {number}" for number in tables.run_pretoken(piece))
        else:
            yield f"{part}: a special token, id {special}"


def _piece(tables: BpeTable, piece: bytes, names: dict[int, str]) -> Iterator[str]:
    """Yield the lines that explain a pre-token of BPE."""
    from fst.pretokens.byte_letters import spelled

    yield f"pre-token {spelled(piece)}"
    yield from _states(tables, piece, names) if tables.has_automaton else _merges(tables, piece, names)


def _states(tables: BpeTable, piece: bytes, names: dict[int, str]) -> Iterator[str]:
    """Yield a line for each byte: the state of the automaton and the last token after this byte."""
    from fst.automata.rows import ROOT
    from fst.machines.bpe.automaton import ENTRY, step
    from fst.pretokens.byte_letters import spelled

    state = ROOT
    for byte in piece:
        state = step(tables.entries, state, byte)
        yield f"  {spelled(bytes([byte]))}  {byte:#04x}  state {state:>8}  last token {names[ENTRY.unpack(tables.entries[state]).target]}"


def _merges(tables: BpeTable, piece: bytes, names: dict[int, str]) -> Iterator[str]:
    """Yield a line for each merge: its rank and its two parts."""
    from fst.machines.bpe.merge_list import steps

    for rank, left, right in steps(tables.ranks, tables.merges, tables.atoms_of(piece)):
        yield f"  merge {rank:>8}  {names[left]} {names[right]}"


def _paths(tables: UnigramTable, piece: bytes, names: dict[int, str]) -> Iterator[str]:
    """Yield the lines that explain a pre-token of Unigram: the tokens that begin at each character with their scores, and the sums along
    the best path.
    """
    from fst.machines.unigram.viterbi import tokens_at

    text = piece.decode()
    yield f"pre-token {_shown(text, tables)}"
    if tables.is_word_type:
        yield f"  {'unknown' if tables.token_of(piece) is None else 'a token'} as a whole word"
        return
    begin = 0
    for char in text:
        found = (f"{names[number]} {tables.path_scores[number]:.4g}" for _, number in tokens_at(tables.trie, piece, begin))
        yield f"  {_shown(char, tables)}  tokens from here: {', '.join(found) or 'none'}"
        begin += len(char.encode())
    total = 0.0
    for begin, end, number in tables.path(piece)[0]:
        total += float(tables.unknown if number is None else tables.path_scores[number])
        yield f"  best path to {_shown(piece[begin:end].decode(), tables)}: sum {total:.6g}"


def _shown(text: str, tables: UnigramTable) -> str:
    """Text with spaces written as in tokens, such as "▁"."""
    return text.replace(" ", tables.symbol) if tables.symbol else text
