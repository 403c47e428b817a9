"""Write texts with their analyses in Apertium's stream format; `fst.runtime.machines.lookup.streams.stream_of` specifies it.

    text:   raw ─→ escaped      token ─→ ^word/analysis/analysis$      unknown word ─→ ^word/*word$

Bytes that do not fit into the output are only counted.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.machines.lookup import layout
from fst.machines.lookup.layout import SECTIONS
from fst.runtime.kernels.constants import U0, U1, U2, U6, U12

END, END_FOLDED, UNKNOWN = np.int64(layout.END), np.int64(layout.END_FOLDED), np.int64(layout.UNKNOWN)
BEFORE, AFTER = (np.int64(layout.FIRST_SECTION + SECTIONS.index(kind)) for kind in (layout.PREBLANK, layout.POSTBLANK))
BEGIN, STOP, SLASH, STAR, ESCAPE, SPACE, LESS, GREATER = (np.uint64(ord(char)) for char in "^$/*\\ <>")
CONTINUES, LOW_6, LOW_4, LOW_5 = np.uint64(0x80), np.uint64(0x3F), np.uint64(0xF), np.uint64(0x1F)
TWO, THREE, FOUR = np.uint64(0xC0), np.uint64(0xE0), np.uint64(0xF0)
UPPER, CHARACTER = np.uint64(1 << 16), np.uint64(0xFFFF)


@inlined
def put(out, filled, byte):
    """Write a byte if it fits; return the output index after it."""
    if filled < np.uint64(len(out)):
        out[filled] = byte
    return filled + U1


@inlined
def size_of(byte):
    """Return the number of bytes of a character from its first byte."""
    return U1 + np.uint64(byte >= TWO) + np.uint64(byte >= THREE) + np.uint64(byte >= FOUR)


@part
def put_escaped(text, byte, characters, escapes, out, filled):
    """Write some characters, with a backslash before each that has a meaning in the format; return the positions after them."""
    while characters:
        if escapes[text[byte]]:
            filled = put(out, filled, ESCAPE)
        after = byte + size_of(np.uint64(text[byte]))
        while byte < after:
            filled = put(out, filled, text[byte])
            byte += U1
        characters -= U1
    return byte, filled


@inlined
def character_at(data, at):
    """Decode a character of at most three bytes; 0 for a longer one."""
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
    """Write a character in upper case; return the positions after it."""
    code = character_at(data, at)
    after, upper = at + size_of(np.uint64(data[at])), np.uint64(cases[code]) & CHARACTER
    if code == U0 or upper == code:
        while at < after:
            filled = put(out, filled, data[at])
            at += U1
    elif upper < CONTINUES:
        filled = put(out, filled, upper)
    elif upper < np.uint64(0x800):
        filled = put(out, put(out, filled, TWO | upper >> U6), CONTINUES | upper & LOW_6)
    else:
        filled = put(out, filled, THREE | upper >> U12)
        filled = put(out, put(out, filled, CONTINUES | upper >> U6 & LOW_6), CONTINUES | upper & LOW_6)
    return after, filled


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
        if at >= tag_end and (is_all or at == U0):
            at, filled = put_upper(data, at, cases, out, filled)
        else:
            filled = put(out, filled, data[at])
            at += U1
    return filled


@part
def is_repeated(out, begins, count, begin, end):
    """Whether an analysis in the output equals one of the analyses of its token before it."""
    for index in range(count):
        at, place = np.uint64(begins[index]), begin
        if np.uint64(begins[index + 1]) - U1 - at == end - begin and end <= np.uint64(len(out)):
            while place < end and out[at] == out[place]:
                at += U1
                place += U1
            if place == end:
                return True
    return False


@part
def put_analyses(ids, place, case, pieces, scratch, begins, out, filled):
    """Write the analyses of a token.

    Args:
        case: 0 if the word begins with a lower-case letter, 1 with an upper-case letter, 2 if its last letter is upper case, too.

    Returns:
        The index of the id that ends the token, and the output index.
    """
    count, size = U0, U0
    while np.int64(ids[place]) > UNKNOWN:
        piece = np.int64(ids[place])
        place += U1
        if piece >= 0:
            at, end = np.uint64(pieces.starts[np.uint64(piece)]), np.uint64(pieces.starts[np.uint64(piece) + U1])
            while at < end:
                scratch[size] = pieces.data[at]
                at += U1
                size += U1
        elif piece in (END, END_FOLDED):
            begin = put(out, filled, SLASH)
            if piece == END_FOLDED and case:
                end = put_cased(scratch, size, case == U2, pieces.cases, out, begin)
            else:
                end = begin
                for index in range(size):
                    end = put(out, end, scratch[index])
            if not is_repeated(out, begins, count, begin, end):
                begins[count], begins[count + U1] = begin, end + U1
                count, filled = count + U1, end
            size = U0
            place += pieces.weights[0]
    return place, filled


@part
def end_of_token(ids, place, pieces):
    """Find the id that ends a token."""
    while np.int64(ids[place]) > UNKNOWN:
        is_end = np.int64(ids[place]) == END or np.int64(ids[place]) == END_FOLDED
        place += U1 + (pieces.weights[0] if is_end else U0)
    return place


@part
def case_of(text, begin, end, cases):
    """Find the case of a word: 0, 1 or 2, see `put_analyses`."""
    if not np.uint64(cases[character_at(text, begin)]) & UPPER:
        return U0
    last = end - U1
    while np.uint64(text[last]) & TWO == CONTINUES:
        last -= U1
    return U2 if last > begin and np.uint64(cases[character_at(text, last)]) & UPPER else U1


@kernel
def write_streams(ids, offsets, row_splits, text, starts, pieces, scratch, begins, out, ends):
    """Write the streams of all rows; `ends` receives the end of each stream.

    Args:
        ids, offsets, row_splits: the batch of tokens; offsets count characters.
        text, starts: the UTF-8 of all texts, and the bounds of the rows.
        pieces: `fst.runtime.machines.lookup.streams.Pieces`.
        scratch, begins: room for the longest analysis, and for the begins of all analyses of a token.

    Returns:
        The number of bytes of all streams. If it exceeds the length of `out`, call again with more room.
    """
    filled = U0
    for index in range(np.uint64(len(ends))):
        row = np.uint64(index)
        place, last, byte, character = np.uint64(row_splits[row]), np.uint64(row_splits[row + U1]), np.uint64(starts[row]), U0
        while place < last:
            begin, stop = np.uint64(offsets[place << U1]), np.uint64(offsets[place << U1 | U1])
            byte, filled = put_escaped(text, byte, begin - character, pieces.escapes, out, filled)
            section = np.int64(ids[end_of_token(ids, place, pieces)])
            if section == BEFORE:
                filled = put(out, filled, SPACE)
            word, filled = byte, put(out, filled, BEGIN)
            byte, filled = put_escaped(text, byte, stop - begin, pieces.escapes, out, filled)
            if section == UNKNOWN:
                filled = put(out, put(out, filled, SLASH), STAR)
                byte, filled = put_escaped(text, word, stop - begin, pieces.escapes, out, filled)
            else:
                case = case_of(text, word, byte, pieces.cases)
                place, filled = put_analyses(ids, place, case, pieces, scratch, begins, out, filled)
            place, character, filled = place + U1, stop, put(out, filled, STOP)
            if section == AFTER:
                filled = put(out, filled, SPACE)
        while byte < np.uint64(starts[row + U1]):
            byte, filled = put_escaped(text, byte, U1, pieces.escapes, out, filled)
        ends[row] = filled
    return filled
