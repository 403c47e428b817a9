"""Tables of hashes that grow: kernels add items to the slots, and `slots_of` makes more slots when they are full."""

from __future__ import annotations

import numpy as np

from fst.automata.rows import Array
from fst.core.jit import Deferred

fill_slots = Deferred("fst.automata.kernels.hashing", "fill_slots")


def slots_of(hashes: Array, size: int) -> Array:
    """int32[size], 1 + the number of the item in each slot, or 0; an item is in the first free slot from its hash on.

    Args:
        hashes: uint64[n], the hash of each item.
        size: the number of slots, a power of two above n, so that each search ends at an empty slot.
    """
    slots = np.zeros(size, np.int32)
    fill_slots.call(hashes, slots)
    return slots
