"""How the kernels that decode find the bytes of a token; see `fst.runtime.kernels.decoding`."""

from __future__ import annotations

# A span is ``where the bytes begin << SIZE_BITS | how many they are``. No token has more than `MAX_SIZE` bytes.
SIZE_BITS = 16
MAX_SIZE = (1 << SIZE_BITS) - 1
STEP = 16  # bytes that are copied at a time
