"""Delay outputs, so that few paths are followed.

A lexicon often writes the lemma before or while it reads the stem. Then a state has an arc for each of thousands of lexemes that begin with
the same letter, and a look-up must follow all of them. Such arcs are merged into one arc that writes nothing and leads to a set: their
targets, each with the output and the condition of its arc. From a set, arcs that read the same symbol are merged again; if there are only a
few, they leave the set and write the delayed output::

    before:   0 ─a:x→ 1 ─b→ 3         after:   0 ─a→ {1 with x, 2 with y} ─b:x→ 3
              0 ─a:y→ 2 ─c→ 4                                             ─c:y→ 4

Sets are made level by level, for one symbol after the other. All arcs of the last level leave their sets, so the depth and the total size
of the sets are bounded.

Source: the delay of Mohri 1997, *Finite-state transducers in language and speech processing*, section 3, without determinization: sets
are not compared, because the sets of a lexicon differ.
"""

from __future__ import annotations

import numpy as np

from fst.automata.rows import Array
from fst.automata.trie import Ints, spread
from fst.compile.machines.lookup.arcs import FINAL, Arcs, Pool, sorted_by_source, starts_of, trimmed
from fst.machines.lookup.layout import EPSILON

FEW = 16  # up to this number of arcs of one state that read the same symbol are not merged
MAX_DEPTH = 16  # maximum number of symbols by which an output is delayed
MAX_GROWTH = 2  # maximum number of arcs of all sets, as a multiple of the number of arcs before


def delayed(arcs: Arcs, root: int, outputs: Pool[str], conditions: Pool[tuple[int, ...]]) -> Arcs:
    """Merge arcs that read the same symbol; a machine with weights is returned unchanged."""
    if arcs.weight.any():
        return arcs
    starts, capacity = starts_of(arcs.source, arcs.states), MAX_GROWTH * len(arcs.source)
    states, parts, level = arcs.states, list[Arcs](), arcs
    for _ in range(MAX_DEPTH):
        is_many, first, number = _many(level)
        targets = level.target[is_many]
        capacity -= int((starts[targets + 1] - starts[targets]).sum())
        if capacity < 0 or not len(first):
            break
        sets = states + np.arange(len(first))
        merged = level.take(first)
        nothing = np.zeros_like(first)
        parts += [level.take(~is_many), merged._replace(target=sets, output=nothing, condition=nothing, pauses=nothing)]
        level = _after(level.take(is_many)._replace(source=sets[number]), arcs, starts, outputs, conditions)
        states += len(first)
    parts.append(level)
    return trimmed(sorted_by_source(Arcs(*map(np.concatenate, zip(*parts, strict=True)))), root)


def _many(arcs: Arcs) -> tuple[Array, Ints, Ints]:
    """Find groups of more than `FEW` arcs of one source that read the same symbol. Returns whether each arc is in a group; the first arc of
    each group; and for each arc in a group, the index of the group.
    """
    keys = arcs.source * (int(arcs.label.max(initial=0)) + 1) + arcs.label
    keys[arcs.label <= EPSILON] = -1
    _, first, number, count = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    is_large = (count > FEW) & (keys[first] >= 0)
    is_many = is_large[number]
    return is_many, first[is_large], (np.cumsum(is_large) - 1)[number[is_many]]


def _after(elements: Arcs, arcs: Arcs, starts: Ints, outputs: Pool[str], conditions: Pool[tuple[int, ...]]) -> Arcs:
    """The arcs of sets. An element is an arc from a set to one of its states, which writes the delayed output."""
    counts = starts[elements.target + 1] - starts[elements.target]
    first, second = np.repeat(np.arange(len(counts)), counts), spread(starts[elements.target], counts)
    source = elements.source[first]
    found = Arcs(
        source=source,
        target=np.where(arcs.label[second] == FINAL, source, arcs.target[second]),
        label=arcs.label[second],
        output=outputs.joined(elements.output[first], arcs.output[second]),
        condition=conditions.joined(elements.condition[first], arcs.condition[second]),
        weight=arcs.weight[second],
        pauses=elements.pauses[first] + arcs.pauses[second],
        section=arcs.section[second],
    )
    keys = np.stack([found.source, found.target, found.label, found.output, found.condition, found.section])
    return found.take(np.sort(np.unique(keys, axis=1, return_index=True)[1]))
