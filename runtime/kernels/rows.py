"""The kernel that converts rows of text from UTF-16 to UTF-8."""

from __future__ import annotations

import numpy as np

from fst.core.jit import kernel
from fst.runtime.kernels.constants import U0
from fst.runtime.kernels.unicode import UTF_16, label_at
from fst.runtime.kernels.utf_8 import put_code


@kernel
def as_utf_8(text, starts, rows, into, into_starts):
    """Copy some rows of text, converted to UTF-8.

    Args:
        text: uint16[n], UTF-16 without lone surrogates.
        starts: int64, the start of each row in `text`, and the end of the last row.
        rows: int64[chosen], the indices of the rows to copy.
        into: uint8, filled. Each unit of UTF-16 needs up to three bytes.
        into_starts: int64[chosen + 1], filled: the start of each copy in `into`, and the end of the last copy.
    """
    filled = U0
    into_starts[0] = 0
    for index in range(len(rows)):
        at, end = np.uint64(starts[rows[index]]), np.uint64(starts[rows[index] + 1])
        while at < end:
            code, at = label_at(text, at, UTF_16)
            filled = put_code(code, into, filled)
        into_starts[index + 1] = filled
