"""Decode token ids to bytes: `measure` computes the size of the output, and `write` writes the bytes of the tokens.

Kernels check nothing. They require:

- The lowest `SIZE_BITS` bits of a span are the number of bytes of a token, and the other bits are the position of the first byte in
  ``contents``. The last span is empty, and represents all numbers above the highest id.
- ``contents`` has at least `STEP` bytes after the last span, and ``data`` has at least `STEP` bytes after the last row, because bytes are
  copied `STEP` at a time.
- ``splits`` contains positions in ``ids``, in ascending order.

`fst.runtime.decoder.ByteDecoder` ensures these requirements.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import kernel
from fst.pretokens.decoding import MAX_SIZE, SIZE_BITS, STEP
from fst.runtime.kernels.constants import HALF, U0, U1
from fst.runtime.kernels.intrinsics import copy_16

SIZE, SHIFT, STEP_SIZE = np.uint64(MAX_SIZE), np.uint64(SIZE_BITS), np.uint64(STEP)


@kernel
def measure(ids, splits, spans, ends):
    """Compute the end of each row in bytes.

    Args:
        ids: int32[n], uint32[n] or int64[n]; any numbers are allowed.
        splits: int64[rows + 1], the start of each row in `ids`, and the end of the last row.
        spans: uint64[highest id + 2], the span of each token in ``contents``.
        ends: int64[rows], the output.

    Returns:
        Whether a number is negative or needs more than 32 bits; and the number of ids without bytes.
    """
    last, end, beyond, empty = np.uint64(len(spans)) - U1, U0, U0, U0
    for row in range(len(splits) - 1):
        for index in range(splits[row], splits[row + 1]):
            number = np.uint64(ids[index])
            size = spans[min(number, last)] & SIZE
            beyond |= number >> HALF
            empty += np.uint64(size == U0)
            end += size
        ends[row] = end
    return beyond != U0, empty


@kernel
def write(ids, spans, contents, data):
    """Write the bytes of the tokens.

    Args:
        ids, spans: as in `measure`.
        contents: uint8[n], the bytes of all tokens.
        data: uint8[n], the output.
    """
    last, at = np.uint64(len(spans)) - U1, U0
    for index in range(len(ids)):
        span = spans[min(np.uint64(ids[index]), last)]
        start, size = span >> SHIFT, span & SIZE
        copy_16(contents, start, data, at)  # no branch, since nearly all tokens have at most 16 bytes
        for done in range(STEP_SIZE, size, STEP_SIZE):
            copy_16(contents, start + np.uint64(done), data, at + np.uint64(done))
        at += size
