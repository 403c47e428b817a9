"""Make the two passes of parallel rules, see `fst.machines.rules.table`.

*Pass to the left.* Its state at a boundary of the text is a set: the positions of phi from which the text after the boundary completes a
match and its right context, the positions of right contexts from which the text completes the context, and the rules whose right context
holds. These sets are the subsets of the automaton of ``phi right`` that reads the text from its end.

*Pass to the right.* Its state is the state of left contexts and, inside a match, a set of positions of phi. When this pass reads a
character, it uses the set at the boundary after the character. So a match begins only if it will be completed, and goes on as long as a
longer match will be completed. Matches are leftmost and longest, and no match is ever taken back.

*Columns.* The pass to the right distinguishes two pairs of a character and a set only if they have different effects on its positions;
pairs with equal effects share a column.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import cache
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fst.compile.machines.rules.contexts import Contexts, Left, Right, all_of, gathered, rules_of
from fst.compile.machines.rules.positions import Alphabet, Positions, bits, sets_of, word_in
from fst.compile.machines.rules.syntax import Trees
from fst.compile.patterns.budget import Budget
from fst.errors import UnsupportedError
from fst.machines.rules.entries import COPY, ENDED, MAX_COLUMNS, MAX_ENTRIES, NOTHING, pack_left, pack_right

State = TypeVar("State", bound=Hashable)
STEPS = 2  # budget steps for one transition, some 4 µs
AT_ONCE = 4  # number of positions or rules that one step covers
Ints = NDArray[np.int64]
ADVICE = "write fewer strings or simpler contexts in one rule, or several rules in a cascade"

TOO_MANY = f"the rules need more than {MAX_ENTRIES:,} transitions; expected at most as many; {ADVICE}"


class Column(NamedTuple):
    """The data of the pass to the right at a character.

    Attributes:
        read: the first class that left contexts do not distinguish from the character's class.
        longer: the mask of the positions of phi that may read the character and then complete a longer match.
        ending: the mask of the positions of phi that may read the character and then end a match, since its right context holds.
        inserting: the mask of the rules that match the empty string and whose right context holds before the character.
        at_edge: the mask of the rules that match the empty string and whose right context holds if the edge of a word is there.
    """

    read: int
    longer: int
    ending: int
    inserting: int
    at_edge: int


class Passes(NamedTuple):
    """The arrays of the two passes.

    Attributes:
        alphabet: the classes of characters.
        to_left: uint64[sets, classes], see `fst.machines.rules.entries`. The set at the end of a text is 0.
        to_right: uint64[states, columns]. The state at the start of a text is 0.
        finals: uint32[states], the number of the string that each state writes at the end of a text.
    """

    alphabet: Alphabet
    to_left: NDArray[np.uint64]
    to_right: NDArray[np.uint64]
    finals: NDArray[np.uint32]


class Numbering(Generic[State]):
    """States, `listed` in the order of their numbers; each has `width` transitions."""

    def __init__(self, width: int, *states: State, fault: str = TOO_MANY) -> None:
        self._fault = fault
        self._most, self._numbers = MAX_ENTRIES // width, {state: number for number, state in enumerate(states)}
        self.listed = [*states]

    def number(self, state: State) -> int:
        """The number of a state; a new state is added."""
        number = self._numbers.setdefault(state, len(self.listed))
        if number == len(self.listed):
            if number >= self._most:
                raise UnsupportedError(self._fault)
            self.listed.append(state)
        return number


class Strings:
    """The strings that rules write, numbered; the first two are empty, see `fst.machines.rules.entries`."""

    def __init__(self) -> None:
        self.listed = ["", ""]
        self._numbers: dict[str, int] = {"": ENDED}

    def number(self, text: str) -> int:
        """The number of a string."""
        if text not in self._numbers:
            self._numbers[text] = len(self.listed)
            self.listed.append(text)
        return self._numbers[text]


def merged_passes(alphabet: Alphabet, rows: Sequence[tuple[int, int]], entries: Ints, finals: Sequence[int]) -> Passes:
    """Pack the entries of both passes, and merge columns with equal entries.

    Args:
        rows: for each set and class, the next set and the column.
        entries: int64[states, columns, 3], the next state, the number of the string, and `COPY` or 0.
        finals: the number of the string that each state writes at the end of a text.
    """
    to_left, to_right = packed_passes(alphabet.size, rows, entries)
    return Passes(alphabet, to_left, to_right, np.array(finals, np.uint32))


def packed_passes(classes: int, rows: Sequence[tuple[int, int]], entries: Ints) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Pack the entries of both passes, as in `merged_passes`; `classes` is the number of classes."""
    merged, numbers = np.unique(entries, axis=1, return_inverse=True)
    stored, width = np.array(rows, np.int64), merged.shape[1]
    if width > MAX_COLUMNS:
        raise UnsupportedError(f"the rules need {width:,} columns; expected at most {MAX_COLUMNS:,}; {ADVICE}")
    to_left = pack_left(stored[:, 0] * classes, numbers.reshape(-1)[stored[:, 1]])
    return to_left.reshape(-1, classes), pack_right(merged[..., 0] * width, merged[..., 1], merged[..., 2])


class Compiler:
    """A compiler of parallel rules, given in order of preference. With `keeps_written`, left contexts are matched with the written
    text.
    """

    def __init__(self, parsed: Sequence[Trees], psis: Sequence[str], keeps_written: bool, strings: Strings) -> None:
        self._budget, nodes = Budget(), [tree for each in parsed for tree in each]
        self._alphabet = Alphabet(sets_of(nodes), word_in(nodes))
        self._contexts = Contexts(self._alphabet, self._budget, [tree.left for tree in parsed], [tree.right for tree in parsed])
        self._phi = Positions(self._alphabet, self._budget)
        self._phis = [self._phi.add(tree.phi) for tree in parsed]
        self._psis, self._strings, self._keeps_written = psis, strings, keeps_written
        self._written = [self._alphabet.of_text(psi) if keeps_written else [] for psi in self._psis]
        self._before_phi = self._phi.before()
        self._nullable = rules_of(self._phis, lambda part: part.nullable)
        self._firsts = cache(lambda rules: all_of(self._phis[rule].first for rule in bits(rules)))
        self._lasts = cache(lambda rules: all_of(self._phis[rule].last for rule in bits(rules)))

    def passes(self) -> Passes:
        """Make both passes."""
        alphabet, columns, end = self._alphabet, Numbering[Column](1), (self._contexts.ended(), 0)
        sets, rows = Numbering(alphabet.size, end), list[tuple[int, int]]()
        for found in sets.listed:
            self._take(STEPS * alphabet.size, found[0].positions, alphabet.size)
            for read in range(alphabet.size):
                before, column = self._to_left(*found, read)
                rows.append((sets.number(before), columns.number(column)))
        entries, finals = self._pass_to_right(columns.listed, end[0])
        return merged_passes(alphabet, rows, entries, finals)

    def _take(self, steps: int, positions: int, count: int) -> None:
        """Count the steps of `count` transitions of positions, and of the transition of the rules."""
        self._budget.take(steps + (count * positions.bit_count() + len(self._psis)) // AT_ONCE)

    def _to_left(self, right: Right, longer: int, read: int) -> tuple[tuple[Right, int], Column]:
        """Read a character in the pass to the left. A set consists of the state of right contexts, and of positions of phi."""
        ending = self._phi.reading[read] & self._lasts(self._contexts.holding(right, self._alphabet.words[read]))
        longer &= self._phi.reading[read]
        right = self._contexts.before(right, read)
        inserting, at_edge = right.holding & self._nullable, right.at_edge & self._nullable
        before = right, gathered(self._before_phi, longer | ending)
        return before, Column(self._contexts.reads[read], longer, ending, inserting, at_edge)

    def _pass_to_right(self, columns: Sequence[Column], end: Right) -> tuple[Ints, list[int]]:
        """Make the pass to the right: int64[states, columns, 3], the next state, the number of the string, and `COPY` or 0; and the finals.
        `end` is the state of right contexts at the end of a text.
        """
        start = self._contexts.started()
        states, finals, width = Numbering[tuple[Left, int]](len(columns), (start, 0)), list[int](), len(columns)
        kinds, kind_of = _distinct((column.read, column.inserting, column.at_edge) for column in columns)
        reading = _columns_of(columns, len(self._phi.follow))
        rows = list[Ints]()
        for left, inside in states.listed:
            self._take(2 * STEPS + len(kinds), left.positions, len(kinds))
            if inside:  # entries that no text reaches are copied from the first state, so that more columns are equal
                row = rows[0].copy()
            else:
                outside = [self._outside(left, *kind) for kind in kinds]
                row = np.array([(states.number(state), string, COPY) for state, string in outside], np.int64)[kind_of]
            for word in {*self._alphabet.words}:
                entered = gathered(self._phi.follow, inside) if inside else self._firsts(self._contexts.held(left, word))
                numbers = {number for position in bits(entered) for number in reading[position]}
                self._take(len(numbers), left.positions, len(numbers))
                for number in numbers:
                    if self._alphabet.words[columns[number].read] == word:
                        state, string = self._inside(left, entered, columns[number])
                        row[number] = states.number(state), string, 0
            rows.append(row)
            inserting = 0 if inside else self._inserting(left, False, end.holding, end.at_edge)
            finals.append(self._string(inserting) if inserting else NOTHING)
        return np.array(rows, np.int64).reshape(len(finals), width, 3), finals

    def _inserting(self, left: Left, word: bool, holding: int, at_edge: int) -> int:
        """The mask of the rules that insert before a character, from the masks of rules whose right context holds; `word`: whether this is
        a word character.
        """
        return self._contexts.held(left, word) & self._nullable & (holding | (at_edge if left.word != word else 0))

    def _inside(self, left: Left, entered: int, column: Column) -> tuple[tuple[Left, int], int]:
        """Read a character of a match: the new state, and the number of the string to write."""
        after = left if self._keeps_written else self._contexts.through(left, [column.read])
        if entered & column.longer:
            return (after, entered & column.longer), NOTHING
        rule = next(rule for rule, part in enumerate(self._phis) if part.last & entered & column.ending)
        return (self._contexts.through(left, self._written[rule]) if self._keeps_written else after, 0), self._string(1 << rule)

    def _outside(self, left: Left, read: int, inserting: int, at_edge: int) -> tuple[tuple[Left, int], int]:
        """Read a character that is copied: the new state, and the number of the string to write before it."""
        inserting = self._inserting(left, self._alphabet.words[read], inserting, at_edge)
        if inserting and self._keeps_written:
            left = self._contexts.through(left, self._written[_lowest(inserting)])
        return (self._contexts.through(left, [read]), 0), self._string(inserting) if inserting else NOTHING

    def _string(self, rules: int) -> int:
        return self._strings.number(self._psis[_lowest(rules)])


def _lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


def _distinct(items: Iterable[State]) -> tuple[list[State], list[int]]:
    """The distinct items, and the index of each item among them."""
    numbers: dict[State, int] = {}
    indices = [numbers.setdefault(item, len(numbers)) for item in items]
    return [*numbers], indices


def _columns_of(columns: Sequence[Column], positions: int) -> list[list[int]]:
    """For each position of phi, the columns whose characters it may read."""
    found: list[list[int]] = [[] for _ in range(positions)]
    for number, column in enumerate(columns):
        for position in bits(column.longer | column.ending):
            found[position].append(number)
    return found
