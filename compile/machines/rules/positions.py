r"""Regular expressions as automata of positions: a position is one occurrence of a character set in an expression.

The positions of several expressions share one numbering. Sets of positions are bit masks. The ends of a text are characters of their own:
``^`` and ``$`` are positions that read such a character.

Source: Glushkov 1961, *The abstract theory of automata*.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from fst.compile.machines.rules.syntax import is_end, is_start
from fst.compile.patterns.budget import Budget
from fst.compile.patterns.code_points import Classes, Set
from fst.compile.patterns.tree import Characters, Choice, Node, Repeat, walk
from fst.compile.patterns.tree import Sequence as Concatenation


class Part(NamedTuple):
    """An expression of the automaton.

    Attributes:
        first, last: masks of the positions that read the first character of a match, and the last.
        nullable: whether the expression matches the empty string.
    """

    first: int
    last: int
    nullable: bool


EMPTY = Part(0, 0, True)


class Alphabet:
    """The classes of characters that the sets of some expressions distinguish, and one class for each end of a text.

    Attributes:
        classes: the classes of code points.
        size: the number of classes, without those of the ends.
        start, end: the classes of the ends.
    """

    def __init__(self, sets: Sequence[Set]) -> None:
        self.classes = Classes.of(sets)
        self.size = self.classes.held.shape[1]
        self.start, self.end = self.size, self.size + 1
        self._masks = {id(edges): _mask(held) for edges, held in zip(sets, self.classes.held, strict=True)}

    def of_set(self, edges: Set) -> int:
        """The mask of the classes of a set."""
        return self._masks[id(edges)]

    def of_text(self, text: str) -> list[int]:
        """The class of each character of a text."""
        runs = np.searchsorted(self.classes.starts, [ord(char) for char in text], side="right") - 1
        found: list[int] = self.classes.numbers[runs].tolist() if text else []
        return found


class Positions:
    """The positions of some expressions.

    Attributes:
        reading: for each class, the mask of the positions that read it.
        follow: for each position, the mask of the positions that may read the next character.
    """

    def __init__(self, alphabet: Alphabet, budget: Budget) -> None:
        self._alphabet, self._budget = alphabet, budget
        self.reading = [0] * (alphabet.size + 2)
        self.follow: list[int] = []

    def add(self, node: Node) -> Part:
        """Add the positions of an expression."""
        if isinstance(node, Characters):
            return self._position(self._alphabet.of_set(node.edges))
        if is_start(node) or is_end(node):
            return self._position(1 << (self._alphabet.start if is_start(node) else self._alphabet.end))
        if isinstance(node, Concatenation):
            return self._joined(self.add(part) for part in node.parts)
        if isinstance(node, Choice):
            parts = [self.add(part) for part in node.parts]
            return Part(_union(part.first for part in parts), _union(part.last for part in parts), any(part.nullable for part in parts))
        assert isinstance(node, Repeat)
        return self._joined(self._repeated(node))

    def before(self) -> list[int]:
        """For each position, the mask of the positions that it may follow."""
        found = [0] * len(self.follow)
        for position, followers in enumerate(self.follow):
            for follower in bits(followers):
                found[follower] |= 1 << position
        return found

    def _position(self, classes: int) -> Part:
        self._budget.take(1 + len(self.follow) // 64)
        own = 1 << len(self.follow)
        self.follow.append(0)
        for read in bits(classes):
            self.reading[read] |= own
        return Part(own, own, False)

    def _joined(self, parts: Iterator[Part]) -> Part:
        first, last, nullable = EMPTY
        for part in parts:
            self._link(last, part.first)
            first |= part.first if nullable else 0
            last = part.last | (last if part.nullable else 0)
            nullable = nullable and part.nullable
        return Part(first, last, nullable)

    def _repeated(self, node: Repeat) -> Iterator[Part]:
        """The parts of a repetition: the required parts, and then the optional ones."""
        required = max(node.least, 1) - 1 if node.most is None else node.least
        for _ in range(required):
            yield self.add(node.body)
        if node.most is None:
            part = self.add(node.body)
            self._link(part.last, part.first)
            yield part._replace(nullable=part.nullable or node.least == 0)
            return
        for _ in range(node.most - required):
            yield self.add(node.body)._replace(nullable=True)

    def _link(self, last: int, first: int) -> None:
        for position in bits(last):
            self.follow[position] |= first


def sets_of(trees: Sequence[Node]) -> list[Set]:
    """The character sets of some expressions; those of assertions are left out."""
    return [node.edges for tree in trees for node in walk(tree) if isinstance(node, Characters)]


def bits(mask: int) -> Iterator[int]:
    """The numbers of the bits of a mask, ascending.

    >>> [*bits(0b10110)]
    [1, 2, 4]
    """
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _mask(held: np.ndarray) -> int:
    return int.from_bytes(np.packbits(held, bitorder="little").tobytes(), "little")


def _union(masks: Iterator[int]) -> int:
    found = 0
    for mask in masks:
        found |= mask
    return found
