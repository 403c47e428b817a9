"""Make the two passes of parallel rules, see `fst.machines.rules.table`.

*Pass to the left.* Its state at a boundary of the text is a set: the positions of phi from which the text after the boundary completes a
match and its right context, the positions of right contexts from which the text completes the context, and the rules whose right context
holds. These sets are the subsets of the automaton of ``phi right`` that reads the text from its end.

*Pass to the right.* Its state is a set of positions of left contexts, and inside a match a set of positions of phi. When it reads a
character, it has the set of the boundary after the character. So a match begins only if it will be completed, and goes on as long as a
longer match will be completed: matches are leftmost and longest, and no match is ever taken back.

*Columns.* The pass to the right distinguishes pairs of a character and a set only as far as its positions differ, and pairs with equal
effects share a column.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fst.compile.machines.rules.positions import Alphabet, Part, Positions, bits, sets_of
from fst.compile.machines.rules.syntax import Trees
from fst.compile.patterns.budget import Budget
from fst.errors import UnsupportedError
from fst.machines.rules.entries import COPY, ENDED, MAX_COLUMNS, MAX_ENTRIES, NOTHING, pack_left, pack_right

State = TypeVar("State", bound=Hashable)
Ints = NDArray[np.int64]
ADVICE = "write fewer strings or simpler contexts in one rule, or several rules in a cascade"


class Column(NamedTuple):
    """The data of the pass to the right at a character.

    Attributes:
        read: the class of the character, as far as left contexts distinguish classes.
        longer: the mask of the positions of phi that may read the character and then complete a longer match.
        ending: the mask of the positions of phi that may read the character and then end a match, since its right context holds.
        inserting: the mask of the rules that match the empty string before the character, as far as the right context is concerned.
    """

    read: int
    longer: int
    ending: int
    inserting: int


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
    """States in the order of their numbers.

    Args:
        width: the number of transitions of a state.
        states: the first states.

    Attributes:
        listed: the states.
    """

    def __init__(self, width: int, *states: State) -> None:
        self._most, self._numbers = MAX_ENTRIES // width, {state: number for number, state in enumerate(states)}
        self.listed = [*states]

    def number(self, state: State) -> int:
        """The number of a state, which is added if it is new.

        Raises:
            UnsupportedError: there are too many states.
        """
        number = self._numbers.setdefault(state, len(self.listed))
        if number == len(self.listed):
            if number >= self._most:
                raise UnsupportedError(f"the rules need more than {MAX_ENTRIES:,} transitions; {ADVICE}")
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
        alphabet: the classes of characters.
        rows: for each set and class, the next set and the column.
        entries: int64[states, columns, 3], the next state, the number of the string, and `COPY` or 0.
        finals: the number of the string that each state writes at the end of a text.

    Raises:
        UnsupportedError: there are too many columns.
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
    """A compiler of rules that read the same text.

    Args:
        parsed: the regular expressions of the rules, in order of preference.
        psis: the string that each rule writes.
        keeps_written: whether left contexts are those of the written text.
        strings: the strings that rules write.
    """

    def __init__(self, parsed: Sequence[Trees], psis: Sequence[str], keeps_written: bool, strings: Strings) -> None:
        budget = Budget()
        self._alphabet = Alphabet(sets_of([tree for each in parsed for tree in each]))
        self._phi, self._left, self._right = (Positions(self._alphabet, budget) for _ in Trees._fields)
        self._phis = [self._phi.add(tree.phi) for tree in parsed]
        self._lefts = [self._left.add(tree.left) for tree in parsed]
        self._rights = [self._right.add(tree.right) for tree in parsed]
        self._psis, self._strings, self._keeps_written = psis, strings, keeps_written
        self._written = [self._alphabet.of_text(psi) if keeps_written else [] for psi in self._psis]
        self._before_phi, self._before_right = self._phi.before(), self._right.before()
        self._last_right = _all(part.last for part in self._rights)
        self._first_left = _all(part.first for part in self._lefts)
        self._always = _rules(self._rights, lambda part: part.nullable)
        self._nullable = _rules(self._phis, lambda part: part.nullable)
        self._lasts = cache(lambda rules: _all(self._phis[rule].last for rule in bits(rules)))
        self._held = cache(lambda left: _rules(self._lefts, lambda part: part.nullable or part.last & left))
        self._reads = _shared(self._left.reading)

    def passes(self) -> Passes:
        """Make both passes.

        Raises:
            UnsupportedError: the passes are too large.
        """
        alphabet, columns = self._alphabet, Numbering[Column](1)
        begin = self._last_right, self._always, 0
        end = self._to_left(begin, alphabet.end)[0]
        while (repeated := self._to_left(end, alphabet.end)[0]) != end:  # an expression may read the end of the text twice
            end = repeated
        sets, rows = Numbering(alphabet.size, end), list[tuple[int, int]]()
        for found in sets.listed:
            for read in range(alphabet.size):
                before, column = self._to_left(found, read)
                rows.append((sets.number(before), columns.number(column)))
        entries, finals = self._pass_to_right(columns.listed, end[1])
        return merged_passes(alphabet, rows, entries, finals)

    def _to_left(self, after: tuple[int, int, int], read: int) -> tuple[tuple[int, int, int], Column]:
        """Read a character to the left. A set consists of positions of right contexts, of rules, and of positions of phi."""
        right, holding, longer = after
        entered = self._right.reading[read] & right
        ending = self._phi.reading[read] & self._lasts(holding)
        longer &= self._phi.reading[read]
        holding = self._always | (_rules(self._rights, lambda part: part.first & entered) if entered else 0)
        before = self._last_right | _gathered(self._before_right, entered), holding, _gathered(self._before_phi, longer | ending)
        return before, Column(self._reads[read], longer, ending, holding & self._nullable)

    def _pass_to_right(self, columns: Sequence[Column], holding: int) -> tuple[Ints, list[int]]:
        """Make the pass to the right: int64[states, columns, 3], the next state, the number of the string, and `COPY` or 0; and the finals.
        `holding` is the mask of the rules whose right context holds at the end of a text.
        """
        states, finals, width = Numbering(len(columns), (self._started(), 0)), list[int](), len(columns)
        kinds, kind_of = _distinct((column.read, column.inserting) for column in columns)
        reading = _columns_of(columns, len(self._phi.follow))
        rows = list[Ints]()
        for left, inside in states.listed:
            held = 0 if inside else self._held(left)
            entered = _gathered(self._phi.follow, inside) if inside else _all(self._phis[rule].first for rule in bits(held))
            if inside:  # where no text leads, the entries are those of the first state, so that more columns are equal
                row = rows[0].copy()
            else:
                outside = [self._outside(left, held, *kind) for kind in kinds]
                row = np.array([(states.number(state), string, COPY) for state, string in outside], np.int64)[kind_of]
            for number in {number for position in bits(entered) for number in reading[position]}:
                state, string = self._inside(left, entered, columns[number])
                row[number] = states.number(state), string, 0
            rows.append(row)
            inserting = held & holding & self._nullable
            finals.append(self._string(inserting) if inserting else NOTHING)
        return np.array(rows, np.int64).reshape(len(finals), width, 3), finals

    def _inside(self, left: int, entered: int, column: Column) -> tuple[tuple[int, int], int]:
        """Read a character of a match: the new state, and the number of the string to write."""
        if entered & column.longer:
            return (left if self._keeps_written else self._through(left, [column.read]), entered & column.longer), NOTHING
        rule = next(rule for rule, part in enumerate(self._phis) if part.last & entered & column.ending)
        return (self._through(left, self._written[rule] if self._keeps_written else [column.read]), 0), self._string(1 << rule)

    def _outside(self, left: int, held: int, read: int, inserting: int) -> tuple[tuple[int, int], int]:
        """Read a character that is copied: the new state, and the number of the string to write before it."""
        inserting &= held
        if inserting and self._keeps_written:
            left = self._through(left, self._written[_lowest(inserting)])
        return (self._through(left, [read]), 0), self._string(inserting) if inserting else NOTHING

    def _started(self) -> int:
        """The positions of left contexts at the start of a text."""
        left = self._left.reading[self._alphabet.start] & self._first_left
        while (more := left | self._left.reading[self._alphabet.start] & _gathered(self._left.follow, left)) != left:
            left = more
        return left

    def _through(self, left: int, read: Sequence[int]) -> int:
        """The positions of left contexts after some classes of characters."""
        for each in read:
            left = self._left.reading[each] & (self._first_left | _gathered(self._left.follow, left))
        return left

    def _string(self, rules: int) -> int:
        return self._strings.number(self._psis[_lowest(rules)])


def _lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


def _all(masks: Iterable[int]) -> int:
    """The union of masks."""
    found = 0
    for mask in masks:
        found |= mask
    return found


def _rules(parts: Sequence[Part], holds: Callable[[Part], Any]) -> int:
    """The mask of the rules for whose part a condition holds."""
    return _all(1 << rule for rule, part in enumerate(parts) if holds(part))


def _gathered(masks: Sequence[int], positions: int) -> int:
    """The union of the masks of some positions."""
    return _all(masks[position] for position in bits(positions))


def _distinct(items: Iterable[State]) -> tuple[list[State], list[int]]:
    """The distinct items, and the index of each item among them."""
    numbers: dict[State, int] = {}
    indices = [numbers.setdefault(item, len(numbers)) for item in items]
    return [*numbers], indices


def _columns_of(columns: Sequence[Column], positions: int) -> list[list[int]]:
    """For each position of phi, the columns whose character it may read."""
    found: list[list[int]] = [[] for _ in range(positions)]
    for number, column in enumerate(columns):
        for position in bits(column.longer | column.ending):
            found[position].append(number)
    return found


def _shared(reading: Sequence[int]) -> list[int]:
    """For each class, the first class that the same positions read."""
    first: dict[int, int] = {}
    return [first.setdefault(positions, read) for read, positions in enumerate(reading)]
