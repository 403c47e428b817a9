"""The best path of a machine; of paths with the same weight, the path that OpenFst finds first, if there are no cycles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fst.compile.algebra.arcs import Arcs, make
from fst.compile.algebra.connect import connect
from fst.compile.algebra.rational import NOT_FINAL
from fst.compile.algebra.shortest import shortest_path, topological_order


def best_path(arcs: Arcs) -> Arcs:
    """The best path, as a machine of one string.

    States are visited in topological order, and their arcs in the order of the machine. A path to a state replaces an earlier one only if
    it is lighter, in sums of 32-bit numbers; of paths with the same weight, the first is kept. In a machine with cycles, it is the path
    with the fewest arcs.
    """
    arcs = connect(arcs)
    order = topological_order(arcs)
    if not arcs.states or order is None:
        return shortest_path(arcs, 1)
    path, end = _best(arcs, order)
    final = np.full(len(path) + 1, NOT_FINAL)
    final[-1] = arcs.final[end]
    places = np.arange(len(path))
    return make(places, arcs.ilabel[path], arcs.olabel[path], places + 1, arcs.weights[path], final, 0)


def _best(arcs: Arcs, order: NDArray[np.int32]) -> tuple[NDArray[np.int64], int]:
    """The arcs of the best path, and its last state."""
    rows, targets, weights = arcs.row_start.tolist(), arcs.target.tolist(), arcs.weights
    distance = np.full(arcs.states, NOT_FINAL)
    distance[arcs.start] = 0
    arriving = [-1] * arcs.states  # the last arc of the best path to each state
    for state in order.tolist():
        here = distance[state]
        for arc in range(rows[state], rows[state + 1]):
            there = here + weights[arc]
            if there < distance[targets[arc]]:
                distance[targets[arc]], arriving[targets[arc]] = there, arc
    end = state = int(order[np.argmin((distance + arcs.final)[order])])
    sources, path = arcs.sources, list[int]()
    while arriving[state] >= 0:
        path.append(arriving[state])
        state = int(sources[path[-1]])
    return np.array(path[::-1], np.int64), end
