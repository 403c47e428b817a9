"""Walks of the keyword automaton over bytes, which write events.

An event is a position where a look-up found an output, and the slot of this look-up in ``table.entries``: ``position 32 | slot 28 | 0 3 |
whether it is a finish 1``, from the lowest bit. A *finish* is the event at the end of a text; its field for the slot contains the state at
this end.

A walk spends more time on memory accesses than on computation, so four walks take turns: each walk reads a quarter of the text, and begins
at the root. If a match continues from one quarter to the next, the root is the wrong state; `fst.runtime.machines.keywords.kernels.search`
corrects this error.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, part
from fst.machines.keywords import table as keywords
from fst.runtime.kernels.constants import HALF, LOW_HALF, ROOT, U0, U1, U2, U3, U63
from fst.runtime.kernels.intrinsics import opaque

STATE, OUTPUT = np.uint64(keywords.ENTRY.max_target), np.uint64(keywords.ENTRY.max_value)
OUTPUT_SHIFT, LABEL_SHIFT = np.uint64(keywords.ENTRY.value_shift), np.uint64(keywords.ENTRY.label_shift)
KEYWORD, START, END, BEFORE_IT = (np.uint64(column) for column in keywords.COLUMNS)
WORD = 0  # the element of ``output.words`` for every match; -1 would mean a special id
SEGMENT = np.uint64(keywords.SEGMENT)
REGION = np.uint64(keywords.REGION)
TOP = np.int64(63)


@inlined
def pack_event(at, slot, is_finish):
    """Pack an event."""
    return is_finish << U63 | slot << HALF | at


@inlined
def event_of(event):
    """Return the position of an event, its slot (for a finish, the state), and whether it is a finish."""
    return event & LOW_HALF, event >> HALF & STATE, event >> U63


@inlined
def is_zero(number):
    """Return a mask: all bits are set if a number below 2**63 is 0, otherwise no bit."""
    return np.uint64(np.int64(number - U1) >> TOP)


@inlined
def output_of(entry):
    """Return the output of an entry: the number of its last match, or 0 without a match."""
    return entry >> OUTPUT_SHIFT & OUTPUT


@inlined
def step(text, table, state, at, events, count):
    """Follow a state's transition on a byte, or else its failure link; a link to the root is followed by the root's transition.

    The code has no branch, since a misprediction costs more time than all loads. So an event is always written, but counted only if it has
    an output.

    Returns:
        The state, the position of the next byte, and the number of events.
    """
    byte = np.uint64(text[at])
    edge, own = table.entries[state + U1 + byte], table.entries[state]
    leads = opaque(is_zero(edge >> LABEL_SHIFT ^ byte))  # all bits if the state has a transition on the byte
    entry = own ^ (own ^ edge) & leads  # `edge` if the state has a transition on the byte, otherwise `own`
    to_root = is_zero(own & STATE) & ~leads
    root_edge = table.roots[byte] & to_root  # 0 unless the link leads to the root, which is state 0, so | joins both
    events[count] = pack_event(at, state + (U1 + byte & leads), U0)
    count += np.uint64(output_of(entry | root_edge) != U0)
    return (entry | root_edge) & STATE, at + ((leads | to_root) & U1), count


@inlined
def stop_of(starts, closed, row, at, end):
    """Find the row where a walk continues, and the position where the walk must stop: the end of this row, or of the segment."""
    while row < closed and np.uint64(starts[row + U1]) <= at:
        row += U1
    return row, min(np.uint64(starts[row + U1]), end) if row < closed else end


@inlined
def pause(starts, closed, row, at, end, state, events, count):
    """End the row of a walk if the row ends at `at`; return the next row and its stop, the new state, and the number of events."""
    if row == closed or np.uint64(starts[row + U1]) > at:
        return row, end, state, count
    if state != ROOT:
        events[count] = pack_event(at, state, U1)
        count += U1
    row, stop = stop_of(starts, closed, row, at, end)
    return row, stop, ROOT, count


@part
def walk_alone(text, starts, closed, row, at, end, state, table, events, count):
    """Continue one walk to the end of its segment; return the state, and the number of events."""
    row, stop = stop_of(starts, closed, row, at, end)
    while at < end:
        while at < stop:
            state, at, count = step(text, table, state, at, events, count)
        row, stop, state, count = pause(starts, closed, row, at, end, state, events, count)
    return state, count


@part
def walk(text, starts, closed, row, start, size, table, work):
    """Run four walks in turns, each over one segment.

    Args:
        text, starts, table: as in `fst.runtime.machines.keywords.kernels.search.run_rows`.
        closed: the number of rows that end in this call.
        row: the row that contains the position `start`.
        start, size: the position of the first segment; the size of each segment, at least 1.
        work: `fst.machines.keywords.table.Work`; `events`, `states` and `counts` receive the results.
    """
    events = work.events
    at_0, at_1, at_2, at_3 = start, start + size, start + U2 * size, start + U3 * size
    end_0, end_1, end_2, end_3 = at_1, at_2, at_3, at_3 + size
    row_0, stop_0 = stop_of(starts, closed, row, at_0, end_0)
    row_1, stop_1 = stop_of(starts, closed, row_0, at_1, end_1)
    row_2, stop_2 = stop_of(starts, closed, row_1, at_2, end_2)
    row_3, stop_3 = stop_of(starts, closed, row_2, at_3, end_3)
    state_0 = state_1 = state_2 = state_3 = ROOT
    count_0, count_1, count_2, count_3 = U0, REGION, U2 * REGION, U3 * REGION
    while at_0 < end_0 and at_1 < end_1 and at_2 < end_2 and at_3 < end_3:
        while at_0 < stop_0 and at_1 < stop_1 and at_2 < stop_2 and at_3 < stop_3:
            state_0, at_0, count_0 = step(text, table, state_0, at_0, events, count_0)
            state_1, at_1, count_1 = step(text, table, state_1, at_1, events, count_1)
            state_2, at_2, count_2 = step(text, table, state_2, at_2, events, count_2)
            state_3, at_3, count_3 = step(text, table, state_3, at_3, events, count_3)
        if at_0 == stop_0:
            row_0, stop_0, state_0, count_0 = pause(starts, closed, row_0, at_0, end_0, state_0, events, count_0)
        if at_1 == stop_1:
            row_1, stop_1, state_1, count_1 = pause(starts, closed, row_1, at_1, end_1, state_1, events, count_1)
        if at_2 == stop_2:
            row_2, stop_2, state_2, count_2 = pause(starts, closed, row_2, at_2, end_2, state_2, events, count_2)
        if at_3 == stop_3:
            row_3, stop_3, state_3, count_3 = pause(starts, closed, row_3, at_3, end_3, state_3, events, count_3)
    work.states[0], work.counts[0] = walk_alone(text, starts, closed, row_0, at_0, end_0, state_0, table, events, count_0)
    work.states[1], work.counts[1] = walk_alone(text, starts, closed, row_1, at_1, end_1, state_1, table, events, count_1)
    work.states[2], work.counts[2] = walk_alone(text, starts, closed, row_2, at_2, end_2, state_2, table, events, count_2)
    work.states[3], work.counts[3] = walk_alone(text, starts, closed, row_3, at_3, end_3, state_3, table, events, count_3)
