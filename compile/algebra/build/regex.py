"""Acceptors from regular expressions, which the pattern front end parses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from math import inf

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CODE_POINTS
from fst.compile.algebra.arcs import ANOTHER, EPSILON, FIRST_SYMBOL, OTHER, Arcs, make
from fst.compile.algebra.forms.epsilon import remove_epsilon
from fst.compile.patterns.code_points import EMPTY, SURROGATES, Set, complement, intersection, members, of_runs, of_text, union
from fst.compile.patterns.parser import parse
from fst.compile.patterns.tree import Characters, Choice, Node, Repeat, Sequence, walk
from fst.errors import UnsupportedError, quoted

MAX_STATES, MAX_ARCS = 1 << 17, 1 << 24
TEXT = complement(of_runs([(0, 0), SURROGATES]))  # the characters of texts, without label 0
FIRST_LETTER, END_OF_LETTERS = 0xF0000, 0xFFFFE  # private characters that represent symbols of several characters in a pattern


def from_regex(pattern: str, alphabet: Iterable[str] | None = None, symbols: Iterable[str] = ()) -> Arcs:
    """The acceptor of all strings that a pattern matches as a whole, without ε-arcs; see `fst.Fst.from_regex`."""
    listed = None if alphabet is None else [*alphabet]
    names = tuple(dict.fromkeys(name for name in (*symbols, *(listed or [])) if len(name) > 1))
    letters = {name: chr(FIRST_LETTER + number) for number, name in enumerate(names)}
    if len(letters) > END_OF_LETTERS - FIRST_LETTER:
        raise UnsupportedError(f"the symbols are {len(letters):,}; expected at most {END_OF_LETTERS - FIRST_LETTER:,}")
    if letters and max(pattern, default="") >= chr(FIRST_LETTER):
        raise UnsupportedError(f"the pattern has {quoted(max(pattern))}; with symbols, expected characters below U+{FIRST_LETTER:X}")
    tree = parse(_with_letters(pattern, letters), "fancy-regex")
    chars = None if listed is None else intersection(TEXT, of_text([letters.get(name, name) for name in listed]))
    return _with_symbols(from_tree(tree, chars, of_text(letters.values())), names)


def from_tree(tree: Node, alphabet: Set | None, named: Set = EMPTY) -> Arcs:
    """The acceptor of all strings that a parsed pattern matches as a whole, without ε-arcs. Sets contain characters of the alphabet.

    Without an alphabet, a set of most characters becomes arcs for any other symbol, and for the characters that are `named`, by the caller
    or in the pattern.
    """
    builder = _Builder(alphabet, union(named, _named(tree)))
    start, end = builder.state(), builder.state()
    builder.add(tree, start, end)
    return remove_epsilon(builder.machine(start, end))


def _with_letters(pattern: str, letters: Mapping[str, str]) -> str:
    """The pattern with a letter in place of each symbol of several characters, the longest first. An escaped character begins no symbol."""
    parts = re.compile("|".join([r"\\.", *map(re.escape, sorted(letters, key=len, reverse=True))]), re.DOTALL)
    return parts.sub(lambda found: letters.get(found[0], found[0]), pattern)


def _with_symbols(arcs: Arcs, names: tuple[str, ...]) -> Arcs:
    """The acceptor with symbols instead of letters."""
    if not names:
        return arcs
    is_letter = (arcs.ilabel >= FIRST_LETTER) & (arcs.ilabel < FIRST_LETTER + len(names))
    symbols = (*(name for name in arcs.symbols if not FIRST_LETTER <= ord(name[0]) < FIRST_LETTER + len(names)), *names)
    first = FIRST_SYMBOL + len(symbols) - len(names)
    labels = np.where(is_letter, arcs.ilabel - FIRST_LETTER + first, arcs.ilabel)
    return make(arcs.sources, labels, labels, arcs.target, None, arcs.final, arcs.start, symbols)


def _named(tree: Node) -> Set:
    """The characters that a pattern names: those of sets with few characters, and those that sets with many characters exclude."""
    sets = [node.edges for node in walk(tree) if isinstance(node, Characters)]
    return intersection(TEXT, union(*(complement(edges) if _is_open(edges) else edges for edges in sets)))


def _is_open(edges: Set) -> bool:
    """Whether a set contains most characters."""
    return bool(np.diff(edges.reshape(-1, 2)).sum() > CODE_POINTS // 2)


class _Builder:
    """Thompson's construction: each node of a tree becomes arcs between two states. Without an alphabet, `named` are the characters of sets
    with most characters, next to any other symbol.
    """

    def __init__(self, alphabet: Set | None, named: Set) -> None:
        self._alphabet, self._named = alphabet, named
        self._states = self._arcs = 0
        self._columns: list[tuple[int, NDArray[np.int64], int]] = []
        self._members: dict[bytes, NDArray[np.int64]] = {}  # the labels of each distinct set

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
        """The labels of the characters of a set that are in the alphabet."""
        key = edges.tobytes()
        if key not in self._members:
            is_open = self._alphabet is None and _is_open(edges)
            limits = self._alphabet if self._alphabet is not None else self._named if is_open else TEXT
            self._members[key] = np.append(members(intersection(edges, limits)), [FIRST_SYMBOL] * is_open)
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
        symbols = (OTHER, ANOTHER, *map(chr, members(self._named).tolist())) if (labels == FIRST_SYMBOL).any() else ()
        return make(sources, labels, labels, targets, None, final, start, symbols)
