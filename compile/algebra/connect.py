"""Connections between states: trimming to the states on paths from the start to a final state, and strongly connected components."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fst.automata.refinement import grouped
from fst.compile.algebra.arcs import Arcs, empty
from fst.core.jit import Deferred

reach = Deferred("fst.compile.algebra.kernels.graph", "reach")


def connect(arcs: Arcs) -> Arcs:
    """The machine without states that are on no path from the start to a final state; the remaining states keep their order."""
    kept = is_accessible(arcs) & is_coaccessible(arcs)
    if kept.all():
        return arcs
    if not kept.any():
        return empty(arcs.symbols, arcs.unit)
    numbers = np.cumsum(kept, dtype=np.int32) - np.int32(1)
    sources = arcs.sources
    kept_arcs = kept[sources] & kept[arcs.target]
    counts = np.bincount(numbers[sources[kept_arcs]], minlength=int(kept.sum()))
    weight = None if arcs.weight is None else arcs.weight[kept_arcs]
    return Arcs(
        np.concatenate([[0], np.cumsum(counts)]),
        arcs.ilabel[kept_arcs],
        arcs.olabel[kept_arcs],
        numbers[arcs.target[kept_arcs]],
        weight if weight is not None and weight.any() else None,
        arcs.final[kept],
        int(numbers[arcs.start]),
        arcs.symbols,
        arcs.unit,
    )


def is_accessible(arcs: Arcs) -> NDArray[np.bool_]:
    """bool[states], whether a path from the start leads to each state."""
    starts = np.array([arcs.start] if arcs.states else [], np.int32)
    return _reached(arcs.row_start, arcs.target, starts)


def is_coaccessible(arcs: Arcs) -> NDArray[np.bool_]:
    """bool[states], whether a path from each state leads to a final state."""
    return leads_to(arcs.row_start, arcs.target, np.isfinite(arcs.final))


def leads_to(row_start: NDArray[np.int64], target: NDArray[np.int32], ends: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """bool[states], whether a path from each state leads to one of `ends`."""
    backwards, order = grouped(target, len(ends))
    sources = np.repeat(np.arange(len(ends), dtype=np.int32), np.diff(row_start))
    return _reached(backwards, sources[order], np.flatnonzero(ends).astype(np.int32))


def incoming(arcs: Arcs) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """int64[states + 1] and int64[arcs]: the arcs that lead to state q are ``order[row_start[q]:row_start[q + 1]]``."""
    return grouped(arcs.target, arcs.states)


def _reached(row_start: NDArray[np.int64], target: NDArray[np.int32], first: NDArray[np.int32]) -> NDArray[np.bool_]:
    seen = np.zeros(len(row_start) - 1, np.bool_)
    queue = np.empty(len(seen), np.int32)
    queue[: len(first)] = first
    seen[first] = True
    reach.call(row_start, target, queue, len(first), seen)
    return seen


def components(following: Sequence[Sequence[int]]) -> list[list[int]]:
    """The strongly connected components of a graph, by Tarjan's algorithm with an explicit stack; each component follows the components
    that it leads to.

    Examples:
        >>> components([[1], [2], [1], []])
        [[2, 1], [0], [3]]

    Source: Tarjan 1972, *Depth-first search and linear graph algorithms*.
    """
    order: dict[int, int] = {}
    lowest: dict[int, int] = {}
    stack, found, done = list[int](), list[list[int]](), set[int]()
    for root in range(len(following)):
        path = [(root, iter(following[root]))] if root not in order else []
        while path:
            state, rest = path[-1]
            if state not in order:
                order[state] = lowest[state] = len(order)
                stack.append(state)
            for target in rest:
                if target not in order:
                    path.append((target, iter(following[target])))
                    break
                if target not in done:
                    lowest[state] = min(lowest[state], order[target])
            else:
                path.pop()
                if path:
                    lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[state])
                if lowest[state] == order[state]:
                    component = [stack.pop()]
                    while component[-1] != state:
                        component.append(stack.pop())
                    found.append(component)
                    done.update(component)
    return found
