"""The kernel of look-up. `fst.machines.lookup.table` describes the ids, and `fst.machines.lookup.walk` is their specification.

A row of text is one word. The kernel stores nothing between calls: if a text continues in the next call, the kernel reads nothing of this
text.

Kernels check nothing, and require a table that has passed `Table.prove`, and text in UTF-16. If the ids do not fit into the output, they
are only counted.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.machines.lookup import layout
from fst.runtime.kernels.constants import U0, U1, U2, U3
from fst.runtime.machines.lookup.kernels.arcs import (
    ALONE,
    ALONE_SHIFT,
    CURSOR,
    EPSILON,
    FAILED,
    FIRST,
    LABEL_SHIFT,
    LAST,
    READ,
    SLICE,
    TOO_MANY,
    VALUE,
    VALUE_SHIFT,
    WRITTEN,
    arc_alone,
    arc_at,
    condition_of,
    frame_after,
    push,
    slice_of,
    written_of,
)
from fst.runtime.machines.lookup.kernels.found import FULL, MAX_ANALYSES, OVER, SLOW, collect_finals, put, put_analyses, put_spans
from fst.runtime.machines.lookup.kernels.symbols import TOO_LONG, UNKNOWN, characters_of, read_classes
from fst.tables.kernel_call import IDS_ALONE

STEPS, SPARE = np.uint64(layout.STEPS), np.uint64(layout.SPARE)


@inlined
def goes_on(entries, state, classes, at, size):
    """Whether a state has arcs that read the symbol at a position, or finals at the end of the word. Most arcs of large slices lead to
    states that have neither.
    """
    if at == size:
        return entries[state] >> VALUE_SHIFT & VALUE != U0
    label = np.uint64(classes[at])
    return entries[state + FIRST + label] >> LABEL_SHIFT == label


@part
def walk(size, table, work):
    """Collect the analyses of a word of `size` classes.

    Returns:
        The number of analyses; and 0, or `OVER`, or `FULL` if the word must be left to the slow walk.
    """
    entries, stack, path, classes = table.entries, work.stack, work.path, work.classes
    is_conditioned, is_weighted = table.features[0] > U0, len(table.arc_weights) + len(table.final_weights) > 0
    most = MAX_ANALYSES if is_weighted else table.begin[U3]
    steps, state, pauses = STEPS * (size + SPARE), table.begin[U0], table.begin[U1]
    count, depth, at, written, frame, weight = U0, U0, U0, U0, U0, np.float32(0)
    for feature in range(table.features[0]):
        work.registers[feature] = 0
    while True:
        if steps < size or (depth + U2) * SLICE > np.uint64(len(stack)) or written + size >= np.uint64(len(path)):
            return count, FULL
        cursor, end, before = U0, U0, at
        while at < size and not pauses:
            label = np.uint64(classes[at])
            entry = entries[state + FIRST + label]
            if entry >> ALONE_SHIFT != (label << U1 | U1):
                cursor, end = slice_of(entries, state, label)
                break
            state, pauses, piece = arc_alone(entry)
            path[written] = piece
            written += np.uint64(piece != U0)
            at += U1
        if pauses and at < size:
            cursor, end = slice_of(entries, state, np.uint64(classes[at]))
        steps -= at - before
        if at == size:
            finals = entries[state] >> VALUE_SHIFT & VALUE
            if steps < finals:
                return count, FULL
            steps -= finals
            count, after = collect_finals(state, count, written, frame, weight, most, size, U0, U0, table, work)
            if after >= OVER:
                return count, after
        read = at + U1
        if pauses:
            if cursor < end:
                work.sums[depth] = weight
                depth = push(stack, depth, cursor, end, read, written, frame)
            cursor, end = slice_of(entries, state, EPSILON)
            read = at
        while True:
            if cursor == end:
                if depth == U0:
                    return count, U0
                depth -= U1
                place = depth * SLICE
                cursor, end, read = stack[place + CURSOR], stack[place + LAST], stack[place + READ]
                written, _, frame = written_of(stack[place + WRITTEN])
                weight = work.sums[depth]
            if steps == U0:
                return count, FULL
            steps -= U1
            chosen = cursor
            cursor += U1
            target, has_pauses, piece = arc_at(chosen, table)
            if not (has_pauses or goes_on(entries, target, classes, read, size)):
                continue
            after_frame = frame_after(condition_of(chosen, table), frame, table, work.registers) if is_conditioned else frame
            if after_frame == FAILED:
                continue
            if after_frame == TOO_MANY:
                return count, FULL
            if cursor < end:
                work.sums[depth] = weight
                depth = push(stack, depth, cursor, end, read, written, frame)
            break
        state, pauses, at, frame = target, has_pauses, read, after_frame
        path[written] = piece
        written += np.uint64(piece != U0)
        if is_weighted and not chosen & ALONE:
            weight = weight + table.arc_weights[chosen]


@kernel
def run_rows(text, starts, more, table, output, work):
    """Look up words. Arguments and result are as in `fst.runtime.machines.bpe.kernels.encode.encode_rows`, except for `table`, which is
    `fst.machines.lookup.layout.Arguments`, and `work`, which is `fst.machines.lookup.layout.Work`.
    """
    call, rows = work.state, np.uint64(len(starts)) - U1
    is_weighted = len(table.arc_weights) + len(table.final_weights) > 0
    place = call.count
    complete = rows - U1 if more else rows
    for index in range(complete):
        row, first = np.uint64(index), place
        start, end = np.uint64(starts[row]), np.uint64(starts[row + U1])
        size = read_classes(text, start, end, table, work.classes)
        if size < UNKNOWN:
            count, state = walk(size, table, work)
            if state == FULL:
                place = put(output, place, SLOW)
            else:
                place = put_analyses(count, table.begin[U3], state == OVER, is_weighted, size, output, place, work)
        elif size == TOO_LONG:
            place = put(output, place, SLOW)
        if len(output) > IDS_ALONE:
            put_spans(output, first, place, U0, characters_of(text, start, end))
        output.ends[row] = place
    call.count = place
    return np.uint64(starts[complete])
