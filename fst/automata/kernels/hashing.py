"""Hash functions of the numbers that kernels look up in tables with 2ⁿ slots."""

from __future__ import annotations

import numpy as np

from fst.automata.rows import MULTIPLIERS
from fst.core.jit import inlined, kernel

HALF, U1, MULTIPLIER = np.uint64(32), np.uint64(1), np.uint64(MULTIPLIERS[0])


@inlined
def mixed(number):
    """Mix a uint64, so that its high bits depend on all bits."""
    return (number ^ number >> HALF) * MULTIPLIER


@inlined
def folded(number):
    """Fold a mixed number, so that its low bits, too, depend on all bits."""
    return number ^ number >> HALF


@kernel
def fill_slots(hashes, slots):
    """Put 1 + the number of each hash into the first empty slot from the hash on; see `fst.automata.hashing.slots_of`."""
    last = np.uint64(len(slots) - 1)
    for number in range(len(hashes)):
        slot = hashes[number] & last
        while slots[slot]:
            slot = slot + U1 & last
        slots[slot] = number + 1
