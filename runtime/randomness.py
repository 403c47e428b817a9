"""Random ids: what the arguments of a call ask for."""

from __future__ import annotations

from math import isfinite, nan
from operator import index
from typing import Any

import numpy as np

from fst.machines.bpe.dropout import Dropout
from fst.machines.unigram.sampling import MOST_PATHS, Sampling
from fst.runtime.machines.bpe.dropout import dropout_of, random_seed

ALL, ONE = -1, 1  # values of `nbest_size`


def random_of(dropout: Any, sample: Any, alpha: Any, nbest_size: Any, seed: Any, first_row: Any = 0) -> Dropout | Sampling | None:
    """What the arguments of a call ask for; None if nothing is to be random.

    Raises:
        ValueError: as by `dropout_of`; `sample` is not True or False, or comes with `dropout`; `alpha` is no finite number; or `nbest_size`
            is no whole number from -1 to `MOST_PATHS`.
    """
    if sample is False:
        return dropout_of(dropout, seed, first_row)
    if sample is not True:
        raise ValueError(f"sample={sample!r} is not True or False")
    if dropout_of(dropout, seed, first_row):
        raise ValueError("sample=True and dropout: a vocabulary is Unigram or BPE; take one of them")
    return Sampling(_alpha(alpha), _nbest_size(nbest_size), random_seed() if seed is None else index(seed), index(first_row))


def _alpha(alpha: Any) -> float:
    """A finite number."""
    try:
        number = float(alpha) if isinstance(alpha, int | float | np.integer | np.floating) else nan
    except OverflowError:
        number = nan
    if not isfinite(number):
        raise ValueError(f"alpha={alpha!r} is not a finite number")
    return number


def _nbest_size(size: Any) -> int:
    """A number of segmentations; or `ALL`."""
    return ALL if _is_index(size) and index(size) == ALL else whole_paths("nbest_size", size, 0) or ONE


def whole_paths(name: str, value: Any, least: int) -> int:
    """A number of segmentations.

    Raises:
        ValueError: it is none from `least` to `MOST_PATHS`.
    """
    if not (_is_index(value) and least <= index(value) <= MOST_PATHS):
        raise ValueError(f"{name}={value!r} is not a whole number from {least} to {MOST_PATHS}{', or -1 for all' * (least == 0)}")
    return index(value)


def _is_index(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)
