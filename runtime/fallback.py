"""The protocol of the fallback: it reads the few texts that the main kernels cannot read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

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
