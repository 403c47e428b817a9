"""The protocol of the fallback: it finds the few texts that the kernels of a table cannot read, and has them encoded in another way."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fst.runtime.rows.texts import Ints, Units


class Fallback(Protocol):
    """Finds the texts that a kernel cannot read.

    Attributes:
        marks_rows: whether kernels mark such texts while they encode.
        runner: encodes these texts; a `fst.runtime.run.Runner`.
    """

    marks_rows: bool
    runner: Any

    def suspected(self, text: Units, starts: Ints, marked: NDArray[np.uint8]) -> NDArray[Any]:
        """Find the texts that `runner` must encode again.

        Args:
            text, starts: as from `fst.runtime.rows.texts.Source.gather`.
            marked: uint8[rows], 1 for the texts that a kernel has marked.

        Returns:
            bool[rows] or uint8[rows], nonzero for these texts.
        """
