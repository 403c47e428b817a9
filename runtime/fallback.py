"""The fallback: what few texts need and kernels do not do, in numpy or plain Python."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fst.rows import CODE_POINTS
from fst.runtime.texts import Ints, Units

Read = tuple[NDArray[np.uint16], NDArray[np.uint64]]


class Fallback(Protocol):
    """Reads texts that a kernel cannot, and knows which they are."""

    @property
    def is_noted(self) -> bool:
        """Whether a kernel is to note texts on the way."""

    def suspected(self, text: Units, starts: Ints, noted: NDArray[np.uint8]) -> NDArray[Any]:
        """Which texts are for `read`.

        Args:
            text, starts: as `fst.runtime.texts.gather` gives them.
            noted: uint8[rows], what a kernel has noted.

        Returns:
            bool[rows] or uint8[rows].
        """

    def read(self, texts: Sequence[str]) -> Read:
        """The symbols of texts, for `fst.runtime.kernels.wordpiece.encode_read`.

        Returns:
            uint16[n], classes, what stands for the end of a text after each; uint64[n], the characters of its text that each comes from,
            ``first | one past the last << 32``.
        """


class Suspects:
    """Finds texts by characters in them, and some that only look like it: it looks at their first units.

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
        """Which texts have any, bool[rows]; the arguments are those of `Fallback.suspected`."""
        return np.diff(np.searchsorted(np.flatnonzero(self._units[text]), starts)) > 0
