"""All sets of items that texts lead to, for tables: the subset construction over parts (`fst.machines.guide.kernels.items`).

    take the next state → mark the classes where ranges of its arcs begin or end → for each segment between two marks: the items after the
        arcs over the segment → the set of these items → its closure → keep items with arcs, and the end → find or add the state

So two sets are one state if the same arcs leave them, however many skips, calls and counts lead there.

Preconditions: all parts are made, so that a closure never lacks one; arcs are over classes of bytes.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import kernel, part
from fst.machines.guide.item_arguments import ACCEPT, NO_ROW, NO_WORK
from fst.machines.guide.kernels.items import close, frame_of, item_of, number_in, position_of, sort


@part
def state_of(number, parts, pool, work, states, made):
    """The state of a set; a new state is added. Or a negative result."""
    if states[number] >= 0:
        return np.int64(states[number])
    failed = close(number, parts, pool, work)
    if failed < 0:
        return failed
    kept = 0
    for place in range(work.counts.found):
        item = work.found[place]
        position = position_of(item)
        if position == ACCEPT or parts.positions[position, 0] < parts.positions[position + 1, 0]:
            if kept == len(work.row):
                return np.int64(NO_WORK)
            work.row[kept] = item
            kept += 1
    closed = number_in(work.row, sort(work.row, kept), pool)
    if closed < 0:
        return closed
    if states[closed] < 0:
        if work.counts.rows == len(made):
            return np.int64(NO_ROW)
        made[work.counts.rows] = closed
        states[closed] = work.counts.rows
        work.counts.rows += 1
    states[number] = states[closed]
    return np.int64(states[number])


@kernel
def explore(start, parts, pool, work, states, made, targets, is_final):
    """Find all states; state 0 is that of the set `start`.

    Args:
        start: the number of a set.
        parts, pool, work: see `fst.machines.guide.item_arguments`. ``work.counts.rows`` is the number of states, ``work.counts.node`` the
            number of complete ones: the kernel continues with the next state. Both are initially 0.
        states: int32[room of the pool], the state of each set, initially -1.
        made: int64[room], output: the set of each state.
        targets: int32[room, classes], output: the next state for each class of bytes; -1: none.
        is_final: bool[room], output.

    Returns:
        0, or `NO_ROOM`, `NO_WORK` or `NO_ROW`: then the caller enlarges `pool` and `states`, or `work`, or the arrays of states, and calls
        again.
    """
    failed = state_of(start, parts, pool, work, states, made)
    while failed >= 0 and work.counts.node < work.counts.rows:
        failed = np.int64(0)
        state = work.counts.node
        first, end = pool.starts[made[state]], pool.starts[made[state] + 1]
        for byte in range(len(work.marks)):
            work.marks[byte] = 0
        is_final[state] = False
        for place in range(first, end):
            position = position_of(pool.cells[place])
            is_final[state] |= position == ACCEPT
            for arc in range(parts.positions[position, 0], parts.positions[position + 1, 0]):
                work.marks[parts.arcs[arc, 0]] = 1
                work.marks[parts.arcs[arc, 1] + 1] = 1
        byte, classes = 0, targets.shape[1]
        while failed >= 0 and byte < classes:
            past = byte + 1
            while past < classes and not work.marks[past]:
                past += 1
            size = 0
            for place in range(first, end):
                item = pool.cells[place]
                position = position_of(item)
                for arc in range(parts.positions[position, 0], parts.positions[position + 1, 0]):
                    if parts.arcs[arc, 0] <= byte <= parts.arcs[arc, 1]:
                        if size == len(work.row):
                            return np.int64(NO_WORK)
                        work.row[size] = item_of(parts.arcs[arc, 2], frame_of(item))
                        size += 1
            following = np.int64(-1)
            if size > 0:
                following = number_in(work.row, sort(work.row, size), pool)
                if following >= 0:
                    following = state_of(following, parts, pool, work, states, made)
                failed = min(following, np.int64(0))
            for each in range(byte, past):
                targets[state, each] = following
            byte = past
        if failed >= 0:
            work.counts.node = state + 1
    return failed
