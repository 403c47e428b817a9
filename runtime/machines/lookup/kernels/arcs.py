"""Read the arcs of a table, push them on a stack, and evaluate their conditions (`fst.automata.flags`).

    entry:  one arc, without a condition and a weight ─→ the arc      other slices ─→ first, one past the last
    stack:  slices that are not finished, each with four fields, from CURSOR to WRITTEN

A *cursor* is the index of an arc, or an arc from an entry, which has the bit `ALONE`. In both cases, the end of a slice is one more than
its last cursor.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, part
from fst.machines.lookup import layout
from fst.machines.lookup.layout import ENTRY
from fst.runtime.kernels.constants import HALF, LOW_HALF, U0, U1, U2, U3
from fst.runtime.kernels.flags import is_applied

FIRST, EPSILON = np.uint64(ENTRY.first), np.uint64(layout.EPSILON)
TARGET, VALUE, VALUE_SHIFT, LABEL_SHIFT = (
    np.uint64(number) for number in (ENTRY.max_target, ENTRY.max_value, ENTRY.value_shift, ENTRY.label_shift)
)
ALONE, ARC = np.uint64(layout.ALONE << ENTRY.value_shift), np.uint64((1 << ENTRY.label_shift) - 1)
ALONE_EPSILON, ALONE_PAUSES = np.uint64(layout.ALONE_EPSILON + ENTRY.value_shift), np.uint64(layout.ALONE_PAUSES + ENTRY.value_shift)
ALONE_SHIFT = np.uint64(ENTRY.label_shift - 1)  # an entry shifted by this number: ``label 16 | whether the entry contains its arc 1``
MAX_ALONE_PAUSES, MAX_ALONE_PIECE = np.uint64(layout.MAX_ALONE_PAUSES), np.uint64(layout.MAX_ALONE_PIECE)
HAS_EPSILON, OUTPUT_SHIFT = np.uint64(layout.HAS_EPSILON), np.uint64(layout.OUTPUT_SHIFT)
STATE = np.uint64((1 << layout.HAS_EPSILON) - 1)
SLICE = np.uint64(4)  # number of fields of a slice on the stack
CURSOR, LAST, READ, WRITTEN = U0, U1, U2, U3
READ_MASK = np.uint64((1 << 31) - 1)
FLAG_SHIFT = np.uint64(31)
FAILED, TOO_MANY = np.uint64(2**64 - 2), np.uint64(2**64 - 1)  # in place of a frame: the condition fails; there are too many frames


@inlined
def pack_read(read, pauses):
    """Pack the field READ: ``symbols read 31 | whether the arcs read nothing 1 | pauses 32``, from the lowest bit."""
    return read | pauses << HALF


@inlined
def read_of(item):
    """Return the lower half of the field READ, and the pauses."""
    return item & LOW_HALF, item >> HALF


@inlined
def pack_written(written, is_folded):
    """Pack the lower half of the field WRITTEN: ``pieces written 31 | whether folded 1 | frame 32``, from the lowest bit."""
    return written | is_folded << FLAG_SHIFT


@inlined
def written_of(item):
    """Return the three parts of the field WRITTEN."""
    return item & READ_MASK, item >> FLAG_SHIFT & U1, item >> HALF


@part
def holds(condition, frame, table, registers):
    """Whether a condition holds. If so, frame ``frame + 1`` contains the registers after the condition.

    Args:
        condition: the number of the condition, at least 1.
        frame: the number of the frame with the registers before the condition.
        registers: the frames; each frame has a register for each feature.
    """
    features = table.features[0]
    start = frame * features
    after = start + features
    for feature in range(features):
        registers[after + np.uint64(feature)] = registers[start + np.uint64(feature)]
    at, end = np.uint64(table.condition_ends[condition - U1]), np.uint64(table.condition_ends[condition])
    while at < end:
        if not is_applied(np.uint64(table.operations[at]), after, registers):
            return False
        at += U1
    return True


@part
def push(stack, depth, cursor, end, read, written, frame):
    """Push a slice of arcs; return the new depth."""
    place = depth * SLICE
    stack[place + CURSOR], stack[place + LAST], stack[place + READ] = cursor, end, read
    stack[place + WRITTEN] = frame << HALF | written
    return depth + U1


@inlined
def slice_of(entries, state, label):
    """Return the arcs of a state that read a class, as the first cursor and one past the last cursor; both are equal if there are no
    arcs.
    """
    entry = entries[state + FIRST + label]
    if entry >> LABEL_SHIFT != label:
        return U0, U0
    if entry & ALONE:
        return entry & ARC, (entry & ARC) + U1
    cursor = entry & TARGET
    return cursor, cursor + (entry >> VALUE_SHIFT & VALUE)


@inlined
def arc_alone(cursor):
    """Return three values of an arc from an entry: its state, whether arcs of this state read nothing, and its piece."""
    return cursor & TARGET, cursor >> ALONE_EPSILON & U1, cursor >> VALUE_SHIFT & MAX_ALONE_PIECE


@inlined
def arc_at(cursor, table):
    """Return three values of an arc: its state, whether arcs of this state read nothing, and its piece."""
    if cursor & ALONE:
        return arc_alone(cursor)
    arc = table.arcs[cursor]
    return arc & STATE, arc >> HAS_EPSILON & U1, arc >> OUTPUT_SHIFT


@inlined
def pauses_of(cursor, table):
    """Return the number of arcs that were folded into an arc."""
    if cursor & ALONE:
        return cursor >> ALONE_PAUSES & MAX_ALONE_PAUSES
    return np.uint64(table.arc_pauses[cursor])


@part
def frame_after(condition, frame, table, registers):
    """Return the frame after a condition, `FAILED` or `TOO_MANY`; condition 0 always holds, and keeps the frame."""
    if condition == U0:
        return frame
    if (frame + U2) * table.features[0] > np.uint64(len(registers)):
        return TOO_MANY
    return frame + U1 if holds(condition, frame, table, registers) else FAILED


@inlined
def condition_of(cursor, table):
    """Return the condition of an arc in a table with features."""
    return U0 if cursor & ALONE else np.uint64(table.arc_conditions[cursor])
