"""Cycles of arcs that read nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fst.automata.trie import Ints
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
    for component in _components(arcs.source[places].tolist(), arcs.target[places].tolist()):
        state_of[component] = min(component)
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


def _components(source: Sequence[int], target: Sequence[int]) -> list[list[int]]:
    """The strongly connected components of a graph, by Tarjan's algorithm with an explicit stack."""
    following = dict[int, list[int]]()
    for begin, end in zip(source, target, strict=True):
        following.setdefault(begin, []).append(end)
        following.setdefault(end, [])
    numbers, lows, stack, on_stack, found = dict[int, int](), dict[int, int](), list[int](), set[int](), list[list[int]]()
    for first in following:
        pending = [] if first in numbers else [(first, iter(following[first]))]
        while pending:
            state, rest = pending[-1]
            if state not in numbers:
                numbers[state] = lows[state] = len(numbers)
                stack.append(state)
                on_stack.add(state)
            for other in rest:
                if other not in numbers:
                    pending.append((other, iter(following[other])))
                    break
                if other in on_stack:
                    lows[state] = min(lows[state], numbers[other])
            else:
                pending.pop()
                if pending:
                    lows[pending[-1][0]] = min(lows[pending[-1][0]], lows[state])
                if lows[state] == numbers[state]:
                    component = [stack.pop()]
                    while component[-1] != state:
                        component.append(stack.pop())
                    found.append(component)
                    on_stack -= {*component}
    return found
