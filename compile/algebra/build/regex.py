"""Acceptors from regular expressions, which the pattern front end parses."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

import numpy as np
from numpy.typing import NDArray

from fst.compile.algebra.arcs import EPSILON, Arcs, make
from fst.compile.algebra.forms.epsilon import remove_epsilon
from fst.compile.patterns.code_points import SURROGATES, Set, complement, intersection, members, of_runs, of_text
from fst.compile.patterns.parser import parse
from fst.compile.patterns.tree import Characters, Choice, Node, Repeat, Sequence
from fst.errors import UnsupportedError

MAX_STATES, MAX_ARCS = 1 << 17, 1 << 24
TEXT = complement(of_runs([(0, 0), SURROGATES]))  # the characters of texts, without label 0


def from_regex(pattern: str, alphabet: Iterable[str] | None = None) -> Arcs:
    """The acceptor of all strings that a pattern matches as a whole, without ε-arcs. `alphabet` is the characters in sets such as ``.`` or
    ``[^a]``; None: all of Unicode, one arc each.
    """
    return from_tree(parse(pattern, "fancy-regex"), TEXT if alphabet is None else intersection(TEXT, of_text(alphabet)))


def from_tree(tree: Node, alphabet: Set = TEXT) -> Arcs:
    """The acceptor of all strings that a parsed pattern matches as a whole, without ε-arcs. Sets contain characters of the alphabet."""
    builder = _Builder(alphabet)
    start, end = builder.state(), builder.state()
    builder.add(tree, start, end)
    return remove_epsilon(builder.machine(start, end))


class _Builder:
    """Thompson's construction: each node of a tree becomes arcs between two states."""

    def __init__(self, alphabet: Set) -> None:
        self._alphabet = alphabet
        self._states = self._arcs = 0
        self._columns: list[tuple[int, NDArray[np.int64], int]] = []
        self._members: dict[bytes, NDArray[np.int64]] = {}  # the members of each distinct set

    def state(self) -> int:
        """Add a state."""
        self._states += 1
        return self._states - 1

    def add(self, node: Node, start: int, end: int) -> None:
        """Add the strings of a node between two states."""
        if isinstance(node, Characters):
            self._arc(start, self._labels(node.edges), end)
        elif isinstance(node, Choice):
            for part in node.parts:
                self.add(part, start, end)
        elif isinstance(node, Sequence):
            self._chain(node.parts, start, end)
        elif isinstance(node, Repeat):
            self._repeat(node, start, end)
        else:
            raise UnsupportedError(f"the pattern has a construct of type {type(node).__name__}; expected characters, groups and repeats")

    def _chain(self, parts: tuple[Node, ...], start: int, end: int) -> None:
        for part in parts:
            following = self.state()
            self.add(part, start, following)
            start = following
        self._epsilon(start, end)

    def _repeat(self, node: Repeat, start: int, end: int) -> None:
        for _ in range(node.least):
            following = self.state()
            self.add(node.body, start, following)
            start = following
        if node.most is None:
            loop = self.state()
            self._epsilon(start, loop)
            self.add(node.body, loop, loop)
            start = loop
        for _ in range(node.least, node.most or 0):
            following = self.state()
            self._epsilon(start, end)
            self.add(node.body, start, following)
            start = following
        self._epsilon(start, end)

    def _labels(self, edges: Set) -> NDArray[np.int64]:
        """The characters of a set that are in the alphabet."""
        key = edges.tobytes()
        if key not in self._members:
            self._members[key] = members(intersection(edges, self._alphabet))
        return self._members[key]

    def _epsilon(self, start: int, end: int) -> None:
        self._arc(start, np.array([EPSILON]), end)

    def _arc(self, start: int, labels: NDArray[np.int64], end: int) -> None:
        self._columns.append((start, labels, end))
        self._arcs += len(labels)
        if self._arcs > MAX_ARCS or self._states > MAX_STATES:
            most = f"{MAX_STATES:,} states and {MAX_ARCS:,} arcs"
            raise UnsupportedError(f"the pattern has more than {most}; lower its counts, or pass an alphabet")

    def machine(self, start: int, end: int) -> Arcs:
        """The machine with the arcs so far."""
        lengths = [len(labels) for _, labels, _ in self._columns]
        sources, targets = (np.repeat([column[side] for column in self._columns], lengths) for side in (0, 2))
        labels = np.concatenate([np.empty(0, np.int64), *(column[1] for column in self._columns)])
        final = [0.0 if state == end else inf for state in range(self._states)]
        return make(sources, labels, labels, targets, None, final, start)
