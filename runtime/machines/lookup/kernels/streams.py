"""Write texts with their analyses in Apertium's stream format; `fst.runtime.machines.lookup.streams.stream_of` specifies this format.

    text:   raw ─→ escaped      token ─→ ^word/analysis/analysis$      unknown word ─→ ^word/*word$

Kernels check nothing: `measure` finds an upper bound for the output.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.machines.lookup import layout
from fst.machines.lookup.layout import SECTIONS
from fst.runtime.kernels.constants import U0, U1, U2, U3, U6, U12
from fst.runtime.kernels.utf_8 import put_code
from fst.runtime.machines.lookup.kernels.spelling import put_row, put_wide

CUT, END_FOLDED, UNKNOWN = np.int64(layout.CUT), np.int64(layout.END_FOLDED), np.int64(layout.UNKNOWN)
BEFORE, AFTER = (np.int64(layout.FIRST_SECTION + SECTIONS.index(kind)) for kind in (layout.PREBLANK, layout.POSTBLANK))
BEGIN, STOP, SLASH, STAR, ESCAPE, SPACE, LESS, GREATER = (np.uint64(ord(char)) for char in "^$/*\\ <>")
CONTINUES, LOW_6, LOW_4, LOW_5 = np.uint64(0x80), np.uint64(0x3F), np.uint64(0xF), np.uint64(0x1F)
TWO, THREE, FOUR = np.uint64(0xC0), np.uint64(0xE0), np.uint64(0xF0)
MOST_GROWTH = np.uint64(3)  # maximum number of bytes of a character in upper case, per byte of the character
SIGNS = np.uint64(5)  # maximum number of signs and spaces per token or analysis
UPPER, CHARACTER = np.uint64(1 << 16), np.uint64(0xFFFF)


@part
def put_escaped(text, byte, end, characters, escapes, out, filled):
    """Write at most some characters, with a backslash before each character that has a meaning in the format; return the positions after
    the characters.
    """
    while characters and byte < end:
        if escapes[text[byte]]:
            out[filled] = ESCAPE
            filled += U1
        out[filled] = text[byte]
        filled, byte, characters = filled + U1, byte + U1, characters - U1
        while byte < end and np.uint64(text[byte]) & TWO == CONTINUES:
            out[filled] = text[byte]
            filled, byte = filled + U1, byte + U1
    return byte, filled


@inlined
def character_at(data, at):
    """Decode a character of at most three bytes; return 0 for a longer character."""
    first = np.uint64(data[at])
    if first < CONTINUES:
        return first
    if first < THREE:
        return (first & LOW_5) << U6 | np.uint64(data[at + U1]) & LOW_6
    if first < FOUR:
        return (first & LOW_4) << U12 | (np.uint64(data[at + U1]) & LOW_6) << U6 | np.uint64(data[at + U2]) & LOW_6
    return U0


@part
def put_upper(data, at, cases, out, filled):
    """Write a character in upper case; return the positions after the character."""
    code = character_at(data, at)
    first, upper = np.uint64(data[at]), np.uint64(cases[code]) & CHARACTER
    after = at + U1 + np.uint64(first >= TWO) + np.uint64(first >= THREE) + np.uint64(first >= FOUR)
    if code == U0 or upper == code:
        return after, put_wide(data, at, after, out, filled)
    return after, put_code(upper, out, filled)


@part
def put_cased(data, size, is_all, cases, out, filled):
    """Write an analysis with an upper-case first letter or, if `is_all`, in upper case except for tags."""
    at, tag_end = U0, U0
    while at < size:
        if is_all and at >= tag_end and np.uint64(data[at]) == LESS:
            end = at
            while end < size and np.uint64(data[end]) != GREATER:
                end += U1
            tag_end = end + U1 if end < size else U0
        if at < tag_end:
            filled, at = put_wide(data, at, tag_end, out, filled), tag_end
        elif is_all or at == U0:
            at, filled = put_upper(data, at, cases, out, filled)
        else:
            return put_wide(data, at, size, out, filled)
    return filled


@part
def is_repeated(out, begins, count, start, end):
    """Whether an analysis in the output equals an earlier analysis of the same token."""
    for index in range(count):
        at, place = np.uint64(begins[index]), start
        if np.uint64(begins[index + 1]) - U1 - at == end - start:
            while place < end and out[at] == out[place]:
                at += U1
                place += U1
            if place == end:
                return True
    return False


@part
def put_analyses(ids, place, last, case, pieces, scratch, begins, out, filled):
    """Write the analyses of a token.

    Args:
        place, last: the first id of the analyses, and the end of the ids of the row.
        case: 0 if the word begins with a lower-case letter, 1 with an upper-case letter, 2 if its last letter is in upper case, too.

    Returns:
        The index of the id after the analyses, and the output index.
    """
    count = U0
    while place < last and np.int64(ids[place]) > UNKNOWN:
        out[filled] = SLASH
        start = end = filled + U1
        while np.int64(ids[place]) >= 0:
            end = put_row(pieces, ids[place], out, end)
            place += U1
        mark = np.int64(ids[place])
        place += U1
        if mark != CUT:
            place += pieces.weights[0]
            if mark == END_FOLDED and case:
                put_wide(out, start, end, scratch, U0)
                end = put_cased(scratch, end - start, case == U2, pieces.cases, out, start)
            if not is_repeated(out, begins, count, start, end):
                begins[count], begins[count + U1] = start, end + U1
                count, filled = count + U1, end
    return place, filled


@part
def case_of(text, start, end, cases):
    """Find the case of a word: 0, 1 or 2, see `put_analyses`."""
    if not np.uint64(cases[character_at(text, start)]) & UPPER:
        return U0
    last = end - U1
    while np.uint64(text[last]) & TWO == CONTINUES:
        last -= U1
    return U2 if last > start and np.uint64(cases[character_at(text, last)]) & UPPER else U1


@kernel
def measure(ids, pieces):
    """Find upper bounds for the number of bytes of all tokens without words, and for the number of bytes of an analysis.

    Args:
        ids: the ids of a batch of tokens.
        pieces: `fst.runtime.machines.lookup.streams.Pieces`.
    """
    size, longest, place, before = U0, U0, U0, U0
    while place < np.uint64(len(ids)):
        number = np.int64(ids[place])
        if number >= 0:
            size += MOST_GROWTH * (np.uint64(pieces.starts[np.uint64(number) + U1]) - np.uint64(pieces.starts[np.uint64(number)]))
        else:
            longest, size = max(longest, size - before), size + SIGNS
            before = size
            place += (pieces.weights[0] if number > CUT or number == END_FOLDED else U0) if number > UNKNOWN else U2
        place += U1
    return size, longest


@kernel
def write_streams(ids, row_splits, text, starts, pieces, scratch, begins, out, ends):
    """Write the streams of all rows; `ends` receives the end of each stream.

    Args:
        ids, row_splits: the batch of tokens, see `fst.machines.lookup.text_walk`.
        text, starts: the UTF-8 of all texts, and the bounds of the rows.
        pieces: `fst.runtime.machines.lookup.streams.Pieces`.
        scratch, begins: working arrays with a capacity for the longest analysis, and for the begins of all analyses of a token.
        out: uint8, the output; up to 15 bytes after the last byte are written, too.
    """
    filled = U0
    for index in range(np.uint64(len(ends))):
        row = np.uint64(index)
        place, last, character = np.uint64(row_splits[row]), np.uint64(row_splits[row + U1]), U0
        byte, end_of_text = np.uint64(starts[row]), np.uint64(starts[row + U1])
        while place < last:
            section, start, end = np.int64(ids[place]), np.uint64(ids[place + U1]), np.uint64(ids[place + U2])
            byte, filled = put_escaped(text, byte, end_of_text, start - character, pieces.escapes, out, filled)
            if section == BEFORE:
                out[filled] = SPACE
                filled += U1
            out[filled] = BEGIN
            word, first = byte, filled + U1
            byte, filled = put_escaped(text, byte, end_of_text, end - start, pieces.escapes, out, first)
            place, character = place + U3, end
            if section == UNKNOWN:
                out[filled], out[filled + U1] = SLASH, STAR
                filled = put_wide(out, first, filled, out, filled + U2)
            else:
                case = case_of(text, word, byte, pieces.cases)
                place, filled = put_analyses(ids, place, last, case, pieces, scratch, begins, out, filled)
            out[filled] = STOP
            filled += U1
            if section == AFTER:
                out[filled] = SPACE
                filled += U1
        _, filled = put_escaped(text, byte, end_of_text, end_of_text - byte, pieces.escapes, out, filled)
        ends[row] = filled
