"""Files of OpenFst, with the labels of pynini; and machines with the labels of this package."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fst.bridge.pynini.errors import FstIOError
from fst.bridge.pynini.labels import BEGIN, END, FIRST_GENERATED, generated_symbols
from fst.compile.algebra.arcs import FIRST_SYMBOL, Arcs, Unit, make
from fst.compile.algebra.machine import Fst
from fst.compile.sources.transducers import openfst
from fst.errors import FstError

FIRST_BYTE_AFTER = 0x100


def read(filename: str | os.PathLike[str], name: str | None = None) -> Arcs:
    """Read a machine from a file, or from an archive. Labels are the numbers in the file."""
    try:
        return openfst.read(Path(filename), name, "character")
    except (OSError, FstError) as error:
        raise FstIOError(f"{os.fspath(filename)} cannot be read: {error}") from error


def from_bytes(data: bytes) -> Arcs:
    """Read a machine from the bytes of a file."""
    try:
        return openfst.unpacked(data, "character")
    except FstError as error:
        raise FstIOError(str(error)) from error


def to_bytes(arcs: Arcs) -> bytes:
    """The bytes of a file."""
    return openfst.packed(arcs)


def write(arcs: Arcs, filename: str | os.PathLike[str]) -> None:
    """Write a file."""
    try:
        Path(filename).write_bytes(to_bytes(arcs))
    except OSError as error:
        raise FstIOError(f"{os.fspath(filename)} cannot be written: {error}") from error


def public(arcs: Arcs) -> Fst:
    """The machine over bytes and generated symbols such as "[tag]"; over code points, if it has other labels above 255."""
    labels = np.unique(np.concatenate([arcs.ilabel, arcs.olabel]))
    symbols = [label for label in labels.tolist() if label >= FIRST_GENERATED or label in (BEGIN, END)]
    numbers = {label: FIRST_SYMBOL + place for place, label in enumerate(symbols)}
    are_bytes = all(label < FIRST_BYTE_AFTER or label in numbers for label in labels.tolist())
    new = np.array([numbers.get(label, label) for label in labels.tolist()], np.int64)
    read, write = (_renamed(side, labels, new) for side in (arcs.ilabel, arcs.olabel))
    names = tuple(f"[{generated_symbols().find(label) or label}]" for label in symbols)
    unit: Unit = "utf-8" if are_bytes else "character"
    return Fst.of(make(arcs.sources, read, write, arcs.target, arcs.weight, arcs.final, arcs.start, names, unit))


def _renamed(side: NDArray[np.int32], labels: NDArray[np.int32], new: NDArray[np.int64]) -> NDArray[np.int64]:
    return new[np.searchsorted(labels, side)]
