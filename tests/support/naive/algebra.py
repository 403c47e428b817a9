"""Transducers by their definition: the pairs of strings of all paths, up to a length, with their smallest weights."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from math import inf, isfinite
from typing import TypeVar

from fst.compile.algebra.arcs import Arcs

Labels = tuple[int, ...]
State = TypeVar("State", bound=Hashable)
Pairs = dict[tuple[Labels, Labels], float]


def pairs(machine: Arcs, longest: int) -> Pairs:
    """The smallest weight of each pair of input and output of at most `longest` labels each."""

    def moves(state: int) -> Iterator[tuple[int, int, int, float]]:
        return machine.arcs_of(state)

    return _searched(machine.start, moves, lambda state: float(machine.final[state]), longest) if machine.states else {}


def composed(first: Arcs, second: Arcs, longest: int) -> Pairs:
    """The smallest weight of each pair of the composition of two machines with equal symbols. In each move, either one machine alone
    follows an arc that writes (first) or reads (second) nothing, or the second reads the label that the first writes.
    """

    def moves(state: tuple[int, int]) -> Iterator[tuple[int, int, tuple[int, int], float]]:
        here, there = state
        for read, between, target, weight in first.arcs_of(here):
            if not between:
                yield read, 0, (target, there), weight
            for other, written, goal, cost in second.arcs_of(there):
                if other == between != 0:
                    yield read, written, (target, goal), weight + cost
        for other, written, goal, cost in second.arcs_of(there):
            if not other:
                yield 0, written, (here, goal), cost

    def final(state: tuple[int, int]) -> float:
        return float(first.final[state[0]]) + float(second.final[state[1]])

    return _searched((first.start, second.start), moves, final, longest) if first.states and second.states else {}


def _searched(
    start: State, moves: Callable[[State], Iterator[tuple[int, int, State, float]]], final: Callable[[State], float], longest: int
) -> Pairs:
    """The pairs of all paths. A configuration is a state with what was read and written on the way to it; moves improve the weights of
    configurations until none changes.
    """
    weights: dict[tuple[State, Labels, Labels], float] = {(start, (), ()): 0.0}
    queue = [*weights]
    while queue:
        state, read, written = queue.pop()
        weight = weights[state, read, written]
        for ilabel, olabel, target, cost in moves(state):
            following = target, read + (ilabel,) * (ilabel > 0), written + (olabel,) * (olabel > 0)
            short = len(following[1]) <= longest and len(following[2]) <= longest
            if short and weight + cost < weights.get(following, inf) - 1e-9:
                weights[following] = weight + cost
                queue.append(following)
    found: Pairs = {}
    for (state, read, written), weight in weights.items():
        total = weight + final(state)
        if isfinite(total):
            found[read, written] = min(total, found.get((read, written), total))
    return found


def agree(first: Pairs, second: Pairs, tolerance: float = 1e-4) -> bool:
    """Whether two sets of pairs are equal, and their weights are nearly equal."""
    return first.keys() == second.keys() and all(abs(first[pair] - second[pair]) <= tolerance * max(1, abs(first[pair])) for pair in first)
