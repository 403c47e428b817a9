"""Copying bytes: what kernels that write text share."""

from __future__ import annotations

import numpy as np

from fst.core.jit import part
from fst.pretokens import decoding
from fst.runtime.kernels.constants import U1
from fst.runtime.kernels.intrinsics import copy_16

STEP = np.uint64(decoding.STEP)  # bytes copied at a time


@part
def put_bytes(data, at, stop, out, filled):
    """Copy a part of some bytes, without a look at others; nothing if `stop` is before `at`. Returns the position after the copy."""
    begin = at
    while at + STEP <= stop:
        copy_16(data, at, out, filled)
        at += STEP
        filled += STEP
    if begin < at < stop:  # sixteen bytes that end with the last one
        copy_16(data, stop - STEP, out, filled + (stop - at) - STEP)
        return filled + (stop - at)
    while at < stop:
        out[filled] = data[at]
        at += U1
        filled += U1
    return filled
