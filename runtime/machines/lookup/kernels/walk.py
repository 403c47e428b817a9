"""Follow all paths that read a word, depth first.

    slice of arcs:  cursor ─→ end        the arcs of a state that read a class, or nothing
    stack:          slices that are not finished, each with the symbols read, the pieces written, the frame and the weight before its arcs

An arc is taken from the current slice. The rest of the slice is pushed, unless the arc was its last, so words without ambiguity use no
stack. The number of arcs is bounded: a dead end may be reached on many paths, but then the word is left to the slow walk, which reaches it
once.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import part
from fst.machines.lookup import layout
from fst.machines.lookup.layout import ENTRY
from fst.runtime.kernels.constants import U0, U1, U2, U3
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
FRAME_SHIFT = np.uint64(32)  # the last field: ``frame | pieces written``


@part
def push(stack, depth, cursor, end, read, written, frame):
    """Push a slice of arcs; return the new depth."""
    place = depth * SLICE
    stack[place + CURSOR], stack[place + LAST], stack[place + READ] = cursor, end, read
    stack[place + WRITTEN] = frame << FRAME_SHIFT | written
    return depth + U1


@part
def walk(size, table, work):
    """Collect the analyses of a word of `size` classes.

    Returns:
        The number of analyses; and 0, or `OVER`, or `FULL` if the word must be left to the slow walk.
    """
    entries, arcs, stack, path, classes = table.entries, table.arcs, work.stack, work.path, work.classes
    is_conditioned, is_weighted = table.features[0] > U0, len(table.arc_weights) + len(table.final_weights) > 0
    most = MAX_ANALYSES if is_weighted else table.begin[U3]
    steps, state, pauses = STEPS * (size + SPARE), table.begin[U0], table.begin[U1]
    count, depth, at, written, frame, weight = U0, U0, U0, U0, U0, np.float32(0)
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
                    after = collect(count, written, np.uint64(table.final_pieces[final]), total, most, table, work)
                    if after >= OVER:
                        return count, after
                    count = after
                final += U1
        cursor, end, read = U0, U0, at + U1
        if at < size:
            entry = entries[state + FIRST + np.uint64(classes[at])]
            if entry >> LABEL_SHIFT == np.uint64(classes[at]):
                cursor = entry & TARGET
                end = cursor + (entry >> VALUE_SHIFT & VALUE)
        if (depth + U2) * SLICE > np.uint64(len(stack)) or written == np.uint64(len(path)):
            return count, FULL
        if pauses:
            if cursor < end:
                work.sums[depth] = weight
                depth = push(stack, depth, cursor, end, read, written, frame)
            entry = entries[state + FIRST + EPSILON]
            cursor = entry & TARGET
            end, read = cursor + (entry >> VALUE_SHIFT & VALUE), at
        while True:
            if cursor == end:
                if depth == U0:
                    return count, U0
                depth -= U1
                place = depth * SLICE
                cursor, end, read = stack[place + CURSOR], stack[place + LAST], stack[place + READ]
                written, frame = stack[place + WRITTEN] & STATE, stack[place + WRITTEN] >> FRAME_SHIFT
                weight = work.sums[depth]
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
                depth = push(stack, depth, cursor, end, read, written, frame)
            break
        arc = arcs[chosen]
        state, pauses, at, frame = arc & STATE, arc >> HAS_EPSILON & U1, read, after_frame
        path[written] = arc >> OUTPUT_SHIFT
        written += np.uint64(arc >> OUTPUT_SHIFT != U0)
        if is_weighted:
            weight = weight + table.arc_weights[chosen]
