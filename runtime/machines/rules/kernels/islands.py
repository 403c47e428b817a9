"""Rewrite rows of text by the two passes of `fst.runtime.machines.rules.kernels.passes`, but only where the stage may change the text.

Every 64 bytes are compared with the stops of `fst.machines.rules.quiet.Quiet` at once. An *island* is the text around a stop that both
passes read. All text between islands is copied::

    text      t h e   c a s t l e   i s   o l d          stops of the rule "s -> z / _ [lm]"
    stops               .                                an s before a consonant of the rule
    island              s t                              up to the next character that determines the set before it

An island begins where the state of the pass to the right is certain, and ends where the set of the pass to the left is certain. If a match
goes on after the end, so does the island.

The requirements of `passes` apply, and rows are complete.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel
from fst.machines.rules import entries, quiet
from fst.runtime.kernels.constants import U0, U1, U32, U64
from fst.runtime.kernels.intrinsics import copy_bytes
from fst.runtime.machines.rules.kernels.passes import class_of, end_of, put, put_final, read_left, write_right
from fst.runtime.text.kernels.stops import next_stop
from fst.runtime.text.kernels.stretches import code_at, start_before

SPARSE, MANY = np.uint64(12), np.uint64(256)  # islands are faster if there are fewer than one in `SPARSE` bytes: see LOG
TOO_MANY = np.uint64(quiet.TOO_MANY)
FEW = np.uint64(128)  # maximum number of bytes that `put_between` copies without a loop
NOTHING, UNKNOWN = np.uint64(entries.NOTHING), np.uint64(quiet.UNKNOWN)


@inlined
def next_event(text, at, end, stops):
    """Find the first stop from a position on; return `end` if there is none. The last byte is a stop whatever follows it."""
    if at >= end:
        return end
    last = end - U1
    found = next_stop(text, at, last, stops, U0) if at < last else last
    return found if found < last or stops[np.uint64(text[last])] else end


@inlined
def state_before(text, at, done, place, stage, silent):
    """Find a position before `at` where the state is certain; return it, and the row of the state. `place` is that of the state at `done`,
    the end of the last island.
    """
    while at > done:
        before = start_before(text, at)
        row = silent.states[class_of(code_at(text, before)[0], stage)]
        if row != UNKNOWN:
            return at, row
        at = before
    return done, place


@inlined
def set_after(text, at, end, stage, silent):
    """Find a position from `at` on where the set is certain; return it, and the row of the set."""
    while at < end:
        code, after = code_at(text, at)
        row = silent.sets[class_of(code, stage)]
        if row != UNKNOWN:
            return at, row
        at = after
    return end, U0


@inlined
def rewrite_island(text, start, at, stop, place, stage, silent, columns, out, filled):
    """Write an island.

    Args:
        text, stop: the text, and the end of its row.
        start, place: the start of the island, and the row of the state there.
        at: the stop.
        stage, silent, columns, out, filled: as in `rewrite_islands`; and the number of bytes in `out`.

    Returns:
        The end of the island, the row of the state there, and the new number of bytes.
    """
    while True:
        end, found = set_after(text, end_of(text, at), stop, stage, silent)
        read_left(text, start, end, stage, found, columns)
        place, action, filled = write_right(text, start, end, stage, columns, place, out, filled)
        if end == stop:
            return end, place, put_final(place, stage, out, filled)
        if action != NOTHING:
            return end, place, filled
        start = at = end  # inside a match


@inlined
def put_between(text, at, end, out, filled):
    """Copy the text between two islands, as `put` does. Up to 128 bytes are copied without a loop, and those after `end` do not count."""
    size = end - at
    if size <= FEW and at + FEW <= np.uint64(len(text)) and filled + FEW <= np.uint64(len(out)):
        copy_bytes(text, at, out, filled)
        copy_bytes(text, at + U32, out, filled + U32)
        if size > U64:
            copy_bytes(text, at + U64, out, filled + U64)
            copy_bytes(text, at + U64 + U32, out, filled + U64 + U32)
        return filled + size
    return put(text, at, end, out, filled)


@kernel
def rewrite_islands(text, starts, stage, silent, columns, out, out_starts):
    """Write the new rows.

    Args:
        text, starts, stage, out, out_starts: as in `fst.runtime.machines.rules.kernels.passes.to_right`.
        silent: `fst.machines.rules.quiet.Quiet` of the stage.
        columns: uint16[n], a working array.

    Returns:
        The number of islands; or `TOO_MANY` if the passes over the whole text are faster, and the output is not complete.
    """
    filled = islands = U0
    for row in range(len(starts) - 1):
        out_starts[row] = filled
        done, end, place = np.uint64(starts[row]), np.uint64(starts[row + 1]), U0
        at = next_event(text, done, end, silent.stops)
        while at < end:
            start, place = state_before(text, at, done, place, stage, silent)
            filled = put_between(text, done, start, out, filled)
            done, place, filled = rewrite_island(text, start, at, end, place, stage, silent, columns, out, filled)
            islands += U1
            if islands * SPARSE > done + MANY:
                out_starts[len(starts) - 1] = U0
                return TOO_MANY
            at = next_event(text, done, end, silent.stops)
        filled = put(text, done, end, out, filled)
    out_starts[len(starts) - 1] = filled
    return islands
