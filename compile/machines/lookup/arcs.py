"""Arcs while they are compiled: columns of arrays, in the order of their states.

A final state is stored as an arc with the label `FINAL`, so that it is copied like other arcs. Outputs and conditions are numbers in pools;
number 0 is empty.
"""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from fst.automata.rows import Array
from fst.automata.trie import Ints, spread
from fst.errors import UnsupportedError

FINAL = -1  # not the number of a symbol, like `fst.machines.lookup.layout.EPSILON`; symbols are numbered from 1
MAX_POOL = 1 << 28  # maximum total number of characters, or of operations, in a pool

Item = TypeVar("Item", str, tuple[int, ...])


class Pool(Generic[Item]):
    """Distinct strings, or distinct tuples, with numbers.

    Examples:
        >>> pool = Pool("")
        >>> a, b = pool.number("a"), pool.number("b")
        >>> pool.joined(np.array([a, 0, a]), np.array([b, b, b])), pool.items
        (array([3, 2, 3]), ['', 'a', 'b', 'ab'])
    """

    def __init__(self, empty: Item) -> None:
        self.items: list[Item] = [empty]
        self._numbers: dict[Item, int] = {empty: 0}
        self._size = 0

    def number(self, item: Item) -> int:
        """The number of an item; a new item is added."""
        found = self._numbers.get(item)
        if found is None:
            found = self._numbers[item] = len(self.items)
            self.items.append(item)
            self._size += len(item)
            if self._size > MAX_POOL:
                raise UnsupportedError(f"the outputs take more than {MAX_POOL:,} characters; expected fewer; split the machine")
        return found

    def joined(self, first: Ints, second: Ints) -> Ints:
        """The numbers of the concatenations of pairs of items."""
        found = first + second
        both = np.flatnonzero((first > 0) & (second > 0))
        if len(both):
            pairs, places = np.unique(first[both] << 32 | second[both], return_inverse=True)
            halves = zip((pairs >> 32).tolist(), (pairs & 0xFFFFFFFF).tolist(), strict=True)
            found[both] = np.array([self.number(self.items[left] + self.items[right]) for left, right in halves])[places]
        return found


class Arcs(NamedTuple):
    """Arcs and finals, sorted by their source states. Arcs of one source are in the order in which a search follows them.

    Attributes:
        source, target: int64[n], states; the target of a final is its source.
        label: int64[n], `FINAL`, `EPSILON`, or the number of a symbol.
        output, condition: int64[n], numbers in pools.
        weight: float32[n].
        pauses: int64[n], the number of arcs before the arc that were folded into it. They read nothing.
        section: int64[n], the section of a final; 0 for arcs.
    """

    source: Ints
    target: Ints
    label: Ints
    output: Ints
    condition: Ints
    weight: Array
    pauses: Ints
    section: Ints

    def take(self, places: Any) -> Arcs:
        """Some of the arcs, given by a mask or by indices."""
        return Arcs(*(column[places] for column in self))

    @property
    def states(self) -> int:
        """The number of states: 1 more than the highest state."""
        return int(max(self.source.max(initial=0), self.target.max(initial=0))) + 1


def sorted_by_source(arcs: Arcs) -> Arcs:
    """Sort arcs by their source; the arcs of a source keep their order."""
    return arcs.take(np.argsort(arcs.source, kind="stable"))


def starts_of(source: Ints, states: int) -> Ints:
    """int64[states + 1], the index of the first arc of each state, for sorted arcs."""
    return np.concatenate([[0], np.cumsum(np.bincount(source, minlength=states))])


def reached(source: Ints, target: Ints, roots: Any, states: int) -> Array:
    """Whether each state can be reached from the roots. The arcs may be unsorted."""
    order = np.argsort(source, kind="stable")
    starts, heads = starts_of(source, states), target[order]
    seen = np.zeros(states, np.bool_)
    frontier = np.unique(np.asarray(roots, np.int64))
    while len(frontier):
        seen[frontier] = True
        found = heads[spread(starts[frontier], starts[frontier + 1] - starts[frontier])]
        frontier = np.unique(found[~seen[found]])
    return seen


def trimmed(arcs: Arcs, root: int) -> Arcs:
    """The arcs that are on a path from the root to a final."""
    states, is_final = max(arcs.states, root + 1), arcs.label == FINAL
    forward = reached(arcs.source, arcs.target, [root], states)
    arcs, is_final = arcs.take(forward[arcs.source]), is_final[forward[arcs.source]]
    backward = reached(arcs.target, arcs.source, arcs.source[is_final], states)
    return arcs.take(backward[arcs.target])
