"""Kernels that build arrays of a table from smaller ones, so that an image need not contain them, see `fst.runtime.exporting.builds`.

The last argument of each kernel is the array that it fills.
"""

from __future__ import annotations

import numpy as np

from fst.automata.rows import MULTIPLIERS
from fst.core.jit import inlined, kernel
from fst.pretokens.arguments import BUCKET_SHIFT, KEY_PARTS, SLOT_SHIFT
from fst.pretokens.decoding import MAX_SIZE, SIZE_BITS
from fst.pretokens.short_words import LENGTH_SHIFT, SHORT
from fst.runtime.exporting.contents import WORD
from fst.runtime.kernels.constants import HALF, U0, U1, U2, U3, U8, U16

SIZE, SHIFT, KEY_LENGTH = np.uint64(MAX_SIZE), np.uint64(SIZE_BITS), np.uint64(LENGTH_SHIFT)
FACTORS = tuple(map(np.uint64, MULTIPLIERS[:KEY_PARTS]))


@kernel
def build_spans(sizes, spans):
    """Find the spans of tokens (`fst.pretokens.decoding`) whose bytes are next to each other.

    Args:
        sizes: uint16[ids], the number of bytes of each token.
        spans: uint64[ids].
    """
    begin = U0
    for number in range(len(sizes)):
        size = np.uint64(sizes[number])
        spans[number] = begin << SHIFT | size
        begin += size


@inlined
def part_of(contents, begin, end):
    """Up to eight bytes, the first in the lowest bits."""
    found = U0
    for place in range(begin, min(begin + U8, end)):
        found |= np.uint64(contents[place]) << (np.uint64(place) - begin << U3)
    return found


@kernel
def build_words(contents, spans, flags, displacements, params, words):
    """Fill the table of words of `fst.pretokens.table.PretokenTable` with the tokens that have the flag `WORD`.

    Args:
        contents, spans: uint8[n] and uint64[ids], the bytes of tokens, at most 24 of a word.
        flags: uint8[ids].
        displacements, params: see `fst.pretokens.arguments.Arguments`.
        words: uint64[4 * slots], zeros.
    """
    last = np.uint64(len(words) >> 2) - U1
    for number in range(len(flags)):
        if flags[number] & WORD:
            begin, size = spans[number] >> SHIFT, spans[number] & SIZE
            first, second, third = (
                part_of(contents, begin, begin + size),
                part_of(contents, begin + U8, begin + size),
                part_of(contents, begin + U8 + U8, begin + size),
            )
            hashed = first * FACTORS[0] + second * FACTORS[1] + third * FACTORS[2]
            slot = (hashed >> params[SLOT_SHIFT] ^ np.uint64(displacements[hashed >> params[BUCKET_SHIFT]])) & last
            at = slot << U2
            words[at], words[at + U1], words[at + U2], words[at + U3] = first, second, third, size << HALF | np.uint64(number)


@kernel
def build_short_words(contents, spans, flags, params, short_words):
    """Fill the table of `fst.pretokens.short_words`. Of several words for a slot, the one with the lowest id remains.

    Args:
        contents, spans, flags: as in `build_words`.
        params: uint64[1], the shift that turns a hash into a slot.
        short_words: uint64[2 * slots], zeros.
    """
    for place in range(len(flags)):
        number = len(flags) - 1 - place
        begin, size = spans[number] >> SHIFT, spans[number] & SIZE
        if flags[number] & WORD and size <= SHORT:
            key = part_of(contents, begin, begin + size) | size << KEY_LENGTH
            at = key * FACTORS[0] >> params[0] << U1
            short_words[at], short_words[at + U1] = key, np.uint64(number)


@kernel
def build_merges(planes, merges):
    """Join the bytes of a list of merges.

    Args:
        planes: uint8[9, merges], the three bytes of the left token of each merge, the lowest first, and those of the other columns.
        merges: int32[merges, 3].
    """
    for rank in range(len(merges)):
        for column in range(3):
            at = 3 * column
            low, middle, high = np.uint64(planes[at, rank]), np.uint64(planes[at + 1, rank]), np.uint64(planes[at + 2, rank])
            merges[rank, column] = np.int32(low | middle << U8 | high << U16)
