"""Hash functions of the numbers that kernels look up in tables with 2ⁿ slots."""

from __future__ import annotations

import numpy as np

from fst.automata.rows import MULTIPLIERS
from fst.core.jit import inlined

HALF, MULTIPLIER = np.uint64(32), np.uint64(MULTIPLIERS[0])


@inlined
def mixed(number):
    """Mix a uint64, so that its high bits depend on all bits."""
    return (number ^ number >> HALF) * MULTIPLIER


@inlined
def folded(number):
    """Fold a mixed number, so that its low bits, too, depend on all bits."""
    return number ^ number >> HALF
