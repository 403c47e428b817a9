r"""Patterns as trees over sets of code points.

There are two assertions: `LookAhead`, and `LookBehind`, which tests one character. Other assertions are composed of these two: ``$`` is a
look-ahead, ``^`` is a look-behind, and ``\b`` is a choice of sequences of a look-behind and a look-ahead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fst.compile.patterns.code_points import Set


@dataclass(frozen=True, eq=False)
class Characters:
    """A node that matches one character of a set.

    Attributes:
        letter: the character, if the node is a single character of the pattern and ignores case; otherwise "".
    """

    edges: Set
    letter: str = ""


@dataclass(frozen=True, eq=False)
class Sequence:
    """Parts that match one after the other. An empty sequence matches the empty string."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Choice:
    """Alternatives in order of preference: the first alternative with which the complete pattern matches is used."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Repeat:
    """A part that is repeated as often as possible or, if lazy, as rarely as possible. If `most` is None, there is no maximum."""

    body: Node
    least: int
    most: int | None
    lazy: bool = False


@dataclass(frozen=True, eq=False)
class Atomic:
    """A part whose first match is final: the search does not backtrack into it. A possessive repetition is an atomic group."""

    body: Node


@dataclass(frozen=True, eq=False)
class LookAhead:
    """An assertion that the text after the current position matches a part or, if negative, does not match this part."""

    body: Node
    negative: bool


@dataclass(frozen=True, eq=False)
class LookBehind:
    """An assertion that the previous character is in a set or, if negative, is not. The start of a text counts as a character in no set.

    Attributes:
        name: the construct in the pattern, for messages.
    """

    edges: Set
    negative: bool
    name: str


@dataclass(frozen=True, eq=False)
class Leaf:
    """The base of nodes that only some languages have, such as the call of a rule in a grammar. No pattern has one."""

    @property
    def parts(self) -> tuple[Node, ...]:
        """The nodes below the node."""
        return ()


Node = Characters | Sequence | Choice | Repeat | Atomic | LookAhead | LookBehind | Leaf


def children(node: Node) -> tuple[Node, ...]:
    """The parts of a node."""
    if isinstance(node, Sequence | Choice | Leaf):
        return node.parts
    return (node.body,) if isinstance(node, Repeat | Atomic | LookAhead) else ()


def walk(node: Node) -> Iterator[Node]:
    """A node and all nodes below it, each before its parts."""
    work = [node]
    while work:
        node = work.pop()
        yield node
        work += reversed(children(node))


def matches_nothing(node: Node) -> bool:
    """Whether a node can match the empty string."""
    if isinstance(node, Sequence):
        return all(map(matches_nothing, node.parts))
    if isinstance(node, Choice):
        return any(map(matches_nothing, node.parts))
    if isinstance(node, Repeat):
        return node.least == 0 or matches_nothing(node.body)
    return matches_nothing(node.body) if isinstance(node, Atomic) else not isinstance(node, Characters)


def reads_nothing(node: Node) -> bool:
    """Whether a node matches only the empty string."""
    if isinstance(node, Sequence | Choice):
        return all(map(reads_nothing, node.parts))
    return reads_nothing(node.body) if isinstance(node, Repeat | Atomic) else not isinstance(node, Characters)
