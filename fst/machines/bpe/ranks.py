"""Kernels for the ranks of the pairs of a merge list, a hash table that the merging kernels read. `fst.machines.bpe.merge_list.slots_of`
makes this table, and `fst.machines.bpe.arguments.Pairs` describes it.

A merge is in the slot of its pair's hash; or, if that slot was taken, in the next free slot after it. Some slots are free, so every search
ends. A slot is 4 bytes, with a mark from the hash, so that most searches for pairs that do not merge read one slot and no row of the list.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel
from fst.machines.bpe.merge_list import LEFT, RANK_BITS, RIGHT
from fst.machines.bpe.pairs import HALF, MULTIPLIER, NO_RANK, ONE, key_of

MARK, RANK = np.uint64(RANK_BITS), np.uint64((1 << RANK_BITS) - 1)
MARKS = np.uint64((1 << 32 - RANK_BITS) - 1)


@inlined
def slot_of(left, right, slots, merges):
    """The index of the slot that contains a pair, or of the free slot for a pair that the table lacks; and the mark of the pair."""
    hashed, last = key_of(left, right) * MULTIPLIER, np.uint64(len(slots)) - ONE
    mark, slot = hashed >> MARK & MARKS, (hashed >> HALF) & last
    entry = np.uint64(slots[slot])
    while entry and not (entry >> MARK == mark and is_pair(left, right, (entry & RANK) - ONE, merges)):
        slot = slot + ONE & last
        entry = np.uint64(slots[slot])
    return slot, mark


@inlined
def is_pair(left, right, rank, merges):
    """Whether the merge of a rank is the merge of a pair."""
    return np.uint64(merges[rank, LEFT]) == np.uint64(left) and np.uint64(merges[rank, RIGHT]) == np.uint64(right)


@inlined
def rank_of(left, right, pairs):
    """The rank of a pair, or `NO_RANK`."""
    slot, _ = slot_of(left, right, pairs.slots, pairs.merges)
    entry = np.uint64(pairs.slots[slot])
    return np.int32((entry & RANK) - ONE) if entry else NO_RANK


@kernel
def fill_slots(merges, slots):
    """Fill a table. If a pair is listed twice, its last rank counts.

    Args:
        merges: int32[merges, 3].
        slots: uint32[slots], zeros; the number of slots is a power of two above the number of merges.
    """
    for number in range(len(merges)):
        rank = np.uint64(number)
        slot, mark = slot_of(np.uint64(merges[rank, LEFT]), np.uint64(merges[rank, RIGHT]), slots, merges)
        slots[slot] = mark << MARK | rank + ONE
