"""Random numbers for kernels, by the generator of `fst.core.random`."""

from __future__ import annotations

import numpy as np

from fst.core import random
from fst.core.jit import inlined

GAMMA, FIRST_FACTOR, SECOND_FACTOR = np.uint64(random.GAMMA), np.uint64(random.FIRST_FACTOR), np.uint64(random.SECOND_FACTOR)
FIRST_SHIFT, SECOND_SHIFT, LAST_SHIFT = np.uint64(random.FIRST_SHIFT), np.uint64(random.SECOND_SHIFT), np.uint64(random.LAST_SHIFT)
TO_SHARE, UNIT = np.uint64(64 - random.SHARE_BITS), 2.0**-random.SHARE_BITS


@inlined
def mixed(number):
    """Mix the bits of a number, see `fst.core.random.mixed`."""
    number = (number ^ number >> FIRST_SHIFT) * FIRST_FACTOR
    number = (number ^ number >> SECOND_SHIFT) * SECOND_FACTOR
    return number ^ number >> LAST_SHIFT


@inlined
def key_of(seed, row):
    """Compute the seed of a row, see `fst.core.random.key`."""
    return mixed(mixed(seed) + row)
