"""The states of late guides: sets of items, which are made when a walk reaches them.

An *item* is a position in an automaton (`fst.machines.guide.parts`) and a *frame*, the stack of the calls around it. A frame is the set of
items to go on with after the call; equal sets have the same number, so frames share their outer frames. A frame that has nothing more to
read goes on with the items of its own frame instead. So no set depends on the number of calls that end at the same place.

A *tally* is a frame, too: a row whose first number is negative. It contains the frame around it, the count and the keys.

Example: the part of `fst.machines.guide.parts` reads ``((``. Its states 0 to 3 are the positions 1 to 4; position 0 accepts a text::

    set   items, as position, frame    meaning
    1     0,1                          the frame of whole texts
    2     1,1                          before the text
    3     2,1                          after "(": calls the part, or skips to 3,1
    4     3,1                          the frame of the inner part
    5     2,4                          after "((": again calls the part, or skips to 3,4

Preconditions: parts that `fst.machines.guide.part_store.PartStore` has added; numbers of sets come from `intern`.
"""

from __future__ import annotations

import numpy as np

from fst.automata.kernels.hashing import FULL, MULTIPLIER, intern
from fst.core.jit import inlined, part
from fst.machines.guide.item_arguments import ACCEPT, NO_PART, NO_ROOM, NO_ROW, NO_WORK, NONE, UNKNOWN
from fst.machines.guide.parts import CALL, COUNT, ENTER, EXIT, FINAL, MISS, RETURNS, SKIP

BLOCKED = -1  # the result instead of a number if a tally does not allow a move
PARENT, LEAST, MOST, MISSING, USED = range(5)  # cells of a tally; the used keys are in ascending order
FRAME = np.int64(0xFFFFFFFF)


@inlined
def item_of(position, frame):
    """An item."""
    return np.int64(position) << 32 | frame


@inlined
def position_of(item):
    """The position of an item."""
    return item >> 32


@inlined
def frame_of(item):
    """The frame of an item."""
    return item & FRAME


@inlined
def number_in(row, size, pool):
    """The number of the set or tally ``row[:size]``; `NO_ROOM` if the pool is too small."""
    number = intern(row, 0, size, pool)
    return np.int64(NO_ROOM) if number == FULL else number


@part
def sort(row, size):
    """Sort the first numbers of a row, and remove equal ones; return how many remain."""
    gap = 1
    while gap < size // 3:
        gap = 3 * gap + 1
    while gap > 0:  # Shell's sort
        for place in range(gap, size):
            item, before = row[place], place
            while before >= gap and row[before - gap] > item:
                row[before] = row[before - gap]
                before -= gap
            row[before] = item
        gap //= 3
    kept = min(size, 1)
    for place in range(1, size):
        if row[place] != row[kept - 1]:
            row[kept] = row[place]
            kept += 1
    return kept


@part
def add(item, work):
    """Add an item to ``work.found``, unless it is there."""
    last = np.uint64(len(work.stamps) - 1)
    slot = (np.uint64(item) * MULTIPLIER >> np.uint64(32)) & last
    while work.stamps[slot] == work.counts.stamp:
        if work.found[work.slots[slot]] == item:
            return
        slot = slot + np.uint64(1) & last
    work.stamps[slot], work.slots[slot] = work.counts.stamp, work.counts.found
    work.found[work.counts.found] = item
    work.counts.found += 1


@part
def tallied(kind, first, second, frame, pool, work):
    """The frame after a move of a tally; `BLOCKED` if the tally does not allow it; or `NO_ROOM`."""
    row = work.row
    if kind == ENTER:
        row[PARENT], row[LEAST], row[MOST], row[MISSING] = ~frame, first, second, 0
        return number_in(row, USED, pool)
    start = pool.starts[frame]
    size = pool.starts[frame + 1] - start
    if kind == EXIT:
        is_allowed = pool.cells[start + LEAST] == 0 and pool.cells[start + MISSING] == 0
        return ~pool.cells[start + PARENT] if is_allowed else np.int64(BLOCKED)
    for place in range(size):
        row[place] = pool.cells[start + place]
    if kind == MISS:
        row[MISSING] = first
    elif kind == COUNT:
        if row[MOST] >= 0:
            row[MOST] -= 1
            if row[MOST] < row[MISSING]:
                return np.int64(BLOCKED)
        row[LEAST] = max(row[LEAST] - 1, 0)
    else:  # USE
        place = size
        while place > USED and row[place - 1] > first:
            row[place] = row[place - 1]
            place -= 1
        if place > USED and row[place - 1] == first:
            return np.int64(BLOCKED)
        row[place] = first
        row[MISSING] -= second
        size += 1
    return number_in(row, size, pool)


@part
def add_moves(item, parts, pool, work):
    """Add the items after the moves of an item, and the items after its part, if the part may end; store its calls. Return 0, or a negative
    result.
    """
    position, frame = position_of(item), frame_of(item)
    if parts.positions[position, 2] & FINAL:
        start, end = pool.starts[frame], pool.starts[frame + 1]
        if work.counts.found + end - start > len(work.found):
            return np.int64(NO_WORK)
        for place in range(start, end):
            add(pool.cells[place], work)
    start, end = parts.positions[position, 1], parts.positions[position + 1, 1]
    if work.counts.found + end - start > len(work.found) or work.counts.calls + end - start > len(work.calls):
        return np.int64(NO_WORK)
    for move in range(start, end):
        kind, first, second, target = parts.moves[move, 0], parts.moves[move, 1], parts.moves[move, 2], parts.moves[move, 3]
        if kind == SKIP:
            add(item_of(target, frame), work)
        elif kind == CALL:
            if parts.starts[first, 0] < 0:
                work.counts.needed = first
                return np.int64(NO_PART)
            calls = work.counts.calls
            work.calls[calls, 0], work.calls[calls, 1] = first, item_of(target, frame)
            work.counts.calls = calls + 1
        else:
            if pool.starts[frame + 1] - pool.starts[frame] >= len(work.row):
                return np.int64(NO_WORK)
            after = tallied(kind, first, second, frame, pool, work)
            if after == NO_ROOM:
                return after
            if after >= 0:
                add(item_of(target, after), work)
    return np.int64(0)


@part
def add_call(parts, pool, work):
    """Enter the part that no other part of ``work.calls`` can call at once: the one with the highest rank. Remove its calls, and add its
    start in the frame of all items after these calls. Return 0, or a negative result.
    """
    called = work.calls[0, 0]
    for call in range(1, work.counts.calls):
        if parts.starts[work.calls[call, 0], 1] > parts.starts[called, 1]:
            called = work.calls[call, 0]
    size, kept = 0, 0
    for call in range(work.counts.calls):
        item = work.calls[call, 1]
        if work.calls[call, 0] != called:
            work.calls[kept, 0], work.calls[kept, 1] = work.calls[call, 0], item
            kept += 1
            continue
        start, end = np.int64(0), np.int64(1)
        if parts.positions[position_of(item), 2] & RETURNS:
            start, end = pool.starts[frame_of(item)], pool.starts[frame_of(item) + 1]
        if size + end - start > len(work.row) or work.counts.found == len(work.found):
            return np.int64(NO_WORK)
        for place in range(start, end):
            work.row[size] = pool.cells[place] if parts.positions[position_of(item), 2] & RETURNS else item
            size += 1
    frame = number_in(work.row, sort(work.row, size), pool)
    if frame == NO_ROOM:
        return frame
    work.counts.calls = kept
    add(item_of(parts.starts[called, 0], frame), work)
    return np.int64(0)


@part
def close(number, parts, pool, work):
    """Put the items of a set, and all items that moves, calls and returns add to them, into ``work.found``. Return 0, or a negative result:
    then the caller enlarges an array, or makes a part, and calls again.
    """
    work.counts.stamp += 1
    work.counts.found, work.counts.calls = 0, 0
    start, end = pool.starts[number], pool.starts[number + 1]
    if end - start > len(work.found):
        return np.int64(NO_WORK)
    for place in range(start, end):
        add(pool.cells[place], work)
    done = 0
    while done < work.counts.found or work.counts.calls > 0:
        if done < work.counts.found:
            failed = add_moves(work.found[done], parts, pool, work)
            done += 1
        else:
            failed = add_call(parts, pool, work)
        if failed < 0:
            return failed
    return np.int64(0)


@part
def expand(number, parts, pool, steps, work):
    """Make the row of the steps from a set, see `fst.machines.guide.item_arguments.Steps`; return its number, or a negative result."""
    failed = close(number, parts, pool, work)
    if failed < 0:
        return failed
    row, arcs = np.int64(work.counts.rows), np.int64(work.counts.arcs)
    if row == len(steps.targets):
        return np.int64(NO_ROW)
    for byte in range(256):
        steps.targets[row, byte] = NONE
    steps.finals[row] = 0
    for place in range(work.counts.found):
        item = work.found[place]
        position = position_of(item)
        if position == ACCEPT:
            steps.finals[row] = 1
        start, end = parts.positions[position, 0], parts.positions[position + 1, 0]
        if arcs + end - start > len(steps.arcs):
            return np.int64(NO_ROW)
        for arc in range(start, end):
            first, last = np.int64(parts.arcs[arc, 0]), np.int64(parts.arcs[arc, 1])
            steps.arcs[arcs, 0], steps.arcs[arcs, 1] = first << 8 | last, item_of(parts.arcs[arc, 2], frame_of(item))
            for byte in range(first, last + 1):
                steps.targets[row, byte] = UNKNOWN
            arcs += 1
    steps.ends[row + 1], work.counts.arcs = arcs, arcs
    steps.rows[number], work.counts.rows = row, row + 1
    return row


@part
def find_target(row, byte, pool, steps, work):
    """Find the set after a byte, and after the bytes around it that the same arcs read; return it, or a negative result."""
    size, low, high = np.int64(0), np.int64(0), np.int64(255)
    for arc in range(steps.ends[row], steps.ends[row + 1]):
        first, last = steps.arcs[arc, 0] >> 8, steps.arcs[arc, 0] & 0xFF
        if byte < first:
            high = min(high, first - 1)
        elif byte > last:
            low = max(low, last + 1)
        else:
            low, high = max(low, first), min(high, last)
            if size == len(work.row):
                return np.int64(NO_WORK)
            work.row[size] = steps.arcs[arc, 1]
            size += 1
    target = number_in(work.row, sort(work.row, size), pool)
    if target >= 0:
        for each in range(low, high + 1):
            steps.targets[row, each] = target
    return target


@inlined
def target_of(row, byte, pool, steps, work):
    """The set after a byte; `NONE`; or another negative result."""
    target = np.int64(steps.targets[np.uint64(row), np.uint64(byte)])
    return target if target != UNKNOWN else find_target(row, np.int64(byte), pool, steps, work)


@inlined
def row_of(number, parts, pool, steps, work):
    """The row of the steps from a set, which are made if necessary; or a negative result."""
    row = np.int64(steps.rows[np.uint64(number)])
    return row if row >= 0 else expand(number, parts, pool, steps, work)
