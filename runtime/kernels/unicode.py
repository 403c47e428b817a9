"""Convert text: UTF-8 and Python's str and bytes to UTF-16, and UTF-16 to code points.

The Unicode Standard 17, table 3-7, defines well-formed byte sequences.

`gather_strings` and `gather_bytes` read the objects of a list in place. The list keeps its objects alive, and no other thread may change
the list while a kernel runs. Therefore, `fst.runtime.rows.texts` passes a new list. Both kernels read the lengths of all rows first, so
that they never write past the end of the array, and find rows of another type before they write.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, object_kernel
from fst.runtime.kernels.constants import LOW_10, U0, U1, U2, U3, U4, U6, U10, U11, U12, U18, U32, U64
from fst.runtime.kernels.intrinsics import trailing_zeros, widen
from fst.runtime.kernels.objects import bytes_length, bytes_of, characters, string_length

SURROGATE, HIGH_SURROGATE, LOW_SURROGATE = np.uint64(0xFC00), np.uint64(0xD800), np.uint64(0xDC00)  # a mask, and its results for surrogates
UTF_16, ITEMS = HIGH_SURROGATE, U1  # values of `pair` in `label_at`; `item & SURROGATE` is never 1
# The lowest continuation byte, and the lowest first bytes of characters of 2, 3 and 4 bytes.
CONTINUATION, TWO, THREE, FOUR = (np.uint64(n) for n in (0x80, 0xC2, 0xE0, 0xF0))
SURROGATES, SUPPLEMENTARY = np.uint64(0xD800 >> 11), np.uint64(0x10000)
OF_STR, OF_BYTES = 0, 1
LAST_BITS, FIRST_SURROGATE = np.uint16(0xF800), np.uint16(0xD800)


@inlined
def label_at(items, at, pair):
    """Read the label at a position; return also the position of the next label. A label is a code point if `pair` is `UTF_16`, otherwise an
    item.
    """
    first = np.uint64(items[at])
    if first & SURROGATE != pair:
        return first, at + U1
    return (first & LOW_10) + U64 << U10 | np.uint64(items[at + U1]) & LOW_10, at + U2


@inlined
def pairs(text, at, end):
    """Count the characters of two units in a part of a text."""
    count = U0
    while at < end:
        count += np.uint64(np.uint64(text[at]) & SURROGATE == HIGH_SURROGATE)
        at += U1
    return count


@inlined
def follower(data, at):
    """Return the six bits of a continuation byte; 64 or more for any other byte."""
    return np.uint64(data[at]) ^ CONTINUATION


@inlined
def character_at(data, at, left):
    """Decode the character at a position, where `left` bytes are left; return the code point, and the length in bytes, which is 0 for a
    malformed character.
    """
    first = np.uint64(data[at])
    if first < THREE:
        if first < TWO or left < U2:
            return U0, U0
        second = follower(data, at + U1)
        return (first & np.uint64(0x1F)) << U6 | second, (U2 if second < U64 else U0)
    if first < FOUR:
        if left < U3:
            return U0, U0
        second, third = follower(data, at + U1), follower(data, at + U2)
        code = (first & np.uint64(0xF)) << U12 | second << U6 | third
        return code, (U3 if second | third < U64 and code >> U11 and code >> U11 != SURROGATES else U0)
    if left < U4:
        return U0, U0
    second, third, fourth = follower(data, at + U1), follower(data, at + U2), follower(data, at + U3)
    code = (first & np.uint64(0xF)) << U18 | second << U12 | third << U6 | fourth
    return code, (U4 if second | third | fourth < U64 and code - SUPPLEMENTARY < SUPPLEMENTARY << U4 else U0)


@inlined
def put_code(code, text, filled):
    """Write a code point as one or two units; return the new number of units."""
    if code >= SUPPLEMENTARY:
        code -= SUPPLEMENTARY
        text[filled] = HIGH_SURROGATE | code >> U10
        filled += U1
        code = LOW_SURROGATE | code & LOW_10
    text[filled] = code
    return filled + U1


@inlined
def put_characters(data, at, end, text, filled):
    """Write a run of ASCII, and then a run of other characters; return the new positions in `data` and in `text`, and whether the bytes are
    UTF-8.
    """
    while at < end and np.uint64(data[at]) < CONTINUATION:
        text[filled] = data[at]
        at += U1
        filled += U1
    while at < end and np.uint64(data[at]) >= CONTINUATION:
        code, length = character_at(data, at, end - at)
        if length == U0:
            return at, filled, False
        filled = put_code(code, text, filled)
        at += length
    return at, filled, True


@inlined
def put_utf_8(data, at, end, text, filled):
    """Write the UTF-8 from `at` to `end` as UTF-16. ASCII is written 32 bytes at a time.

    The last step may read bytes past `end` and write units for them; the next row overwrites these units.

    Returns:
        The new number of units, and whether the bytes are UTF-8.
    """
    is_text = True
    while at < end and is_text:
        if at + U32 <= np.uint64(len(data)):
            wide = widen(data, at, text, filled)
            plain = min(U32 if wide == U0 else trailing_zeros(wide), end - at)
            at += plain
            filled += plain
            if wide == U0:  # a branch, so that the next step does not wait for `trailing_zeros`
                continue
        at, filled, is_text = put_characters(data, at, end, text, filled)
    return filled, is_text


@kernel
def transcode(data, starts, text, unit_starts):
    """Convert rows from UTF-8 to UTF-16; ASCII is converted 32 bytes at a time.

    Args:
        data: uint8[n].
        starts: int64[rows + 1], ascending: the start of each row in `data`, and finally n.
        text: uint16[n + 32], the output.
        unit_starts: int64[rows + 1], an output: the start of each row in `text`, and the end of the last row.

    Returns:
        The index of the first row that is not UTF-8; the number of rows if all rows are UTF-8.
    """
    rows, filled = np.uint64(len(starts)) - U1, U0
    unit_starts[0] = 0
    for row in range(rows):
        filled, is_text = put_utf_8(data, np.uint64(starts[row]), np.uint64(starts[row + U1]), text, filled)
        if not is_text:
            return row
        unit_starts[row + U1] = filled
    return rows


@inlined
def rows_that_fit(rows, count, limits, kind):
    """Count the first rows of a list that stay within `limits`; return -1 if one of these rows has another type."""
    most, longest, least = limits
    left, fitting = most, 0
    while fitting < count:
        length = bytes_length(rows, fitting) if kind == OF_BYTES else string_length(rows, fitting)
        if length < 0:
            return -1
        if length > min(left, longest):
            break
        left -= length
        fitting += 1
    return fitting if fitting >= least else 0


@inlined
def put_narrow(data, text, at):
    """Copy bytes to units, without a write past the last unit; return the new number of units, and whether all bytes are ASCII."""
    end, wide = np.uint64(len(data)), U0
    if end < U32:
        for index in range(end):
            text[at + np.uint64(index)] = data[np.uint64(index)]
            wide |= np.uint64(data[np.uint64(index)]) & CONTINUATION
    else:
        place = U0
        while place + U32 <= end:
            wide |= widen(data, place, text, at + place)
            place += U32
        wide |= widen(data, end - U32, text, at + end - U32)
    return at + end, wide == U0


@inlined
def put_units(units, text, at):
    """Copy units; return the new number of units, and whether a unit is a surrogate."""
    wrong = np.uint16(0)
    for index in range(np.uint64(len(units))):
        unit = units[np.uint64(index)]
        text[at + np.uint64(index)] = unit
        wrong |= np.uint16(unit & LAST_BITS == FIRST_SURROGATE)
    return at + np.uint64(len(units)), wrong != 0


@inlined
def put_codes(codes, text, at):
    """Write code points as units; return the new number of units, and whether a code point is a surrogate."""
    wrong = U0
    for index in range(np.uint64(len(codes))):
        code = np.uint64(codes[np.uint64(index)])
        wrong |= np.uint64(code >> U11 == SURROGATES)
        at = put_code(code, text, at)
    return at, wrong != 0


@inlined
def put_string(views, text, at):
    """Write the characters of a str, given as views; return the new number of units, and whether the str contains a surrogate."""
    narrow, units, codes = views
    at, _ = put_narrow(narrow, text, at)
    at, is_wrong = put_units(units, text, at)
    at, is_wrong_too = put_codes(codes, text, at)
    return at, is_wrong | is_wrong_too


@object_kernel
def gather_strings(rows, count, limits, text, starts):
    """Write the first rows of a list of str as UTF-16.

    Args:
        rows, count: the address of the list, and the number of its rows.
        limits: as in `fst.runtime.rows.texts.Limits`.
        text: uint16[n], the output, with two elements for each character that the limits admit.
        starts: int64[count + 1], an output: the start of each row in `text`, and the end of the last row.

    Returns:
        The number of rows written, or -1 if a row is not a str; and whether no row has a surrogate.
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
    """Convert the first rows of a list of bytes objects from UTF-8 to UTF-16.

    Args:
        rows, count, limits, text, starts: as in `gather_strings`, but limits count bytes. The kernel may write up to 32 units past the last
            unit.

    Returns:
        The number of rows written, or -1 if a row is not a bytes object; and whether all rows are UTF-8.
    """
    fitting = rows_that_fit(rows, count, limits, OF_BYTES)
    at, are_text = U0, True
    starts[0] = 0
    for row in range(fitting):
        data = bytes_of(rows, row)
        after, is_text = put_narrow(data, text, at)
        if not is_text:
            after, is_text = put_utf_8(data, U0, np.uint64(len(data)), text, at)
        at = after
        are_text &= is_text
        starts[row + 1] = at
    return fitting, are_text
