"""Files of OpenFst, with the labels of pynini; and machines with the labels of this package."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fst.bridge.pynini.errors import FstIOError
from fst.bridge.pynini.labels import BEGIN, END, generated_symbols
from fst.compile.algebra.arcs import END_OF_UNIT, FIRST_SYMBOL, Arcs, Unit, make
from fst.compile.algebra.machine import Fst
from fst.compile.sources.transducers import openfst
from fst.errors import FstError


def read(filename: str | os.PathLike[str]) -> Arcs:
    """Read a machine from a file, or from an archive of one. Labels are the numbers in the file."""
    try:
        return openfst.read(Path(filename), unit="character")
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
    labels = np.unique(np.concatenate([arcs.ilabel, arcs.olabel])).tolist()
    symbols = [label for label in labels if label >= openfst.FIRST_GENERATED or label in (BEGIN, END)]
    numbers = {label: FIRST_SYMBOL + place for place, label in enumerate(symbols)}
    are_bytes = all(label < END_OF_UNIT["utf-8"] or label in numbers for label in labels)
    read, write = (relabelled(side, numbers) for side in (arcs.ilabel, arcs.olabel))
    names = tuple(f"[{generated_symbols().find(label) or label}]" for label in symbols)
    unit: Unit = "utf-8" if are_bytes else "character"
    return Fst.of(make(arcs.sources, read, write, arcs.target, arcs.weight, arcs.final, arcs.start, names, unit))


def relabelled(labels: NDArray[np.int32], new: Mapping[int, int]) -> NDArray[np.int64]:
    """Labels, of which those in `new` are replaced."""
    used, places = np.unique(labels, return_inverse=True)
    return np.array([new.get(label, label) for label in used.tolist()], np.int64)[places]
