"""Pictures of arc tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from fst.automata.dot import Edge, Node, need_few, visible
from fst.automata.dot import dot as in_dot
from fst.compile.algebra.arcs import EPSILON, FIRST_SYMBOL, Arcs
from fst.compile.algebra.symbols import text_of

SHORTEST_RANGE = 4  # characters in a row that are drawn as a range


def dot(arcs: Arcs, drawn: NDArray[np.bool_] | None = None) -> str:
    """A machine in the language DOT. Arcs between the same states are one edge. `drawn` is bool[arcs], the arcs to draw together with their
    states; None: the whole machine.
    """
    chosen = np.arange(arcs.arcs) if drawn is None else np.flatnonzero(drawn)
    pairs = arcs.sources[chosen].astype(np.int64) << 32 | arcs.target[chosen]
    edges, edge_of = np.unique(pairs, return_inverse=True)
    states = np.arange(arcs.states) if drawn is None else np.unique([arcs.start, *(edges >> 32), *(edges & 0xFFFFFFFF)])
    need_few(len(states), len(edges))
    by_edge = np.split(chosen[np.argsort(edge_of, kind="stable")], np.cumsum(np.bincount(edge_of))[:-1])
    return in_dot(
        [_state(arcs, state) for state in states.tolist()],
        [Edge(edge >> 32, edge & 0xFFFFFFFF, _labels(arcs, row)) for edge, row in zip(edges.tolist(), by_edge, strict=False)],
    )


def _state(arcs: Arcs, state: int) -> Node:
    weight = float(arcs.final[state])
    label = f"{state}" if weight in (0, np.inf) else f"{state}/{weight:.4g}"
    return Node(state, label, is_start=state == arcs.start, is_final=bool(np.isfinite(weight)))


def _labels(arcs: Arcs, chosen: NDArray[np.int64]) -> list[str]:
    """The labels of all arcs of an edge."""
    is_copy = (arcs.ilabel[chosen] == arcs.olabel[chosen]) & (arcs.weights[chosen] == 0)
    others = [_name(arcs, int(arcs.ilabel[arc]), int(arcs.olabel[arc]), float(arcs.weights[arc])) for arc in chosen[~is_copy]]
    return [*_ranges(arcs, arcs.ilabel[chosen[is_copy]].tolist()), *others]


def _ranges(arcs: Arcs, labels: Sequence[int]) -> list[str]:
    """The names of ascending labels; long runs of characters become ranges."""
    names = []
    for _, group in groupby(enumerate(sorted(set(labels))), key=lambda pair: pair[1] - pair[0]):
        run = [label for _, label in group]
        if len(run) >= SHORTEST_RANGE and run[0] and run[-1] < FIRST_SYMBOL:
            names.append(f"{_shown(arcs, run[0])}–{_shown(arcs, run[-1])}")
        else:
            names += [_shown(arcs, label) for label in run]
    return names


def _name(arcs: Arcs, read: int, written: int, weight: float) -> str:
    pair = _shown(arcs, read) if read == written else f"{_shown(arcs, read)}:{_shown(arcs, written)}"
    return f"{pair}/{weight:.4g}" if weight else pair


def _shown(arcs: Arcs, label: int) -> str:
    """A label as visible text."""
    if not label:
        return "ε"
    if arcs.unit == "utf-8" and 0x7F < label < FIRST_SYMBOL:
        return f"{label:02X}"
    return visible(text_of([label], arcs.symbols))


def around(arcs: Arcs, labels: Iterable[int]) -> NDArray[np.bool_]:
    """bool[arcs], the arcs that are passed when a text is read: arcs that read its labels, one after the other, and ε-arcs in between."""
    used, here = np.zeros(arcs.arcs, np.bool_), _closed(arcs, np.array([arcs.start] if arcs.states else [], np.int64))
    for label in labels:
        taken = _taken(arcs, here, label)
        used[taken] = used[_taken(arcs, here, EPSILON)] = True
        here = _closed(arcs, np.unique(arcs.target[taken]).astype(np.int64))
    used[_taken(arcs, here, EPSILON)] = True
    return used


def _taken(arcs: Arcs, states: NDArray[np.int64], label: int) -> NDArray[np.int64]:
    """The arcs that leave the given states and read a label."""
    first, end = arcs.row_start[states], arcs.row_start[states + 1]
    rows = np.repeat(first - np.concatenate([[0], np.cumsum(end - first)[:-1]]), end - first) + np.arange((end - first).sum())
    taken: NDArray[np.int64] = rows[arcs.ilabel[rows] == label]
    return taken


def _closed(arcs: Arcs, states: NDArray[np.int64]) -> NDArray[np.int64]:
    """The given states, and the states that they reach by arcs that read nothing."""
    while True:
        more = np.union1d(states, arcs.target[_taken(arcs, states, EPSILON)])
        if len(more) == len(states):
            return states
        states = more
