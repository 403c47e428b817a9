"""Find the tokens that are the best path through their own bytes, so that a pre-token that equals such a token needs no search.

The kernel also computes the difference between the score of a token and the best score of all other paths through its bytes.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import kernel, part
from fst.machines.unigram.viterbi_kernels import U0, U1, character_size, find_best, shift_of, size_at, token_of


@part
def best_other(symbols, begin, end, trie, scores, unknown, sums):
    """The score of the best path of two or more tokens through a token's bytes; minus infinity without a path. For `sums`, see
    `find_best`.
    """
    best, place, mask = -np.inf, begin + character_size(symbols[begin]), np.uint64(len(sums)) - U1
    while place < end:
        after = place + character_size(symbols[place])
        value = token_of(symbols, place, end, trie)
        if value:
            best = max(best, sums[place & mask] + scores[value - U1])
        elif after == end:
            best = max(best, sums[place & mask] + unknown)
        place = after
    return best


@kernel
def find_whole(symbols, starts, lengths, ids, trie, scores, unknown, sums, sizes, found, gaps):
    """Find the tokens that are the best path through their own bytes.

    Args:
        symbols: uint8[n], bytes.
        starts, lengths, ids: int64[tokens], the position of each token in `symbols`, its length, and its id.
        trie, scores, unknown, sums: as in `fst.machines.unigram.viterbi_kernels.find_best`.
        sizes: uint8[2 * bytes of the longest token], scratch.
        found: output, uint8[tokens]: 1 if the token is the best path through its own bytes.
        gaps: output, float64[tokens]: the score of each token minus the best score of all other paths through the token's bytes.
    """
    for token in range(len(starts)):
        begin, size = np.uint64(starts[token]), np.uint64(lengths[token])
        find_best(symbols, begin, begin + size, trie, scores, unknown, 0.0, np.inf, sums, sizes, U0)
        found[token] = size_at(sizes, U0, size - U1, shift_of(sums)) == size
        gaps[token] = scores[ids[token]] - best_other(symbols, begin, begin + size, trie, scores, unknown, sums)
