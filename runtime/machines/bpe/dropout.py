"""The runner of BPE dropout, see `fst.machines.bpe.dropout`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.machines.bpe.arguments import POWERS, DropoutArguments, MergeArguments, merge_arguments
from fst.machines.bpe.dropout import Dropout
from fst.machines.bpe.merge_list import SCRATCH
from fst.machines.bpe.table import BpeTable
from fst.runtime.run import Kernel, Runner
from fst.runtime.workspace import Workspaces


class DroppingRunners:
    """Makes the runner of each call with dropout.

    Args:
        table: the table.
        plain: the runner without dropout.
        workspaces: idle workspaces for the kernel.

    Raises:
        TableError: the merges of the table are not sound.
    """

    def __init__(self, table: BpeTable, plain: Runner, workspaces: Workspaces) -> None:
        own = plain.arguments
        self._merging: MergeArguments = own if isinstance(own, MergeArguments) else merge_arguments(table, own.shared)
        self._kernel = Kernel("bpe with dropout", table.unit, "fst.runtime.machines.bpe.kernels.dropout", table.growth * SCRATCH)
        self._front_end: Any = plain.front_end
        self._workspaces = workspaces

    def runner(self, dropout: Dropout, *, with_spans: bool) -> Runner:
        """The runner of a call."""
        powers, seed = _powers(dropout.probability), np.array([dropout.seed], np.uint64)
        front_end = None
        if self._front_end:
            merging = self._merging._replace(shared=self._front_end.arguments.shared)
            front_end = self._front_end.reading_by(DropoutArguments(merging, powers, seed))
        arguments = DropoutArguments(self._merging, powers, seed)
        return Runner(self._kernel, arguments, self._workspaces, with_spans=with_spans, front_end=front_end, first_row=dropout.first_row)


def _powers(probability: float) -> NDArray[np.float64]:
    """A probability to the powers 1, 2, 4, 8 …, each the square of the one before: rounded in the same way everywhere."""
    powers = [probability]
    for _ in range(POWERS - 1):
        powers.append(powers[-1] * powers[-1])
    return np.array(powers)
