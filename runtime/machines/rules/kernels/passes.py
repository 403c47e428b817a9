"""Rewrite rows of text by one stage of `fst.machines.rules.table`, whose slow walk specifies the result.

    text     a  b  a  c          read by `to_left` from the end of each row
    columns  0  0  1  0          one for each byte that begins a character
    out      a  b  X  c          written by `to_right` from the start of each row

Kernels check nothing. They require UTF-8, a stage of a table that has passed `Table.prove`, and `columns` with an element for each byte.
Positions count bytes; spans are two numbers for each byte of a text: the first character that became it, and one past the last.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.machines.rules import entries
from fst.runtime.kernels.constants import HALF, LOW_HALF, U0, U1
from fst.runtime.kernels.copying import put_bytes
from fst.runtime.kernels.utf_8 import CONTINUES, LEAD_MASK
from fst.runtime.text.kernels.stretches import code_at, start_before

NOTHING, COPY, STRING_SHIFT = np.uint64(entries.NOTHING), np.uint64(entries.COPY), np.uint64(entries.STRING_SHIFT)
PAGE_BITS, IN_PAGE = np.uint64(entries.PAGE_BITS), np.uint64(entries.PAGE - 1)
ASCII_END = np.uint64(0x80)


@inlined
def class_of(code, stage):
    """Return the class of a code point."""
    return np.uint64(stage.blocks[np.uint64(stage.pages[code >> PAGE_BITS]) << PAGE_BITS | (code & IN_PAGE)])


@kernel
def to_left(text, starts, stage, place, columns):
    """Store the column of each character.

    Args:
        text: uint8[n]; starts: int64[rows + 1], the start of each row, and the end of the last row.
        stage: `fst.machines.rules.table.Stage`.
        place: uint64, the row of the set at the end of the last row; the set at the ends of other rows is 0.
        columns: uint16[n], the output.

    Returns:
        The row of the set at the start of the first row.
    """
    moves, rows = stage.to_left, len(starts) - 1
    for row in range(rows - 1, -1, -1):
        begin, at = np.uint64(starts[row]), np.uint64(starts[row + 1])
        while at > begin:
            at -= U1
            code = np.uint64(text[at])
            if code >= ASCII_END:
                at = start_before(text, at + U1)
                code, _ = code_at(text, at)
            entry = moves[place + class_of(code, stage)]
            columns[at] = entry & LOW_HALF
            place = entry >> HALF
        if row:
            place = U0
    return place


@part
def put(data, at, stop, out, filled):
    """Copy bytes, and count them even if they exceed the capacity."""
    if filled + (stop - at) <= np.uint64(len(out)):
        put_bytes(data, at, stop, out, filled)
    return filled + (stop - at)


@part
def put_spans(spans, at, stop, out_spans, filled):
    """Copy the spans of bytes, if spans are requested and fit into the output."""
    if filled + (stop - at) << U1 <= np.uint64(len(out_spans)):
        for index in range((stop - at) << U1):
            out_spans[(filled << U1) + np.uint64(index)] = spans[(at << U1) + np.uint64(index)]


@part
def put_string(stage, number, first, last, out, filled, out_spans):
    """Write a string, whose bytes all have the span from `first` to `last`."""
    begin, end = np.uint64(stage.string_ends[number - U1]) if number else U0, np.uint64(stage.string_ends[number])
    size = end - begin
    if filled + size << U1 <= np.uint64(len(out_spans)):
        for index in range(size):
            out_spans[(filled + np.uint64(index)) << U1] = first
            out_spans[((filled + np.uint64(index)) << U1) + U1] = last
    return put(stage.string_bytes, begin, end, out, filled)


@kernel
def to_right(text, starts, stage, columns, place, is_last, spans, out, out_starts, out_spans):
    """Write the new rows.

    Args:
        text, starts, stage, columns: as in `to_left`.
        place: uint64, the row of the state at the start of the first row; the state at the starts of other rows is 0.
        is_last: uint64, 0 if the last row continues in the next call.
        spans: int32[2 * n + 2], the span of each byte of `text`; empty if no spans are requested.
        out: uint8[capacity], the output.
        out_starts: int64[rows + 1], the output: the start of each new row, and the end of the last.
        out_spans: int32[2 * capacity + 2], the output, or empty.

    Returns:
        The row of the state at the end of the last row. If ``out_starts[-1]`` exceeds the capacity, parts of the output are missing.
    """
    moves, rows, filled, has_spans = stage.to_right, len(starts) - 1, U0, len(spans) > 0
    first = last = 0
    for row in range(rows):
        out_starts[row] = filled
        at, stop = np.uint64(starts[row]), np.uint64(starts[row + 1])
        run, copies = at, True  # the start of the characters that are copied, or that the next string replaces
        while at < stop:
            if text[at] & LEAD_MASK == CONTINUES:
                at += U1
                continue
            entry = moves[place + columns[at]]
            place = entry >> HALF
            event = entry & LOW_HALF
            if event != COPY or not copies:
                if copies:
                    if has_spans:
                        put_spans(spans, run, at, out_spans, filled)
                    filled = put(text, run, at, out, filled)
                number, after = event >> STRING_SHIFT, at
                run = at if copies or event & COPY else run
                if not event & COPY:
                    after += U1
                    while after < stop and text[after] & LEAD_MASK == CONTINUES:
                        after += U1
                if number != NOTHING:
                    if has_spans:
                        first = spans[run << U1]
                        last = spans[(after << U1) - U1] if after > at else first
                    filled = put_string(stage, number, first, last, out, filled, out_spans)
                    run = after
                copies = number != NOTHING or event & COPY > U0
            at += U1
        if copies:
            if has_spans:
                put_spans(spans, run, stop, out_spans, filled)
            filled = put(text, run, stop, out, filled)
        if is_last or row + 1 < rows:
            last = spans[(stop << U1) - U1] if has_spans and starts[row] < starts[row + 1] else 0
            filled = put_string(stage, np.uint64(stage.finals[place // stage.columns[0]]), last, last, out, filled, out_spans)
            place = place if row + 1 == rows else U0
    out_starts[rows] = filled
    return place


@kernel
def mirror(text, starts, spans, out, out_spans):
    """Reverse the characters of each row; positions count backwards from 0.

    Args:
        text, starts, spans: as in `to_right`.
        out: uint8[n]; out_spans: int32[2 * n + 2] or empty, the outputs.
    """
    for row in range(len(starts) - 1):
        begin, at = np.uint64(starts[row]), np.uint64(starts[row + 1])
        filled = begin
        while at > begin:
            stop, at = at, start_before(text, at)
            for index in range(stop - at):
                out[filled] = text[at + np.uint64(index)]
                if len(spans):
                    out_spans[filled << U1] = -spans[(at << U1) + U1]
                    out_spans[(filled << U1) + U1] = -spans[at << U1]
                filled += U1
