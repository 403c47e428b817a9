"""Rewrite rows of text by one stage of `fst.machines.rules.table`, whose slow walk specifies the result.

    text     a  b  a  c          read by `to_left` from the end of each row
    columns  0  0  1  0          one for each byte that begins a character
    out      a  b  X  c          written by `to_right` from the start of each row

`to_right` has no branch that depends on the entry: it writes the first 16 bytes of a string and of the text for each character, and then
advances by the numbers of bytes that the entry means. `fst.runtime.machines.rules.kernels.spans` does the same with spans.

Kernels check nothing. They require UTF-8, a stage of a table that has passed `Table.prove`, and `columns` with an element for each byte.
Positions count bytes.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.machines.rules import entries
from fst.runtime.kernels.constants import HALF, LOW_HALF, U0, U1, U2
from fst.runtime.kernels.copying import put_bytes
from fst.runtime.kernels.intrinsics import copy_16
from fst.runtime.text.kernels.stretches import code_at, start_before

COPY, STRING_SHIFT = np.uint64(entries.COPY), np.uint64(entries.STRING_SHIFT)
HEAD = np.uint64(entries.HEAD)
PAGE_BITS, IN_PAGE = np.uint64(entries.PAGE_BITS), np.uint64(entries.PAGE - 1)
ASCII_END, THREE_BYTES, FOUR_BYTES = np.uint8(0x80), np.uint8(0xE0), np.uint8(0xF0)


@inlined
def entry_of(entry):
    """Return the row that an entry leads to; and its column, in the pass to the left, or its action, ``string 31 | COPY 1``."""
    return entry >> HALF, entry & LOW_HALF


@inlined
def class_of(code, stage):
    """Return the class of a code point."""
    return np.uint64(stage.blocks[np.uint64(stage.pages[code >> PAGE_BITS]) << PAGE_BITS | (code & IN_PAGE)])


@inlined
def end_of(text, at):
    """Find the end of the character that begins at a position."""
    lead = text[at]
    if lead < ASCII_END:
        return at + U1
    return at + U2 + np.uint64(lead >= THREE_BYTES) + np.uint64(lead >= FOUR_BYTES)


@inlined
def read_left(text, start, at, stage, place, columns):
    """Store the columns of the characters between `start` and `at`, which is read first; return the row of the set at `start`."""
    moves = stage.to_left
    while at > start:
        at -= U1
        code = np.uint64(text[at])
        if code >= ASCII_END:
            at = start_before(text, at + U1)
            code, _ = code_at(text, at)
        place, columns[at] = entry_of(moves[place + class_of(code, stage)])
    return place


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
    for row in range(len(starts) - 2, -1, -1):
        place = read_left(text, np.uint64(starts[row]), np.uint64(starts[row + 1]), stage, place, columns)
        if row:
            place = U0
    return place


@part
def put(data, at, end, out, filled):
    """Copy bytes, and count them even if they exceed the capacity."""
    if filled + (end - at) <= np.uint64(len(out)):
        put_bytes(data, at, end, out, filled)
    return filled + (end - at)


@part
def put_string(stage, number, out, filled):
    """Write a string; the arguments are as in `put`."""
    start = np.uint64(stage.string_ends[number - U1]) if number else U0
    return put(stage.string_bytes, start, np.uint64(stage.string_ends[number]), out, filled)


@inlined
def put_action(text, at, after, action, stage, out, filled):
    """Write what an action means for the character between two positions; count the bytes even if they exceed the capacity."""
    number = action >> STRING_SHIFT
    size = np.uint64(stage.sizes[number])
    if size <= HEAD and filled + HEAD + HEAD <= np.uint64(len(out)) and at + HEAD <= np.uint64(len(text)):
        copy_16(stage.heads, number * HEAD, out, filled)
        copy_16(text, at, out, filled + size)
        return filled + size + (after - at) * (action & COPY)
    filled = put_string(stage, number, out, filled)
    return put(text, at, after if action & COPY else at, out, filled)


@inlined
def write_right(text, at, end, stage, columns, place, out, filled):
    """Write what becomes of the characters between `at` and `end`; return the row after them, the last action (`COPY` if there is
    none), and the new number of bytes.
    """
    moves, action = stage.to_right, COPY
    while at < end:
        while at < end and text[at] < ASCII_END:  # a loop, since a selection would wait for each byte: see LOG
            place, action = entry_of(moves[place + columns[at]])
            filled = put_action(text, at, at + U1, action, stage, out, filled)
            at += U1
        if at < end:
            after = end_of(text, at)
            place, action = entry_of(moves[place + columns[at]])
            filled = put_action(text, at, after, action, stage, out, filled)
            at = after
    return place, action, filled


@kernel
def to_right(text, starts, stage, columns, place, is_last, out, out_starts):
    """Write the new rows.

    Args:
        text, starts, stage, columns: as in `to_left`.
        place: uint64, the row of the state at the start of the first row; the state at the starts of other rows is 0.
        is_last: uint64, 0 if the last row continues in the next call.
        out: uint8[capacity], the output.
        out_starts: int64[rows + 1], the output: the start of each new row, and the end of the last.

    Returns:
        The row of the state at the end of the last row. If ``out_starts[-1]`` exceeds the capacity, parts of the output are missing.
    """
    rows, filled = len(starts) - 1, U0
    for row in range(rows):
        out_starts[row] = filled
        place, _, filled = write_right(text, np.uint64(starts[row]), np.uint64(starts[row + 1]), stage, columns, place, out, filled)
        if is_last or row + 1 < rows:
            filled = put_final(place, stage, out, filled)
            place = place if row + 1 == rows else U0
    out_starts[rows] = filled
    return place


@inlined
def put_final(place, stage, out, filled):
    """Write the string of a state at the end of a row."""
    if stage.has_finals[0]:
        filled = put_string(stage, np.uint64(stage.finals[place // stage.columns[0]]), out, filled)
    return filled


@kernel
def mirror(text, starts, spans, out, out_spans):
    """Reverse the characters of each row; positions count backwards from 0.

    Args:
        text, starts, spans: as in `fst.runtime.machines.rules.kernels.spans.align`.
        out: uint8[n]; out_spans: int32[2 * n + 2] or empty, the outputs.
    """
    for row in range(len(starts) - 1):
        start, at = np.uint64(starts[row]), np.uint64(starts[row + 1])
        filled = start
        while at > start:
            end, at = at, start_before(text, at)
            for index in range(end - at):
                out[filled] = text[at + np.uint64(index)]
                if len(spans):
                    out_spans[filled << U1] = -spans[(at << U1) + U1]
                    out_spans[(filled << U1) + U1] = -spans[at << U1]
                filled += U1
