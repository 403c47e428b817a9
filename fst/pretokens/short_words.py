"""The table of short words: the most frequent words of at most `SHORT` bytes, in slots of 8 bytes instead of 32, so that most pre-tokens
take one small look-up. This table is made from the table of words when a file is loaded.

A key is ``bytes << 8 | length << 4``: the bytes of a word in memory order, zeros, the length in four bits, and four bits that are 0. The
hash of a key is the key times an odd constant, modulo 2**64, so different keys have different hashes. In a table of ``2**bits`` slots, the
highest `bits` bits of the hash are the slot; the slot contains the next ``60 - bits`` bits of the hash, and the id in the lowest
``4 + bits`` bits. So ``slot ^ hash << bits`` is the id if the slot has this key, and otherwise at least ``1 << 4 + bits``. Words with
greater ids are not in the table.

For example, the key of "ab" is 0x626120, and its hash 0x6200be329ce477e0. In a table with `bits` 12, its slot is 0x620, which contains
0xbe329ce477e018d for the id 397.

If several words have the same slot, it contains the word with the lowest id, and the others are left out. A free slot is 0, as for a key of
length 0, which no pre-token has.
"""

from __future__ import annotations

import numpy as np

from fst.automata.rows import MULTIPLIERS, Array

SHORT = 7  # maximum number of bytes of a word
BYTES_SHIFT, LENGTH_SHIFT = 8, 4  # positions in a key; the bits below the length are 0 in the key, and so in the hash of the key
MOST_BITS = 16  # log2 of the maximum number of slots: 512 KiB. With gpt2, these have 97% of the short words of English; with 17 bits, 98%
FACTOR = MULTIPLIERS[0]


def short_words(words: Array) -> Array:
    """uint64[2**bits], the slots of the table.

    Args:
        words: see `fst.pretokens.table.PretokenTable`.
    """
    values, half = words[3::4], np.uint64(32)
    sizes, numbers = values >> half, values & np.uint64((1 << 32) - 1)
    is_short = (sizes > 0) & (sizes <= SHORT)
    bits = min(max(int(np.count_nonzero(is_short)).bit_length(), 1), MOST_BITS)
    chosen = np.flatnonzero(is_short & (numbers < most_ids(bits)))
    chosen = chosen[np.argsort(numbers[chosen])[::-1]]  # the word with the lowest id is the last
    return filled(words[0::4][chosen], sizes[chosen], numbers[chosen], bits)


def filled(keys: Array, sizes: Array, numbers: Array, bits: int) -> Array:
    """The slots of a table; if several words have one slot, the slot contains the last of these words.

    Args:
        keys, sizes, numbers: uint64[n], the bytes of words, each with any bytes after the word; the lengths of words; and the ids of words,
            below `most_ids`.
        bits: log2 of the number of slots.
    """
    own_bytes = (np.uint64(1) << np.uint64(8) * sizes) - np.uint64(1)
    hashes = ((keys & own_bytes) << np.uint64(BYTES_SHIFT) | sizes << np.uint64(LENGTH_SHIFT)) * np.uint64(FACTOR)
    table = np.zeros(1 << bits, np.uint64)
    table[hashes >> np.uint64(64 - bits)] = hashes << np.uint64(bits) | numbers
    return table


def most_ids(bits: int) -> int:
    """The number of ids that fit into a slot of a table with ``2**bits`` slots."""
    return 1 << LENGTH_SHIFT + bits


def bits_of(table: Array) -> int:
    """log2 of the number of slots."""
    return len(table).bit_length() - 1
