"""Make the two passes of a functional transducer that replaces strings inside a text, between two contexts.

Matches are leftmost and longest, like the matches of rules; see `fst.compile.machines.rules.passes`. The output of a match is written while
the match is read, so its end must be known at its beginning. At each boundary, the pass to the left stores a *ranking* of the states from
which the text after the boundary completes a match: the states in the first group reach the farthest end. The pass to the right follows one
path: it takes an arc into the first group that any arc leads to. Any such path writes the output, because the transducer is functional.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fst.compile.machines.rules.contexts import Contexts, Left, Right
from fst.compile.machines.rules.folding import Machine
from fst.compile.machines.rules.passes import STEPS, Numbering, Passes, Strings, merged_passes
from fst.compile.machines.rules.positions import Alphabet, bits, sets_of, word_in
from fst.compile.patterns.budget import Budget
from fst.compile.patterns.code_points import of_text
from fst.compile.patterns.tree import Node
from fst.machines.rules.entries import COPY, ENDED, NOTHING

OUTSIDE = -1  # the state outside of matches
Ranking = tuple[int, ...]  # masks of states; the first mask has the farthest end
Entry = tuple[tuple[Left, int], int, int]  # the next state, the number of the string to write, and `COPY` or 0


class Column(NamedTuple):
    """The data of the pass to the right at a character.

    Attributes:
        read: the first class that left contexts do not distinguish from the character's class.
        char: the character, if the transducer reads it, or "".
        ranking: the ranking after the character; only targets of arcs that read the character are included.
        ends: whether the last group consists of the final states whose match ends after the character.
        inserting: whether the right context holds before the character; at_edge: whether the right context holds if the edge of a word is
            there.
    """

    read: int
    char: str
    ranking: Ranking
    ends: bool
    inserting: bool
    at_edge: bool


class Replacement:
    """The compiler of a transducer between two contexts. With `keeps_written`, the left context is matched with the written text."""

    def __init__(self, machine: Machine, left: Node, right: Node, keeps_written: bool, strings: Strings) -> None:
        characters = sorted({char for arcs in machine.arcs for char in arcs})
        self._budget, self._machine, self._strings, self._keeps_written = Budget(), machine, strings, keeps_written
        self._alphabet = Alphabet([*map(of_text, characters), *sets_of([left, right])], word_in([left, right]))
        self._contexts = Contexts(self._alphabet, self._budget, [left], [right])
        self._chars = dict(zip(self._alphabet.of_text("".join(characters)), characters, strict=True))
        self._sources: dict[str, dict[int, int]] = {char: {} for char in characters}
        for state, arcs in enumerate(machine.arcs):
            for char, listed in arcs.items():
                for arc in listed:
                    self._sources[char][arc.target] = self._sources[char].get(arc.target, 0) | 1 << state
        self._targets = {char: sum(1 << target for target in sources) for char, sources in self._sources.items()}
        self._finals = sum(1 << state for state in machine.finals)
        self._empty = machine.finals.get(machine.start)

    def passes(self) -> Passes:
        """Make both passes."""
        alphabet, columns, end = self._alphabet, Numbering[Column](1), self._contexts.ended()
        sets, rows = Numbering[tuple[Right, Ranking]](alphabet.size, (end, ())), list[tuple[int, int]]()
        for right, ranking in sets.listed:
            for read in range(alphabet.size):
                before, column = self._to_left(right, ranking, read)
                rows.append((sets.number(before), columns.number(column)))
        states, finals = Numbering[tuple[Left, int]](len(columns.listed), (self._contexts.started(), OUTSIDE)), list[int]()
        entries = list[list[tuple[int, int, int]]]()
        for left, state in states.listed:
            self._budget.take(2 * STEPS * len(columns.listed))
            row = [self._to_right(left, state, column) for column in columns.listed]
            # Entries that no text reaches are copied from the first state, so that more columns are equal.
            entries.append([entries[0][at] if entry is None else (states.number(entry[0]), *entry[1:]) for at, entry in enumerate(row)])
            inserts = state == OUTSIDE and self._inserts(left, False, bool(end.holding), bool(end.at_edge))
            finals.append(self._strings.number(self._empty or "") if inserts and self._empty else NOTHING)
        made = np.array(entries, np.int64).reshape(len(finals), len(columns.listed), 3)
        return merged_passes(alphabet, rows, made, finals)

    def _to_left(self, right: Right, ranking: Ranking, read: int) -> tuple[tuple[Right, Ranking], Column]:
        """Read a character in the pass to the left."""
        self._budget.take(STEPS + len(ranking))
        char, before = self._chars.get(read, ""), self._contexts.before(right, read)
        groups: Ranking = ()
        if char:
            ending = self._finals & ~sum(ranking) if self._contexts.holding(right, self._alphabet.words[read]) else 0
            groups = tuple(group & self._targets[char] for group in (*ranking, ending))
        kept: Ranking = tuple(filter(None, groups))
        column = Column(
            self._contexts.reads[read], char if kept else "", kept, bool(groups and groups[-1]), bool(before.holding), bool(before.at_edge)
        )
        return (before, self._ranked(char, kept)), column

    def _ranked(self, char: str, groups: Ranking) -> Ranking:
        """The ranking before a character."""
        found, seen = list[int](), 0
        for group in groups:
            self._budget.take(1)
            sources = 0
            for target in bits(group):
                sources |= self._sources[char][target]
            found.append(sources & ~seen)
            seen |= sources
        return tuple(filter(None, found))

    def _inserts(self, left: Left, word: bool, holding: bool, at_edge: bool) -> bool:
        """Whether both contexts hold before a character; `word`: whether this is a word character."""
        return bool(self._contexts.held(left, word)) and (holding or (at_edge and left.word != word))

    def _to_right(self, left: Left, state: int, column: Column) -> Entry | None:
        """Read a character in the pass to the right; None if no text reaches this entry."""
        word = self._alphabet.words[column.read]
        if state != OUTSIDE or self._contexts.held(left, word):
            arcs = self._machine.arcs[self._machine.start if state == OUTSIDE else state].get(column.char, [])
            for group in column.ranking:
                for arc in arcs:
                    if group >> arc.target & 1:
                        is_end = column.ends and group is column.ranking[-1]
                        return self._matched(left, arc.text, arc.target, column, is_end)
        if state != OUTSIDE:
            return None
        text = self._empty if self._empty is not None and self._inserts(left, word, column.inserting, column.at_edge) else ""
        if text and self._keeps_written:
            left = self._contexts.through(left, self._alphabet.of_text(text))
        return (self._contexts.through(left, [column.read]), OUTSIDE), self._strings.number(text) if text else NOTHING, COPY

    def _matched(self, left: Left, text: str, target: int, column: Column, is_end: bool) -> Entry:
        """Read a character of a match."""
        text += self._machine.finals[target] if is_end else ""
        left = self._contexts.through(left, self._alphabet.of_text(text) if self._keeps_written else [column.read])
        state = OUTSIDE if is_end else target
        if text.endswith(column.char):
            before = text.removesuffix(column.char)
            return (left, state), self._strings.number(before) if before else NOTHING, COPY
        return (left, state), self._strings.number(text) if text else ENDED if is_end else NOTHING, 0
