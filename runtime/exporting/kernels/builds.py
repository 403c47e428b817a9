"""Kernels that build arrays of a table from smaller arrays, so that an image need not contain the larger arrays, see
`fst.runtime.exporting.builds`.

The last argument of each kernel is the array that it fills.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel
from fst.pretokens.decoding import MAX_SIZE, SIZE_BITS
from fst.pretokens.short_words import SHORT
from fst.runtime.exporting.contents import WORD
from fst.runtime.kernels.constants import HALF, U0, U1, U2, U3, U8, U16, U64
from fst.runtime.kernels.intrinsics import hash_of, word_at
from fst.runtime.pretokens.kernels.look_up import LENGTH_SHIFT, mask_for, short_hash

SIZE, SHIFT = np.uint64(MAX_SIZE), np.uint64(SIZE_BITS)


@kernel
def build_spans(sizes, spans):
    """Find the spans (`fst.pretokens.decoding`) of tokens whose bytes are concatenated.

    Args:
        sizes: uint16[ids], the number of bytes of each token.
        spans: uint64[ids].
    """
    start = U0
    for number in range(len(sizes)):
        size = np.uint64(sizes[number])
        spans[number] = start << SHIFT | size
        start += size


@inlined
def put_key(contents, start, size, key_masks, words, at):
    """Write the three parts of the key of a word."""
    masks = mask_for(size)
    words[at] = word_at(contents, start) & key_masks[masks]
    words[at + U1] = word_at(contents, start + U8) & key_masks[masks + U1]
    words[at + U2] = word_at(contents, start + U8 + U8) & key_masks[masks + U2]


@kernel
def build_words(contents, spans, flags, key_masks, displacements, scalars, words):
    """Fill the table of words of `fst.pretokens.table.PretokenTable` with the tokens that have the flag `WORD`.

    Args:
        contents, spans: uint8[n] and uint64[ids], the bytes of tokens (a word has at most 24 bytes) and their spans;
            `fst.runtime.rows.texts.PAST_END` more bytes can be read.
        flags: uint8[ids].
        key_masks, displacements, scalars: see `fst.pretokens.arguments.Arguments`.
        words: uint64[4 * slots], zeros.
    """
    last = np.uint64(len(words) >> 2) - U1
    for number in range(len(flags)):
        if flags[number] & WORD:
            start, size = spans[number] >> SHIFT, spans[number] & SIZE
            hashed = hash_of(contents, start, key_masks, mask_for(size))
            slot = (hashed >> scalars.slot_shift ^ np.uint64(displacements[hashed >> scalars.bucket_shift])) & last
            at = slot << U2
            put_key(contents, start, size, key_masks, words, at)
            words[at + U3] = size << HALF | np.uint64(number)


@kernel
def build_short_words(contents, spans, flags, bits, short_words):
    """Fill the table of `fst.pretokens.short_words`. If several words belong to a slot, the word with the lowest id remains.

    Args:
        contents, spans, flags: as in `build_words`.
        bits: uint64, log2 of the number of slots.
        short_words: uint64[2**bits], zeros.
    """
    for place in range(len(flags)):
        number = np.uint64(len(flags) - 1 - place)
        size = spans[number] & SIZE
        if flags[number] & WORD and size <= SHORT and number >> bits + LENGTH_SHIFT == U0:
            hashed = short_hash(contents, spans[number] >> SHIFT, size)
            short_words[hashed >> U64 - bits] = hashed << bits | number


@kernel
def build_merges(planes, merges):
    """Join the bytes of a list of merges.

    Args:
        planes: uint8[9, merges], a row for each of the three bytes of the left token of each merge, the lowest byte first; then the rows of
            the other two columns.
        merges: int32[merges, 3].
    """
    for rank in range(len(merges)):
        for column in range(3):
            at = 3 * column
            low, middle, high = np.uint64(planes[at, rank]), np.uint64(planes[at + 1, rank]), np.uint64(planes[at + 2, rank])
            merges[rank, column] = np.int32(low | middle << U8 | high << U16)
