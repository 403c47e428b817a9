"""BPE dropout: what a call asks for, and the runner that does it. `fst.machines.bpe.dropout` says what it is."""

from __future__ import annotations

import os
from operator import index
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.machines.bpe.arguments import POWERS, Arguments, DropoutArguments, MergeArguments, merge_arguments
from fst.machines.bpe.dropout import Dropout
from fst.machines.bpe.merge_list import SCRATCH
from fst.machines.bpe.table import BpeTables
from fst.runtime.run import Runner
from fst.runtime.workspace import Workspaces

SEED_BYTES = 8


class Kernel(NamedTuple):
    """What a runner must know of a table, for another kernel than the table's own."""

    kind: str
    unit: str
    kernel: str
    ids_per_unit: int
    has_bounded_ids: bool = True


class DroppingRunners:
    """Makes the runner of each call with dropout.

    Args:
        table: the table.
        plain: the runner without dropout.
        workspaces: idle workspaces for the kernel.

    Raises:
        TableError: the merges of the table are not sound.
    """

    def __init__(self, table: BpeTables, plain: Runner, workspaces: Workspaces) -> None:
        own = plain.arguments
        self._merging: MergeArguments = merge_arguments(table, own) if isinstance(own, Arguments) else own
        self._kernel = Kernel("bpe with dropout", table.unit, "fst.runtime.machines.bpe.kernels.dropout", table.growth * SCRATCH)
        self._rewriter, self._workspaces = plain.rewriter, workspaces

    def runner(self, dropout: Dropout, *, with_spans: bool) -> Runner:
        """The runner of a call."""
        powers, seed = _powers(dropout.probability), np.array([dropout.seed], np.uint64)
        rewriter = None
        if self._rewriter:
            marked = self._rewriter.arguments
            beside = marked if isinstance(marked, Arguments) else marked.beside
            rewriter = self._rewriter.reading_by(DropoutArguments(self._merging._replace(beside=beside), powers, seed))
        arguments = DropoutArguments(self._merging, powers, seed)
        return Runner(self._kernel, arguments, self._workspaces, with_spans=with_spans, rewriter=rewriter, first_row=dropout.first_row)


def _powers(probability: float) -> NDArray[np.float64]:
    """A probability to the powers 1, 2, 4, 8 …, each the square of the one before: rounded in the same way everywhere."""
    powers = [probability]
    for _ in range(POWERS - 1):
        powers.append(powers[-1] * powers[-1])
    return np.array(powers)


def dropout_of(probability: Any, seed: Any, first_row: Any = 0) -> Dropout | None:
    """What the arguments of a call ask for; None if no merge is to be skipped.

    Raises:
        ValueError: the probability is no number from 0 to 1, or the others are no whole numbers in their range.
    """
    if not probability and seed is None and not first_row:
        return None
    if not (isinstance(probability, int | float | np.integer | np.floating) and 0 <= probability <= 1):
        raise ValueError(f"dropout={probability!r} is not a number from 0 to 1")
    number = random_seed() if seed is None else _whole("seed", seed, 64)
    first = _whole("first_row", first_row, 63)
    return Dropout(float(probability), number, first) if probability > 0 else None


def random_seed() -> int:
    """A seed that no other call has."""
    return int.from_bytes(os.urandom(SEED_BYTES), "little")


def _whole(name: str, value: Any, bits: int) -> int:
    """A whole number of some bits, at least 0."""
    try:
        number = index(value)
    except TypeError:
        number = -1
    if not 0 <= number < 1 << bits:
        raise ValueError(f"{name}={value!r} is not a whole number from 0 to 2**{bits} - 1")
    return number
