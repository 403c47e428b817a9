"""The hash table for counting words.

A slot has four 64-bit numbers. For a word of at most `INLINE` bytes, the first three numbers contain its bytes, padded with zeros. For a
longer word, the first three numbers are its hash, its index in `Counts.pool`, and its length. The fourth number is ``count | tag << 56``;
the tag is the length of the word, or `LONG` for a longer word. In a free slot, the fourth number is 0. Collisions are resolved by linear
probing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fst.automata.rows import Array
from fst.core.fields import Fields, Scalar
from fst.pretokens.arguments import KEY_MASKS, KEY_PARTS

SLOT = KEY_PARTS + 1  # number of 64-bit numbers in a slot
INLINE = 8 * KEY_PARTS  # maximum number of bytes of a word in a slot
LONG = INLINE + 1
TAG_SHIFT = 56  # counts are below 2^56
PLACES = 2  # number of elements of a first occurrence, which are the number of the document, and the number of the word in the document
MOST_FILLED = 5, 8  # at most 5/8 of the slots are used
SLOTS_AT_FIRST, POOL_AT_FIRST = 1 << 15, 1 << 16

DONE, NO_SLOTS, NO_POOL, HAS_ADDED = range(4)  # reasons why counting stops


class Sizes(Fields):
    """The sizes of a hash table of words."""

    words: Scalar  # number of distinct words
    bytes: Scalar  # the total length of these words
    pool: Scalar  # number of bytes used in the pool


class Position(Fields):
    """The position in the documents at which counting resumes."""

    row: Scalar
    at: Scalar  # the position in the row
    document: Scalar  # number of the row's document
    word: Scalar  # number of words counted in this document so far
    needed: Scalar  # after `NO_POOL`, the minimum number of free bytes in the pool
    skips_added: Scalar  # 1 if added tokens are skipped, 0 if counting stops at them


class Counts(NamedTuple):
    """The words counted by one thread.

    Attributes:
        slots: uint64[SLOT * n], n a power of 2.
        places: int64[PLACES * n], the first occurrence of each slot's word: the number of the document, and the number of the word in this
            document.
        pool: uint8[m], the long words, concatenated.
        masks: uint64[4 * (INLINE + 1)], see `fst.pretokens.arguments.KEY_MASKS`.
    """

    slots: Array
    places: Array
    pool: Array
    sizes: Sizes
    position: Position
    masks: Array


def counts(slots: int = SLOTS_AT_FIRST, pool: int = POOL_AT_FIRST) -> Counts:
    """An empty hash table."""
    arrays = np.zeros(SLOT * slots, np.uint64), np.empty(PLACES * slots, np.int64), np.empty(pool, np.uint8)
    return Counts(*arrays, Sizes(), Position(), KEY_MASKS)
