"""Copy bytes, for kernels that write text."""

from __future__ import annotations

import numpy as np

from fst.core.jit import part
from fst.pretokens import decoding
from fst.runtime.kernels.constants import U1
from fst.runtime.kernels.intrinsics import copy_16

STEP = np.uint64(decoding.STEP)  # number of bytes to copy at a time


@part
def put_bytes(data, at, end, out, filled):
    """Copy the bytes from `at` to `end`, and write no byte after the copy; return the new number of bytes. If `end` is before `at`, copy
    nothing.
    """
    start = at
    while at + STEP <= end:
        copy_16(data, at, out, filled)
        at += STEP
        filled += STEP
    if start < at < end:  # the last 16 bytes, of which some are already copied
        copy_16(data, end - STEP, out, filled + (end - at) - STEP)
        return filled + (end - at)
    while at < end:
        out[filled] = data[at]
        at += U1
        filled += U1
    return filled
