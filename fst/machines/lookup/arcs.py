"""The arcs and the finals of a state, as the slow walks read them from a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from fst.automata.rows import Array
from fst.machines.lookup.layout import (
    ALONE,
    ALONE_EPSILON,
    ALONE_PAUSES,
    ENTRY,
    HAS_EPSILON,
    MAX_ALONE_PAUSES,
    MAX_ALONE_PIECE,
    OUTPUT_SHIFT,
)

STATE = (1 << HAS_EPSILON) - 1

Registers = tuple[int, ...]


class Arc(NamedTuple):
    """An arc: its piece, its weight, its pauses, the operations of its condition, and the state to which it leads."""

    piece: int
    weight: np.float32
    pauses: int
    operations: Sequence[int]
    target: int


class Final(NamedTuple):
    """A final: its piece, its weight, its pauses, the operations of its condition, and its section."""

    piece: int
    weight: np.float32
    pauses: int
    operations: Sequence[int]
    section: int


def arcs_of(table: Any, state: int, label: int) -> Iterator[Arc]:
    """Yield the arcs of a state that read a class, or nothing for the class `EPSILON`."""
    entry = ENTRY.step(table.entries, state, label)
    if entry and entry.value & ALONE:
        pauses = entry.value >> ALONE_PAUSES & MAX_ALONE_PAUSES
        yield Arc(entry.value & MAX_ALONE_PIECE, np.float32(0), pauses, (), entry.target)
    elif entry:
        for place in range(entry.target, entry.target + entry.value):
            packed, weight = int(table.arcs[place]), _weight(table.arc_weights, place)
            operations = _operations(table, table.arc_conditions, place)
            yield Arc(packed >> OUTPUT_SHIFT, weight, int(table.arc_pauses[place]), operations, packed & STATE)


def finals_of(table: Any, state: int) -> Iterator[Final]:
    """Yield the finals of a state."""
    own = ENTRY.unpack(table.entries[state])
    for place in range(own.target, own.target + own.value):
        operations = _operations(table, table.final_conditions, place)
        pauses, section = int(table.final_pauses[place]), int(table.final_sections[place])
        yield Final(int(table.final_pieces[place]), _weight(table.final_weights, place), pauses, operations, section)


def _operations(table: Any, conditions: Array, place: int) -> Sequence[int]:
    """The operations of the condition of an arc or of a final."""
    if not len(conditions) or not conditions[place]:
        return ()
    condition, ends = int(conditions[place]), table.condition_ends
    operations: list[int] = table.operations[ends[condition - 1] : ends[condition]].tolist()
    return operations


def alone_values(pieces: Any, pauses: Any, has_epsilon: Any) -> Any:
    """The values of entries that contain their only arc, packed from the fields of the arc."""
    return ALONE | has_epsilon << ALONE_EPSILON | pauses << ALONE_PAUSES | pieces


def _weight(weights: Array, place: int) -> np.float32:
    return np.float32(weights[place] if len(weights) else 0)
