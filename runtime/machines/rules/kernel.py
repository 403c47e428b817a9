"""Rewrite rows of text by one stage of `fst.machines.rules.table`, whose slow walk specifies the result.

    text     a  b  a  c          read by `to_left` from the end of each row
    columns  0  0  1  0          one for each byte that begins a character
    out      a  b  X  c          written by `to_right` from the start of each row

`to_right` has no branch that depends on the entry: it writes the first 16 bytes of a string and of the text for each character, and then
advances by the numbers of bytes that the entry determines. `align` does the same with *spans*. A span is two numbers for a byte of a text:
the first character that became the byte, and one past the last character. All bytes of a string have the span of the characters that it
replaces, so this pass knows where these characters begin.

`rewrite_islands` rewrites by the same two passes, but only where the stage may change the text. Every 64 bytes are compared with the stops
of `fst.machines.rules.quiet.Quiet` at once. An *island* is the text around a stop; both passes read it. All text between islands is
copied::

    text      t h e   c a s t l e   i s   o l d          stops of the rule "s -> z / _ [lm]"
    stops               .                                an s before a consonant of the rule
    island              s t                              up to the next character that determines the set before it

An island begins where the state of the pass to the right is certain, and ends where the set of the pass to the left is certain. If a match
continues after this end, the island continues, too. `replace_keys` replaces the keys of a stage (`fst.machines.rules.keys`) instead.

Kernels check nothing. They require UTF-8, a stage of a table that has passed `Table.prove`, and `columns` with an element for each byte.
`rewrite_islands` and `replace_keys` also require rows that are complete. Positions count bytes.
"""

from __future__ import annotations

import numpy as np

from fst.automata.matcher import LENGTH, VALUE
from fst.core.jit import inlined, kernel, part
from fst.machines.rules import entries, quiet
from fst.runtime.kernels.constants import HALF, LOW_HALF, U0, U1, U2, U32, U64
from fst.runtime.kernels.copying import put_bytes
from fst.runtime.kernels.intrinsics import copy_16, copy_bytes
from fst.runtime.kernels.tries import match_at, reset
from fst.runtime.kernels.unicode import ITEMS
from fst.runtime.kernels.utf_8 import CONTINUES, LEAD_MASK
from fst.runtime.text.kernels.composition import code_at, start_before
from fst.runtime.text.kernels.stops import next_stop

COPY, STRING_SHIFT, NOTHING = np.uint64(entries.COPY), np.uint64(entries.STRING_SHIFT), np.uint64(entries.NOTHING)
HEAD = np.uint64(entries.HEAD)
PAGE_BITS, IN_PAGE = np.uint64(entries.PAGE_BITS), np.uint64(entries.PAGE - 1)
ASCII_END, THREE_BYTES, FOUR_BYTES = np.uint8(0x80), np.uint8(0xE0), np.uint8(0xF0)
SPARSE, MANY = np.uint64(12), np.uint64(256)  # islands are faster if there is less than one island in `SPARSE` bytes: see LOG
TOO_MANY, UNKNOWN = np.uint64(quiet.TOO_MANY), np.uint64(quiet.UNKNOWN)
FEW = np.uint64(128)  # maximum number of bytes that `put_between` copies without a loop


@inlined
def entry_of(entry):
    """Return the row that an entry leads to; and the entry's column in the pass to the left, or its action in the other pass, ``string 31 |
    COPY 1``.
    """
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
    """Store the columns of the characters between `start` and `at`, from right to left; return the row of the set at `start`."""
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
        place: uint64, the set at the end of the last text row, as an offset in `stage.to_left`; 0 for other rows.
        columns: uint16[n], the output.

    Returns:
        The set at the start of the first text row, as an offset in `stage.to_left`.
    """
    for row in range(len(starts) - 2, -1, -1):
        place = read_left(text, np.uint64(starts[row]), np.uint64(starts[row + 1]), stage, place, columns)
        if row:
            place = U0
    return place


@part
def put(data, at, end, out, filled):
    """Copy bytes; count the bytes even if they exceed the capacity."""
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
    """Write the output of an action for the character between two positions; count the bytes even if they exceed the capacity."""
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
    """Write the output for the characters between `at` and `end`; return the row after these characters, the last action (`COPY` if there
    is none), and the new number of bytes.
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
        place: uint64, the state at the start of the first text row, as an offset in `stage.to_right`; 0 for other rows.
        is_last: uint64, 0 if the last row continues in the next call.
        out: uint8[capacity], the output.
        out_starts: int64[rows + 1], the output: the start of each new row, and the end of the last row.

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
    """Reverse the characters of each row; positions in spans become 0 or negative, because they count backwards from 0.

    Args:
        text, starts, spans: as in `align`.
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


@part
def put_spans(spans, at, end, out_spans, filled):
    """Copy the spans of bytes, if these spans fit into the output."""
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
        text, starts, stage, columns: as in `to_left`.
        place: uint64, the state at the start of the first text row, as an offset in `stage.to_right`; 0 for other rows.
        is_last: uint64, 0 if the last row continues in the next call.
        spans: int32[2 * n + 2], the span of each byte of `text`.
        out: uint8[capacity], the output.
        out_starts: int64[rows + 1], the output: the start of each new row, and the end of the last row.
        out_spans: int32[2 * capacity + 2], the output.

    Returns:
        The row of the state at the end of the last row. If ``out_starts[-1]`` exceeds the capacity, parts of the output are missing.
    """
    moves, rows, filled = stage.to_right, len(starts) - 1, U0
    first = last = 0
    for row in range(rows):
        out_starts[row] = filled
        at, end = np.uint64(starts[row]), np.uint64(starts[row + 1])
        run, copies = at, True  # the first of the characters that are copied, or that the next string replaces
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


@inlined
def next_event(text, at, end, stops):
    """Find the first stop from a position on; return `end` if there is none. Whether the last byte is a stop depends on this byte alone."""
    if at >= end:
        return end
    last = end - U1
    found = next_stop(text, at, last, stops, U0) if at < last else last
    return found if found < last or stops[np.uint64(text[last])] else end


@inlined
def state_before(text, at, done, place, stage, silent):
    """Find a position before `at` where the state is certain; return the position, and the row of the state. `place` is the row of the
    state at `done`, the end of the last island.
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
    """Find a position from `at` on where the set is certain; return the position, and the row of the set."""
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
        start, place: the start of the island, and the row of the state at this start.
        at: the stop.
        stage, silent, columns, out, filled: as in `rewrite_islands`; and the number of bytes in `out`.

    Returns:
        The end of the island, the row of the state at this end, and the new number of bytes.
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
    """Copy the text between two islands, as `put` does. Up to 128 bytes are copied without a loop; bytes after `end` do not count."""
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
        text, starts, stage, out, out_starts: as in `to_right`.
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


@inlined
def put_text(text, at, end, spans, out, filled, out_spans):
    """Copy text, with its spans if they are requested."""
    if len(spans):
        put_spans(spans, at, end, out_spans, filled)
    return put(text, at, end, out, filled)


@kernel
def replace_keys(text, starts, keys, memo, spans, out, out_starts, out_spans):
    """Write the new rows.

    Args:
        text, starts, out, out_starts: as in `to_right`.
        keys: `fst.machines.rules.keys.KeyArguments`.
        memo: uint64[3], a working array.
        spans, out_spans: as in `align`, or empty.

    Returns:
        The number of replaced keys.
    """
    trie, filled, count = keys.trie, U0, U0
    for row in range(len(starts) - 1):
        out_starts[row] = filled
        copied = at = np.uint64(starts[row])
        end = np.uint64(starts[row + 1])
        reset(at, memo)
        at = next_event(text, at, end, keys.stops)
        while at < end:
            node, _ = match_at(text, ITEMS, at, end, U0, trie, memo)
            size = np.uint64(trie.nodes[node, LENGTH])
            if size:
                count += U1
                filled = put_text(text, copied, at, spans, out, filled, out_spans)
                copied = at + size
                first, last = (spans[at << U1], spans[(copied << U1) - U1]) if len(spans) else (np.int32(0), np.int32(0))
                filled = put_new(keys, np.uint64(trie.nodes[node, VALUE]), first, last, out, filled, out_spans)
            at = next_event(text, at + max(size, U1), end, keys.stops)
        filled = put_text(text, copied, end, spans, out, filled, out_spans)
    out_starts[len(starts) - 1] = filled
    return count
