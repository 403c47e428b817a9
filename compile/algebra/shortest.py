"""Shortest distances, weight pushing, and paths in the order of their weights."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from fst.compile.algebra.arcs import EPSILON, Arcs, make
from fst.compile.algebra.build.strings import tree
from fst.compile.algebra.connect import connect, incoming
from fst.compile.algebra.kernels.room import REMEDY, SizeError
from fst.core.jit import Deferred
from fst.errors import UnsupportedError, VocabularyError, not_one_of

Labels = tuple[int, ...]
Semiring = Literal["tropical", "log"]
SEMIRINGS: tuple[Semiring, ...] = ("tropical", "log")
MAX_STEPS = 500_000  # maximum number of paths on the heap, some 350 bytes each
MAX_ROUNDS = 1 << 14  # of the log semiring
MAX_READ = 1 << 28  # arcs that are read in these rounds
MAX_IMPROVED = 1 << 28  # arcs and states that are read in the rounds of the tropical semiring
SMALLEST_CHANGE = 2.0**-40
DIGITS = 6  # decimals of compared weights
END = -1  # in the place of a state: the path is complete

search, improve, accumulate = (Deferred("fst.compile.algebra.kernels.graph", name) for name in ("finish_order", "improve", "accumulate"))


def shortest_distance(arcs: Arcs, *, reverse: bool = False, semiring: Semiring = "tropical") -> NDArray[np.float64]:
    """float64[states], the smallest weight of a path from the start to each state, or from each state to the end; in the log semiring, the
    sum of all of these paths, ``-log(sum(exp(-weight)))``.

    States are improved in the order in which a depth-first search leaves them, so a machine without cycles takes one round.
    """
    if semiring not in SEMIRINGS:
        raise VocabularyError(not_one_of("semiring", semiring, SEMIRINGS))
    order, of_semiring = finish_order(arcs), improved if semiring == "tropical" else _summed
    if reverse:
        return of_semiring(order, arcs.row_start, arcs.target, arcs.weights, arcs.final.astype(np.float64))
    row_start, by_target = incoming(arcs)
    begin = np.full(arcs.states, np.inf)
    if arcs.states:
        begin[arcs.start] = 0
    return of_semiring(order[::-1].copy(), row_start, arcs.sources[by_target], arcs.weights[by_target], begin)


def _summed(
    order: NDArray[np.int32],
    row_start: NDArray[np.int64],
    target: NDArray[np.int32],
    weight: NDArray[np.float32],
    base: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The distances in the log semiring, computed in rounds until none changes. Arguments are those of `improved`."""
    distance = np.full(len(order), np.inf)
    for _ in range(min(MAX_ROUNDS, 2 + MAX_READ // (len(target) + 1))):
        if accumulate.call(order, row_start, target, weight, base, distance) < SMALLEST_CHANGE:
            return distance
    raise UnsupportedError("the weights of paths through a cycle have no sum, or too slow a one; expected cycles of positive weight")


def finish_order(arcs: Arcs) -> NDArray[np.int32]:
    """int32[states], an order in which each state follows the states that it reaches, except along cycles."""
    order, stack = np.empty(arcs.states, np.int32), np.empty(arcs.states, np.int32)
    if arcs.states:
        search.call(arcs.row_start, arcs.target, arcs.start, np.full(arcs.states, -1), stack, order)
    return order


def topological_order(arcs: Arcs) -> NDArray[np.int32] | None:
    """int32[states], an order in which each state precedes the states that it reaches; None if there is a cycle."""
    order = finish_order(arcs)[::-1]
    place = np.empty(arcs.states, np.int64)
    place[order] = np.arange(arcs.states)
    return order if (place[arcs.sources] < place[arcs.target]).all() else None


def improved(
    order: NDArray[np.int32],
    row_start: NDArray[np.int64],
    target: NDArray[np.int32],
    weight: NDArray[np.float32],
    distance: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The distances, improved along arcs in rounds until none changes; the array is reused. `order` is the order of states in a round;
    `distance` is the distance of each state without arcs.
    """
    following = np.full(len(order), -1, np.int32)
    for rounds in range(1, 2 + MAX_IMPROVED // (len(order) + len(target) + 1)):
        if not improve.call(order, row_start, target, weight, distance, following):
            return distance
        if rounds & (rounds - 1) == 0:
            _need_no_cycle(following)
    _need_no_cycle(following)
    raise SizeError(
        f"the search for shortest distances takes more than {rounds:,} rounds over {len(target):,} arcs; expected fewer", REMEDY
    )


def _need_no_cycle(following: NDArray[np.int32]) -> None:
    """Refuse a cycle among the last improvements; it exists only if a cycle of arcs has a negative weight."""
    end = len(following)
    ahead = np.append(np.where(following < 0, end, following), end)
    for _ in range(end.bit_length()):
        ahead = ahead[ahead]
    if (ahead != end).any():
        state = ahead[np.argmax(ahead != end)]
        raise UnsupportedError(f"a cycle through state {state} has a negative weight; expected weights that have a smallest sum")


def push(arcs: Arcs) -> Arcs:
    """The trimmed machine with weights moved towards the start: from each state, the smallest weight to the end is 0.

    The total goes to the arcs of the start; if arcs lead to the start, to the arcs of a new start.
    """
    arcs = connect(arcs)
    if not arcs.states or not arcs.is_weighted:
        return arcs
    left = shortest_distance(arcs, reverse=True)
    weight = arcs.weights + left[arcs.target] - left[arcs.sources]
    final = (arcs.final - left).astype(np.float32)
    total = np.float32(left[arcs.start])
    pushed = replace(arcs, weight=weight.astype(np.float32) if weight.any() else None, final=final)
    return pushed if total == 0 else _with_first_weight(pushed, total)


def _with_first_weight(arcs: Arcs, total: np.float32) -> Arcs:
    """The machine with a weight added to every path."""
    first, end = arcs.row_start[arcs.start : arcs.start + 2]
    begin = slice(int(first), int(end))
    if not (arcs.target == arcs.start).any():
        weight, final = arcs.weights.copy(), arcs.final.copy()
        weight[begin] += total
        final[arcs.start] += total
        return replace(arcs, weight=weight if weight.any() else None, final=final)
    return make(
        np.concatenate([arcs.sources, np.full(end - first, arcs.states)]),
        np.concatenate([arcs.ilabel, arcs.ilabel[begin]]),
        np.concatenate([arcs.olabel, arcs.olabel[begin]]),
        np.concatenate([arcs.target, arcs.target[begin]]),
        np.concatenate([arcs.weights, arcs.weights[begin] + total]),
        np.append(arcs.final, arcs.final[arcs.start] + total),
        arcs.states,
        arcs.symbols,
        arcs.unit,
    )


class _Strings:
    """Numbers for strings of labels, so that a path of n arcs takes n steps: each string is stored as a shorter string and a label. String
    0 is empty.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, int], int] = {}
        self._parts: list[tuple[int, int]] = [(0, EPSILON)]

    def longer(self, number: int, label: int) -> int:
        """The number of a string and a label after it."""
        if label == EPSILON:
            return number
        found = self._numbers.setdefault((number, label), len(self._parts))
        if found == len(self._parts):
            self._parts.append((number, label))
        return found

    def labels(self, number: int) -> Labels:
        """The labels of a string."""
        found = []
        while number:
            number, label = self._parts[number]
            found.append(label)
        return tuple(reversed(found))


def paths(arcs: Arcs, limit: int) -> Iterator[tuple[Labels, Labels, float]]:
    """Yield distinct pairs of input and output, with their smallest weights: the smallest first, then the fewest arcs, then in the order
    of arcs.

    The search is best first: paths are continued in the order of the weight of their best completion, then of its number of arcs. Among
    equal paths, the longest is continued, so the search goes straight to an end. The machine may have cycles.
    """
    left = shortest_distance(arcs, reverse=True)
    steps_left = _steps_to_end(arcs, left)
    strings, number, seen, found = _Strings(), count(), set[tuple[int, int, int]](), 0
    # weight and arcs of the best completion, -arcs so far, number, state or END, read, written, weight so far
    heap: list[tuple[float, float, int, int, int, int, int, float]] = []

    def put(left: float, steps_left: float, length: int, state: int, read: int, written: int, weight: float) -> None:
        heapq.heappush(heap, (round(weight + left, DIGITS), length + steps_left, -length, next(number), state, read, written, weight))

    if arcs.states and np.isfinite(left[arcs.start]):
        put(left[arcs.start], steps_left[arcs.start], 0, arcs.start, 0, 0, 0.0)
    while heap and found < limit:
        _, _, shortness, step, state, read, written, weight = heapq.heappop(heap)
        length = -shortness
        if (state, read, written) in seen:
            continue
        seen.add((state, read, written))
        if state == END:
            found += 1
            yield strings.labels(read), strings.labels(written), weight
            continue
        if step > MAX_STEPS:
            raise UnsupportedError(f"the search for paths takes more than {MAX_STEPS:,} steps; ask for fewer paths")
        if np.isfinite(arcs.final[state]):
            put(0.0, 0.0, length, END, read, written, weight + float(arcs.final[state]))
        for ilabel, olabel, target, cost in arcs.arcs_of(state):
            if np.isfinite(left[target]):
                following = strings.longer(read, ilabel), strings.longer(written, olabel), weight + cost
                put(left[target], steps_left[target], length + 1, target, *following)


def _steps_to_end(arcs: Arcs, left: NDArray[np.float64]) -> NDArray[np.float64]:
    """float64[states], the smallest number of arcs on a lightest path from each state to the end. `left` is the weight of a lightest path
    from each state.
    """
    source, target = left[arcs.sources], left[arcs.target]
    is_best = np.isfinite(source) & (np.round(np.where(np.isfinite(target), target, 0) + arcs.weights, DIGITS) <= np.round(source, DIGITS))
    is_best &= np.isfinite(target)
    ends = np.where(np.round(arcs.final, DIGITS) <= np.round(left, DIGITS), 0.0, np.inf)
    return improved(finish_order(arcs), arcs.row_start, arcs.target, np.where(is_best, np.float32(1), np.float32(np.inf)), ends)


def shortest_path(arcs: Arcs, count: int) -> Arcs:
    """The tree of the `count` best pairs of input and output, each with its smallest weight."""
    return tree(paths(arcs, count), arcs.symbols, arcs.unit)
