"""A table for look-up is proven before kernels use it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.conformance.ways import table_of
from support.tables.damage import changed

import fst
from fst.compile import lookup
from fst.compile.algebra.machine import Fst
from fst.machines.lookup.layout import ALONE, ALONE_EPSILON, ENTRY, HAS_EPSILON, OUTPUT_SHIFT

FIRST = {name: int(np.flatnonzero(ENTRY.labels_of(table_of(name).entries) < ENTRY.labels)[0]) for name in ("lookup", "lookup flags")}
FLAGGED = table_of("lookup flags").entries
SLOTS = len(FLAGGED)
ALONE_AT = int(np.flatnonzero((ENTRY.labels_of(FLAGGED) < ENTRY.labels) & (ENTRY.values_of(FLAGGED) >= ALONE))[0])
LABEL = int(ENTRY.labels_of(FLAGGED)[ALONE_AT])


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    ("name", "field", "place", "value", "found"),
    [
        ("lookup", "units", None, [0], "units has 1 elements"),
        ("lookup", "units", 98, 9, "unit 98 has the class 9 of 2"),
        ("lookup", "lower_units", None, [0], "lower_units has 1 elements"),
        ("lookup", "letters", None, [66_000, 65_999], "element 1 of letters is not after element 0"),
        ("lookup", "final_sections", 0, 4, "final 0 has the section 4 of 4"),
        ("lookup", "final_pauses", None, [0], "final_pauses has 1 elements"),
        ("lookup", "units", 98, 1 << 18, "unit 98 has the class"),
        ("lookup flags", "symbol_keys", 1, 0, "edge 1 of the tree of symbols is not after edge 0"),
        ("lookup flags", "symbol_keys", 0, 5 << 16, "edge 0 of the tree leads to a root|edge 1 of the tree"),
        ("lookup flags", "symbol_classes", 0, 9, "edge 0 of the tree has the class 9"),
        ("lookup flags", "symbol_classes", None, [1], "symbol_keys has 3 elements, symbol_classes 1"),
        ("lookup flags", "condition_ends", 0, 1, "condition 0 is not empty"),
        ("lookup flags", "condition_ends", 1, 999, "condition 2 ends before it begins"),
        ("lookup flags", "condition_ends", -1, 999, "the last condition ends at operation 999"),
        ("lookup flags", "operations", 0, 6, "operation 0 has the kind 6 of 6"),
        ("lookup flags", "operations", 0, 9 << 3, "operation 0 has the feature 9 of 2"),
        ("lookup flags", "operations", 0, 1 << 31, "operation 0 has the value 32768"),
        ("lookup flags", "entries", 0, ENTRY.free, "the first slot of entries is not a state"),
        ("lookup", "entries", FIRST["lookup"], ENTRY.pack(7, 0, 1), "has the class 7 of 2"),
        ("lookup", "entries", FIRST["lookup"], ENTRY.pack(0, 0, 0), "has no arcs|belongs to no state"),
        ("lookup flags", "entries", ALONE_AT, ENTRY.pack(LABEL, SLOTS, ALONE), "the arc at slot [0-9]+ leads to"),
        ("lookup flags", "entries", ALONE_AT, ENTRY.pack(LABEL, 0, ALONE | 1 << ALONE_EPSILON), "the arc at slot [0-9]+ is marked 1"),
        ("lookup flags", "entries", ALONE_AT, ENTRY.pack(LABEL, 0, ALONE + 999), "the arc at slot [0-9]+ has the piece 999"),
        ("lookup", "entries", FIRST["lookup"], ENTRY.pack(1, 999, 1), "arcs up to 1000 of|belongs to no state"),
        ("lookup", "entries", 0, ENTRY.pack(ENTRY.own, 999, 1), "finals up to 1000 of"),
        ("lookup flags", "arcs", 0, SLOTS, "arc 0 leads to"),
        ("lookup flags", "arcs", 0, 1 << HAS_EPSILON, "arc 0 is marked 1, and state 0 is not"),
        ("lookup flags", "arcs", 0, 999 << OUTPUT_SHIFT, "arc 0 has the piece 999"),
        ("lookup flags", "arc_conditions", 0, 999, "arc 0 has the condition 999"),
        ("lookup flags", "arc_conditions", None, [0], "there are 1 conditions of arcs"),
        ("lookup weights", "arc_weights", 0, np.nan, "arc 0 has the weight nan"),
        ("lookup weights", "final_weights", None, [], "there are 0 weights of finals"),
        ("lookup", "final_pieces", 0, 999, "final 0 has the piece 999"),
        ("lookup", "piece_ends", 0, 1, "piece 0 is not empty"),
    ],
)
def test_forged_table_is_refused(name: str, field: str, place: Any, value: Any, found: str) -> None:
    """A table whose arrays would lead kernels out of bounds is refused, and the message contains the fault."""
    with pytest.raises(fst.TableError, match=found):
        changed(table_of(name), field, place, value).prove()


def test_endless_pauses_are_refused() -> None:
    """A table with a cycle of arcs that read nothing is refused, and the message contains a state of the cycle."""
    table = lookup(Fst.from_arcs([(0, 0, "a", "")], final=[0]))
    entries = table.entries.copy()
    entries[1], entries[2] = (ENTRY.pack(label, 0, ALONE | 1 << ALONE_EPSILON) for label in (0, 1))
    with pytest.raises(fst.TableError, match="more than 256 arcs in a row read nothing, from state 0"):
        replace(table, entries=entries).prove()
