"""The protocol of a fallback, which encodes the few texts that a table's kernels cannot encode correctly."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fst.runtime.rows.texts import Ints, Units


class Fallback(Protocol):
    """A fallback for texts that a kernel cannot encode correctly.

    Attributes:
        marks_rows: whether kernels find these texts themselves and mark their rows.
        runner: a `fst.runtime.run.Runner` that encodes these texts.
    """

    marks_rows: bool
    runner: Any

    def suspected(self, text: Units, starts: Ints, marked: NDArray[np.uint8]) -> NDArray[Any]:
        """Find the texts that `runner` must encode after the kernels.

        Args:
            text, starts: the texts, in the format of `fst.runtime.rows.texts.Source.gather`.
            marked: uint8[rows], 1 for each text that a kernel has marked.

        Returns:
            bool[rows] or uint8[rows], nonzero for each text that `runner` must encode.
        """
