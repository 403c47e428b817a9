"""Find stops, the positions in a text that other kernels examine, by the tables of `fst.text.stops`.

Kernels read up to 64 bytes past the end of a text (`fst.runtime.rows.texts.PAST_END`). `table` is the index in `stops` where a table
begins. Without AVX2, one position is examined at a time.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined
from fst.runtime.kernels.constants import U1, U64
from fst.runtime.kernels.intrinsics import AT_ONCE, stops_in, trailing_zeros
from fst.text import stops as of

SECONDS = np.uint64(of.SECONDS)


@inlined
def is_stop(text, at, end, stops, table):
    """Whether a position is a stop. The last byte of a text is a stop if it would be a stop before some other byte."""
    byte = stops[table + np.uint64(text[at])]
    return byte > 0 and (at + U1 >= end or byte & stops[table + SECONDS + np.uint64(text[at + U1])] > 0)


@inlined
def stops_from(text, at, end, stops, table):
    """Return a bit mask of the 64 bytes from `at` on: bit i is set if byte i lies before `end` and is a stop."""
    found, left = stops_in(text, at, stops, table), end - at
    return found & (U1 << left) - U1 if left < U64 else found


@inlined
def next_stop(text, at, end, stops, table):
    """Find the first stop from a position on; return `end` if there is none."""
    while AT_ONCE and at < end:
        found = stops_from(text, at, end, stops, table)
        if found:
            return at + trailing_zeros(found)
        at += U64
    while at < end and not is_stop(text, at, end, stops, table):
        at += U1
    return min(at, end)
