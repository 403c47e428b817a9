"""Elimination of flag diacritics: the values of features become states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from fst.automata.flags import FLAG, applied, operations_of, pack, unpack
from fst.compile.algebra.arcs import EPSILON, FIRST_SYMBOL, NOWHERE, Arcs, Columns, joined, make
from fst.compile.algebra.connect import connect
from fst.compile.algebra.forms.minimize import merge_states
from fst.compile.algebra.kernels.room import MAX_ARCS, SizeError
from fst.errors import VocabularyError, listed, quoted

FAILS = -1
MAX_FLAGS = 1 << 10  # maximum number of flag diacritics of a feature; time is quadratic in it


def eliminate_flags(arcs: Arcs, names: Iterable[str] | None = None) -> Arcs:
    """The machine without the flag diacritics of some features, and without the paths on which a test of them fails; None: all features."""
    features: dict[str, dict[int, int]] = {}
    for number, packed in operations_of(arcs.symbols).items():
        match = FLAG.fullmatch(arcs.symbols[number])
        assert match
        features.setdefault(match[2], {})[FIRST_SYMBOL + number] = pack(unpack(packed)._replace(feature=0))
    for name in [*features] if names is None else names:
        if name not in features:
            known = f"one of {listed([*features])}, which the machine has" if features else "none: the machine has no flag diacritics"
            raise VocabularyError(f"the feature is {quoted(name)}; expected {known}")
        arcs = _without(arcs, name, features[name])
    return arcs


def _without(arcs: Arcs, name: str, operations: Mapping[int, int]) -> Arcs:
    """The machine without the flag diacritics of one feature. `operations`: the packed operation of each of their labels.

    A state of the result is a state of the machine and a value of the feature.
    """
    if len(operations) > MAX_FLAGS:
        fault = f"the feature {name} has {len(operations):,} flag diacritics; expected at most {MAX_FLAGS:,}"
        raise SizeError(fault, "keep this feature, or divide it into several features")
    arcs, after = connect(arcs), _transitions(operations)
    values = len(after[EPSILON])
    if values * max(arcs.arcs, arcs.states) > MAX_ARCS:
        fault = f"without the feature {name}, the machine has up to {values * arcs.arcs:,} arcs; expected at most {MAX_ARCS:,}"
        raise SizeError(fault, "keep this feature, or minimize the machine first")
    by_label = np.array([*after.values()])  # row 0 belongs to labels without an operation
    rows = np.zeros(FIRST_SYMBOL + len(arcs.symbols), np.int64)
    rows[[*after]] = range(len(after))
    reads, writes = rows[arcs.ilabel], rows[np.where(arcs.ilabel == arcs.olabel, EPSILON, arcs.olabel)]
    moved = joined(_moved(arcs, value, by_label, reads, writes) for value in range(values))
    read, write = (np.where(rows[labels] > 0, EPSILON, labels) for labels in (moved.ilabel, moved.olabel))
    columns, start = moved._replace(ilabel=read, olabel=write), max(values * arcs.start, NOWHERE)
    return merge_states(make(*columns, np.repeat(arcs.final, values), start, arcs.symbols, arcs.unit))


def _moved(arcs: Arcs, value: int, by_label: NDArray[np.int64], reads: NDArray[np.int64], writes: NDArray[np.int64]) -> Columns:
    """The arcs that leave states with a value and pass all tests. `reads`, `writes`: for each arc, the rows of its labels in `by_label`."""
    values = by_label.shape[1]
    reached = by_label[reads, value]
    reached = np.where(reached == FAILS, FAILS, by_label[writes, reached])
    sources, targets = (states.astype(np.int64) * values for states in (arcs.sources, arcs.target))
    columns = Columns(sources + value, arcs.ilabel, arcs.olabel, targets + reached, arcs.weights)
    return Columns._make(column[reached != FAILS] for column in columns)


def _transitions(operations: Mapping[int, int]) -> dict[int, list[int]]:
    """For each label, and for `EPSILON` as an operation that does nothing, the value after each value, or `FAILS`. Value 0 is neutral."""
    numbers, waiting = {0: 0}, [0]
    found: dict[int, list[int]] = {label: [] for label in (EPSILON, *operations)}
    for held in waiting:
        found[EPSILON].append(numbers[held])
        for label, packed in operations.items():
            registers = applied([packed], (held,)).registers
            if registers is not None and registers[0] not in numbers:
                numbers[registers[0]] = len(numbers)
                waiting.append(registers[0])
            found[label].append(FAILS if registers is None else numbers[registers[0]])
    return found
