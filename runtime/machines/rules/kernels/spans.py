"""Rewrite rows of text with spans: for each byte of the new text, the characters that became it.

Spans are two numbers for each byte of a text: the first character that became it, and one past the last. All bytes of a string have the
span of the characters that it replaces, so this pass knows where these characters begin. The requirements of
`fst.runtime.machines.rules.kernels.passes` apply.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import kernel, part
from fst.machines.rules import entries
from fst.runtime.kernels.constants import U0, U1
from fst.runtime.kernels.utf_8 import CONTINUES, LEAD_MASK
from fst.runtime.machines.rules.kernels.passes import COPY, STRING_SHIFT, entry_of, put

NOTHING = np.uint64(entries.NOTHING)


@part
def put_spans(spans, at, end, out_spans, filled):
    """Copy the spans of bytes, if they fit into the output."""
    if filled + (end - at) << U1 <= np.uint64(len(out_spans)):
        for index in range((end - at) << U1):
            out_spans[(filled << U1) + np.uint64(index)] = spans[(at << U1) + np.uint64(index)]


@part
def put_new(stage, number, first, last, out, filled, out_spans):
    """Write a string, whose bytes all have the span from `first` to `last`."""
    start, end = np.uint64(stage.string_ends[number - U1]) if number else U0, np.uint64(stage.string_ends[number])
    size = end - start
    if filled + size << U1 <= np.uint64(len(out_spans)):
        for index in range(size):
            out_spans[(filled + np.uint64(index)) << U1] = first
            out_spans[((filled + np.uint64(index)) << U1) + U1] = last
    return put(stage.string_bytes, start, end, out, filled)


@kernel
def align(text, starts, stage, columns, place, is_last, spans, out, out_starts, out_spans):
    """Write the new rows.

    Args:
        text, starts, stage, columns: as in `fst.runtime.machines.rules.kernels.passes.to_left`.
        place: uint64, the row of the state at the start of the first row; the state at the starts of other rows is 0.
        is_last: uint64, 0 if the last row continues in the next call.
        spans: int32[2 * n + 2], the span of each byte of `text`.
        out: uint8[capacity], the output.
        out_starts: int64[rows + 1], the output: the start of each new row, and the end of the last.
        out_spans: int32[2 * capacity + 2], the output.

    Returns:
        The row of the state at the end of the last row. If ``out_starts[-1]`` exceeds the capacity, parts of the output are missing.
    """
    moves, rows, filled = stage.to_right, len(starts) - 1, U0
    first = last = 0
    for row in range(rows):
        out_starts[row] = filled
        at, end = np.uint64(starts[row]), np.uint64(starts[row + 1])
        run, copies = at, True  # the start of the characters that are copied, or that the next string replaces
        while at < end:
            if text[at] & LEAD_MASK == CONTINUES:
                at += U1
                continue
            place, action = entry_of(moves[place + columns[at]])
            if action != COPY or not copies:
                if copies:
                    put_spans(spans, run, at, out_spans, filled)
                    filled = put(text, run, at, out, filled)
                number, after = action >> STRING_SHIFT, at
                run = at if copies or action & COPY else run
                if not action & COPY:
                    after += U1
                    while after < end and text[after] & LEAD_MASK == CONTINUES:
                        after += U1
                if number != NOTHING:
                    first = spans[run << U1]
                    last = spans[(after << U1) - U1] if after > at else first
                    filled = put_new(stage, number, first, last, out, filled, out_spans)
                    run = after
                copies = number != NOTHING or action & COPY > U0
            at += U1
        if copies:
            put_spans(spans, run, end, out_spans, filled)
            filled = put(text, run, end, out, filled)
        if is_last or row + 1 < rows:
            last = spans[(end << U1) - U1] if starts[row] < starts[row + 1] else 0
            filled = put_new(stage, np.uint64(stage.finals[place // stage.columns[0]]), last, last, out, filled, out_spans)
            place = place if row + 1 == rows else U0
    out_starts[rows] = filled
    return place
