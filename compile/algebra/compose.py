"""Composition, intersection and difference: products of two machines."""

from __future__ import annotations

from collections.abc import Collection
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from fst.automata.flags import FLAG
from fst.automata.hashing import hashes_of, slots_of
from fst.compile.algebra.arcs import EPSILON, FIRST_SYMBOL, OTHER, Arcs, empty
from fst.compile.algebra.connect import connect
from fst.compile.algebra.kernels.room import (
    ARCS,
    COMPLETE,
    MAX_ARCS,
    MORE_STATES,
    ONLY_EPSILON,
    SOME_EPSILON,
    STATES,
    Rows,
    counters,
    empty_rows,
    more_arcs,
    more_states,
    rows_of,
)
from fst.compile.algebra.other import after_composition, before_composition, has_other, without_other
from fst.compile.algebra.symbols import with_shared_symbols
from fst.core.jit import Deferred
from fst.errors import UnsupportedError

FIRST_STATES = 1 << 10

extend = Deferred("fst.compile.algebra.kernels.compose", "compose")


def compose(first: Arcs, second: Arcs) -> Arcs:
    """The trimmed machine that gives the output of the first machine to the second.

    A flag diacritic that only one of the machines names is not given to the other: it stays at its place on the path, as in
    ``hfst-compose --harmonize-flags``.
    """
    flags, others = _flags(first), _flags(second)
    return _composed(first, second, flags - others, others - flags)


def _composed(first: Arcs, second: Arcs, of_first: Collection[str] = (), of_second: Collection[str] = ()) -> Arcs:
    """The composition in which some symbols of each machine are not given to the other."""
    first, second = with_shared_symbols([first, second])
    if not first.states or not second.states:
        return empty(first.symbols, first.unit)
    is_open = has_other(first) or has_other(second)
    pair = before_composition(first, second) if is_open else (rows_of(first), rows_of(second))
    pair = _withheld(pair[0], "olabel", first, of_first), _withheld(pair[1], "ilabel", second, of_second)
    keys, rows = products(*pair, np.isfinite(first.final), (first.start, second.start), "composition")
    final = first.final[_first(keys)] + second.final[_second(keys)]
    if of_second:
        rows = _sorted(rows)
    if not is_open:
        return connect(_machine(first, rows, final))
    found = connect(after_composition(rows, final, first.symbols))
    return found if has_other(found) else without_other(found)


def _flags(arcs: Arcs) -> set[str]:
    """The flag diacritics that a machine names: all its symbols, if it has arcs for any other symbol; else those on arcs."""
    labels = {name: FIRST_SYMBOL + number for number, name in enumerate(arcs.symbols) if FLAG.fullmatch(name)}
    if OTHER in arcs.symbols or not labels:
        return {*labels}
    is_used = np.isin([*labels.values()], np.concatenate([arcs.ilabel, arcs.olabel]))
    return {*compress(labels, is_used.tolist())}


def _withheld(rows: Rows, side: str, machine: Arcs, names: Collection[str]) -> Rows:
    """The arcs of a machine with the negative label of each name on a side; see the kernel."""
    if not names:
        return rows
    labels = getattr(rows, side)
    chosen = np.isin(labels, [FIRST_SYMBOL + number for number, name in enumerate(machine.symbols) if name in names])
    return _sorted(rows._replace(**{side: np.where(chosen, -labels, labels)}))


def _sorted(rows: Rows) -> Rows:
    """The arcs sorted by the label that they read, within each state."""
    sources = np.repeat(np.arange(len(rows.row_start) - 1), np.diff(rows.row_start))
    order = np.lexsort((rows.ilabel, sources))
    return Rows._make([rows.row_start, *(column[order] for column in rows[1:])])


def intersect(first: Arcs, second: Arcs) -> Arcs:
    """The acceptor of all strings that both acceptors accept; their weights are added."""
    for machine in (first, second):
        need_acceptor(machine)
    return _composed(first, second)


def need_acceptor(arcs: Arcs) -> None:
    """Raise an UnsupportedError if a machine is not an acceptor."""
    if not arcs.is_acceptor:
        raise UnsupportedError("a machine has outputs of its own; expected an acceptor: project the machine to its input or output first")


def subtract(first: Arcs, second: Arcs) -> Arcs:
    """The acceptor of all strings that an acceptor accepts and the second does not; the second is deterministic, without weights and ε."""
    first, second = with_shared_symbols([first, second])
    if not first.states:
        return first
    sink = second.states  # the sink has no arcs: the kernel treats it as a state that reads everything
    rows = rows_of(second)._replace(row_start=np.append(second.row_start, second.arcs))
    starts = first.start, second.start if second.states else sink
    keys, rows = products(rows_of(first), rows, np.isfinite(first.final), starts, "difference", sink)
    is_accepted = np.append(np.isfinite(second.final), False)[_second(keys)]
    final = np.where(is_accepted, np.float32(np.inf), first.final[_first(keys)])
    return connect(_machine(first, rows, final))


def products(
    first: Rows, second: Rows, is_final: NDArray[np.bool_], starts: tuple[int, int], operation: str, sink: int = -1
) -> tuple[NDArray[np.int64], Rows]:
    """The pairs of states that can be reached, as keys (see the kernel), and their arcs. `is_final` belongs to the first machine; `sink` is
    a state of the second machine that reads everything, or -1.
    """
    keys, counts = np.empty(FIRST_STATES, np.int64), counters()
    rows = empty_rows(FIRST_STATES, min(len(first.target) + len(second.target) + FIRST_STATES, MAX_ARCS))
    keys[0] = starts[0] << 32 | starts[1] << 1
    slots = slots_of(hashes_of(keys[:1]), 2 * len(keys))
    counts[STATES] = 1
    inputs = first, _kinds(first, is_final), second, sink
    while (result := extend.call(*inputs, keys, slots, rows, counts)) != COMPLETE:
        if result == MORE_STATES:
            keys, slots, rows = more_states(keys, rows, counts, operation)
        else:
            rows = more_arcs(rows, counts, operation)
    states, arcs = counts[STATES], counts[ARCS]
    return keys[:states], Rows._make([rows.row_start[: states + 1], *(column[:arcs] for column in rows[1:])])


def _kinds(rows: Rows, is_final: NDArray[np.bool_]) -> NDArray[np.int8]:
    """int8[states]: whether some, or all, of a state's arcs write nothing; see the kernel."""
    silent = np.diff(np.concatenate([[0], np.cumsum(rows.olabel <= EPSILON)])[rows.row_start])
    only = (silent == np.diff(rows.row_start)) & ~is_final
    return np.where(silent == 0, 0, np.where(only, ONLY_EPSILON, SOME_EPSILON)).astype(np.int8)


def _machine(first: Arcs, rows: Rows, final: NDArray[np.float32]) -> Arcs:
    """The machine with the arcs of pairs; pair 0 is the start."""
    weight = rows.weight if rows.weight.any() else None
    return Arcs(rows.row_start, rows.ilabel, rows.olabel, rows.target, weight, final, 0, first.symbols, first.unit)


def _first(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    return keys >> 32


def _second(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    return (keys & 0xFFFFFFFF) >> 1
