"""How the kernels that decode find the bytes of a token; see `fst.runtime.kernels.decoding`."""

from __future__ import annotations

# A span is ``where the bytes begin << SIZE_BITS | how many they are``. No token has more than `MAX_SIZE` bytes.
MAX_SIZE = (1 << 16) - 1
SIZE_BITS = MAX_SIZE.bit_length()
STEP = 16  # bytes that are copied at a time, by `fst.runtime.kernels.intrinsics.copy_16`
