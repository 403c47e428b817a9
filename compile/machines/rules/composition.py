"""Compose two stages into one, which writes in a single pass the result of both stages in turn.

In the pass to the left, the first stage finds its set. The first stage's output for a character depends on its state, which only the pass
to the right computes. So a set of the composition contains the first stage's set and, for each state of the first stage, the set that the
second stage finds. In the pass to the right, both states are available, and the second stage reads the output of the first stage for the
character.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.compile.machines.rules.passes import Numbering, Strings, packed_passes
from fst.compile.patterns.budget import Budget
from fst.errors import UnsupportedError
from fst.machines.rules.entries import COPY, ENDED, MAX_ENTRIES, NOTHING, columns_of, copies_of, rows_of, strings_of

MAX_COMPOSED = 1 << 16  # maximum number of entries of a pass of a composition, which then fits into a processor's cache
MAX_PAIRS = 1 << 24  # maximum number of pairs of classes of two stages
Read = tuple[int, int, int, tuple[int, ...]]  # the next state of the first stage, its string, `COPY` or 0, the columns of the second stage


class Part(NamedTuple):
    """The arrays of a stage.

    Attributes:
        classes: uint16[0x110000], the class of each code point.
        to_left: uint64[sets, classes]; to_right: uint64[states, columns]; finals: uint32[states]; see `fst.machines.rules.table.Stage`.
        strings: the strings by number.
        keys: the keys of a stage that replaces keys instead of running passes; key_strings: for each key, the number of its string.
    """

    classes: NDArray[np.uint16]
    to_left: NDArray[np.uint64]
    to_right: NDArray[np.uint64]
    finals: NDArray[np.uint32]
    strings: Sequence[str]
    keys: Sequence[str] = ()
    key_strings: Sequence[int] = ()


class _Moves:
    """The passes of a stage as lists."""

    def __init__(self, part: Part) -> None:
        self.strings, self.finals = part.strings, part.finals.tolist()
        self.sets = (rows_of(part.to_left) // part.to_left.shape[1]).tolist()
        self.columns = columns_of(part.to_left).tolist()
        states, strings, copies = rows_of(part.to_right) // part.to_right.shape[1], strings_of(part.to_right), copies_of(part.to_right)
        self.moves = np.stack([states, strings, copies.astype(np.int64)], axis=2).tolist()
        self.inside = {*states[(strings == NOTHING) & ~copies].tolist()}

    def read_left(self, after: int, classes: Sequence[int]) -> tuple[int, tuple[int, ...]]:
        """Read characters from right to left; return the set before them, and the column of each."""
        columns = []
        for read in reversed(classes):
            columns.append(self.columns[after][read])
            after = self.sets[after][read]
        return after, tuple(reversed(columns))

    def write(self, state: int, text: str, columns: Sequence[int]) -> tuple[int, str, bool]:
        """Read characters from left to right; return the state after them, the written text, and whether the last character was copied."""
        new, is_copied = "", False
        for char, column in zip(text, columns, strict=True):
            state, string, copies = self.moves[state][column]
            new, is_copied = new + self.strings[string] + (char if copies else ""), bool(copies)
        return state, new, is_copied


def composed(first: Part, second: Part, budget: Budget) -> Part:
    """Compose two stages."""
    if max(array.size for part in (first, second) for array in (part.to_left, part.to_right)) > MAX_COMPOSED:
        raise UnsupportedError(f"a stage has more than {MAX_COMPOSED:,} entries; expected at most as many")
    if first.to_left.shape[1] * second.to_left.shape[1] > MAX_PAIRS:
        raise UnsupportedError(f"the stages have more than {MAX_PAIRS:,} pairs of classes; expected at most as many")
    return _Composition(first, second, budget).part()


class _Composition:
    def __init__(self, first: Part, second: Part, budget: Budget) -> None:
        self._budget = budget
        self._first, self._second, self._strings = _Moves(first), _Moves(second), Strings()
        keys = first.classes.astype(np.int64) * second.to_left.shape[1] + second.classes
        is_used = np.zeros(first.to_left.shape[1] * second.to_left.shape[1], np.bool_)
        is_used[keys] = True
        self._pairs = [divmod(int(key), second.to_left.shape[1]) for key in np.flatnonzero(is_used)]
        self._classes = (np.cumsum(is_used) - 1)[keys].astype(np.uint16)
        self._spelled = [second.classes[[ord(char) for char in string]].tolist() for string in first.strings]

    def part(self) -> Part:
        """Make the passes of the composition."""
        first, second, scale = self._first, self._second, MAX_ENTRIES // MAX_COMPOSED
        ends = tuple(second.read_left(0, self._spelled[string])[0] for string in first.finals)
        columns, rows = Numbering[tuple[Read, ...]](1), list[tuple[int, int]]()
        sets = Numbering[tuple[int, tuple[int, ...]]](scale * len(self._pairs), (0, ends))
        for own, others in sets.listed:
            self._budget.take(len(self._pairs) * len(others))
            for read in self._pairs:
                reads = [self._read(move, others, read[1]) for move in self._column(first.columns[own][read[0]])]
                before = first.sets[own][read[0]], tuple(before for before, _ in reads)
                rows.append((sets.number(before), columns.number(tuple(column for _, column in reads))))
        states, entries, finals = Numbering(scale * len(columns.listed), (0, 0)), list[tuple[int, int, int]](), list[int]()
        for state, other in states.listed:
            self._budget.take(len(columns.listed))
            for column in columns.listed:
                after, string, copies = self._step(other, column[state])
                entries.append((states.number(after), string, copies))
            text = first.strings[first.finals[state]]
            end, new, _ = second.write(other, text, second.read_left(0, self._spelled[first.finals[state]])[1])
            new += second.strings[second.finals[end]]
            finals.append(self._strings.number(new) if new else NOTHING)
        made = np.array(entries, np.int64).reshape(len(finals), -1, 3)
        to_left, to_right = packed_passes(len(self._pairs), rows, made)
        return Part(self._classes, to_left, to_right, np.array(finals, np.uint32), self._strings.listed)

    def _column(self, column: int) -> list[list[int]]:
        """For each state of the first stage, its move in a column."""
        return [moves[column] for moves in self._first.moves]

    def _read(self, move: Sequence[int], others: Sequence[int], read: int) -> tuple[int, Read]:
        """The set before a move of the first stage; and the move, with the columns that the second stage then reads."""
        state, string, copies = move
        before, columns = self._second.read_left(others[state], [*self._spelled[string], *([read] if copies else [])])
        return before, (state, string, copies, columns)

    def _step(self, other: int, read: Read) -> tuple[tuple[int, int], int, int]:
        """Read a character in the pass to the right: the new states, the number of the string to write, and `COPY` or 0."""
        state, string, copies, columns = read
        end, new, is_copied = self._second.write(other, self._first.strings[string] + ("\0" if copies else ""), columns)
        if copies and is_copied:
            return (state, end), self._strings.number(new[:-1]) if new[:-1] else NOTHING, COPY
        is_inside = end in self._second.inside or state in self._first.inside
        return (state, end), self._strings.number(new) if new else NOTHING if is_inside else ENDED, 0
