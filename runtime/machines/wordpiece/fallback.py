"""The fallback: reads the few texts that the main kernels cannot read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CODE_POINTS
from fst.runtime.rows.texts import Ints, Units

Read = tuple[NDArray[np.uint16], NDArray[np.uint64]]


class Fallback(Protocol):
    """Finds the texts that a kernel cannot read, and reads them."""

    @property
    def is_noted(self) -> bool:
        """Whether kernels must note suspected texts while they encode."""

    def suspected(self, text: Units, starts: Ints, noted: NDArray[np.uint8]) -> NDArray[Any]:
        """Find the texts that `read` must read.

        Args:
            text, starts: as from `fst.runtime.rows.texts.Source.gather`.
            noted: uint8[rows], 1 for the texts that a kernel has noted.

        Returns:
            bool[rows] or uint8[rows], nonzero for these texts.
        """

    def read(self, texts: Sequence[str]) -> Read:
        """Read texts into symbols, for `fst.runtime.machines.wordpiece.kernels.encode.encode_read`.

        Returns:
            uint16[n], the classes of all texts, with the class that ends a text after each; uint64[n], the span of each symbol in its
            text, ``first | one past the last << 32``.
        """


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
        """bool[rows], whether each text may contain one of the characters. Arguments are as in `Fallback.suspected`."""
        return np.diff(np.searchsorted(np.flatnonzero(self._units[text]), starts)) > 0
