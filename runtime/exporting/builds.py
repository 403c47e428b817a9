"""Calls that build arrays of a table from smaller ones."""

from __future__ import annotations

import numpy as np

from fst.core.jit import Deferred
from fst.core.prepared import PreparedCall
from fst.machines.bpe.arguments import MergeArguments
from fst.machines.bpe.merge_list import fill_slots
from fst.pretokens.short_words import shift_of
from fst.runtime.encoder import Encoder
from fst.runtime.exporting.contents import WORD, Array, Contents, build_spans

LOWEST_32 = (1 << 32) - 1
build_words, build_short_words, build_merges = (
    Deferred("fst.runtime.exporting.kernels.builds", f"build_{name}") for name in ("words", "short_words", "merges")
)


def builds(encoder: Encoder, tokens: Contents | None) -> list[PreparedCall]:
    """The calls that build arrays of a table from smaller ones, in their order; the last argument of each is the array.

    Args:
        encoder: as in `calls`.
        tokens: the bytes of its tokens, whose flags `WORD` are set.
    """
    if tokens is None:
        return []
    found, arguments = [PreparedCall(build_spans, tokens.sizes, tokens.spans)], encoder._ids_runner.arguments
    shared = getattr(arguments, "shared", None)
    if shared is not None and hasattr(shared, "short_words"):
        values = shared.words[3::4]
        tokens.flags[(values[values > 0] & np.uint64(LOWEST_32)).astype(np.int64)] |= WORD
        common = tokens.contents, tokens.spans, tokens.flags
        shift = np.array([shift_of(shared.short_words.reshape(-1, 2))], np.uint64)
        found.append(PreparedCall(build_words, *common, shared.key_masks, shared.displacements, shared.params, shared.words))
        found.append(PreparedCall(build_short_words, *common, shift, shared.short_words))
    if isinstance(arguments, MergeArguments):
        slots, merges = arguments.pairs
        found += [PreparedCall(build_merges, _planes(merges), merges), PreparedCall(fill_slots, merges, slots)]
    return [call for call in found if _is_exact(call)]


def _planes(merges: Array) -> Array:
    """uint8[9, n], the lowest three bytes of each number; such rows are compressed better than the numbers."""
    return np.stack([merges[:, column] >> shift & 0xFF for column in range(3) for shift in (0, 8, 16)]).astype(np.uint8)


def _is_exact(call: PreparedCall) -> bool:
    """Whether a call builds the array that a table has."""
    *arguments, expected = call.arguments
    built = np.zeros_like(expected)
    call.kernel.call(*arguments, built)
    return np.array_equal(built, expected)
