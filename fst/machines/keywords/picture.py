"""Pictures of keyword automata: failure links are folded in, so each byte is one arc."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fst.automata.picture import END, Automaton, Picture, Step, byte_label
from fst.automata.rows import ROOT
from fst.machines.keywords.overlapping import NEXT, OverlappingTable
from fst.machines.keywords.table import ENTRY, KeywordTable


def picture_of(table: KeywordTable, text: str | None) -> Picture:
    """A state is named by the bytes that it represents; an arc writes the keywords that are certain after its byte."""

    def name(state: Any, read: Sequence[Any], _: Sequence[str]) -> str:
        remembered = read[len(read) - int(table.depths[state]) :]
        return "".join(map(byte_label, remembered)) if state else "start"

    def step(state: Any, symbol: Any) -> Step | None:
        return _at_end(table, state) if symbol == END else _step(table, state, symbol)

    automaton = Automaton(ROOT, step, name, lambda symbol: symbol if symbol == END else byte_label(symbol))
    if text is None:
        return automaton.whole([*(byte for byte in range(256) if table.bytes_read[byte]), END])
    return automaton.around([[*table.metadata.text.spelled(text)[0], END]])


def _step(table: KeywordTable, state: int, byte: int) -> Step:
    """The next state after a byte, by the slow walk, and the keywords written."""
    found = list[int]()
    while not (entry := ENTRY.step(table.entries, state, byte)) and state != ROOT:
        link = ENTRY.unpack(table.entries[state])
        found += _keywords(table, link.value)
        state = link.target
    found += _keywords(table, entry.value) if entry else []
    return Step(entry.target if entry else ROOT, [table.keywords[keyword] for keyword in found])


def _at_end(table: KeywordTable, state: int) -> Step | None:
    """The step at the end of a text, where the matches on all failure links are certain; None if there are no matches."""
    found = list[int]()
    while state != ROOT:
        link = ENTRY.unpack(table.entries[state])
        found += _keywords(table, link.value)
        state = link.target
    return Step(ROOT, [table.keywords[keyword] for keyword in found]) if found else None


def _keywords(table: KeywordTable, output: int) -> list[int]:
    """The keywords of an output."""
    if not isinstance(table, OverlappingTable):
        return [match.keyword for match in table.matches_of(output, 0)]
    found = list[int]()
    while output:
        found.append(output - 1)
        output = int(table.matches[output, NEXT])
    return found
