r"""The contexts of rules as automata: left contexts are read from left to right, right contexts from right to left.

A context that ends in ``\b`` next to the gap holds only if the characters on both sides of the gap are of different kinds, word characters
and others; see `fst.compile.machines.rules.positions`. So each side has two sets of rules: rules whose context holds in any case, and rules
whose context holds only at the edge of a word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

from fst.compile.machines.rules.positions import Alphabet, Part, Positions
from fst.compile.patterns.budget import Budget
from fst.compile.patterns.tree import Node


class Left(NamedTuple):
    """The state of left contexts after a character.

    Attributes:
        positions: the mask of the positions that have read the character.
        word: whether the character is a word character.
    """

    positions: int
    word: bool


class Right(NamedTuple):
    """The state of right contexts before a character.

    Attributes:
        positions: the mask of the positions that may read the character to the left.
        holding: the mask of the rules whose right context holds.
        at_edge: the mask of the rules whose right context holds if the edge of a word is here.
        word: whether the character after this position is a word character.
    """

    positions: int
    holding: int
    at_edge: int
    word: bool


class Contexts:
    """The left and the right contexts of several rules. `reads` is, for each class, the first class that left contexts do not distinguish
    from it.
    """

    def __init__(self, alphabet: Alphabet, budget: Budget, lefts: Sequence[Node], rights: Sequence[Node]) -> None:
        self._alphabet, self._left, self._right = alphabet, Positions(alphabet, budget), Positions(alphabet, budget)
        self._lefts, self._rights = [self._left.add_whole(tree) for tree in lefts], [self._right.add_whole(tree) for tree in rights]
        self._first, self._edge_first = all_of(part.first for part in self._lefts), all_of(part.edge_first for part in self._lefts)
        self._last, self._edge_last = all_of(part.last for part in self._rights), all_of(part.edge_last for part in self._rights)
        self._before = self._right.before()
        self._always = rules_of(self._rights, lambda part: part.nullable)
        self._always_at_edge = rules_of(self._rights, lambda part: part.edge_nullable)
        self._held = cache(lambda positions: rules_of(self._lefts, lambda part: part.nullable or part.last & positions))
        self._held_at_edge = cache(lambda positions: rules_of(self._lefts, lambda part: part.edge_nullable or part.edge_last & positions))
        self.reads = _shared([*zip(self._left.reading, alphabet.words, strict=True)])

    def started(self) -> Left:
        """The state of left contexts at the start of a text."""
        reading = self._left.reading[self._alphabet.start]
        positions = reading & self._first
        while (more := positions | reading & gathered(self._left.follow, positions)) != positions:
            positions = more
        return Left(positions, False)

    def through(self, left: Left, read: Sequence[int]) -> Left:
        """The state of left contexts after characters of the given classes are read."""
        positions, word = left
        for each in read:
            begun = self._first | (self._edge_first if word != self._alphabet.words[each] else 0)
            positions = self._left.reading[each] & (begun | gathered(self._left.follow, positions))
            word = self._alphabet.words[each]
        return Left(positions, word)

    def held(self, left: Left, word: bool) -> int:
        """The mask of the rules whose left context holds before a character; `word`: whether this is a word character."""
        found: int = self._held(left.positions)
        return found | self._held_at_edge(left.positions) if left.word != word else found

    def ended(self) -> Right:
        """The state of right contexts at the end of a text."""
        right = self.before(Right(0, 0, 0, False), self._alphabet.end)
        while (repeated := self.before(right, self._alphabet.end)) != right:  # an expression may read the end of the text twice
            right = repeated
        return right

    def before(self, right: Right, read: int) -> Right:
        """The state of right contexts before a character of a class."""
        ending = self._last | (self._edge_last if right.word != self._alphabet.words[read] else 0)
        entered = self._right.reading[read] & (right.positions | ending)
        holding = self._always | (rules_of(self._rights, lambda part: part.first & entered) if entered else 0)
        at_edge = self._always_at_edge | (rules_of(self._rights, lambda part: part.edge_first & entered) if entered else 0)
        return Right(gathered(self._before, entered), holding, at_edge, self._alphabet.words[read])

    def holding(self, right: Right, word: bool) -> int:
        """The mask of the rules whose right context holds after a character; `word`: whether this is a word character."""
        return right.holding | right.at_edge if right.word != word else right.holding


def all_of(masks: Iterable[int]) -> int:
    """The union of masks."""
    found = 0
    for mask in masks:
        found |= mask
    return found


def rules_of(parts: Sequence[Part], holds: Callable[[Part], Any]) -> int:
    """The mask of the rules whose part satisfies a condition."""
    return all_of(1 << rule for rule, part in enumerate(parts) if holds(part))


def gathered(masks: Sequence[int], positions: int) -> int:
    """The union of the masks of some positions."""
    found = 0
    while positions:  # the same loop as in `bits`, but three times as fast
        low = positions & -positions
        found |= masks[low.bit_length() - 1]
        positions ^= low
    return found


def _shared(reading: Sequence[Any]) -> list[int]:
    """For each class, the first class with the same positions and of the same kind."""
    first: dict[Any, int] = {}
    return [first.setdefault(positions, read) for read, positions in enumerate(reading)]
