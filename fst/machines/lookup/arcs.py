"""The arcs and the finals of a state, as the slow walks read them from a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fst.automata.rows import Array
from fst.machines.lookup import flags
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
    """An arc whose condition holds: its piece, its weight, its pauses; its state, and the registers there."""

    piece: int
    weight: np.float32
    pauses: int
    target: int
    registers: Registers


class Final(NamedTuple):
    """A final whose condition holds: its piece, its weight, its pauses and its section."""

    piece: int
    weight: np.float32
    pauses: int
    section: int


def arcs_of(table: Any, state: int, label: int, registers: Registers) -> Iterator[Arc]:
    """Yield the arcs of a state that read a class, or nothing for the class `EPSILON`, and whose conditions hold."""
    entry = ENTRY.step(table.entries, state, label)
    if entry and entry.value & ALONE:
        pauses = entry.value >> ALONE_PAUSES & MAX_ALONE_PAUSES
        yield Arc(entry.value & MAX_ALONE_PIECE, np.float32(0), pauses, entry.target, registers)
    elif entry:
        for place in range(entry.target, entry.target + entry.value):
            reached = after(table, table.arc_conditions, place, registers)
            if reached is not None:
                packed, weight = int(table.arcs[place]), _weight(table.arc_weights, place)
                yield Arc(packed >> OUTPUT_SHIFT, weight, int(table.arc_pauses[place]), packed & STATE, reached)


def finals_of(table: Any, state: int, registers: Registers) -> Iterator[Final]:
    """Yield the finals of a state whose conditions hold."""
    own = ENTRY.unpack(table.entries[state])
    for place in range(own.target, own.target + own.value):
        if after(table, table.final_conditions, place, registers) is not None:
            pauses, section = int(table.final_pauses[place]), int(table.final_sections[place])
            yield Final(int(table.final_pieces[place]), _weight(table.final_weights, place), pauses, section)


def after(table: Any, conditions: Array, place: int, registers: Registers) -> Registers | None:
    """The registers after the condition of an arc or of a final; None if the condition fails."""
    if not len(conditions):
        return registers
    condition, ends = int(conditions[place]), table.condition_ends
    operations = table.operations[ends[condition - 1] if condition else 0 : ends[condition]]
    return flags.applied(operations.tolist(), registers)


def alone_values(pieces: Any, pauses: Any, has_epsilon: Any) -> Any:
    """The values of entries that contain their arcs."""
    return ALONE | has_epsilon << ALONE_EPSILON | pauses << ALONE_PAUSES | pieces


def _weight(weights: Array, place: int) -> np.float32:
    return np.float32(weights[place] if len(weights) else 0)
