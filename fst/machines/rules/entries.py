"""The entries of the two passes of rewrite rules, and the classes of characters.

An entry of the pass to the left is ``row of the next set 32 | column 32``, with sizes in bits, from the highest bit; an entry of the pass
to the right is ``row of the next state 32 | number of a string 31 | COPY 1``. A row is the index of its first entry.

The string is written first. If `COPY` is set, the character is written after the string. Otherwise the string replaces the characters that
were read since the last entry that wrote or copied; with the string `NOTHING`, these characters are not complete. The string `ENDED` is
empty, too: with it, these characters are removed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fst.automata.rows import CODE_POINTS, Array

NOTHING, ENDED = 0, 1  # numbers of strings
COPY = 1
ROW_SHIFT, STRING_SHIFT = 32, 1
LOW_HALF = (1 << ROW_SHIFT) - 1
MAX_ENTRIES = 1 << 21  # maximum number of entries of a pass of a stage: 16 MB
MAX_COLUMNS = 1 << 16  # maximum number of columns of a stage, which kernels store in 16 bits
HEAD = 16  # number of bytes of a string that kernels copy at a time
PAGE_BITS = 8
PAGE = 1 << PAGE_BITS  # number of code points in a block of classes
PAGES = CODE_POINTS >> PAGE_BITS


def pack_left(rows: Any, columns: Any) -> Array:
    """uint64[n], entries of the pass to the left."""
    return np.asarray(rows, np.uint64) << np.uint64(ROW_SHIFT) | np.asarray(columns, np.uint64)


def pack_right(rows: Any, strings: Any, copies: Any) -> Array:
    """uint64[n], entries of the pass to the right.

    >>> hex(int(pack_right(3, 2, COPY)))
    '0x300000005'
    """
    low = np.asarray(strings, np.uint64) << np.uint64(STRING_SHIFT) | np.asarray(copies, np.uint64)
    return np.asarray(rows, np.uint64) << np.uint64(ROW_SHIFT) | low


def rows_of(entries: Array) -> Array:
    """int64[n], the row of the next set or state."""
    return (entries >> np.uint64(ROW_SHIFT)).astype(np.int64)


def columns_of(entries: Array) -> Array:
    """int64[n], the column."""
    return (entries & np.uint64(LOW_HALF)).astype(np.int64)


def strings_of(entries: Array) -> Array:
    """int64[n], the number of the string."""
    return columns_of(entries) >> STRING_SHIFT


def copies_of(entries: Array) -> Array:
    """bool[n], whether the character is copied."""
    found: Array = entries & np.uint64(COPY) > 0
    return found
