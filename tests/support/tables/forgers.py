"""Changes of a table's arrays that would make kernels read or write outside arrays, if proofs did not refuse the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from support.tables.forging import (
    Corruption,
    array,
    with_array,
)

from fst.automata.rows import (
    ENTRY,
    FINISH,
    HOLE,
    LAST_OUTPUT,
    ROOT,
    Array,
    field_kind,
    field_output,
    pack,
)
from fst.machines.wordpiece.table import WordPieceTable


def put(name: str, index: Any, value: Any) -> Corruption:
    """A function that changes an element of an array; index and value may be functions of the table."""

    def corrupt(tables: WordPieceTable) -> WordPieceTable:
        array = getattr(tables, name).copy()
        array[index(tables) if callable(index) else index] = value(tables) if callable(value) else value
        return with_array(tables, name, array)

    return corrupt


def both(*corruptions: Corruption) -> Corruption:
    """A function that applies several changes, for damage that needs more than one change."""

    def corrupt(tables: WordPieceTable) -> WordPieceTable:
        for corruption in corruptions:
            tables = corruption(tables)
        return tables

    return corrupt


def states(tables: WordPieceTable) -> Array:
    """Find the slots of all finish entries, which are also the slots where states begin."""
    return np.flatnonzero((ENTRY.labels_of(tables.entries) == FINISH) & (tables.entries != HOLE))


def depth(tables: WordPieceTable, slots: Any) -> Array:
    """The number of symbols that a state has read; for other slots, the number is meaningless."""
    return ENTRY.targets_of(tables.entries[slots])


def moves(tables: WordPieceTable) -> Array:
    """Find the slots of explicit transitions, except those to the dead state."""
    alive = ENTRY.targets_of(tables.entries) != tables.header["dead"]
    return np.flatnonzero((ENTRY.labels_of(tables.entries) != FINISH) & alive)


def move(tables: WordPieceTable) -> int:
    """Find a transition from the root to a state that has read one symbol."""
    labels, targets = ENTRY.labels_of(tables.entries), ENTRY.targets_of(tables.entries)
    return int(next(slot for slot in moves(tables) if labels[slot] == slot and depth(tables, targets[slot])))


def failure(tables: WordPieceTable) -> int:
    """Find a transition from the root to the dead state."""
    return int(np.flatnonzero(ENTRY.targets_of(tables.entries[: tables.header["columns"]]) == tables.header["dead"])[0])


def of_kind(kind: int, finish: bool) -> Callable[[WordPieceTable], int]:
    """A function that finds an entry of a kind; `finish` decides whether it is a finish entry."""
    return lambda tables: int(next(slot for slot in (states if finish else moves)(tables) if field_kind(tables.entries)[slot] == kind))


def fields(slot: Callable[[WordPieceTable], int], **changed: Any) -> Corruption:
    """A function that changes some fields of the entry at a slot."""

    def value(tables: WordPieceTable) -> Any:
        entry = tables.entries[slot(tables)]
        label, target, _ = ENTRY.unpack(entry)
        kept = {"next_state": target, "label": label, "output": field_output(entry), "kind": field_kind(entry)}
        return pack(**{**kept, **{name: new(tables) if callable(new) else new for name, new in changed.items()}})

    return put("entries", slot, value)


def deep(tables: WordPieceTable) -> int:
    """Find a state that has read two symbols."""
    return int(next(slot for slot in states(tables) if depth(tables, slot) == 2))


def not_a_state(tables: WordPieceTable) -> int:
    """Find a slot where no state begins."""
    return int(np.setdiff1d(np.arange(len(tables.entries)), states(tables))[0])


def stranger(tables: WordPieceTable) -> int:
    """Find a label with which the last transition would belong to a state that does not exist."""
    last = int(moves(tables)[-1])
    return next(label for label in range(1, tables.header["columns"]) if last - label not in states(tables))


def dead(tables: WordPieceTable) -> int:
    """Find the dead state."""
    return int(tables.header["dead"])


def root(_: WordPieceTable) -> int:
    """Find the root."""
    return ROOT


def last_move(tables: WordPieceTable) -> int:
    """Find the last explicit transition."""
    return int(moves(tables)[-1])


def first_end(tables: WordPieceTable) -> int:
    """Find the end of the first list in the pool."""
    return int(np.flatnonzero(tables.pool >= LAST_OUTPUT)[0])


def listed(length: int) -> Corruption:
    """A function that appends a list of `length` ids to the pool."""
    return array("pool", lambda pool: np.concatenate([pool, np.zeros(length - 1), [LAST_OUTPUT]]))
