"""BPE dropout (Provilkov et al. 2020, "BPE-Dropout: Simple and Effective Subword Regularization", https://arxiv.org/abs/1910.13267, section
3.2): what it is, and a slow walk that does it.

A *candidate* is a pair of neighbours that may merge. At each step the candidates of a piece are gone through, the lowest rank first and the
leftmost of several. Each is skipped with the probability p. The first that is not skipped merges, and then all are candidates again. If all
are skipped, or none is possible, the pre-token is complete.

**The jump.** Of n candidates, the one after the first s is taken with the probability pˢ(1 - p), and none with pⁿ. So the number S of skips
has P(S ≥ s) = pˢ for s = 0 … n, where S = n ends the piece. Let U be uniform in [0, 1). The largest s up to n with U < pˢ has just this
distribution, as P(U < pˢ) = pˢ. So one random number is enough for a step, however many candidates are skipped.

**Random numbers** are those of `fst.core.random`. The place in the row is the number of bytes in the pieces before. A piece of n bytes
takes at most n - 1 numbers, from that of its place on: no two pieces share one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from fst.automata.rows import Array
from fst.core.random import Seeded, number_of, share_of
from fst.machines.bpe.merge_list import MADE


@dataclass(frozen=True)
class Dropout(Seeded):
    r"""Random ids of byte-level BPE: at each step, skip each merge with a probability (BPE-Dropout, Provilkov et al. 2020).

    Attributes:
        probability: of skipping a merge, 0 to 1. A step skips p / (1 - p) merges on average, so a text of one very long pre-token takes
            seconds at 0.99, and minutes beyond 0.999. At 1 nothing merges, which takes no time.

    Raises:
        ValueError: a field has another value.

    Examples:
        >>> from base64 import b64encode
        >>> from pathlib import Path
        >>> import fst
        >>> from fst.compile import bpe
        >>> tokens = [*(bytes([byte]) for byte in range(256)), b"ab"]
        >>> lines = [f"{b64encode(token).decode()} {rank}\n" for rank, token in enumerate(tokens)]
        >>> _ = Path("letters.tiktoken").write_text("".join(lines))
        >>> tok = fst.Tokenizer(bpe("letters.tiktoken", pattern=r"\w+|\W+", special={}))
        >>> tok.encode("ab").tolist(), tok.encode("ab", randomness=fst.Dropout(1)).tolist()
        ([256], [97, 98])
    """

    probability: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (isinstance(self.probability, int | float | np.integer | np.floating) and 0 <= self.probability <= 1):
            raise ValueError(f"probability is {self.probability!r}; expected a number from 0 to 1")
        object.__setattr__(self, "probability", float(self.probability))


def skips(number: int, probability: float, count: int) -> int:
    """The number of skipped candidates, by a random number."""
    share = share_of(number)
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
        skipped = skips(number_of(by.key(row), place), by.probability, len(found))
        if skipped == len(found):
            break
        rank, at = found[skipped]
        ids[at : at + 2] = [int(merges[rank, MADE])]
    return ids
