"""ε-closures: for each state, the arcs of all states that ε-arcs lead to."""

from __future__ import annotations

import numpy as np

from fst.compile.algebra.kernels.room import ARCS, COMPLETE, DONE, MORE_ARCS, MORE_STEPS
from fst.core.jit import kernel

INFINITY = np.inf


@kernel
def close(states, epsilons, others, final, distance, queued, queue, closure, most, output, counts):
    """For each given state, copy the arcs of the other states in its ε-closure to it, and improve its final weight.

    Args:
        states: int32[n], the states that have ε-arcs.
        epsilons: row_start, target, weight of the ε-arcs, whose cycles have no negative weight.
        others: row_start, ilabel, olabel, target, weight of the other arcs.
        final: float64[states, 2]: column 0 contains the final weights, column 1 the new ones.
        distance: float64[states], infinity before and after the call.
        queued: bool[states], False before and after the call.
        queue: int32[states + 1], scratch: a ring buffer of states.
        closure: int32[states], scratch: the states of a closure.
        most: a call returns once it has followed more ε-arcs than this.
        output: source, ilabel, olabel, target, weight of the copied arcs.
        counts: see `counters`.

    Returns:
        `COMPLETE`, `MORE_ARCS`, or `MORE_STEPS` if the caller must call again.
    """
    followed = 0
    while counts[DONE] < len(states):
        state = states[counts[DONE]]
        size, head, tail = 1, 0, 1
        closure[0] = state
        queue[0] = state
        distance[state] = 0
        while head != tail:
            place = queue[head]
            head = 0 if head + 1 == len(queue) else head + 1
            queued[place] = False
            followed += epsilons.row_start[place + 1] - epsilons.row_start[place]
            for arc in range(epsilons.row_start[place], epsilons.row_start[place + 1]):
                target, weight = epsilons.target[arc], distance[place] + epsilons.weight[arc]
                if weight >= distance[target]:
                    continue
                if distance[target] == INFINITY:
                    closure[size] = target
                    size += 1
                distance[target] = weight
                if not queued[target]:
                    queued[target] = True
                    queue[tail] = target
                    tail = 0 if tail + 1 == len(queue) else tail + 1
        made, best, room = counts[ARCS], final[state, 0], True
        for index in range(1, size):
            place = closure[index]
            best = min(best, distance[place] + final[place, 0])
            first, end = others.row_start[place], others.row_start[place + 1]
            room = room and made + end - first <= len(output.target)
            if room:
                for arc in range(first, end):
                    output.source[made] = state
                    output.ilabel[made] = others.ilabel[arc]
                    output.olabel[made] = others.olabel[arc]
                    output.target[made] = others.target[arc]
                    output.weight[made] = distance[place] + others.weight[arc]
                    made += 1
        for index in range(size):
            distance[closure[index]] = INFINITY
        if not room:
            return MORE_ARCS
        final[state, 1] = best
        counts[ARCS] = made
        counts[DONE] += 1
        if followed > most:
            return MORE_STEPS
    return COMPLETE
