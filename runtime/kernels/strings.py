"""Make a list of str from rows of UTF-8. For a row that is equal to a given str, the list contains the given object, not a copy."""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, object_kernel, part
from fst.runtime.kernels.constants import U0, U1, U8
from fst.runtime.kernels.intrinsics import trailing_zeros, widen, word_at
from fst.runtime.kernels.objects import characters, new_list, put_row, put_utf_8, put_utf_16, string_length
from fst.runtime.kernels.unicode import CONTINUATION, SUPPLEMENTARY, character_at
from fst.runtime.kernels.utf_8 import STEP


@inlined
def are_equal(text, at, size, given):
    """Whether `size` bytes of a text are equal to an array."""
    if np.uint64(len(given)) != size:
        return False
    index = U0
    while index + U8 <= size:
        if word_at(text, at + index) != word_at(given, index):
            return False
        index += U8
    while index < size:
        if text[at + index] != given[index]:
            return False
        index += U1
    return True


@inlined
def put_units(text, at, end, units):
    """Write the units of UTF-16 of a text; return the number of units, or `SUPPLEMENTARY` if a character needs two units."""
    count = U0
    while at < end:
        plain = put_wide(text, at, end, units, count)
        at, count = at + plain, count + plain
        while at < end and np.uint64(text[at]) >= CONTINUATION:
            code, length = character_at(text, at, end - at)
            if code >= SUPPLEMENTARY:
                return SUPPLEMENTARY
            units[count] = code
            at, count = at + length, count + U1
    return count


@inlined
def put_wide(text, at, end, units, count):
    """Widen bytes up to the first byte that is not ASCII; return the number of bytes."""
    start = at
    while at + STEP <= end:
        wide = widen(text, at, units, count + (at - start))
        if wide:
            return at - start + trailing_zeros(wide)
        at += STEP
    while at < end and np.uint64(text[at]) < CONTINUATION:
        units[count + (at - start)] = text[at]
        at += U1
    return at - start


@inlined
def are_same(units, count, given):
    """Whether `count` units are equal to an array."""
    if np.uint64(len(given)) != count:
        return False
    index = U0
    while index < count and units[index] == given[index]:
        index += U1
    return index == count


@part
def is_given(text, at, size, units, count, given, row):
    """Whether a row, which is given in UTF-8 and as units, is equal to the given str of the same length."""
    narrow, wide, _ = characters(given, row)
    if count == size:
        return are_equal(text, at, size, narrow)
    return are_same(units, count, wide) or are_same(units, count, narrow)


@inlined
def put_string(items, row, text, at, end, address, given, work):
    """Put the str of a row into a list."""
    size, is_long = end - at, end - at > np.uint64(len(work.units)) - STEP
    count = SUPPLEMENTARY if is_long else put_units(text, at, end, work.units)
    may_be_given = given and count != SUPPLEMENTARY and string_length(given, row) == np.int64(count)
    if may_be_given and is_given(text, at, size, work.units, count, given, row):
        put_row(items, row, given, row)
    elif count == SUPPLEMENTARY or count >= size:
        put_utf_8(items, row, np.int64(address + at), np.int64(size))
    else:
        put_utf_16(items, row, np.int64(work.address[0]), np.int64(count))


@object_kernel
def make_strings(text, starts, address, given, work):
    """Make a list of str.

    Args:
        text: uint8[n]; starts: int64[rows + 1], the start of each row, and the end of the last row; address: the address of `text`.
        given: the address of a list of objects with an item for each row; 0 if there is none.
        work: `fst.runtime.rows.strings.Work`.
    """
    rows = len(starts) - 1
    items = new_list(rows)
    for row in range(rows):
        put_string(items, row, text, np.uint64(starts[row]), np.uint64(starts[row + 1]), np.uint64(address), given, work)
    return items
