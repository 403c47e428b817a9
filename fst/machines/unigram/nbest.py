"""The n best segmentations of Unigram: what they are, and a slow walk that finds them.

**Of a piece.** The score of a path is the sum of the scores of its nodes, float64 and added from left to right. Better scores come first.
Of several paths with equal scores, the one whose last node begins first comes first; of several such paths, the one that comes first
without that node. The first path is the best path of `fst.machines.unigram.viterbi`, unless that has another sum before the piece, and
rounding decides.

**Of a text.** A segmentation has one path for each piece. Its score is the sum of their scores, added from left to right. Better scores
come first. Of several segmentations with equal scores, the one whose path through the last pre-token comes first does; of several such
segmentations, the one that comes first without that pre-token. So the first segmentation has the first path for each piece.

**Ranks.** Number a path by how many paths of its piece come before it. A segmentation with the numbers r, s … comes after all others with
numbers that are at most these, (r + 1)(s + 1) … in all, itself included. So among the n best, at most log₂ n pieces have another path
than the best one, and a segmentation is kept as these *deviations* alone.

**Sampling** of the n best draws one with a probability in proportion to exp(alpha · score), as ``SampleEncode`` of ``sentencepiece`` does.
The random number is the first one of the row, see `fst.core.random`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from fst.automata.rows import Array
from fst.core.random import number_of, share_of
from fst.machines.unigram.sampling import DIGIT, MOST_PATHS, Sampling, exponentials
from fst.machines.unigram.viterbi import Node, tokens_at

MOST_DEVIATIONS = MOST_PATHS.bit_length() - 1
LEAST_ARGUMENT = -700.0  # of exp, before it is taken as 0

Ranked = tuple[float, list[Node]]


def paths(trie: Array, scores: Array, unknown: float, piece: bytes, most: int) -> list[Ranked]:
    """The best paths through a piece, each with its score, in slow and plain Python."""
    places: dict[int, list[Ranked]] = {0: [(0.0, [])]}
    begin = 0
    for char in piece.decode():
        after = begin + len(char.encode())
        found: list[tuple[int, int | None]] = [*tokens_at(trie, piece, begin)]
        if after not in (end for end, _ in found):
            found.append((after, None))
        for end, number in found:
            score = unknown if number is None else float(scores[number])
            longer = [(total + score, [*path, (begin, end, number)]) for total, path in places[begin]]
            places[end] = sorted([*places.get(end, []), *longer], key=lambda ranked: -ranked[0])[:most]  # which keeps the order of ties
        begin = after
    return places[len(piece)]


def joined(texts: Sequence[tuple[float, tuple[int, ...]]], scores: Sequence[float], most: int) -> list[tuple[float, tuple[int, ...]]]:
    """The best segmentations with one more piece: scores, and the rank of the path of each piece.

    Args:
        texts: the best segmentations of the pieces before.
        scores: those of the paths through the piece, the best first.
        most: how many are kept.
    """
    found = [(total + score, (*ranks, rank)) for rank, score in enumerate(scores) for total, ranks in texts]
    return sorted(found, key=lambda ranked: -ranked[0])[:most]  # which keeps the order of ties


def drawn(scores: Sequence[float], by: Sampling, row: int) -> int:
    """The index of one of the best segmentations, the best first, drawn for a row."""
    ahead = np.array(scores) - (scores[0] if by.alpha >= 0 else scores[-1])
    arguments = by.alpha * ahead
    numbers, exponents = exponentials(np.maximum(arguments, LEAST_ARGUMENT))
    weights = np.where(arguments < LEAST_ARGUMENT, 0.0, np.ldexp(numbers, DIGIT * exponents)).tolist()
    totals = [*accumulate(weights)]
    share = share_of(number_of(by.key(row), 1))
    return min(bisect_right(totals, share * totals[-1]), len(totals) - 1)
