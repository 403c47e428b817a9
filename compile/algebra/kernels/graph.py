"""Reachable states, orders of states, and shortest distances."""

from __future__ import annotations

import numpy as np

from fst.core.jit import kernel


@kernel
def reach(row_start, target, queue, count, seen):
    """Mark all states that can be reached.

    Args:
        row_start, target: the rows of a machine.
        queue: int32[states], scratch; the first `count` are the states to begin with, already marked.
        count: the number of states in `queue`.
        seen: output, bool[states].
    """
    first = 0
    while first < count:
        state = queue[first]
        first += 1
        for arc in range(row_start[state], row_start[state + 1]):
            following = target[arc]
            if not seen[following]:
                seen[following] = True
                queue[count] = following
                count += 1


@kernel
def finish_order(row_start, target, first, cursor, stack, order):
    """List states in the order in which a depth-first search leaves them: each state follows the states that it reaches, except along
    cycles.

    Args:
        row_start, target: the rows of a machine.
        first: the state with which the search begins; it begins again from each state not yet visited.
        cursor: int64[states], initially -1: the next arc of each state, or -1 before its visit.
        stack: int32[states], scratch.
        order: output, int32[states].
    """
    done = 0
    for root in range(-1, len(order)):
        root = first if root < 0 else root
        if cursor[root] >= 0:
            continue
        depth = 1
        stack[0] = root
        cursor[root] = row_start[root]
        while depth:
            state = stack[depth - 1]
            arc = cursor[state]
            if arc == row_start[state + 1]:
                depth -= 1
                order[done] = state
                done += 1
                continue
            cursor[state] = arc + 1
            if cursor[target[arc]] < 0:
                cursor[target[arc]] = row_start[target[arc]]
                stack[depth] = target[arc]
                depth += 1


@kernel
def improve(order, row_start, target, weight, distance, following):
    """Improve the distance of each state once, in the given order; return whether any distance became smaller.

    Args:
        order: int32[states].
        row_start, target, weight: the rows of a machine.
        distance: float64[states]; becomes the minimum of itself and ``weight[arc] + distance[target[arc]]`` over the state's arcs.
        following: int32[states], the target of the arc that last improved each state; -1 if no arc did.
    """
    changed = False
    for state in order:
        best = distance[state]
        for arc in range(row_start[state], row_start[state + 1]):
            candidate = weight[arc] + distance[target[arc]]
            if candidate < best:
                best = candidate
                following[state] = target[arc]
        if best < distance[state]:
            distance[state] = best
            changed = True
    return changed


@kernel
def accumulate(order, row_start, target, weight, base, distance):
    """Compute the distance of each state in the log semiring once, in the given order; return the largest decrease.

    Args:
        order: int32[states].
        row_start, target, weight: the rows of a machine.
        base: float64[states], the distance of each state without arcs.
        distance: float64[states], initially infinite; becomes ``-log(exp(-base) + sum(exp(-weight[arc] - distance[target[arc]])))``.
    """
    largest = 0.0
    for state in order:
        least = base[state]
        for arc in range(row_start[state], row_start[state + 1]):
            least = min(least, weight[arc] + distance[target[arc]])
        if least == np.inf:
            continue
        total = np.exp(least - base[state])
        for arc in range(row_start[state], row_start[state + 1]):
            total += np.exp(least - weight[arc] - distance[target[arc]])
        found = least - np.log(total)
        largest = max(largest, distance[state] - found)
        distance[state] = found
    return largest
