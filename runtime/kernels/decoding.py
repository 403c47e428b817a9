"""Decode token ids to the bytes of their tokens: `measure` counts the bytes, and `write` writes them to an array of this size.

Kernels check nothing. They require:

- The low `SIZE_BITS` bits of a span are the number of bytes of a token, and the bits above are their begin in ``contents``. The last span
  is empty; it represents all numbers that are not ids.
- ``contents`` has at least `STEP` more bytes than the spans cover, and ``data`` has at least `STEP` more bytes than the rows: bytes are
  copied `STEP` at a time.
- ``splits`` ascends, and contains positions in ``ids``.

`fst.runtime.decoder.ByteDecoder` ensures this.
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
        ends: int64[rows], filled.

    Returns:
        Whether a number is less than 0 or has more than 32 bits; and the number of empty tokens.
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
    """Write the bytes of ids.

    Args:
        ids, spans: as in `measure`.
        contents: uint8[n], the bytes of all tokens.
        data: uint8[n], filled.
    """
    last, at = np.uint64(len(spans)) - U1, U0
    for index in range(len(ids)):
        span = spans[min(np.uint64(ids[index]), last)]
        begin, size = span >> SHIFT, span & SIZE
        copy_16(contents, begin, data, at)  # nearly all tokens have at most 16 bytes
        for done in range(STEP_SIZE, size, STEP_SIZE):
            copy_16(contents, begin + np.uint64(done), data, at + np.uint64(done))
        at += size
