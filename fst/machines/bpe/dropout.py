"""BPE dropout (Provilkov et al. 2020, "BPE-Dropout: Simple and Effective Subword Regularization", https://arxiv.org/abs/1910.13267, section
3.2): what it is, and a slow walk that does it.

A *candidate* is a pair of neighbours that may merge. At each step the candidates of a piece are gone through, the lowest rank first and the
leftmost of several. Each is skipped with the probability p. The first that is not skipped merges, and then all are candidates again. If all
are skipped, or there are none, the piece is done.

**The jump.** Of n candidates, the one after the first s is taken with the probability pˢ(1 - p), and none with pⁿ. So the number S of skips
has P(S ≥ s) = pˢ for s = 0 … n, where S = n ends the piece. Let U be uniform in [0, 1). The largest s up to n with U < pˢ has just this
distribution, as P(U < pˢ) = pˢ. So one random number is enough for a step, however many candidates are skipped.

**Random numbers** are a function of the seed of the call, of the row in the call, and of the place in the row: the number of bytes in the
pieces before. Number i of a row is number i of SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators")
with the `key` of the row as its seed. A piece of n bytes takes at most n - 1 numbers, from that of its place on: no two pieces share one.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from fst.automata.rows import Array
from fst.machines.bpe.merge_list import MADE

GAMMA, FIRST_FACTOR, SECOND_FACTOR = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
FIRST_SHIFT, SECOND_SHIFT, LAST_SHIFT = 30, 27, 31
WORD = (1 << 64) - 1
SHARE_BITS = 53  # of a random number that U takes: those of a float


class Dropout(NamedTuple):
    """What a call asks for: the probability to skip a merge, the seed, from 0 to 2**64 - 1, and the number of its first row."""

    probability: float
    seed: int
    first_row: int = 0


def mixed(number: int) -> int:
    """The mixing function of SplitMix64, a permutation of the numbers of 64 bits."""
    number = (number ^ number >> FIRST_SHIFT) * FIRST_FACTOR & WORD
    number = (number ^ number >> SECOND_SHIFT) * SECOND_FACTOR & WORD
    return number ^ number >> LAST_SHIFT


def key(seed: int, row: int) -> int:
    """The seed of a row."""
    return mixed(mixed(seed) + row & WORD)


def number_of(row_key: int, index: int) -> int:
    """Number `index` of a row, from 1 on."""
    return mixed(row_key + index * GAMMA & WORD)


def skips(number: int, probability: float, count: int) -> int:
    """How many of some candidates are skipped, by a random number."""
    share = (number >> 64 - SHARE_BITS) / (1 << SHARE_BITS)
    return next((skipped for skipped in range(count) if share >= probability ** (skipped + 1)), count)


def merged(ranks: Mapping[tuple[int, int], int], merges: Array, ids: list[int], by: Dropout, row: int, place: int) -> list[int]:
    """The tokens of a piece, in slow and plain Python.

    Args:
        ranks: the rank of each pair, see `fst.machines.bpe.merge_list.ranks_of`.
        merges: int32[merges, 3].
        ids: the tokens of the bytes of the piece; changed into those of the piece.
        by: how merges are skipped.
        row: the row of the piece, counted from `first_row` on.
        place: the bytes of the pieces before it in the row.
    """
    while found := sorted((ranks[pair], at) for at, pair in enumerate(pairwise(ids)) if pair in ranks):
        place += 1
        skipped = skips(number_of(key(by.seed, by.first_row + row), place), by.probability, len(found))
        if skipped == len(found):
            break
        rank, at = found[skipped]
        ids[at : at + 2] = [int(merges[rank, MADE])]
    return ids
