"""Compile weighted transducers into tables for the best path.

The steps: a file → arcs over labels → rows over bytes → folded rows without cycles of ε-arcs → a table.
"""

from __future__ import annotations

import os
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np

from fst.compile.algebra import rational
from fst.compile.algebra.arcs import UNITS, Arcs, Holder, Unit, held
from fst.compile.algebra.other import need_closed
from fst.compile.files import beginning
from fst.compile.machines.best_path.folding import folded, in_order, without_cycles
from fst.compile.machines.best_path.rows import Machine, machine_of, need_in_range
from fst.compile.sources.transducers import att, openfst
from fst.errors import UnsupportedError, VocabularyError, not_one_of
from fst.machines.best_path.table import ERROR, NOT_FINAL, UNKNOWN, BestPathTable, header
from fst.tables.strings import stored_bytes

MAX_ARCS = 1 << 22  # maximum number of arcs of a machine, which take some 300 bytes each during compilation
BEGINNING = 1 << 12  # number of bytes at the start of a file from which its format is determined; a packed file has a header


def best_path(
    source: str | Path | Arcs | Holder,
    *,
    name: str | None = None,
    unit: Unit | None = None,
    unknown: Literal["error", "copy"] = ERROR,
) -> BestPathTable:
    """Compile a weighted transducer, such as the tagger of a text normalizer. `fst.Rewriter` rewrites each text to the output of the path
    of least weight that reads the whole text.

    Args:
        source: a file of OpenFst (``.fst``, ``.far``) or AT&T text, possibly packed with gzip; or a `fst.Fst` or `fst.pynini.Fst`.
        name: the key of the machine in an archive (``.far``); None: the file is a machine, or an archive of one.
        unit: the meaning of labels in a file of OpenFst without symbols: "character" for code points, "utf-8" for bytes. None: bytes if the
            labels are UTF-8, pynini's default; otherwise code points.
        unknown: the treatment of texts without a path: "error" raises `fst.TextError`, "copy" copies them.

    Returns:
        A table of kind "best-path". Of paths with equal weights, one is chosen, always the same. A symbol of several characters is read
        and written as its characters.

    Raises:
        VocabularyError: the source is of another type; the file is damaged, or does not contain the machine; or arcs that read nothing form
            a cycle of negative weight.
        UnsupportedError: the file has a feature that is not supported; the machine has more than 4 million arcs; or cycles of arcs that
            read nothing are too large.
        ValueError: `unit` or `unknown` has an invalid value.
        OSError: the file cannot be read.

    Examples:
        >>> import fst
        >>> words = fst.Fst.from_strings([("2 m", "two meters", 1.0), ("2", "two", 1.0), (" m", " em", 1.0)])
        >>> table = best_path(words.closure())
        >>> bytes(table.run("2 m")).decode()
        'two meters'

    Source: Mohri, Pereira and Riley 2002, *Weighted finite-state transducers in speech recognition*.
    """
    if unknown not in UNKNOWN:
        raise ValueError(not_one_of("unknown", unknown, UNKNOWN))
    if unit is not None and unit not in UNITS:
        raise ValueError(not_one_of("unit", unit, UNITS))
    source = held(source)
    arcs = source if isinstance(source, Arcs) else _read(source, name, unit)
    need_closed(arcs, "a rewriter")
    if arcs.arcs > MAX_ARCS:
        raise UnsupportedError(f"the machine has {arcs.arcs:,} arcs; expected at most {MAX_ARCS:,}; minimize it first")
    machine = machine_of(arcs) if arcs.states else Machine([[]], {}, 0, 0)
    machine = without_cycles(folded(machine))
    need_in_range(machine)
    return _table(machine, unknown)


def _read(source: Any, name: str | None, unit: Unit | None) -> Arcs:
    """Read a file of OpenFst or AT&T text."""
    if not isinstance(source, str | os.PathLike):
        raise VocabularyError(f"the source is {type(source).__name__}; expected an Fst or the path of a file")
    path = Path(source)
    magic = int.from_bytes(beginning(path, BEGINNING)[:4], "little")
    if magic not in (openfst.MACHINE, openfst.ARCHIVE):
        return rational.union(att.read_sections(path))
    return openfst.read(path, name, unit)


def _table(machine: Machine, unknown: str) -> BestPathTable:
    """The table of a machine without cycles of ε-arcs."""
    states = in_order(machine)
    number = {state: place for place, state in enumerate(states)}
    rows = [sorted(machine.rows[state], key=lambda arc: arc.byte) for state in states]
    strings = {b"": 0}
    outputs = [strings.setdefault(arc.output, len(strings)) for arc in chain(*rows)]

    string_bytes, string_ends = stored_bytes(strings)

    def column(field: int, dtype: type[np.generic]) -> np.ndarray:
        return np.fromiter((arc[field] for arc in chain(*rows)), dtype)

    return BestPathTable(
        header(number[machine.start], machine.exponent, unknown),
        row_start=np.cumsum([0, *map(len, rows)]).astype(np.uint32),
        labels=column(0, np.uint16),
        targets=np.fromiter((number[arc.target] for arc in chain(*rows)), np.uint32),
        weights=column(2, np.int64),
        outputs=np.array(outputs, np.uint32),
        finals=np.array([machine.finals.get(state, NOT_FINAL) for state in states], np.int64),
        string_bytes=string_bytes,
        string_ends=string_ends,
    )
