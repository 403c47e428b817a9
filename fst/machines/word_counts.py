"""The hash table in which words are counted.

A slot has four numbers of 64 bits. A word of at most `INLINE` bytes lies in the first three, filled up with zeros. A longer one has there
its hash, its place in `Counts.pool`, and its length. The fourth number is ``count | tag << 56``: the tag is the length of the word, or
`LONG`; a free slot is 0. A word takes the first free slot from its hash on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fst.machines.bpe_arguments import KEY_MASKS, KEY_PARTS
from fst.rows import Array

SLOT = KEY_PARTS + 1  # numbers in a slot
INLINE = 8 * KEY_PARTS  # bytes of a word in its slot
LONG = INLINE + 1
TAG_SHIFT = 56  # no text has so many words
PLACES = 2  # numbers for the first occurrence of a word
MOST_FILLED = 5, 8  # of all slots
SLOTS_AT_FIRST, POOL_AT_FIRST = 1 << 15, 1 << 16

DONE, NO_SLOTS, NO_POOL, HAS_ADDED = range(4)  # why counting stopped
# Indices into `Counts.state`.
WORDS, BYTES, POOL, ROW, AT, DOCUMENT, PLACE, NEEDED = range(8)


class Counts(NamedTuple):
    """The words that one thread has counted.

    Attributes:
        slots: uint64[SLOT * n], n a power of 2.
        places: int64[PLACES * n], by slot, where its word first occurs: the document, and the number of the word in it.
        pool: uint8[m], the long words, one after the other. A kernel may read `INLINE` bytes from the beginning of a word on.
        state: uint64[8]. `WORDS`: the number of words. `BYTES`: their length in all. `POOL`: the bytes of the long ones. `ROW`, `AT`: where
            counting goes on. `DOCUMENT`: the number of this row's document. `PLACE`: the number of its words so far. `NEEDED`: after
            `NO_POOL`, the bytes that the pool must have free.
        masks: uint64[4 * (INLINE + 1)], see `fst.machines.bpe_arguments.KEY_MASKS`.
    """

    slots: Array
    places: Array
    pool: Array
    state: Array
    masks: Array


def counts(slots: int = SLOTS_AT_FIRST, pool: int = POOL_AT_FIRST) -> Counts:
    """An empty table for words."""
    return Counts(
        np.zeros(SLOT * slots, np.uint64), np.empty(PLACES * slots, np.int64), np.empty(pool, np.uint8), np.zeros(8, np.uint64), KEY_MASKS
    )


def fits(words: int, slots: int) -> bool:
    """Whether a table of some slots may have so many words."""
    return words * MOST_FILLED[1] <= slots * MOST_FILLED[0]
