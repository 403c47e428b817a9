"""Machines from trees of paths: each path begins at a root and leads to another root or to the end."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.hashing import Pool
from fst.compile.algebra.arcs import EPSILON, Arcs, Columns, columns_of, joined, make
from fst.compile.algebra.kernels.room import SizeError
from fst.compile.algebra.symbols import with_shared_symbols
from fst.core.jit import Deferred

MAX_NODES, MAX_ARCS = 1 << 21, 1 << 22  # of Debian's dictionaries, the Turkish one needs the most: 274,229 and 1,409,108

share = Deferred("fst.compile.algebra.kernels.sharing", "share")


class Open(NamedTuple):
    """The nodes on the path of the latest string, for `fst.compile.algebra.kernels.sharing`.

    Attributes:
        path: int32[depths], the symbols of the path.
        bottom: int64[depths], the first arc of the node at each depth; 0 at depth 0.
        arcs: uint64[n], the arcs of all open nodes, in the order of their depths.
    """

    path: NDArray[np.int32]
    bottom: NDArray[np.int64]
    arcs: NDArray[np.uint64]

    @classmethod
    def of(cls, longest: int, arcs: int) -> Open:
        """No open nodes; the arrays have room for strings of up to `longest` symbols."""
        return cls(np.empty(longest + 1, np.int32), np.zeros(longest + 1, np.int64), np.empty(arcs, np.uint64))


def shared(
    strings: list[str], trees: NDArray[np.int64], follow_start: NDArray[np.int64], follows: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.int32]]:
    """The nodes of trees of strings: int64[nodes + 1], the first arc of each node; uint64[arcs], the arcs; and int32[trees], the root node
    of each tree.

    Args:
        strings: the strings of all trees; the strings of one tree are distinct and sorted.
        trees: int64[trees + 1], the first string of each tree.
        follow_start: int64[strings + 1], and follows: int32[n], the numbers of the continuations of each string.
    """
    symbols = np.frombuffer("".join(strings).encode("utf-32-le"), np.uint32)
    lengths = np.fromiter(map(len, strings), np.int64, len(strings))
    starts = np.concatenate([[0], np.cumsum(lengths)])
    nodes = Pool.of(min(len(symbols) + len(trees), MAX_NODES), min(len(symbols) + len(follows), MAX_ARCS), np.uint64)
    roots = np.empty(len(trees) - 1, np.int32)
    opened = Open.of(int(lengths.max(initial=0)), len(strings) + len(follows) + 1)
    if not share.call(symbols, starts, trees, follow_start, follows, opened, nodes, roots):
        fault = f"the words and endings have more than {MAX_NODES:,} states or {MAX_ARCS:,} arcs; expected fewer"
        raise SizeError(fault, "split the source")
    return *nodes.rows(), roots


END = -1
FIRST_PAIR, END_OF_PAIRS = 0xF0000, 0x110000  # characters that represent pairs of labels
MAX_PATHS, MAX_SYMBOLS = 1 << 21, 1 << 24  # maximum numbers of paths and characters in all trees; a path takes some 400 bytes
MAX_ADDED = 1 << 22  # maximum number of calls of `Paths.add`
MAX_INSERTED = 1 << 22  # maximum number of arcs of all inserted machines


class Paths:
    """Trees of paths. A path is a string with a character for each pair of labels, so that one trie contains all trees.

    Examples:
        >>> paths = Paths()
        >>> root = paths.root()
        >>> paths.add(root, paths.copy("a") + paths.pairs([98, 99], [100]), END)
        >>> machine = paths.machine(root)
        >>> machine.ilabel.tolist(), machine.olabel.tolist()
        ([97, 98, 99], [97, 100, 0])
    """

    def __init__(self) -> None:
        self._trees: list[dict[str, int]] = []
        self._path, self._following, self._weight = list[int](), list[int](), list[float]()
        self._count = self._symbols = 0
        self._pairs: dict[tuple[int, int], str] = {}
        self._inserted, self._inserted_arcs = list[Arcs](), 0

    def root(self) -> int:
        """Add a tree; return its number, which is the state of its root."""
        self._trees.append({})
        return len(self._trees) - 1

    def copy(self, text: str) -> str:
        """The path that copies a text. A character represents itself, unless it represents a pair."""
        if max(text, default="") < chr(FIRST_PAIR):
            return text
        labels = [*map(ord, text)]
        return self.pairs(labels, labels)

    def pairs(self, read: Iterable[int], write: Iterable[int]) -> str:
        """The path that reads some labels and writes others. The first label read and the first label written are a pair, and so on; ε
        fills up the shorter side.
        """
        found = [self._pair(pair) for pair in zip_longest(read, write, fillvalue=EPSILON)]
        return "".join(found)

    def _pair(self, pair: tuple[int, int]) -> str:
        char = self._pairs.get(pair)
        if char is None:
            if len(self._pairs) == END_OF_PAIRS - FIRST_PAIR:
                fault = f"more than {END_OF_PAIRS - FIRST_PAIR:,} pairs of labels are different; expected fewer"
                raise SizeError(fault, "split the source")
            char = self._pairs[pair] = chr(FIRST_PAIR + len(self._pairs))
        return char

    def add(self, root: int, path: str, following: int, weight: float = 0.0) -> None:
        """Add a path from a root to another root, or to the end."""
        number = self._trees[root].setdefault(path, self._count)
        if number == self._count:
            self._count += 1
            self._symbols += len(path)
            if self._count > MAX_PATHS or self._symbols > MAX_SYMBOLS:
                fault = f"the words and endings have more than {MAX_PATHS:,} parts or {MAX_SYMBOLS:,} characters; expected fewer"
                raise SizeError(fault, "split the source")
        if len(self._path) == MAX_ADDED:
            raise SizeError(f"more than {MAX_ADDED:,} parts follow parts of words and endings; expected fewer", "split the source")
        self._path.append(number)
        self._following.append(following)
        self._weight.append(weight)

    def insert(self, root: int, arcs: Arcs, following: int, weight: float = 0.0) -> None:
        """Add all paths of a machine from a root to another root, or to the end."""
        self._inserted_arcs += arcs.arcs
        if self._inserted_arcs > MAX_INSERTED:
            raise SizeError(f"the regular expressions have more than {MAX_INSERTED:,} arcs together; expected fewer", "split the source")
        self._inserted.append(arcs)
        self.add(root, self._pair((-len(self._inserted), EPSILON)), following, weight)

    def machine(self, start: int, symbols: tuple[str, ...] = ()) -> Arcs:
        """The machine of all paths that begin at a root. An ε-arc leads from the end of a path to the root that follows it.

        Args:
            start: the root.
            symbols: the symbols of the paths that were added as strings.
        """
        strings = [sorted(tree) for tree in self._trees]
        trees = np.cumsum([0, *map(len, strings)])
        numbers = [tree[path] for tree, some in zip(self._trees, strings, strict=True) for path in some]
        place_of = np.empty(self._count, np.int64)
        place_of[numbers] = np.arange(self._count)
        place, following, weight = self._lightest(place_of)
        follow_start = np.searchsorted(place, np.arange(self._count + 1))
        weights, ranks = np.unique(weight, return_inverse=True)
        pairs, follows = np.unique((following - END) << 32 | ranks, return_inverse=True)
        starts, arcs, roots = shared([path for some in strings for path in some], trees, follow_start, follows.astype(np.int32))
        labels, targets = (arcs >> np.uint64(32)).astype(np.uint32).view(np.int32), arcs.astype(np.uint32).astype(np.int64)
        top = len(starts) - 2  # nodes are numbered from the ends of paths; states, from the roots
        source = top - np.repeat(np.arange(top + 1), np.diff(starts))
        is_child = labels >= 0  # the label `FOLLOWING` is -1 here
        before, found = source[~is_child], pairs[targets[~is_child]]
        after, cost = (found >> 32) + END, weights[found & 0xFFFFFFFF]
        is_end = after == END
        final = np.full(top + 1, np.inf)
        final[before[is_end]] = cost[is_end]
        read, write = self._labels(labels[is_child])
        nothing = np.full(len(after) - int(is_end.sum()), EPSILON)
        columns = Columns(
            np.concatenate([source[is_child], before[~is_end]]),
            np.concatenate([read, nothing]),
            np.concatenate([write, nothing]),
            top - np.concatenate([targets[is_child], roots[after[~is_end]]]),
            np.concatenate([np.zeros(len(read)), cost[~is_end]]),
        )
        if self._inserted:
            return self._with_inserted(columns, final, top - int(roots[start]), symbols)
        return make(*columns, final, top - int(roots[start]), symbols)

    def _with_inserted(self, columns: Columns, final: NDArray[np.float64], start: int, symbols: tuple[str, ...]) -> Arcs:
        """The machine with a copy of an inserted machine for each arc that represents it."""
        is_machine = columns.ilabel < 0
        chosen = Columns._make(column[~is_machine] for column in columns)
        strings, *machines = with_shared_symbols([make(*chosen, final, start, symbols), *self._inserted])
        parts, count = [columns_of(strings)], strings.states
        for source, number, _, target, weight in zip(*(column[is_machine].tolist() for column in columns), strict=True):
            arcs = machines[-number - 1]
            ends = np.flatnonzero(np.isfinite(arcs.final))
            if not len(ends):
                continue
            own, nothing = columns_of(arcs), np.full(len(ends), EPSILON)
            parts.append(Columns._make(np.array([value]) for value in (source, EPSILON, EPSILON, count + arcs.start, weight)))
            parts.append(own._replace(source=own.source + count, target=own.target + count))
            parts.append(Columns(ends + count, nothing, nothing, np.full(len(ends), target), arcs.final[ends]))
            count += arcs.states
        final = np.concatenate([final, np.full(count - len(final), np.inf)])
        return make(*joined(parts), final, start, strings.symbols)

    def _lightest(self, place_of: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """The place of each path, the root that follows it, and the smallest weight; each pair of place and root once, in ascending
        order.
        """
        place, following, weight = place_of[self._path], np.array(self._following, np.int64), np.array(self._weight)
        order = np.lexsort((weight, following, place))
        place, following, weight = place[order], following[order], weight[order]
        is_new = (np.diff(place, prepend=-1) != 0) | (np.diff(following, prepend=END) != 0)
        return place[is_new], following[is_new], weight[is_new]

    def _labels(self, letters: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The labels that each letter reads; and the labels that it writes."""
        read, write = letters.copy(), letters.copy()
        is_pair = letters >= FIRST_PAIR
        pairs = np.array([*self._pairs], np.int32).reshape(-1, 2)
        read[is_pair], write[is_pair] = pairs[letters[is_pair] - FIRST_PAIR].T
        return read, write
