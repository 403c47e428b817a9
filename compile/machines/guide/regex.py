"""Automata over bytes from regular expressions: Thompson's construction over the tree of a pattern, made deterministic and minimal."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from collections.abc import Sequence as Items
from dataclasses import replace
from functools import lru_cache

from fst.compile.machines.guide.builder import MAX_STATES as MAX_BUILT
from fst.compile.machines.guide.builder import Builder
from fst.compile.machines.guide.languages import MAX_STATES, ByteAutomaton, Language, of_builder
from fst.compile.machines.guide.part_builder import PartBuilder
from fst.compile.machines.guide.utf_8 import fragment
from fst.compile.patterns.parser import END_OF_TEXT, Parser
from fst.compile.patterns.sets import ANY, Dialect, Flags
from fst.compile.patterns.tree import Atomic, Characters, Choice, Leaf, LookAhead, LookBehind, Node, Repeat, Sequence, children, walk
from fst.errors import UnsupportedError, quoted
from fst.machines.guide.parts import Part

AddLeaf = Callable[[Leaf, int], int]  # adds the texts of a leaf after a state; returns the state after them

STARTS = ("^", "\\A")
NAMES = {Atomic: "an atomic group or possessive repetition", LookAhead: "a look-ahead", LookBehind: "a look-behind"}


def from_regex(pattern: str) -> ByteAutomaton:
    r"""The automaton of all texts, in UTF-8, that a pattern matches as a whole.

    Args:
        pattern: a regular expression in the syntax of Rust's ``regex``: characters, escapes, sets, groups, alternatives and repeats. The
            anchors ``^``, ``$``, ``\A`` and ``\z`` may begin and end the pattern and its alternatives, where they change nothing.

    Raises:
        UnsupportedError: the pattern is malformed, matches nothing, or has another construct, which the message names; or the automaton has
            too many states, and the message contains the part of the pattern that causes them.

    Examples:
        >>> from_regex("^[ab]{2}$").targets.shape
        (3, 256)
    """
    language = Pattern(pattern).language()
    if language.is_empty:
        raise _without_text(pattern)
    return language.over_bytes()


def part_of_regex(pattern: str) -> Part:
    """The part of all texts, in UTF-8, that a pattern matches as a whole, the empty text included. The arguments and errors are those of
    `from_regex`, but counts may be large.
    """
    part = Pattern(pattern).part()
    if part is None:
        raise _without_text(pattern)
    return part


def _without_text(pattern: str) -> UnsupportedError:
    return UnsupportedError(f"the pattern {quoted(pattern)} matches no text; expected one that does")


@lru_cache(maxsize=1 << 10)
def whole(pattern: str) -> Language:
    """The language of all texts that a pattern matches as a whole. Errors are those of `from_regex`."""
    return Pattern(pattern).language()


class _Parser(Parser):
    """A parser that keeps the position in the pattern of each part of the tree."""

    def __init__(self, pattern: str, dialect: Dialect) -> None:
        super().__init__(pattern, dialect)
        self.places: dict[Node, tuple[int, int]] = {}

    def repeated(self, flags: Flags) -> Node:
        """Read an atom and its quantifiers."""
        before = self.place
        node = super().repeated(flags)
        return self._kept(node, before)

    def atom(self, flags: Flags) -> Node:
        """Read a group, a bracket, an escape or a character."""
        before, node = self.place, super().atom(flags)
        if node is END_OF_TEXT:
            node = replace(node)  # so that each character has a position
        return self._kept(node, before)

    def _kept(self, node: Node, before: int) -> Node:
        for part in walk(node):
            self.places.setdefault(part, (before, self.place))
        return node


class Pattern:
    """A parsed pattern."""

    def __init__(self, pattern: str) -> None:
        parser = _Parser(pattern, "fancy-regex")
        self._pattern, self._places = pattern, parser.places
        tree = parser.tree()
        alternatives = tree.parts if isinstance(tree, Choice) else (tree,)
        self.tree = Choice(tuple(unanchored(part)[1] for part in alternatives))
        for node in walk(self.tree):
            if type(node) in NAMES:
                raise UnsupportedError(f"the pattern has {NAMES[type(node)]}, {self._quoted([node])}, which is not supported; remove it")

    def language(self) -> Language:
        """The language of the pattern."""
        found = language_of([self.tree])
        if found is None:
            found_in = self._quoted(self._too_large())
            raise UnsupportedError(f"the pattern has more than {MAX_STATES:,} states, in {found_in}; lower its counts")
        return found

    def part(self) -> Part | None:
        """The part of the pattern; None if it has no text."""
        builder = PartBuilder()
        start = builder.state()
        return builder.part(start, [builder.node(self.tree, start)])

    def _quoted(self, parts: Items[Node]) -> str:
        """The text of adjacent parts in the pattern, and its position."""
        whole = (0, len(self._pattern))
        first, last = self._places.get(parts[0], whole)[0], self._places.get(parts[-1], whole)[1]
        return f"{quoted(self._pattern[first:last])} at character {first}"

    def _too_large(self) -> Items[Node]:
        """The smallest run of adjacent parts that by itself has too many states."""
        parts: Items[Node] = [self.tree]
        while len(parts) == 1:
            inner = children(parts[0])
            runs = [inner] if isinstance(parts[0], Sequence) else [[child] for child in inner]
            larger = next((run for run in runs if run and language_of(run) is None), None)
            if larger is None:
                break
            parts = _shortened(larger)
        return parts


def unanchored(node: Node) -> tuple[bool, Node, bool]:
    """Whether a node begins with the start of the text; the node without these assertions; and whether it ends with the end of the text."""
    parts = node.parts if isinstance(node, Sequence) else (node,)
    first, last = 0, len(parts)
    while first < last and _is_start(parts[first]):
        first += 1
    while last > first and _is_end(parts[last - 1]):
        last -= 1
    inner = node if last - first == len(parts) else Sequence(parts[first:last])
    return first > 0, inner, last < len(parts)


def _is_start(node: Node) -> bool:
    return isinstance(node, LookBehind) and node.name in STARTS and node.edges is ANY


def _is_end(node: Node) -> bool:
    return isinstance(node, LookAhead) and node.negative and node.body is END_OF_TEXT.body


def _shortened(parts: Items[Node]) -> Items[Node]:
    """A shortest run of adjacent parts that has too many states."""
    end = _least(len(parts), lambda count: language_of(parts[:count]) is None)
    return parts[end - _least(end, lambda count: language_of(parts[end - count : end]) is None) : end]


def _least(most: int, is_enough: Callable[[int], bool]) -> int:
    """The smallest number from 1 that is enough; the caller ensures that `most` is enough, and each number above one that is enough."""
    return 1 + bisect_left(range(1, most), True, key=is_enough)


def language_of(parts: Items[Node]) -> Language | None:
    """The language of adjacent parts; None if it has too many states."""
    if sum(map(size, parts)) > MAX_BUILT:
        return None
    builder = Builder()
    try:
        start = builder.state()
        return of_builder(builder, start, _chain(builder, parts, start))
    except UnsupportedError:
        return None


def size(node: Node) -> int:
    """The number of parts of a node after its repeats are written out."""
    inner = sum(map(size, children(node)))
    return inner * max(node.least + 1, node.most or 0) if isinstance(node, Repeat) else inner + 1


def _no_leaf(node: Leaf, start: int) -> int:
    raise AssertionError(f"{type(node).__name__} after state {start}")


def _chain(builder: Builder, parts: Items[Node], start: int, leaf: AddLeaf = _no_leaf) -> int:
    """Add parts one after the other; return the state after the last."""
    for part in parts:
        start = add(builder, part, start, leaf)
    return start


def add(builder: Builder, node: Node, start: int, leaf: AddLeaf = _no_leaf) -> int:
    """Add the texts of a node after a state; return the state after them, to which only these texts lead."""
    if isinstance(node, Characters):
        end = builder.state()
        builder.character(start, fragment(node.edges), end)
        return end
    if isinstance(node, Sequence):
        return _chain(builder, node.parts, start, leaf)
    if isinstance(node, Repeat):
        return _repeat(builder, node, start, leaf)
    if isinstance(node, Leaf):
        return leaf(node, start)
    assert isinstance(node, Choice)
    end = builder.state()
    for part in node.parts:
        builder.skip(add(builder, part, start, leaf), end)
    return end


def _repeat(builder: Builder, node: Repeat, start: int, leaf: AddLeaf) -> int:
    for _ in range(node.least):
        start = add(builder, node.body, start, leaf)
    if node.most is None:
        loop, end = builder.state(), builder.state()
        builder.skip(start, loop)
        builder.skip(add(builder, node.body, loop, leaf), loop)
        builder.skip(loop, end)
        return end
    if node.most > node.least:
        end = builder.state()
        builder.skip(start, end)
        for _ in range(node.least, node.most):
            start = add(builder, node.body, start, leaf)
            builder.skip(start, end)
        return end
    return start
