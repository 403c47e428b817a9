"""Write UTF-8 from Python's str and bytes and from columns; `fst.runtime.kernels.unicode` does the same for UTF-16.

The functions have the same names and arguments as in `unicode`, but ``text`` is uint8. Kernels read the lengths of all rows before any
text, so that they never write past the end of ``text``.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, object_kernel
from fst.runtime.kernels.constants import U0, U1, U6, U11, U12, U18, U32
from fst.runtime.kernels.intrinsics import copy_bytes, trailing_zeros
from fst.runtime.kernels.objects import bytes_of, characters
from fst.runtime.kernels.unicode import (
    CONTINUATION,
    OF_BYTES,
    OF_STR,
    SUPPLEMENTARY,
    SURROGATES,
    UTF_16,
    character_at,
    label_at,
    rows_that_fit,
)

LOW_6, STEP = np.uint64(63), U32  # `STEP`: number of bytes to copy at a time
TWO, THREE, FOUR = (np.uint64(lead) for lead in (0xC0, 0xE0, 0xF0))  # high bits of the first of two, three and four bytes
LEAD_MASK, CONTINUES = np.uint8(0xC0), np.uint8(0x80)  # a mask, and the result of this mask for bytes that continue a character
THREE_BYTES = np.uint64(0x800)  # the lowest code point of three bytes


@inlined
def put_ascii(data, at, end, text, filled):
    """Copy bytes at least up to the first byte that is not ASCII; return the number of bytes before this byte."""
    start = at
    while at + STEP <= end:
        wide = copy_bytes(data, at, text, filled + (at - start))
        if wide:
            return at - start + trailing_zeros(wide)
        at += STEP
    if start < at < end and copy_bytes(data, end - STEP, text, filled + (end - STEP - start)) == U0:
        return end - start
    while at < end and np.uint64(data[at]) < CONTINUATION:
        text[filled + (at - start)] = data[at]
        at += U1
    return at - start


@inlined
def copy_run(data, at, stop, text, filled):
    """Copy bytes; return the new number of bytes."""
    if stop - at >= STEP:
        end = filled + (stop - at)
        while at + STEP <= stop:
            copy_bytes(data, at, text, filled)
            at, filled = at + STEP, filled + STEP
        if at < stop:
            copy_bytes(data, stop - STEP, text, end - STEP)
        return end
    for index in range(stop - at):
        text[filled + np.uint64(index)] = data[at + np.uint64(index)]
    return filled + (stop - at)


@inlined
def put_code(code, text, filled):
    """Write a code point; return the new number of bytes."""
    if code < CONTINUATION:
        text[filled] = code
        return filled + U1
    if code < THREE_BYTES:
        text[filled] = TWO | code >> U6
    else:
        if code < SUPPLEMENTARY:
            text[filled] = THREE | code >> U12
        else:
            text[filled] = FOUR | code >> U18
            filled += U1
            text[filled] = CONTINUATION | code >> U12 & LOW_6
        filled += U1
        text[filled] = CONTINUATION | code >> U6 & LOW_6
    filled += U1
    text[filled] = CONTINUATION | code & LOW_6
    return filled + U1


@inlined
def count_characters(text, at, end):
    """Count the characters that begin in a part of a text."""
    count = U0
    for index in range(at, end):
        count += np.uint64(text[np.uint64(index)] & LEAD_MASK != CONTINUES)
    return count


@inlined
def put_codes(codes, text, at):
    """Write code points; return the new number of bytes, and whether a code point is a surrogate."""
    wrong = U0
    for index in range(np.uint64(len(codes))):
        code = np.uint64(codes[np.uint64(index)])
        wrong |= np.uint64(code >> U11 == SURROGATES)
        at = put_code(code, text, at)
    return at, wrong != U0


@inlined
def put_narrow(codes, text, at):
    """Write code points below 256; return the new number of bytes."""
    end = np.uint64(len(codes))
    plain = put_ascii(codes, U0, end, text, at)
    at += plain
    for index in range(plain, end):
        at = put_code(np.uint64(codes[np.uint64(index)]), text, at)
    return at


@inlined
def put_utf_8(data, at, end, text, filled):
    """Copy UTF-8; return the new number of bytes, and whether the bytes are UTF-8."""
    while at < end:
        plain = put_ascii(data, at, end, text, filled)
        at += plain
        filled += plain
        while at < end and np.uint64(data[at]) >= CONTINUATION:
            _, length = character_at(data, at, end - at)
            if length == U0:
                return filled, False
            for index in range(length):
                text[filled + np.uint64(index)] = data[at + np.uint64(index)]
            at += length
            filled += length
    return filled, True


@kernel
def transcode(data, starts, text, unit_starts):
    """Copy rows of UTF-8; see `fst.runtime.kernels.unicode.transcode`. ``text`` must be large enough for all bytes."""
    rows, filled = np.uint64(len(starts)) - U1, U0
    unit_starts[0] = 0
    for row in range(rows):
        filled, is_text = put_utf_8(data, np.uint64(starts[row]), np.uint64(starts[row + U1]), text, filled)
        if not is_text:
            return row
        unit_starts[row + U1] = filled
    return rows


@inlined
def put_string(views, text, at):
    """Write the characters of a str, given as views; return the new number of bytes, and whether the str contains a surrogate."""
    narrow, units, codes = views
    at = put_narrow(narrow, text, at)
    at, is_wrong = put_codes(units, text, at)
    at, is_wrong_too = put_codes(codes, text, at)
    return at, is_wrong | is_wrong_too


@object_kernel
def gather_strings(rows, count, limits, text, starts):
    """Write the first rows of a list of str as UTF-8; see `fst.runtime.kernels.unicode.gather_strings`.

    ``text`` must have four elements for each character that the limits admit.
    """
    fitting = rows_that_fit(rows, count, limits, OF_STR)
    at, any_wrong = U0, False
    starts[0] = 0
    for row in range(fitting):
        at, is_wrong = put_string(characters(rows, row), text, at)
        any_wrong |= is_wrong
        starts[row + 1] = at
    return fitting, not any_wrong


@object_kernel
def gather_bytes(rows, count, limits, text, starts):
    """Copy the first rows of a list of bytes objects in UTF-8; see `fst.runtime.kernels.unicode.gather_bytes`."""
    fitting = rows_that_fit(rows, count, limits, OF_BYTES)
    at, are_text = U0, True
    starts[0] = 0
    for row in range(fitting):
        data = bytes_of(rows, row)
        at, is_text = put_utf_8(data, U0, np.uint64(len(data)), text, at)
        are_text &= is_text
        starts[row + 1] = at
    return fitting, are_text


@kernel
def as_utf_8(text, starts, rows, into, into_starts):
    """Copy some rows of text, converted to UTF-8.

    Args:
        text: uint16[n], UTF-16 without lone surrogates.
        starts: int64, the start of each row in `text`, and the end of the last row.
        rows: int64[chosen], the indices of the rows to copy.
        into: uint8, filled. Each unit of UTF-16 needs up to three bytes.
        into_starts: int64[chosen + 1], filled: the start of each copy in `into`, and the end of the last copy.
    """
    filled = U0
    into_starts[0] = 0
    for index in range(len(rows)):
        at, end = np.uint64(starts[rows[index]]), np.uint64(starts[rows[index] + 1])
        while at < end:
            code, at = label_at(text, at, UTF_16)
            filled = put_code(code, into, filled)
        into_starts[index + 1] = filled
