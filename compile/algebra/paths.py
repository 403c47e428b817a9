"""Paths in the order of their weights, one by one."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import count

import numpy as np

from fst.compile.algebra.arcs import Arcs
from fst.compile.algebra.build.strings import tree
from fst.compile.algebra.distance import shortest_distance
from fst.errors import UnsupportedError

Labels = tuple[int, ...]
MAX_STEPS = 10_000_000


def paths(arcs: Arcs, limit: int) -> Iterator[tuple[Labels, Labels, float]]:
    """Yield distinct pairs of input and output, with their smallest weights: the smallest first, then the fewest arcs, then in the order
    of arcs.

    The search is best first: a path is continued in the order of its weight plus the distance from its last state to a final state.

    Args:
        arcs: the machine; it may have cycles.
        limit: the maximum number of pairs.

    Raises:
        UnsupportedError: a cycle has a negative weight, or the search takes more than `MAX_STEPS` steps.
    """
    left = shortest_distance(arcs, reverse=True)
    number, found = count(), set[tuple[Labels, Labels]]()
    seen = set[tuple[int, Labels, Labels]]()
    heap: list[tuple[float, int, int, int, Labels, Labels, float]] = []
    if arcs.states and np.isfinite(left[arcs.start]):
        heap.append((float(left[arcs.start]), 0, next(number), arcs.start, (), (), 0.0))
    while heap and len(found) < limit:
        _bound, length, step, state, read, written, weight = heapq.heappop(heap)
        if state < 0:
            if (read, written) not in found:
                found.add((read, written))
                yield read, written, weight
            continue
        if (state, read, written) in seen:
            continue
        if step > MAX_STEPS:
            raise UnsupportedError(f"the search for paths takes more than {MAX_STEPS:,} steps; ask for fewer paths")
        seen.add((state, read, written))
        if np.isfinite(arcs.final[state]):
            total = weight + float(arcs.final[state])
            heapq.heappush(heap, (total, length, next(number), -1, read, written, total))
        for ilabel, olabel, target, cost in arcs.arcs_of(state):
            if np.isfinite(left[target]):
                following = (target, read + (ilabel,) * (ilabel > 0), written + (olabel,) * (olabel > 0), weight + cost)
                heapq.heappush(heap, (weight + cost + float(left[target]), length + 1, next(number), *following))


def shortest_path(arcs: Arcs, count: int) -> Arcs:
    """The tree of the `count` best pairs of input and output, each with its smallest weight.

    Raises:
        UnsupportedError: a cycle has a negative weight, or the search takes too long.
    """
    return tree(paths(arcs, count), arcs.symbols, arcs.unit)
