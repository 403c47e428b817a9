"""The format of spans, the positions of a token's bytes in the arrays of decoding kernels; see `fst.runtime.kernels.decoding`."""

from __future__ import annotations

# A span is ``start << SIZE_BITS | number of bytes``. A token has at most `MAX_SIZE` bytes.
MAX_SIZE = (1 << 16) - 1
SIZE_BITS = MAX_SIZE.bit_length()
STEP = 16  # number of bytes that `fst.runtime.kernels.intrinsics.copy_16` copies
