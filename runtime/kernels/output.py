"""Functions that write ids, for the kernels of all machines."""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined
from fst.runtime.kernels.constants import U0, U1, U8, U32
from fst.runtime.kernels.intrinsics import copy_8_ids, copy_32_ids
from fst.tables.kernel_call import IDS_ALONE


@inlined
def copy(source, start, end, ids, at):
    """Copy a run of ids, 32 at a time, so that the processor mispredicts the end of very few runs; return the output index after the last
    id.
    """
    for offset in range(U0, end - start, U32):
        copy_32_ids(source, start + np.uint64(offset), ids, at + np.uint64(offset))
    return at + (end - start)


@inlined
def copy_few(source, start, end, ids, at):
    """Copy the ids of a word, as `copy`, but 8 at a time."""
    for offset in range(U0, end - start, U8):
        copy_8_ids(source, start + np.uint64(offset), ids, at + np.uint64(offset))
    return at + (end - start)


@inlined
def put_special_ids(around, at, output):
    """Write the special ids before a text, or after it; return the output index after the last id.

    Inlined, because a call would pass all arrays, which takes 10% of the total time of a text as short as a line of code.
    """
    ids = output.ids
    for index in range(len(around)):
        ids[at] = around[index]
        if len(output) > IDS_ALONE and len(output.offsets):
            offsets, words = output.offsets, output.words
            words[at] = -1
            offsets[at << U1] = offsets[at << U1 | U1] = 0
        at += U1
    return at
