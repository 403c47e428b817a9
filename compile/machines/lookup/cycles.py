"""Cycles of arcs that read nothing."""

from __future__ import annotations

import numpy as np

from fst.automata.trie import Ints
from fst.compile.algebra.connect import components
from fst.compile.machines.lookup.arcs import EPSILON, FINAL, Arcs, Pool, sorted_by_source
from fst.errors import UnsupportedError, quoted


def without_cycles(arcs: Arcs, outputs: Pool[str]) -> Arcs:
    """Make each cycle of arcs that read nothing and write nothing one state.

    Raises:
        UnsupportedError: a cycle writes something, has a weight, or has conditions.
    """
    places = _core(arcs)
    if not len(places):
        return arcs
    state_of = np.arange(arcs.states)
    for component in _components(arcs.source[places], arcs.target[places]):
        state_of[component] = component.min()
    inside = places[state_of[arcs.source[places]] == state_of[arcs.target[places]]]
    wrong = inside[(arcs.output[inside] > 0) | (arcs.condition[inside] > 0) | (arcs.weight[inside] != 0)]
    if len(wrong):
        arc = int(wrong[0])
        found = f"writes {quoted(outputs.items[arcs.output[arc]])}" if arcs.output[arc] else "has a weight or a flag diacritic"
        cycle = f"the cycle of the arc from state {arcs.source[arc]} to state {arcs.target[arc]}"
        raise UnsupportedError(f"{cycle} reads nothing and {found}; expected a cycle that reads a symbol; remove this arc")
    kept = np.ones(len(arcs.source), np.bool_)
    kept[inside] = False
    merged = arcs._replace(source=state_of[arcs.source], target=state_of[arcs.target]).take(kept)
    return sorted_by_source(merged._replace(target=np.where(merged.label == FINAL, merged.source, merged.target)))


def _core(arcs: Arcs) -> Ints:
    """The arcs that read nothing, without those at the ends of paths, which are on no cycle."""
    places = np.flatnonzero(arcs.label == EPSILON)
    while len(places):
        leaves, enters = (np.zeros(arcs.states, np.bool_) for _ in range(2))
        leaves[arcs.source[places]] = enters[arcs.target[places]] = True
        kept = leaves[arcs.target[places]] & enters[arcs.source[places]]
        if kept.all():
            break
        places = places[kept]
    return places


def _components(source: Ints, target: Ints) -> list[Ints]:
    """The strongly connected components of the states that arcs enter or leave."""
    states, ends = np.unique(np.concatenate([source, target]), return_inverse=True)
    following: list[list[int]] = [[] for _ in states]
    for begin, end in ends.reshape(2, -1).T.tolist():
        following[begin].append(end)
    return [states[component] for component in components(following)]
