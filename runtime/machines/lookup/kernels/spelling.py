"""Join the pieces of analyses into strings."""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel
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
def put_piece(piece, starts, pieces, out, filled):
    """Write a piece; return the output index after it."""
    number = np.uint64(piece)
    return put_wide(pieces, np.uint64(starts[number]), np.uint64(starts[number + U1]), out, filled)


@kernel
def spell(ids, piece_starts, piece_bytes, is_weighted, data, starts):
    """Write the strings of all analyses in a batch; with empty `data`, only measure them.

    Args:
        ids: int32[n], the ids of the batch, see `fst.machines.lookup.table`.
        piece_starts, piece_bytes: the pieces, as in `fst.machines.lookup.layout.Arguments`, and 15 bytes after the last.
        is_weighted: uint64, 1 if a weight follows each analysis, otherwise 0.
        data: output, uint8[bytes + 15], the UTF-8 of all analyses.
        starts: output, int64[analyses + 1], the start of each analysis, and the end of the last.

    Returns:
        The number of bytes, and of analyses.
    """
    filled, count, place = U0, U0, U0
    is_measured = len(data) == 0
    if not is_measured:
        starts[U0] = 0
    while place < np.uint64(len(ids)):
        piece = np.int64(ids[place])
        place += U1
        if piece >= 0:
            if is_measured:
                filled += np.uint64(piece_starts[np.uint64(piece) + U1]) - np.uint64(piece_starts[np.uint64(piece)])
            else:
                filled = put_piece(piece, piece_starts, piece_bytes, data, filled)
        elif piece == END:
            count += U1
            if not is_measured:
                starts[count] = filled
            place += is_weighted
    return filled, count
