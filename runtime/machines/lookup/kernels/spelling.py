"""Join the pieces of analyses into strings."""

from __future__ import annotations

import numpy as np

from fst.core.jit import kernel
from fst.machines.lookup import layout
from fst.runtime.kernels.constants import U0, U1

END = np.int64(layout.END)


@kernel
def spell(ids, piece_starts, piece_bytes, is_weighted, data, starts):
    """Write the strings of all analyses in a batch.

    Args:
        ids: int32[n], the ids of the batch, see `fst.machines.lookup.table`.
        piece_starts, piece_bytes: the pieces, as in `fst.machines.lookup.layout.Arguments`.
        is_weighted: uint64, 1 if a weight follows each analysis, otherwise 0.
        data: output, uint8[bytes], the UTF-8 of all analyses.
        starts: output, int64[analyses + 1], the start of each analysis, and the end of the last.
    """
    filled, count, place = U0, U0, U0
    starts[U0] = 0
    while place < np.uint64(len(ids)):
        piece = np.int64(ids[place])
        place += U1
        if piece >= 0:
            at, end = np.uint64(piece_starts[np.uint64(piece)]), np.uint64(piece_starts[np.uint64(piece) + U1])
            while at < end:
                data[filled] = piece_bytes[at]
                at += U1
                filled += U1
        elif piece == END:
            count += U1
            starts[count] = filled
            place += is_weighted
