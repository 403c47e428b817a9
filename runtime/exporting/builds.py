"""Calls that build arrays of a table from smaller arrays.

Functions of NumPy with the same results as the kernels show which arrays can be built, so an export runs no kernel.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fst.automata.rows import MULTIPLIERS
from fst.core.jit import Deferred
from fst.core.prepared import PreparedCall
from fst.machines.bpe.arguments import MergeArguments
from fst.machines.bpe.merge_list import fill_slots
from fst.pretokens.arguments import Scalars
from fst.pretokens.decoding import MAX_SIZE, SIZE_BITS
from fst.pretokens.short_words import SHORT, bits_of, filled, most_ids
from fst.pretokens.tuned_words import are_tuned
from fst.runtime.encoder import Encoder
from fst.runtime.exporting.contents import WORD, Array, Contents

LOWEST_32 = (1 << 32) - 1
KEY_BYTES = 24  # number of bytes of a word's key
build_spans, build_words, build_short_words, build_merges = (
    Deferred("fst.runtime.exporting.kernels.builds", f"build_{name}") for name in ("spans", "words", "short_words", "merges")
)


def builds(encoder: Encoder, tokens: Contents | None) -> list[PreparedCall]:
    """The calls that build arrays of a table from smaller arrays, in order; the last argument of each call is the array to build.

    Args:
        encoder: as in `calls`.
        tokens: the bytes of the encoder's tokens; this function sets the flags `WORD`.
    """
    return [call for call, built in _calls(encoder, tokens) if np.array_equal(call.arguments[-1], built)] if tokens else []


def _calls(encoder: Encoder, tokens: Contents) -> Iterator[tuple[PreparedCall, Array]]:
    """The calls that can build arrays of the encoder's tables, each with the array that it builds."""
    arguments = encoder._ids_runner.arguments
    shared = getattr(arguments, "shared", None)
    yield PreparedCall(build_spans, tokens.sizes, tokens.spans), tokens.spans  # `contents` builds these arrays in the same way
    if shared is not None and hasattr(shared, "short_words"):
        numbers = (shared.words[3::4] & np.uint64(LOWEST_32))[shared.words[3::4] > 0].astype(np.int64)
        tokens.flags[numbers[~are_tuned(numbers)]] |= WORD
        common, words, short = (tokens.contents, tokens.spans, tokens.flags), shared.words, shared.short_words
        hashing, bits = (shared.displacements, shared.scalars), bits_of(short)
        yield PreparedCall(build_words, *common, shared.key_masks, *hashing, words), _words(tokens, *hashing, len(words))
        yield PreparedCall(build_short_words, *common, np.uint64(bits), short), _short_words(tokens, bits)
    if isinstance(arguments, MergeArguments):
        slots, merges = arguments.pairs
        planes = _planes(merges)
        yield PreparedCall(build_merges, planes, merges), _merges(planes)
        yield PreparedCall(fill_slots, merges, slots), slots  # `slots_of` builds these arrays in the same way


def _words(tokens: Contents, displacements: Array, scalars: Scalars, size: int) -> Array:
    """The array that `build_words` fills, of this size."""
    numbers, sizes, keys = _keys(tokens)
    hashed = (keys * np.array(MULTIPLIERS, np.uint64)).sum(1, dtype=np.uint64)
    slots = (hashed >> scalars.slot_shift ^ displacements[hashed >> scalars.bucket_shift]) & np.uint64(size // 4 - 1)
    words = np.zeros((size // 4, 4), np.uint64)
    words[slots] = np.column_stack([keys, sizes << np.uint64(32) | numbers])
    return words.ravel()


def _short_words(tokens: Contents, bits: int) -> Array:
    """The array that `build_short_words` fills."""
    numbers, sizes, keys = (each[::-1] for each in _keys(tokens))
    is_short = (sizes <= SHORT) & (numbers < most_ids(bits))
    return filled(keys[is_short, 0], sizes[is_short], numbers[is_short], bits)


def _keys(tokens: Contents) -> tuple[Array, Array, Array]:
    """For tokens with the flag `WORD`: the ids, uint64[n]; the sizes, uint64[n]; the bytes, padded with zeros, uint64[n, 3]."""
    numbers = np.flatnonzero(tokens.flags & WORD)
    sizes, begins = tokens.spans[numbers] & np.uint64(MAX_SIZE), tokens.spans[numbers] >> np.uint64(SIZE_BITS)
    places = np.arange(KEY_BYTES, dtype=np.uint64)
    found = tokens.contents[begins[:, None] + places] * (places < sizes[:, None])
    return numbers.astype(np.uint64), sizes, found.astype(np.uint8).view(np.uint64)


def _planes(merges: Array) -> Array:
    """Return uint8[9, n], the lowest three bytes of each number as rows, because rows of bytes compress better than numbers."""
    return np.stack([merges[:, column] >> shift & 0xFF for column in range(3) for shift in (0, 8, 16)]).astype(np.uint8)


def _merges(planes: Array) -> Array:
    """The array that `build_merges` fills."""
    low, middle, high = planes.astype(np.int32).reshape(3, 3, -1).swapaxes(0, 1)
    return (low | middle << 8 | high << 16).T
