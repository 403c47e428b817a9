"""The second reading: what few texts need and kernels do not do, in numpy or plain Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fst.runtime.texts import Ints, Units

Read = tuple[NDArray[np.uint16], NDArray[np.uint64]]


class SecondReader(Protocol):
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
        """The symbols of texts, for `fst.runtime.kernels.encode_read`.

        Returns:
            uint16[n], classes, what stands for the end of a text after each; uint64[n], the characters of its text that each comes from,
            ``first | one past the last << 32``.
        """
