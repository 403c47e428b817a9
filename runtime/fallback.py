"""The protocol of a fallback, which finds the few texts that the kernels of a table cannot read, and encodes them in a different way."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fst.runtime.rows.texts import Ints, Units


class Fallback(Protocol):
    """A fallback for texts that a kernel cannot read.

    Attributes:
        marks_rows: whether kernels mark these texts during encoding.
        runner: encodes these texts; a `fst.runtime.run.Runner`.
    """

    marks_rows: bool
    runner: Any

    def suspected(self, text: Units, starts: Ints, marked: NDArray[np.uint8]) -> NDArray[Any]:
        """Find the texts that `runner` must encode again.

        Args:
            text, starts: as from `fst.runtime.rows.texts.Source.gather`.
            marked: uint8[rows], 1 for texts that a kernel has marked.

        Returns:
            bool[rows] or uint8[rows], nonzero for texts that must be encoded again.
        """
