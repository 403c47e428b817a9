"""Suspects: the texts that the fallback may have to read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CODE_POINTS
from fst.runtime.rows.texts import Ints, Units


class Suspects:
    """Finds texts that contain some characters. It compares only the first unit of each, so it may find a few texts without any.

    Args:
        runs: first and last code points of the characters.
    """

    def __init__(self, runs: Iterable[Sequence[int]]) -> None:
        begins, ends = np.array([*runs], np.int64).reshape(-1, 2).T
        inside = np.cumsum(np.bincount(begins, minlength=CODE_POINTS + 1) - np.bincount(ends + 1, minlength=CODE_POINTS + 1))
        codes = np.flatnonzero(inside > 0)
        self._units = np.zeros(1 << 16, bool)
        self._units[np.where(codes < 1 << 16, codes, 0xD800 + (codes - (1 << 16) >> 10))] = True

    def are_in(self, text: Units, starts: Ints) -> NDArray[np.bool_]:
        """bool[rows], whether each text may contain one of the characters; see `fst.runtime.fallback.Fallback.suspected`."""
        return np.diff(np.searchsorted(np.flatnonzero(self._units[text]), starts)) > 0
