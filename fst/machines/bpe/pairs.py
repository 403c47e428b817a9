"""Kernels for hash tables of pairs, see `fst.machines.bpe.merge_list.pairs_for`. The compiler and the trainer of BPE use these kernels.

A pair is in the slot of its hash; or, if that slot was taken, in the next free slot after it. Some slots are free, so every search ends.
"""

from __future__ import annotations

import numpy as np

from fst.automata.rows import MULTIPLIERS
from fst.core.jit import inlined, kernel
from fst.machines.bpe.merge_list import EMPTY

NO_RANK = np.int32((1 << 31) - 1)  # instead of a rank: the pair does not merge; greater than all ranks
MULTIPLIER, HALF, ONE = np.uint64(MULTIPLIERS[0]), np.uint64(32), np.uint64(1)


@inlined
def key_of(left, right):
    """Pack a pair into one number, its key."""
    return np.uint64(left) << HALF | np.uint64(right)


@inlined
def home_of(key, pairs):
    """The index of the slot at which the search for a pair begins."""
    return (key * MULTIPLIER >> HALF & np.uint64(len(pairs) >> 1) - ONE) << ONE


@inlined
def slot_of(key, pairs):
    """The index of the slot that contains a pair; if the table lacks the pair, the index of the free slot for it."""
    last = np.uint64(len(pairs) >> 1) - ONE
    slot = home_of(key, pairs) >> ONE
    while pairs[slot << ONE] != key and pairs[slot << ONE] != EMPTY:
        slot = slot + ONE & last
    return slot << ONE


@inlined
def rank_of(left, right, pairs):
    """The rank of a pair, or `NO_RANK`."""
    slot = slot_of(key_of(left, right), pairs)
    return np.int32(pairs[slot + ONE]) if pairs[slot] != EMPTY else NO_RANK


@inlined
def insert(key, rank, pairs):
    """Set the rank of a pair; a new rank replaces an old one."""
    slot = slot_of(key, pairs)
    pairs[slot], pairs[slot + ONE] = key, rank


@kernel
def insert_pairs(keys, pairs):
    """Fill a table. If a pair is listed twice, its last rank counts.

    Args:
        keys: uint64[n], the pair of each rank.
        pairs: uint64[2 * slots], an empty table from `fst.machines.bpe.merge_list.pairs_for`, which is filled.
    """
    for rank in range(len(keys)):
        insert(keys[rank], rank, pairs)
