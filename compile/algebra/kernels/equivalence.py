"""Equivalence of deterministic machines: pairs of states that one string reaches must agree (Hopcroft and Karp 1971)."""

from __future__ import annotations

import numpy as np

from fst.compile.algebra.arcs import TOLERANCE
from fst.core.jit import inlined, kernel


@inlined
def root_of(state, parents):
    """The representative of a state's set; the call halves the path to it."""
    while parents[state] != state:
        parents[state] = parents[parents[state]]
        state = parents[state]
    return state


@inlined
def differ(first, second):
    """Whether two final weights differ."""
    if first == np.inf or second == np.inf:
        return first != second
    return abs(first - second) > TOLERANCE


@kernel
def agree(first, second, final, begin, parents, queue):
    """Whether two trimmed, deterministic machines with pushed weights accept the same strings with the same weights.

    Args:
        first, second: row_start, label, target, weight of the machines, sorted by (state, label).
        final: the final weights of both machines, one after the other.
        begin: the two start states.
        parents: int32[states of both], initially each state itself; output, the sets of states that must agree.
        queue: int32[2 · states of both], scratch: pairs of states.
    """
    offset = len(first.row_start) - 1
    queue[0], queue[1] = begin[0], begin[1]
    parents[begin[1] + offset] = begin[0]
    size, place = 2, 0
    while place < size:
        left, right = queue[place], queue[place + 1]
        place += 2
        if differ(final[left], final[right + offset]):
            return False
        count = first.row_start[left + 1] - first.row_start[left]
        if count != second.row_start[right + 1] - second.row_start[right]:
            return False
        for index in range(count):
            here, there = first.row_start[left] + index, second.row_start[right] + index
            if first.label[here] != second.label[there] or abs(first.weight[here] - second.weight[there]) > TOLERANCE:
                return False
            one, other = root_of(first.target[here], parents), root_of(second.target[there] + offset, parents)
            if one != other:
                parents[other] = one
                queue[size], queue[size + 1] = first.target[here], second.target[there]
                size += 2
    return True
