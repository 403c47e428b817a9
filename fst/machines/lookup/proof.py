"""The proof that kernels are safe on a table for look-up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fst.automata import flags
from fst.automata.rows import Array
from fst.automata.trie import spread
from fst.machines.lookup.layout import (
    ALONE,
    ALONE_EPSILON,
    BEGINS,
    ENTRY,
    EPSILON,
    HAS_EPSILON,
    LETTER,
    MAX_ALONE_PIECE,
    MAX_PAUSES,
    NODE_SHIFT,
    OUTPUT_SHIFT,
    ROOTS,
    SECTIONS,
    UNITS,
)
from fst.tables.proof import need, need_none, prove_states
from fst.tables.strings import prove_strings


def prove(table: Any, settings: Any) -> None:
    """Prove a `fst.machines.lookup.table.LookupTable` with its settings; see `fst.tables.table.Table.prove`."""
    prove_strings(table.piece_bytes, table.piece_ends, settings.pieces, "pieces")
    need(table.piece_ends[0] == 0, "piece 0 is not empty")
    _prove_units(table, settings.classes)
    _prove_symbols(table, settings.classes)
    _prove_conditions(table, settings.features)
    is_state = _prove_rows(table, settings)
    _prove_arcs(table, settings, is_state)
    prove_pauses(table)


def _prove_units(table: Any, classes: int) -> None:
    """Prove that each UTF-16 unit has a class."""
    need(len(table.units) == UNITS, f"units has {len(table.units)} elements; expected {UNITS}")
    wrong = (table.units >= 2 * LETTER) | (table.units % BEGINS > classes)
    need_none(wrong, lambda unit: f"unit {unit} has the class {int(table.units[unit]) % BEGINS} of {classes}")

    need(len(table.lower_units) == UNITS, f"lower_units has {len(table.lower_units)} elements; expected {UNITS}")
    need_none(table.letters[1:] <= table.letters[:-1], lambda at: f"element {at + 1} of letters is not after element {at}")


def _prove_symbols(table: Any, classes: int) -> None:
    """Prove that the edges of the tree of symbols are sorted, and lead to later nodes."""
    keys, found = table.symbol_keys, table.symbol_classes
    need(len(keys) == len(found), f"symbol_keys has {len(keys)} elements, symbol_classes {len(found)}")
    need_none(keys[1:] <= keys[:-1], lambda edge: f"edge {edge + 1} of the tree of symbols is not after edge {edge}")
    parents = keys >> np.uint64(NODE_SHIFT)
    need_none(parents >= np.arange(len(keys), dtype=np.uint64) + np.uint64(ROOTS), lambda edge: f"edge {edge} of the tree leads to a root")
    need_none(found > classes, lambda edge: f"edge {edge} of the tree has the class {found[edge]} of {classes}")


def _prove_conditions(table: Any, features: int) -> None:
    """Prove that conditions are slices of operations, and operations have features."""
    ends, operations = table.condition_ends, table.operations
    need(len(ends) and ends[0] == 0, "condition 0 is not empty")
    need_none(ends[1:] < ends[:-1], lambda at: f"condition {at + 1} ends before it begins")
    need(ends[-1] == len(operations), f"the last condition ends at operation {ends[-1]} of {len(operations)}")
    kinds = operations & (1 << flags.FEATURE_SHIFT) - 1
    need_none(kinds >= len(flags.KINDS), lambda at: f"operation {at} has the kind {kinds[at]} of {len(flags.KINDS)}")
    named = flags.features_of(operations)
    need_none(named >= features, lambda at: f"operation {at} has the feature {named[at]} of {features}")
    values = operations >> flags.VALUE_SHIFT
    need_none(values > flags.MAX_VALUE, lambda at: f"operation {at} has the value {values[at]}; the highest is {flags.MAX_VALUE}")


def _prove_rows(table: Any, settings: Any) -> Array:
    """Prove that look-ups stay inside of `entries`, that each transition belongs to a state, and that the arcs of a transition, and the
    finals of a state, exist.

    Returns:
        bool[slots + 1], whether each slot is a state.
    """
    entries = table.entries
    states = prove_states(ENTRY, entries, ENTRY.first + 1 + settings.classes, "entries", map)
    is_state = np.zeros(len(entries) + 1, np.bool_)
    is_state[states] = True
    labels = ENTRY.labels_of(entries)
    slots = np.flatnonzero(labels < ENTRY.labels)
    labels = labels[slots]
    need_none(labels > settings.classes, lambda at: f"slot {slots[at]} has the class {labels[at]} of {settings.classes}")
    owners = slots - ENTRY.first - labels
    need_none((owners < 0) | ~is_state[owners], lambda at: f"the transition at slot {slots[at]} belongs to no state")
    alone, slots = _divided(table, slots)
    need_none(_targets_and_values(table, slots)[1] == 0, lambda at: f"the transition at slot {slots[at]} has no arcs")
    for some, size, noun in ((slots, len(table.arcs), "arcs"), (states, len(table.final_pieces), "finals")):
        firsts, counts = _targets_and_values(table, some)
        need_none(firsts + counts > size, lambda at: f"slot {some[at]} has {noun} up to {firsts[at] + counts[at]} of {size}")  # noqa: B023
    targets, values = _targets_and_values(table, alone)
    _prove_targets(table, is_state, targets, values >> ALONE_EPSILON & 1, lambda at: f"the arc at slot {alone[at]}")
    pieces = values & MAX_ALONE_PIECE
    need_none(pieces >= settings.pieces, lambda at: f"the arc at slot {alone[at]} has the piece {pieces[at]} of {settings.pieces}")
    generator = settings.generator
    need(generator is None or is_state[min(generator, len(entries))], f"generation begins at {generator}, which is not a state")
    return is_state


def _targets_and_values(table: Any, slots: Array) -> tuple[Array, Array]:
    """The target and the value of the entry at each slot."""
    entries = table.entries[slots]
    return ENTRY.targets_of(entries), ENTRY.values_of(entries)


def _divided(table: Any, slots: Array) -> tuple[Array, Array]:
    """The slots whose entry contains an arc, and the slots whose entry is a slice of arcs."""
    are_alone = ENTRY.values_of(table.entries[slots]) >= ALONE
    return slots[are_alone], slots[~are_alone]


def _prove_arcs(table: Any, settings: Any, is_state: Array) -> None:
    """Prove that arcs lead to states and are marked if the state has arcs that read nothing, and that pieces and conditions exist."""
    targets = (table.arcs & np.uint64((1 << HAS_EPSILON) - 1)).astype(np.int64)
    marks = (table.arcs >> np.uint64(HAS_EPSILON) & np.uint64(1)).astype(np.int64)
    _prove_targets(table, is_state, targets, marks, lambda arc: f"arc {arc}")
    columns = (
        ("arc", table.arcs >> np.uint64(OUTPUT_SHIFT), table.arc_conditions, table.arc_weights),
        ("final", table.final_pieces, table.final_conditions, table.final_weights),
    )
    for name, column, size in (
        ("arc_pauses", table.arc_pauses, len(table.arcs)),
        ("final_pauses", table.final_pauses, len(table.final_pieces)),
        ("final_sections", table.final_sections, len(table.final_pieces)),
    ):
        need(len(column) == size, f"{name} has {len(column)} elements; expected {size}")
    wrong = table.final_sections >= len(SECTIONS)
    need_none(wrong, lambda at: f"final {at} has the section {table.final_sections[at]} of {len(SECTIONS)}")
    has_weights, has_conditions = (any(len(column[at]) for column in columns) for at in (3, 2))
    need(has_conditions == (settings.features > 0), f"there are {settings.features} features, and conditions: {has_conditions}")
    for noun, pieces, conditions, weights in columns:
        need_none(pieces >= settings.pieces, lambda at: f"{noun} {at} has the piece {pieces[at]} of {settings.pieces}")  # noqa: B023
        count = len(table.condition_ends)
        need_none(conditions >= count, lambda at: f"{noun} {at} has the condition {conditions[at]} of {count}")  # noqa: B023
        for name, column, is_needed in (("conditions", conditions, has_conditions), ("weights", weights, has_weights)):
            expected = len(pieces) if is_needed else 0
            need(len(column) == expected, f"there are {len(column)} {name} of {noun}s; expected {expected}")
        need_none(~np.isfinite(weights), lambda at: f"{noun} {at} has the weight {weights[at]}")  # noqa: B023


def _prove_targets(table: Any, is_state: Array, targets: Array, marks: Array, name: Callable[[int], str]) -> None:
    """Prove that arcs lead to states, and are marked exactly if the state has arcs that read nothing."""
    need_none(~is_state[np.minimum(targets, len(is_state) - 1)], lambda arc: f"{name(arc)} leads to {targets[arc]}, which is not a state")
    has_epsilon = ENTRY.labels_of(table.entries[targets + ENTRY.first + EPSILON]) == EPSILON
    need_none(marks != has_epsilon, lambda arc: f"{name(arc)} is marked {marks[arc]}, and state {targets[arc]} is not")


def prove_pauses(table: Any) -> None:
    """Prove that at most `MAX_PAUSES` arcs in a row read nothing: each round removes such arcs that lead to states without such arcs."""
    alone, slots = _divided(table, np.flatnonzero(ENTRY.labels_of(table.entries) == EPSILON))
    firsts, counts = _targets_and_values(table, slots)
    outside = (table.arcs[spread(firsts, counts)] & np.uint64((1 << HAS_EPSILON) - 1)).astype(np.int64)
    sources = np.concatenate([alone - ENTRY.first, np.repeat(slots - ENTRY.first, counts)])
    targets = np.concatenate([_targets_and_values(table, alone)[0], outside])
    states, numbers = np.unique(np.concatenate([sources, targets]), return_inverse=True)
    sources, targets = numbers[: len(sources)], numbers[len(sources) :]
    for _ in range(MAX_PAUSES):
        if not len(sources):
            break
        goes_on = np.zeros(len(states), np.bool_)
        goes_on[sources] = True
        kept = goes_on[targets]
        sources, targets = sources[kept], targets[kept]
    first = states[sources].min(initial=len(table.entries))
    need(not len(sources), f"more than {MAX_PAUSES} arcs in a row read nothing, from state {first}")
