"""Some of the paths of a machine: the best ones, or random ones."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, isnan
from random import Random

import numpy as np

from fst.compile.algebra.arcs import TOLERANCE, Arcs, columns_of, make
from fst.compile.algebra.build.strings import tree
from fst.compile.algebra.connect import connect
from fst.compile.algebra.shortest import DIGITS, Labels, finish_order, shortest_distance
from fst.errors import VocabularyError

END = -1  # in the place of an arc: the path ends


def prune(arcs: Arcs, weight: float | None = None, states: int | None = None) -> Arcs:
    """The machine of the paths that are at most `weight` heavier than the best path. Of more than `states` states, those on the best paths
    are kept.
    """
    if weight is not None and isnan(weight):
        raise VocabularyError(f"weight is {weight}; expected a number, or None for any weight")
    arcs = connect(arcs)
    if not arcs.states:
        return arcs
    before, after = shortest_distance(arcs), shortest_distance(arcs, reverse=True)
    kept, kept_arcs, final = np.ones(arcs.states, np.bool_), np.ones(arcs.arcs, np.bool_), arcs.final
    if weight is not None:
        most = after[arcs.start] + weight + TOLERANCE
        kept_arcs = before[arcs.sources] + arcs.weights + after[arcs.target] <= most
        final = np.where(before + final <= most, final, np.float32(np.inf))
    if states is not None:
        place = np.empty(arcs.states, np.int64)
        place[finish_order(arcs)] = np.arange(arcs.states)
        kept[np.lexsort((-place, np.round(before + after, DIGITS)))[max(states, 0) :]] = False
    kept_arcs &= kept[arcs.sources] & kept[arcs.target]
    final = np.where(kept, final, np.float32(np.inf))
    return connect(make(*columns_of(arcs, kept_arcs), final, arcs.start, arcs.symbols, arcs.unit))


def randgen(arcs: Arcs, count: int, seed: int, longest: int, *, by_weight: bool) -> Arcs:
    """The tree of `count` random paths, without those of more than `longest` arcs."""
    if count < 0 or longest < 0:
        raise VocabularyError(f"count is {count} and longest is {longest}; expected 0 or more")
    arcs = connect(arcs)
    paths = _random_paths(arcs, count, Random(seed), longest, by_weight=by_weight) if arcs.states else ()
    return tree(paths, arcs.symbols, arcs.unit)


def _random_paths(arcs: Arcs, count: int, random: Random, longest: int, *, by_weight: bool) -> Iterator[tuple[Labels, Labels, float]]:
    """Random paths: at each state, one of the arcs or the end is drawn; all are equally likely, or as likely as ``exp(-weight)``."""
    final, weights = arcs.final.tolist(), arcs.weights
    for _ in range(count):
        state, taken = arcs.start, list[int]()
        while len(taken) <= longest:
            choices = [*range(arcs.row_start[state], arcs.row_start[state + 1]), *[END] * (final[state] < np.inf)]
            costs = [final[state] if arc == END else float(weights[arc]) for arc in choices]
            chances = [exp(min(costs) - cost) for cost in costs] if by_weight else None
            arc = random.choices(choices, chances)[0]
            if arc == END:
                read, written = (tuple(column[taken][column[taken] > 0].tolist()) for column in (arcs.ilabel, arcs.olabel))
                yield read, written, float(weights[taken].sum()) + final[state]
                break
            taken.append(arc)
            state = int(arcs.target[arc])
