"""Sampling of Unigram's segmentations (Kudo 2018, "Subword Regularization", https://arxiv.org/abs/1804.10959, section 3): the definition,
and a slow walk.

A segmentation of a pre-token is a path of nodes, see `fst.machines.unigram.viterbi`. The score of a segmentation is the sum of the scores
of its nodes; its probability is proportional to exp(alpha · score). No node crosses the border between two pre-tokens, so pre-tokens are
sampled one by one.

**Weights.** The weight of a node is exp(alpha · score); the weight of a path is the product of the weights of its nodes. A weight is a
*number* times 2 to the power (`DIGIT` times an *exponent*), so paths of any length, with any alpha, have finite weights. The exponential
function is computed as a polynomial, so the result is the same on all machines.

**Drawing.** The positions of a pre-token are processed from left to right. The weight of a position is the sum of the weights of all paths
to it. So each node that ends at a position adds its own weight, times the weight of the position where it begins. With the
probability (added weight / sum so far), the added node becomes the *choice* of the position. In the end, each node is the choice with the
probability (added weight / sum); this is reservoir sampling of one element. The choices from the end of the pre-token back to its start
form a path, with the probability (weight of this path / weight of all paths).

**Random numbers** come from `fst.core.random`. The positions of a row count the bytes of all pre-tokens of the row. A node of n bytes that
ends at a position uses the number ``position | n << SIZE_SHIFT``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import accumulate
from math import isfinite, nan
from operator import index
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import Array
from fst.core.random import Seeded, is_index, number_of, share_of
from fst.machines.unigram.viterbi import Node, tokens_at

DIGIT = 256  # the factor of an exponent of 1 is ``2 ** DIGIT``
STEP, LARGEST, LEAST = 2.0**-DIGIT, 2.0 ** (DIGIT // 2), 2.0 ** -(DIGIT // 2)  # for a final weight, LEAST <= number < LARGEST
FAR = 4  # if the exponents of two weights differ by at least `FAR`, the smaller weight is negligible
SIZE_SHIFT = 48
MOST_PATHS = 1024  # maximum number of best segmentations of a text
ALL = -1  # value of `Sampling.nbest_size`
MOST = 1e12  # maximum absolute value of alpha · score, so that exponents of sums are exact
LOG_2, LOG_2_HIGH, LOG_2_LOW = 0.6931471805599453, 0.6931471803691238, 1.9082149292705877e-10  # `LOG_2` is the sum of the other two numbers
TERMS = 14  # number of terms of the series of exp: the error is at most 2 ** -63 for arguments up to LOG_2 / 2


@dataclass(frozen=True)
class Sampling(Seeded):
    """Random Unigram segmentation: the probability of a segmentation is proportional to exp(`alpha` · score) (Kudo 2018, "Subword
    Regularization").

    Attributes:
        alpha: any finite number. With 0, all segmentations are equally probable; a greater `alpha` favors segmentations with high scores.
        nbest_size: -1: draw from all segmentations; 2 to 1024: draw from the n best segmentations of the text; 0 or 1: use the best.

    Raises:
        ValueError: a field has an invalid value.

    Examples:
        >>> import fst, json
        >>> from pathlib import Path
        >>> from fst.compile import tokenizer
        >>> vocab = [["<unk>", 0], ["a", -1], ["b", -1], ["ab", -3]]
        >>> _ = Path("letters.json").write_text(json.dumps({"model": {"type": "Unigram", "unk_id": 0, "vocab": vocab}}))
        >>> tok = fst.Tokenizer(tokenizer("letters.json"))
        >>> tok.encode("ab").tolist(), tok.encode("ab", randomness=fst.Sampling(alpha=-1e6)).tolist()
        ([1, 2], [3])
    """

    alpha: float = 0.1
    _: KW_ONLY
    nbest_size: int = ALL

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "alpha", _finite("alpha", self.alpha))
        is_all = is_index(self.nbest_size) and index(self.nbest_size) == ALL
        object.__setattr__(self, "nbest_size", ALL if is_all else whole_paths("nbest_size", self.nbest_size, 0))

    @property
    def needs_whole_rows(self) -> bool:
        """Whether rows must not be encoded in parts, because the n best segmentations are segmentations of a whole row."""
        return self.nbest_size > 1


def _finite(name: str, value: Any) -> float:
    try:
        number = float(value) if isinstance(value, int | float | np.integer | np.floating) else nan
    except OverflowError:
        number = nan
    if not isfinite(number):
        raise ValueError(f"{name} is {value!r}; expected a finite number")
    return number


def whole_paths(name: str, value: Any, least: int) -> int:
    """Check a number of segmentations, a whole number from `least` to `MOST_PATHS`, and return it as an int."""
    if not (is_index(value) and least <= index(value) <= MOST_PATHS):
        raise ValueError(f"{name} is {value!r}; expected a whole number from {least} to {MOST_PATHS}{', or -1 for all' * (least == 0)}")
    return index(value)


class Weight(NamedTuple):
    """A weight, ``number * 2 ** (DIGIT * exponent)``."""

    number: float
    exponent: int


def exponentials(arguments: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The numbers and the exponents of exp(argument) for each argument. The absolute values of arguments are at most `MOST`."""
    powers = np.floor(arguments / LOG_2 + 0.5)
    rest = (arguments - powers * LOG_2_HIGH) - powers * LOG_2_LOW
    numbers = np.ones(len(arguments))
    for term in range(TERMS, 0, -1):
        numbers = numbers * rest / term + 1.0
    exponents = np.floor(powers / DIGIT + 0.5)
    return np.ldexp(numbers, (powers - exponents * DIGIT).astype(np.int64)), exponents.astype(np.int64)


def weights(scores: Array, unknown: float, alpha: float) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The weights of all tokens by their ids, followed by the weight of an unknown character."""
    with np.errstate(over="ignore"):
        arguments = np.append(scores, unknown) * alpha
    if not (np.abs(arguments) <= MOST).all():
        raise ValueError(f"alpha is {alpha!r}; expected a number whose product with each score is at most {MOST:.0e}; choose a smaller one")
    return exponentials(arguments)


def final(weight: Weight) -> Weight:
    """Normalize a weight so that its number is from `LEAST` to below `LARGEST`. For a position's weight, one multiplication is enough."""
    number, exponent = weight
    if number >= LARGEST:
        return Weight(number * STEP, exponent + 1)
    return Weight(number / STEP, exponent - 1) if number < LEAST else weight


def sampled(trie: Array, weighed: tuple[Array, Array], piece: bytes, by: Sampling, row: int, place: int) -> list[Node]:
    """Draw a path through a pre-token by the slow walk; return the nodes of the path. `weighed` is the result of `weights`, `row` counts
    from `by.first_row` on, and `place` is the number of bytes in the previous pre-tokens of the row.
    """
    numbers, exponents = weighed
    row_key = by.key(row)
    places, choices, start = {0: Weight(1.0, 0)}, dict[int, Node](), 0
    for char in piece.decode():
        after = start + len(char.encode())
        found: list[tuple[int, int | None]] = [*tokens_at(trie, piece, start)]
        if after not in (end for end, _ in found):
            found.append((after, None))
        own = final(places[start])
        for end, number in found:
            token = -1 if number is None else number
            added = Weight(own.number * float(numbers[token]), own.exponent + int(exponents[token]))
            if end not in places:
                places[end], choices[end] = added, (start, end, number)
                continue
            sum_, part = aligned(places[end], added)
            places[end] = Weight(sum_.number + part, sum_.exponent)
            share = share_of(number_of(row_key, place + end | end - start << SIZE_SHIFT))
            if share * places[end].number < part:
                choices[end] = start, end, number
        start = after
    path, end = list[Node](), len(piece)
    while end:
        path.append(choices[end])
        end = path[-1][0]
    return path[::-1]


def aligned(sum_: Weight, added: Weight) -> tuple[Weight, float]:
    """Scale a sum and an added weight to the larger of the two exponents. Return the new sum, and the number of the new weight."""
    ahead = added.exponent - sum_.exponent
    factor = STEP ** abs(ahead) if abs(ahead) < FAR else 0.0
    return (Weight(sum_.number * factor, added.exponent), added.number) if ahead > 0 else (sum_, added.number * factor)


MOST_DEVIATIONS = MOST_PATHS.bit_length() - 1
LEAST_ARGUMENT = -700.0  # exp of a smaller argument counts as 0

Ranked = tuple[float, list[Node]]


def paths(trie: Array, scores: Array, unknown: float, piece: bytes, most: int) -> list[Ranked]:
    """The best paths through a pre-token with their scores, by the slow walk."""
    places: dict[int, list[Ranked]] = {0: [(0.0, [])]}
    start = 0
    for char in piece.decode():
        after = start + len(char.encode())
        found: list[tuple[int, int | None]] = [*tokens_at(trie, piece, start)]
        if after not in (end for end, _ in found):
            found.append((after, None))
        for end, number in found:
            score = unknown if number is None else float(scores[number])
            longer = [(total + score, [*path, (start, end, number)]) for total, path in places[start]]
            places[end] = sorted([*places.get(end, []), *longer], key=lambda ranked: -ranked[0])[:most]  # the sort keeps the order of ties
        start = after
    return places[len(piece)]


def joined(texts: Sequence[tuple[float, tuple[int, ...]]], scores: Sequence[float], most: int) -> list[tuple[float, tuple[int, ...]]]:
    """Extend the best segmentations by one pre-token. A segmentation is a score, and the rank of the path through each pre-token.

    Args:
        texts: the best segmentations of the previous pre-tokens.
        scores: the scores of the paths through the new pre-token, the best first.
        most: the maximum number of segmentations to keep.
    """
    found = [(total + score, (*ranks, rank)) for rank, score in enumerate(scores) for total, ranks in texts]
    return sorted(found, key=lambda ranked: -ranked[0])[:most]  # the sort keeps the order of ties


def drawn(scores: Sequence[float], by: Sampling, row: int) -> int:
    """Draw one of the best segmentations for a row, and return its index. `scores` are in descending order."""
    ahead = np.array(scores) - (scores[0] if by.alpha >= 0 else scores[-1])
    arguments = by.alpha * ahead
    numbers, exponents = exponentials(np.maximum(arguments, LEAST_ARGUMENT))
    weights = np.where(arguments < LEAST_ARGUMENT, 0.0, np.ldexp(numbers, DIGIT * exponents)).tolist()
    totals = [*accumulate(weights)]
    share = share_of(number_of(by.key(row), 1))
    return min(bisect_right(totals, share * totals[-1]), len(totals) - 1)
