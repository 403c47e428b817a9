"""Removal of arcs that read and write nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fst.compile.algebra.arcs import EPSILON, Arcs, Columns, columns_of, joined, make
from fst.compile.algebra.connect import connect
from fst.compile.algebra.kernels.room import ARCS, COMPLETE, MAX_ARCS, MORE_ARCS, Rows, SizeError, counters, grown, rows_of
from fst.compile.algebra.shortest import finish_order, improved
from fst.core.jit import Deferred

STEPS, MAX_CALLS = 1 << 28, 32  # ε-arcs after which a call returns, and the maximum number of calls; a call takes some 0.3 s
OPERATION = "removal of ε-arcs"

close = Deferred("fst.compile.algebra.kernels.epsilon", "close")


def remove_epsilon(arcs: Arcs) -> Arcs:
    """A trimmed machine with the same paths and no arc that reads and writes nothing. Of equal arcs, the lightest is kept."""
    arcs = connect(arcs)
    silent = (arcs.ilabel == EPSILON) & (arcs.olabel == EPSILON)
    if not silent.any():
        return arcs
    epsilons, others = _rows(arcs, silent), _rows(arcs, ~silent)
    order = finish_order(arcs)
    improved(order, epsilons.row_start, epsilons.target, epsilons.weight, np.zeros(arcs.states))  # refuses negative cycles
    kept = np.zeros(arcs.states, np.bool_)
    kept[arcs.target[~silent]] = True
    kept[arcs.start] = True
    closing = np.flatnonzero(kept & (np.diff(epsilons.row_start) > 0)).astype(np.int32)
    added, final = _closed(arcs, closing, epsilons, others)
    own = columns_of(arcs, ~silent & kept[arcs.sources])
    return connect(make(*lightest(joined([own, added])), final, arcs.start, arcs.symbols, arcs.unit))


def _rows(arcs: Arcs, chosen: NDArray[np.bool_]) -> Rows:
    """The rows of the chosen arcs."""
    counts = np.bincount(arcs.sources[chosen], minlength=arcs.states)
    return Rows._make([np.concatenate([[0], np.cumsum(counts)]), *(column[chosen] for column in rows_of(arcs)[1:])])


def _closed(arcs: Arcs, closing: NDArray[np.int32], epsilons: Rows, others: Rows) -> tuple[Columns, NDArray[np.float64]]:
    """The arcs that states get from their ε-closures, and all final weights."""
    final = np.stack([arcs.final, arcs.final], axis=1).astype(np.float64)
    distance, queued = np.full(arcs.states, np.inf), np.zeros(arcs.states, np.bool_)
    scratch = np.empty(arcs.states + 1, np.int32), np.empty(arcs.states, np.int32)
    room = min(arcs.arcs + 1, MAX_ARCS)
    output, counts, calls = Columns._make(np.empty(room, column.dtype) for column in columns_of(arcs)), counters(), 0
    while (result := close.call(closing, epsilons, others, final, distance, queued, *scratch, STEPS, output, counts)) != COMPLETE:
        if result == MORE_ARCS:
            output = Columns._make(grown(column, MAX_ARCS, "arcs", counts, OPERATION) for column in output)
        elif (calls := calls + 1) == MAX_CALLS:
            fault = f"the {OPERATION} follows more than {MAX_CALLS * STEPS:,} of them; expected fewer"
            raise SizeError(fault, "join the states of cycles of ε-arcs")
    return Columns._make(column[: counts[ARCS]] for column in output), final[:, 1]


def lightest(arcs: Columns) -> Columns:
    """The lightest arc of each group that differs only in weight."""
    first, second = arcs.source.astype(np.int64) << 32 | arcs.ilabel, arcs.olabel.astype(np.int64) << 32 | arcs.target
    order = np.lexsort((arcs.weight, second, first))
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (np.diff(first[order]) != 0) | (np.diff(second[order]) != 0)
    kept = np.sort(order[is_new])
    return Columns._make(column[kept] for column in arcs)
