"""Paths in the order of their weights, one by one. Slow and obvious: other operations are tested with it."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import count

import numpy as np
from numpy.typing import NDArray

from fst.compile.algebra.arcs import Arcs
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
    left = distances_to_end(arcs)
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


def distances_to_end(arcs: Arcs) -> NDArray[np.float64]:
    """float64[states], the smallest weight from each state to the end; infinity if no end can be reached.

    Raises:
        UnsupportedError: a cycle that leads to the end has a negative weight.
    """
    distances, sources, weights = arcs.final.astype(np.float64), arcs.sources, arcs.weights.astype(np.float64)
    for _ in range(arcs.states + 1):
        before = distances.copy()
        np.minimum.at(distances, sources, weights + before[arcs.target])
        if (distances == before).all():
            return distances
    raise UnsupportedError("a cycle of the machine has a negative weight; expected weights that have a smallest sum")
