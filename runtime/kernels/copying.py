"""Copy bytes, for kernels that write text."""

from __future__ import annotations

import numpy as np

from fst.core.jit import part
from fst.pretokens import decoding
from fst.runtime.kernels.constants import U1
from fst.runtime.kernels.intrinsics import copy_16

STEP = np.uint64(decoding.STEP)  # number of bytes to copy at a time


@part
def put_bytes(data, at, stop, out, filled):
    """Copy the bytes from `at` to `stop`, and write no byte after them; return the new number of bytes. If `stop` is before `at`, copy
    nothing.
    """
    begin = at
    while at + STEP <= stop:
        copy_16(data, at, out, filled)
        at += STEP
        filled += STEP
    if begin < at < stop:  # the last 16 bytes, of which some are already copied
        copy_16(data, stop - STEP, out, filled + (stop - at) - STEP)
        return filled + (stop - at)
    while at < stop:
        out[filled] = data[at]
        at += U1
        filled += U1
    return filled
