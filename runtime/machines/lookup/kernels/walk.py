"""Follow all paths that read a word, depth first.

    slice of arcs:  cursor ─→ end        the arcs of a state that read a class, or nothing
    stack:          slices that are not finished, each with the symbols read, the pieces written, the frame and the weight before its arcs;
                    for running text also with the pauses since the last symbol, and whether a symbol was read in lower case

An arc is taken from the current slice. The rest of the slice is pushed, unless the arc was its last, so words without ambiguity use no
stack. The number of arcs is bounded: a dead end may be reached on many paths, but then the word is left to the slow walk, which reaches it
once.

For running text, `work` is a `TextWork`. Other calls compile no code for it.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, part
from fst.machines.lookup import layout
from fst.machines.lookup.layout import ENTRY, WORDS_ALONE
from fst.runtime.kernels.constants import LOW_HALF, U0, U1, U2, U3
from fst.runtime.machines.lookup.kernels.conditions import holds
from fst.runtime.machines.lookup.kernels.found import FULL, MAX_ANALYSES, OVER, collect

FIRST, EPSILON = np.uint64(ENTRY.first), np.uint64(layout.EPSILON)
TARGET, VALUE, VALUE_SHIFT, LABEL_SHIFT = (
    np.uint64(number) for number in (ENTRY.max_target, ENTRY.max_value, ENTRY.value_shift, ENTRY.label_shift)
)
HAS_EPSILON, OUTPUT_SHIFT = np.uint64(layout.HAS_EPSILON), np.uint64(layout.OUTPUT_SHIFT)
STATE = np.uint64((1 << layout.HAS_EPSILON) - 1)
STEPS, SPARE = np.uint64(layout.STEPS), np.uint64(layout.SPARE)
SLICE = np.uint64(4)  # number of fields of a slice on the stack
CURSOR, LAST, READ, WRITTEN = U0, U1, U2, U3
READ_MASK = np.uint64((1 << 31) - 1)
PAUSES_SHIFT, FLAG_SHIFT, FRAME_SHIFT = np.uint64(32), np.uint64(31), np.uint64(32)
# The field READ: ``pauses | whether the arcs read nothing 1 | symbols read 31``; WRITTEN: ``frame | whether folded 1 | pieces written 31``.


@part
def push(stack, depth, cursor, end, read, written, frame):
    """Push a slice of arcs; return the new depth."""
    place = depth * SLICE
    stack[place + CURSOR], stack[place + LAST], stack[place + READ] = cursor, end, read
    stack[place + WRITTEN] = frame << FRAME_SHIFT | written
    return depth + U1


@inlined
def slice_of(entries, state, label):
    """Return the arcs of a state that read a class, the first and one past the last; equal if there are none."""
    entry = entries[state + FIRST + label]
    cursor = entry & TARGET
    return cursor, (cursor + (entry >> VALUE_SHIFT & VALUE) if entry >> LABEL_SHIFT == label else cursor)


@part
def walk(size, table, work):
    """Collect the analyses of a word of `size` classes.

    Returns:
        The number of analyses; and 0, or `OVER`, or `FULL` if the word must be left to the slow walk.
    """
    entries, arcs, stack, path, classes = table.entries, table.arcs, work.stack, work.path, work.classes
    is_conditioned, is_weighted = table.features[0] > U0, len(table.arc_weights) + len(table.final_weights) > 0
    most = MAX_ANALYSES if is_weighted or len(work) > WORDS_ALONE else table.begin[U3]
    steps, state, pauses = STEPS * (size + SPARE), table.begin[U0], table.begin[U1]
    count, depth, at, written, frame, weight = U0, U0, U0, U0, U0, np.float32(0)
    folded, rests = U0, U0  # whether a symbol was read in lower case; pauses since the last symbol
    for feature in range(table.features[0]):
        work.registers[feature] = 0
    while True:
        if at == size:
            final = entries[state] & TARGET
            last = final + (entries[state] >> VALUE_SHIFT & VALUE)
            while final < last:
                if steps == U0:
                    return count, FULL
                steps -= U1
                is_allowed = True
                if is_conditioned and table.final_conditions[final]:
                    if (frame + U2) * table.features[0] > np.uint64(len(work.registers)):
                        return count, FULL
                    is_allowed = holds(np.uint64(table.final_conditions[final]), frame, table, work.registers)
                if is_allowed:
                    total = weight + table.final_weights[final] if is_weighted else weight
                    if len(work) > WORDS_ALONE:
                        work.pauses[size] = rests + np.uint64(table.final_pauses[final])
                    after = collect(count, written, np.uint64(table.final_pieces[final]), total, most, size, folded, table, work)
                    if after >= OVER:
                        return count, after
                    count = after
                final += U1
        if (depth + U3) * SLICE > np.uint64(len(stack)) or written == np.uint64(len(path)):
            return count, FULL
        cursor, end, read, after_folded = U0, U0, at + U1, folded
        if at < size:
            if len(work) == WORDS_ALONE or classes[at]:
                cursor, end = slice_of(entries, state, np.uint64(classes[at]))
            if len(work) > WORDS_ALONE and work.lower_classes[at]:
                if cursor < end:
                    first, last = slice_of(entries, state, np.uint64(work.lower_classes[at]))
                    if first < last:
                        work.sums[depth] = weight
                        depth = push(stack, depth, first, last, read | rests << PAUSES_SHIFT, written | U1 << FLAG_SHIFT, frame)
                else:
                    cursor, end = slice_of(entries, state, np.uint64(work.lower_classes[at]))
                    after_folded = U1
        if pauses:
            if cursor < end:
                work.sums[depth] = weight
                depth = push(stack, depth, cursor, end, read | rests << PAUSES_SHIFT, written | after_folded << FLAG_SHIFT, frame)
            cursor, end = slice_of(entries, state, EPSILON)
            read, after_folded = at | U1 << FLAG_SHIFT, folded
        while True:
            if cursor == end:
                if depth == U0:
                    return count, U0
                depth -= U1
                place = depth * SLICE
                cursor, end, read = stack[place + CURSOR], stack[place + LAST], stack[place + READ] & LOW_HALF
                written, frame = stack[place + WRITTEN] & READ_MASK, stack[place + WRITTEN] >> FRAME_SHIFT
                weight = work.sums[depth]
                if len(work) > WORDS_ALONE:
                    rests, after_folded = stack[place + READ] >> PAUSES_SHIFT, stack[place + WRITTEN] >> FLAG_SHIFT & U1
            if steps == U0:
                return count, FULL
            steps -= U1
            chosen = cursor
            cursor += U1
            after_frame = frame
            if is_conditioned and table.arc_conditions[chosen]:
                if (frame + U2) * table.features[0] > np.uint64(len(work.registers)):
                    return count, FULL
                if not holds(np.uint64(table.arc_conditions[chosen]), frame, table, work.registers):
                    continue
                after_frame = frame + U1
            if cursor < end:
                work.sums[depth] = weight
                depth = push(stack, depth, cursor, end, read | rests << PAUSES_SHIFT, written | after_folded << FLAG_SHIFT, frame)
            break
        arc = arcs[chosen]
        if len(work) > WORDS_ALONE:
            rests += np.uint64(table.arc_pauses[chosen])
            if read >> FLAG_SHIFT:
                rests += U1
            else:
                work.pauses[(read & READ_MASK) - U1] = rests
                rests = U0
            folded = after_folded
        state, pauses, at, frame = arc & STATE, arc >> HAS_EPSILON & U1, read & READ_MASK, after_frame
        path[written] = arc >> OUTPUT_SHIFT
        written += np.uint64(arc >> OUTPUT_SHIFT != U0)
        if is_weighted:
            weight = weight + table.arc_weights[chosen]
