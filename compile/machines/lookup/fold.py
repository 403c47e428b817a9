"""Fold arcs that read nothing into the arcs after them.

1. A chain of states whose only arc reads nothing becomes one arc.
2. Cycles that read nothing and write nothing become one state; other cycles that read nothing are refused.
3. An arc ``p → q`` that reads nothing is replaced by copies of all arcs of q, at its position among the arcs of p, so the order of paths
   does not change. All such arcs are replaced at the same time, so n arcs in a row take log n rounds. Arcs into states with many arcs are
   kept if the copies would take more than `MAX_GROWTH` times the memory, for example in a lexicon whose compounds start again.

Example: the two arcs ``0 ─ε:x→ 1 ─ε:y→ 2`` read nothing. They become part of the arc after them, which pauses twice before its symbol, and
stays before ``0 ─a:z→ 3``::

    0 ─ε:x→ 1 ─ε:y→ 2 ─b→ 4          0 ─b:xy→ 4 with 2 pauses
    0 ─a:z→ 3                        0 ─a:z→ 3
"""

from __future__ import annotations

import numpy as np

from fst.automata.rows import Array
from fst.automata.trie import Ints, spread
from fst.compile.algebra.connect import components
from fst.compile.machines.lookup.arcs import FINAL, Arcs, Pool, sorted_by_source, starts_of, trimmed
from fst.errors import UnsupportedError, quoted
from fst.machines.lookup.layout import EPSILON

MAX_GROWTH = 2  # maximum number of arcs after folding, as a multiple of the number before
MAX_ROUNDS = 4096  # maximum number of arcs in a row that read nothing, not counting chains
LARGE = (1e18, 4096, 1024, 256, 64, 16, 4, 0)  # thresholds: arcs into states with more arcs are kept; the first that fits is chosen


def folded(arcs: Arcs, root: int, outputs: Pool[str], conditions: Pool[tuple[int, ...]]) -> Arcs:
    """Fold the arcs that read nothing into the arcs after them. The result may contain arcs that read nothing, but no cycles of such
    arcs.
    """
    arcs = trimmed(arcs, root)
    arcs = _without_chains(arcs, root, outputs, conditions)
    arcs = without_cycles(arcs, outputs)
    kept = _kept(arcs, root)
    while True:
        is_folded = (arcs.label == EPSILON) & ~kept[arcs.target]
        if not is_folded.any():
            return trimmed(arcs, root)
        arcs = _replaced(arcs, is_folded, outputs, conditions)


def _without_chains(arcs: Arcs, root: int, outputs: Pool[str], conditions: Pool[tuple[int, ...]]) -> Arcs:
    """Replace each chain of states whose only arc reads nothing by one arc."""
    states = max(arcs.states, root + 1)
    starts = starts_of(arcs.source, states)
    is_chain = np.diff(starts) == 1
    is_chain[is_chain] = arcs.label[starts[:-1][is_chain]] == EPSILON
    is_chain[root] = False
    inner = np.bincount(arcs.target[is_chain[arcs.source]], minlength=states)
    is_head = is_chain & ~((inner == 1) & (np.bincount(arcs.target[arcs.label != FINAL], minlength=states) == 1))
    places = starts[:-1][is_head]
    following, parts = arcs.target.copy(), (arcs.output, arcs.condition)
    heads, inside = is_head.tolist(), is_chain.tolist()
    next_of, (out_of, condition_of) = arcs.target.tolist(), (column.tolist() for column in parts)
    first_of, weights = starts.tolist(), arcs.weight.copy()
    new_output, new_condition, pauses = arcs.output.copy(), arcs.condition.copy(), arcs.pauses.copy()
    for place in places.tolist():
        at, chain = next_of[place], [place]
        while inside[at] and not heads[at]:
            chain.append(first_of[at])
            at = next_of[first_of[at]]
        following[place] = at
        if len(chain) > 1:
            new_output[place] = outputs.number("".join([outputs.items[out_of[arc]] for arc in chain]))
            new_condition[place] = conditions.number(sum((conditions.items[condition_of[arc]] for arc in chain), ()))
            pauses[place] += len(chain) - 1
            weights[place] = np.add.reduce(arcs.weight[chain], dtype=np.float32)
    arcs = arcs._replace(target=following, output=new_output, condition=new_condition, weight=weights, pauses=pauses)
    return arcs.take(~is_chain[arcs.source] | is_head[arcs.source])


def _kept(arcs: Arcs, root: int) -> Array:
    """For each state, whether the arcs that lead to it and read nothing are kept."""
    states = max(arcs.states, root + 1)
    pauses = arcs.take(arcs.label == EPSILON)
    own = np.bincount(arcs.source[arcs.label != EPSILON], minlength=states).astype(np.float64)
    begins = np.zeros(states, np.bool_)
    begins[arcs.target[arcs.label > EPSILON]] = begins[root] = True
    for large in LARGE:
        sizes, kept = _sizes(own, pauses, large)
        used = begins | kept
        if sizes[used].sum() <= MAX_GROWTH * len(arcs.source):
            break
    return kept


def _sizes(own: Array, pauses: Arcs, large: float) -> tuple[Array, Array]:
    """The number of arcs of each state after folding; and whether a state has more than `large` arcs, so that arcs into it are kept."""
    sizes = own
    for _ in range(MAX_ROUNDS):
        kept = sizes > large
        of_arcs = np.where(kept[pauses.target], 1.0, sizes[pauses.target])
        found = np.minimum(own + np.bincount(pauses.source, of_arcs, len(own)), 1e15)
        if np.array_equal(found, sizes):
            return sizes, kept
        sizes = found
    raise UnsupportedError(f"more than {MAX_ROUNDS:,} arcs in a row read nothing; expected fewer; remove ε-arcs first")


def _replaced(arcs: Arcs, is_folded: Array, outputs: Pool[str], conditions: Pool[tuple[int, ...]]) -> Arcs:
    """Replace arcs that read nothing by copies of the arcs of their targets."""
    starts = starts_of(arcs.source, arcs.states)
    places = np.arange(len(arcs.source))
    counts = np.where(is_folded, starts[arcs.target + 1] - starts[arcs.target], 1)
    first = np.repeat(places, counts)
    second: Ints = spread(np.where(is_folded, starts[arcs.target], places), counts)
    copied = is_folded[first]
    zero = np.where(copied, arcs.output[first], 0), np.where(copied, arcs.condition[first], 0)
    before = np.where(copied, arcs.weight[first], np.float32(0))
    found = Arcs(
        source=arcs.source[first],
        target=np.where(arcs.label[second] == FINAL, arcs.source[first], arcs.target[second]),
        label=arcs.label[second],
        output=outputs.joined(zero[0], arcs.output[second]),
        condition=conditions.joined(zero[1], arcs.condition[second]),
        weight=(before + arcs.weight[second]).astype(np.float32),
        pauses=np.where(copied, arcs.pauses[first] + 1, 0) + arcs.pauses[second],
        section=arcs.section[second],
    )
    return sorted_by_source(found)


def without_cycles(arcs: Arcs, outputs: Pool[str]) -> Arcs:
    """Merge the states of each cycle of arcs that read nothing and write nothing."""
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
    """The arcs that read nothing, except those at the ends of paths, because these are on no cycle."""
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
