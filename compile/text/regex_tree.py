r"""Patterns as trees over sets of code points.

There are two assertions, `LookAhead` and `LookBehind`; the latter sees one character. The others are made of them: ``$`` is a look-ahead,
``^`` a look-behind, and ``\b`` a choice of both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fst.compile.text.code_points import Set


@dataclass(frozen=True, eq=False)
class Characters:
    """One character of a set.

    Attributes:
        letter: the character itself if the pattern spells it, and case counts for nothing; else empty.
    """

    edges: Set
    letter: str = ""


@dataclass(frozen=True, eq=False)
class Sequence:
    """One part after the other; none match nothing."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Choice:
    """The first part that lets the whole pattern match."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Repeat:
    """A part repeated; `most` is None if there is no bound. It takes as many as it can, or as few if it is lazy."""

    body: Node
    least: int
    most: int | None
    lazy: bool = False


@dataclass(frozen=True, eq=False)
class Atomic:
    """The first match of a part, which is not given up for a later one. A possessive repetition is this."""

    body: Node


@dataclass(frozen=True, eq=False)
class LookAhead:
    """What follows matches a part, or does not."""

    body: Node
    negative: bool


@dataclass(frozen=True, eq=False)
class LookBehind:
    """The character before is in a set, or is not; at the beginning of the text it is not.

    Attributes:
        name: the construct, for messages.
    """

    edges: Set
    negative: bool
    name: str


Node = Characters | Sequence | Choice | Repeat | Atomic | LookAhead | LookBehind


def children(node: Node) -> tuple[Node, ...]:
    """The parts of a node."""
    if isinstance(node, Sequence | Choice):
        return node.parts
    return (node.body,) if isinstance(node, Repeat | Atomic | LookAhead) else ()


def walk(node: Node) -> Iterator[Node]:
    """A node and all below it."""
    yield node
    for child in children(node):
        yield from walk(child)


def matches_nothing(node: Node) -> bool:
    """Whether a node can match without a character."""
    if isinstance(node, Sequence):
        return all(map(matches_nothing, node.parts))
    if isinstance(node, Choice):
        return any(map(matches_nothing, node.parts))
    if isinstance(node, Repeat):
        return node.least == 0 or matches_nothing(node.body)
    return matches_nothing(node.body) if isinstance(node, Atomic) else not isinstance(node, Characters)
