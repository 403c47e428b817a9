"""Join the pieces of analyses into strings."""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.machines.lookup import layout
from fst.runtime.kernels.constants import U0, U1, U16
from fst.runtime.kernels.intrinsics import copy_16

END = np.int64(layout.END)


@inlined
def put_wide(data, at, end, out, filled):
    """Copy some bytes; return the output index after them. Up to 15 more bytes are read and written."""
    after = filled + (end - at)
    while at < end:
        copy_16(data, at, out, filled)
        at += U16
        filled += U16
    return after


@inlined
def put_row(strings, row, out, filled):
    """Write one of `fst.runtime.machines.lookup.spelling.Strings`, such as a piece; return the output index after it."""
    number = np.uint64(row)
    return put_wide(strings.data, np.uint64(strings.starts[number]), np.uint64(strings.starts[number + U1]), out, filled)


@part
def measured(ids, end, pieces, is_weighted):
    """Return the number of bytes, and of analyses, of the first ids."""
    size, count, place = U0, U0, U0
    while place < end:
        piece = np.int64(ids[place])
        place += U1
        if piece >= 0:
            size += np.uint64(pieces.starts[np.uint64(piece) + U1]) - np.uint64(pieces.starts[np.uint64(piece)])
        elif piece == END:
            count += U1
            place += is_weighted
    return size, count


@part
def put_spelled(ids, end, pieces, is_weighted, data, starts):
    """Write the strings of the first ids; see `spell`."""
    filled, count, place = U0, U0, U0
    starts[U0] = 0
    while place < end:
        piece = np.int64(ids[place])
        place += U1
        if piece >= 0:
            filled = put_row(pieces, piece, data, filled)
        elif piece == END:
            count += U1
            starts[count] = filled
            place += is_weighted


@kernel
def spell(ids, pieces, is_weighted, data, starts):
    """Write the strings of all analyses in a batch; with empty `data`, only measure them.

    Args:
        ids: int32[n], the ids of the batch, see `fst.machines.lookup.table`.
        pieces: `fst.runtime.machines.lookup.spelling.Strings`.
        is_weighted: uint64, 1 if a weight follows each analysis, otherwise 0.
        data: output, uint8[bytes + 15], the UTF-8 of all analyses.
        starts: output, int64[analyses + 1], the start of each analysis, and the end of the last.

    Returns:
        The number of bytes, and of analyses; 0 and 0 if they are written.
    """
    if len(data) == 0:
        return measured(ids, np.uint64(len(ids)), pieces, is_weighted)
    put_spelled(ids, np.uint64(len(ids)), pieces, is_weighted, data, starts)
    return U0, U0
