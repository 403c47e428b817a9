"""The table of short words: the most frequent words of at most `SHORT` bytes, in slots of 16 bytes instead of 32, so that most pre-tokens
take one small look-up. It is made from the table of words when a table is loaded.

A key is the bytes of a word in memory order, zeros, and the length in the highest byte: the key of "ab" is 0x0200000000006261. The slot of
a word is given by the highest bits of its hash, which is the key times a constant, modulo 2**64. If several words have the same slot, it
contains the word with the lowest id, and the others are left out. A free slot has the key 0, which no word has.
"""

from __future__ import annotations

import numpy as np

from fst.automata.rows import MULTIPLIERS, Array

SHORT, LENGTH_SHIFT = 7, 56  # maximum number of bytes of a word; the position of the length in a key
MOST_BITS = 16  # log2 of the maximum number of slots: 1 MiB. With gpt2, 97% of the short words of English are found; with 17, 98%


def short_words(words: Array) -> Array:
    """uint64[2 * slots], the key and the id of each slot; the number of slots is a power of two.

    Args:
        words: see `fst.pretokens.table.PretokenTable`.
    """
    values, half = words[3::4], np.uint64(32)
    sizes = values >> half
    chosen = np.flatnonzero((sizes > 0) & (sizes <= SHORT)).astype(np.uint64)
    in_order = np.sort(values[chosen] << half | chosen)[::-1] & np.uint64((1 << 32) - 1)  # the lowest id is the last
    own_bytes = (np.uint64(1) << np.uint64(8) * sizes[in_order]) - np.uint64(1)  # a damaged table may have more bytes in a key
    keys = words[0::4][in_order] & own_bytes | sizes[in_order] << np.uint64(LENGTH_SHIFT)
    table = np.zeros((1 << min(max(len(keys).bit_length(), 1), MOST_BITS), 2), np.uint64)
    slots = keys * np.uint64(MULTIPLIERS[0]) >> np.uint64(shift_of(table))
    table[slots, 0], table[slots, 1] = keys, values[in_order] & np.uint64((1 << 32) - 1)
    return table.ravel()


def shift_of(table: Array) -> int:
    """The shift that turns a hash into a slot."""
    return 66 - table.size.bit_length()  # a slot has two elements
