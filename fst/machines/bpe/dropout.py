"""BPE dropout: its definition, and a slow walk. Source: Provilkov et al., 2020, "BPE-Dropout: Simple and Effective Subword Regularization",
https://arxiv.org/abs/1910.13267, section 3.2.

A *candidate* is a pair of neighbours that may merge. Each step visits the candidates of a pre-token in the order of their ranks; if ranks
are equal, from left to right. The step skips each candidate with the probability p, and merges the first candidate that it does not skip.
In the next step, skipped pairs are candidates again. If a step skips all candidates, or there are no candidates, the pre-token is complete.

**The jump.** A step with n candidates merges the candidate after the first s with the probability pˢ(1 - p), and skips all candidates with
the probability pⁿ. So the number S of skips has P(S ≥ s) = pˢ for s = 0 … n, where S = n completes the pre-token. Let U be uniform in [0,
1). The largest s up to n with U < pˢ has exactly this distribution, because P(U < pˢ) = pˢ. So a step needs only one random number for any
number of skips.

**Random numbers** come from `fst.core.random`. The index of the first number of a pre-token is the number of bytes in the row's previous
pre-tokens. A pre-token of n bytes uses at most n - 1 numbers, so no two pre-tokens share a number.
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
    r"""Random ids of byte-level BPE: at each step, skip each merge with a probability (BPE-Dropout, Provilkov et al., 2020).

    Attributes:
        probability: the probability of skipping a merge, 0 to 1. A step skips p / (1 - p) merges on average, so a text of one very long
            pre-token takes seconds at 0.99, and minutes beyond 0.999. At 1, no pair merges, and encoding is fast.

    Raises:
        ValueError: a field is out of range or has a wrong type.

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
    """The number of candidates that a step skips, given the random number of the step."""
    share = share_of(number)
    return next((skipped for skipped in range(count) if share >= probability ** (skipped + 1)), count)


def merged(ranks: Mapping[tuple[int, int], int], merges: Array, ids: list[int], by: Dropout, row: int, place: int) -> list[int]:
    """The tokens of a pre-token by the slow walk.

    Args:
        ranks: the rank of each pair, see `fst.machines.bpe.merge_list.ranks_of`.
        merges: int32[merges, 3], see `fst.machines.bpe.merge_list`.
        ids: the tokens of the pre-token's bytes; changed in place to the tokens of the pre-token.
        by: the dropout.
        row: the index of the text that contains the pre-token, counted from `first_row`.
        place: the number of bytes in the previous pre-tokens of the row.
    """
    while found := sorted((ranks[pair], at) for at, pair in enumerate(pairwise(ids)) if pair in ranks):
        place += 1
        skipped = skips(number_of(by.key(row), place), by.probability, len(found))
        if skipped == len(found):
            break
        rank, at = found[skipped]
        ids[at : at + 2] = [int(merges[rank, MADE])]
    return ids
