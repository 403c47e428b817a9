"""Composition: pairs of states; each arc of the first machine is paired with the arcs of the second that read what it writes."""

from __future__ import annotations

import numpy as np

from fst.automata.kernels.hashing import FULL, number_of
from fst.compile.algebra.kernels.room import ARCS, COMPLETE, DONE, MORE_ARCS, MORE_STATES, ONLY_EPSILON, STATES
from fst.core.jit import inlined, kernel


@inlined
def pack_pair(first, second, waits):
    """The key of a pair of states; `waits`: the second machine has moved alone, and the first must not move alone before the next match."""
    return np.int64(first) << 32 | np.int64(second) << 1 | np.int64(waits)


@inlined
def find(label, first, end, ilabel):
    """The first place from `first` to `end` whose label is not smaller than `label`; labels are sorted."""
    while first < end:
        middle = (first + end) >> 1
        if ilabel[middle] < label:
            first = middle + 1
        else:
            end = middle
    return first


@inlined
def put(arc, read, write, target, weight, output):
    """Store an arc."""
    output.ilabel[arc] = read
    output.olabel[arc] = write
    output.target[arc] = target
    output.weight[arc] = weight


@kernel
def compose(first, kinds, second, sink, keys, slots, output, counts):
    """Add the arcs of pairs to a machine, until all pairs that can be reached are complete or an array is full.

    ε-arcs are sequenced: the first machine's arcs that write nothing come before the second machine's arcs that read nothing, so no two
    paths differ only in the order of moves. A negative label between both machines is like ε for the other machine: such an arc writes, or
    reads, the positive label.

    Args:
        first, second: rows of the machines: row_start, ilabel, olabel, target, weight; sorted by (state, ilabel).
        kinds: int8[states of the first], `SOME_EPSILON`, `ONLY_EPSILON` (if it is not final) or 0.
        sink: a state of the second machine that reads everything, for a difference: every label that no arc reads leads to the sink; -1:
            there is none.
        keys, slots: pairs and their numbers; see `number_of`. Pair 0 is the start.
        output: row_start, ilabel, olabel, target, weight of the new machine.
        counts: see `counters`.

    Returns:
        `COMPLETE`, `MORE_STATES` or `MORE_ARCS`.
    """
    while counts[DONE] < counts[STATES]:
        state = counts[DONE]
        key = keys[state]
        left, right, waits = key >> 32, (key & 0xFFFFFFFF) >> 1, key & 1
        made = counts[ARCS]
        output.row_start[state] = made
        begin, end = second.row_start[right], second.row_start[right + 1]
        if kinds[left] != ONLY_EPSILON:
            for arc in range(begin, end):
                if second.ilabel[arc] > 0:
                    break
                if made == len(output.target):
                    return MORE_ARCS
                target = number_of(pack_pair(left, second.target[arc], kinds[left]), keys, slots, counts)
                if target == FULL:
                    return MORE_STATES
                put(made, -second.ilabel[arc], second.olabel[arc], target, second.weight[arc], output)
                made += 1
        for arc in range(first.row_start[left], first.row_start[left + 1]):
            label = first.olabel[arc]
            if label <= 0:
                if waits:
                    continue
                if made == len(output.target):
                    return MORE_ARCS
                target = number_of(pack_pair(first.target[arc], right, 0), keys, slots, counts)
                if target == FULL:
                    return MORE_STATES
                put(made, first.ilabel[arc], -label, target, first.weight[arc], output)
                made += 1
                continue
            match = find(label, begin, end, second.ilabel)
            if sink >= 0 and (match == end or second.ilabel[match] != label):
                if made == len(output.target):
                    return MORE_ARCS
                target = number_of(pack_pair(first.target[arc], sink, 0), keys, slots, counts)
                if target == FULL:
                    return MORE_STATES
                put(made, first.ilabel[arc], label, target, first.weight[arc], output)
                made += 1
                continue
            while match < end and second.ilabel[match] == label:
                if made == len(output.target):
                    return MORE_ARCS
                target = number_of(pack_pair(first.target[arc], second.target[match], 0), keys, slots, counts)
                if target == FULL:
                    return MORE_STATES
                put(made, first.ilabel[arc], second.olabel[match], target, first.weight[arc] + second.weight[match], output)
                made += 1
                match += 1
        counts[ARCS] = made
        counts[DONE] = state + 1
    output.row_start[counts[DONE]] = counts[ARCS]
    return COMPLETE
