r"""Regular expressions as automata of positions: a position is one occurrence of a character set in an expression.

The positions of several expressions share one numbering. Sets of positions are bit masks. The ends of a text are characters of their own:
``^`` and ``$`` are positions that read such a character.

If expressions contain ``\b``, the edge of a word, each position reads only word characters or only other characters; the ends of a text are
other characters. So the edge of a word needs no position: it is between two positions of different kinds.

Source: Glushkov 1961, *The abstract theory of automata*.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from fst.compile.machines.rules.syntax import is_edge, is_end, is_start, word_of
from fst.compile.patterns.budget import Budget
from fst.compile.patterns.code_points import Classes, Set
from fst.compile.patterns.tree import Characters, Choice, Node, Repeat, walk
from fst.compile.patterns.tree import Sequence as Concatenation
from fst.errors import UnsupportedError


class Part(NamedTuple):
    """A part of an expression.

    Attributes:
        first, last: the mask of the positions that read the first character of a match, and the mask of the positions that read its last
            character.
        nullable: whether the expression matches the empty string.
        edge_first, edge_last, edge_nullable: like `first`, `last` and `nullable`, for matches with the edge of a word before the first
            character, after the last character, or at an empty match.
    """

    first: int = 0
    last: int = 0
    nullable: bool = False
    edge_first: int = 0
    edge_last: int = 0
    edge_nullable: bool = False


EMPTY, EDGE = Part(nullable=True), Part(edge_nullable=True)


class Alphabet:
    """The classes of characters that the sets of some expressions distinguish, and one class for each end of a text.
    `word` is the set of word characters, if the expressions contain the edge of a word.

    Attributes:
        classes: the classes of code points.
        size: the number of classes, not counting the ends of a text.
        start, end: the classes of the start and the end of a text.
        words: for each class and both ends, whether it consists of word characters; without `word`, always False.
        word_classes: the mask of the classes of word characters.
    """

    def __init__(self, sets: Sequence[Set], word: Set | None = None) -> None:
        sets = [*sets, *([] if word is None else [word])]
        self.classes = Classes.of(sets)
        self.size = self.classes.held.shape[1]
        self.start, self.end = self.size, self.size + 1
        self.word_classes = 0 if word is None else _mask(self.classes.held[-1])
        self.words = [bool(self.word_classes >> read & 1) for read in range(self.size + 2)]
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
        self._words = 0  # the mask of the positions that read word characters

    def add_whole(self, node: Node) -> Part:
        """Add the positions of a complete expression."""
        part = self.add(node)
        self._check_edge(part.edge_last, part.edge_first)
        return part

    def add(self, node: Node) -> Part:
        """Add the positions of an expression."""
        if isinstance(node, Characters):
            return self._of_classes(self._alphabet.of_set(node.edges))
        if is_start(node) or is_end(node):
            return self._position(1 << (self._alphabet.start if is_start(node) else self._alphabet.end))
        if is_edge(node):
            return EDGE
        if isinstance(node, Concatenation):
            return self._joined(self.add(part) for part in node.parts)
        if isinstance(node, Choice):
            return _united(self.add(part) for part in node.parts)
        assert isinstance(node, Repeat)
        return self._joined(self._repeated(node))

    def before(self) -> list[int]:
        """For each position, the mask of the positions that it may follow."""
        found = [0] * len(self.follow)
        for position, followers in enumerate(self.follow):
            for follower in bits(followers):
                found[follower] |= 1 << position
        return found

    def _of_classes(self, classes: int) -> Part:
        """Add one position for the word characters of some classes, and one for the other characters."""
        kinds = classes & self._alphabet.word_classes, classes & ~self._alphabet.word_classes
        return _united(self._position(kind) for kind in kinds if kind or not classes)

    def _position(self, classes: int) -> Part:
        self._budget.take(1 + len(self.follow) // 64)
        own = 1 << len(self.follow)
        self.follow.append(0)
        for read in bits(classes):
            self.reading[read] |= own
        self._words |= own if classes & self._alphabet.word_classes else 0
        return Part(own, own)

    def _joined(self, parts: Iterator[Part]) -> Part:
        found = EMPTY
        for part in parts:
            self._link(found.last, part.first)
            self._link_at_edge(found.last, part.edge_first)
            self._link_at_edge(found.edge_last, part.first | part.edge_first)
            found = _sequence(found, part)
        return found

    def _repeated(self, node: Repeat) -> Iterator[Part]:
        """The parts of a repetition: the required parts, and then the optional ones."""
        required = max(node.least, 1) - 1 if node.most is None else node.least
        for _ in range(required):
            yield self.add(node.body)
        if node.most is None:
            part = self.add(node.body)
            self._link(part.last, part.first)
            self._link_at_edge(part.last, part.edge_first)
            self._link_at_edge(part.edge_last, part.first | part.edge_first)
            yield part._replace(nullable=part.nullable or node.least == 0)
            return
        for _ in range(node.most - required):
            yield self.add(node.body)._replace(nullable=True)

    def _link(self, last: int, first: int) -> None:
        for position in bits(last):
            self.follow[position] |= first

    def _link_at_edge(self, last: int, first: int) -> None:
        """Link positions of different kinds: word characters and other characters."""
        if last and first:
            self._check_edge(last, first)
            self._link(last & self._words, first & ~self._words)
            self._link(last & ~self._words, first & self._words)

    def _check_edge(self, last: int, first: int) -> None:
        if last & self.reading[self._alphabet.end] or first & self.reading[self._alphabet.start]:
            raise UnsupportedError(r"a context has '\b' before '^' or after '$'; expected '^\b' or '\b$'")


def _sequence(one: Part, two: Part) -> Part:
    """The expression that matches one part and then the other."""
    return Part(
        one.first | (two.first if one.nullable else 0),
        two.last | (one.last if two.nullable else 0),
        one.nullable and two.nullable,
        one.edge_first | (two.edge_first if one.nullable else 0) | (two.first | two.edge_first if one.edge_nullable else 0),
        two.edge_last | (one.edge_last if two.nullable else 0) | (one.last | one.edge_last if two.edge_nullable else 0),
        (one.nullable or one.edge_nullable) and (two.nullable or two.edge_nullable),
    )


def _united(parts: Iterable[Part]) -> Part:
    """The expression that matches one of several parts."""
    found = Part()
    for part in parts:
        found = Part(
            found.first | part.first,
            found.last | part.last,
            found.nullable or part.nullable,
            found.edge_first | part.edge_first,
            found.edge_last | part.edge_last,
            found.edge_nullable or part.edge_nullable,
        )
    return found


def sets_of(trees: Sequence[Node]) -> list[Set]:
    """The character sets of some expressions."""
    return [node.edges for tree in trees for node in walk(tree) if isinstance(node, Characters)]


def word_in(trees: Sequence[Node]) -> Set | None:
    """The set of word characters, if expressions contain the edge of a word."""
    return next((word_of(node) for tree in trees for node in walk(tree) if is_edge(node)), None)


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
