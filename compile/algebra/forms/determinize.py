"""Determinization of acceptors, weighted or not. In a transducer, a pair of labels counts as one label."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.hashing import longer, slots_of
from fst.compile.algebra.arcs import EPSILON, Arcs
from fst.compile.algebra.compose import products
from fst.compile.algebra.forms.epsilon import remove_epsilon
from fst.compile.algebra.kernels.room import (
    ARCS,
    BUFFER,
    COMPLETE,
    MAX_ARCS,
    MAX_STATES,
    MORE_ARCS,
    MORE_BUFFER,
    MORE_MEMBERS,
    STATES,
    Rows,
    counters,
    grown,
)
from fst.compile.algebra.shortest import improved
from fst.core.jit import Deferred
from fst.errors import UnsupportedError

FIRST_STATES = 1 << 10
MANY_SETS = 16  # sets for each state
OPERATION = "determinization"

begin, extend = (Deferred("fst.compile.algebra.kernels.determinize", name) for name in ("begin", "determinize"))


class Encoded(NamedTuple):
    """Labels of an acceptor for pairs of labels.

    Attributes:
        labels: int32[arcs], for each arc the number of its pair of labels; numbers are in the order of pairs.
        ilabel, olabel: int32[pairs].
    """

    labels: NDArray[np.int32]
    ilabel: NDArray[np.int32]
    olabel: NDArray[np.int32]


class _Machine(NamedTuple):
    row_start: NDArray[np.int64]
    codes: NDArray[np.int64]
    weight: NDArray[np.float64]
    final: NDArray[np.float64]


class _Pool(NamedTuple):
    members: NDArray[np.int32]
    residuals: NDArray[np.float64]
    starts: NDArray[np.int64]
    hashes: NDArray[np.uint64]
    slots: NDArray[np.int32]


class _Buffer(NamedTuple):
    codes: NDArray[np.int64]
    weights: NDArray[np.float64]
    runs: NDArray[np.int64]


class _Output(NamedTuple):
    row_start: NDArray[np.int64]
    label: NDArray[np.int32]
    target: NDArray[np.int32]
    weight: NDArray[np.float32]
    final: NDArray[np.float64]


def encoded(arcs: Arcs) -> Encoded:
    """Numbers for the pairs of labels of a machine; for an acceptor, the labels themselves."""
    if arcs.is_acceptor:
        labels = np.arange(int(arcs.ilabel.max(initial=0)) + 1, dtype=np.int32)
        return Encoded(arcs.ilabel, labels, labels)
    pairs, numbers = np.unique(arcs.ilabel.astype(np.int64) << 32 | arcs.olabel, return_inverse=True)
    return Encoded(numbers.astype(np.int32), (pairs >> 32).astype(np.int32), (pairs & 0xFFFFFFFF).astype(np.int32))


def is_deterministic(arcs: Arcs) -> bool:
    """Whether no state has two arcs with the same pair of labels, and no arc reads and writes nothing."""
    keys = arcs.sources.astype(np.int64) << 32 | encoded(arcs).labels
    keys = keys if arcs.is_acceptor else np.sort(keys)
    return not (np.diff(keys) == 0).any() and not ((arcs.ilabel == EPSILON) & (arcs.olabel == EPSILON)).any()


def determinize(arcs: Arcs, most: int | None = None) -> Arcs:
    """A machine with the same paths in which no state has two arcs with the same labels. The states of the result are numbered breadth
    first. A result of more than `most` states and more than `FIRST_STATES` is a SizeError.
    """
    arcs = remove_epsilon(arcs)
    if not arcs.states:
        return arcs
    labels = encoded(arcs)
    output = _determinized(_machine(arcs, labels.labels), arcs.start, lambda: need_twins(arcs, labels.labels), most or MAX_STATES)
    weight = output.weight if output.weight.any() else None
    final = output.final.astype(np.float32)
    reads, writes = labels.ilabel[output.label], labels.olabel[output.label]
    return Arcs(output.row_start, reads, writes, output.target, weight, final, 0, arcs.symbols, arcs.unit)


def _machine(arcs: Arcs, labels: NDArray[np.int32]) -> _Machine:
    """The rows of a machine, sorted by (state, label, target)."""
    codes = labels.astype(np.int64) << 32 | arcs.target
    order = np.lexsort((codes, arcs.sources))
    return _Machine(arcs.row_start, codes[order], arcs.weights[order].astype(np.float64), arcs.final.astype(np.float64))


def need_twins(arcs: Arcs, labels: NDArray[np.int32]) -> None:
    """Refuse a trimmed machine in which one string leads to two states, and a second string leads from each state back to itself with
    different weights. The label 0 is the empty string.

    The residual of one of the two states then grows with each repetition. In the square of the machine, an arc weighs the difference of the
    weights of two arcs, so such a cycle or its mirror is negative (Mohri 1997, the twins property).
    """
    first = Rows(arcs.row_start, labels, labels, arcs.target, arcs.weights)
    keys, rows = products(first, first._replace(weight=-arcs.weights), np.isfinite(arcs.final), (arcs.start, arcs.start), "test of cycles")
    backwards = np.arange(len(keys) - 1, -1, -1, dtype=np.int32)
    try:
        improved(backwards, rows.row_start, rows.target, rows.weight, np.zeros(len(keys)))
    except UnsupportedError:
        raise UnsupportedError(
            "a string leads to two states with cycles of different weights, so determinization does not end; remove these cycles"
        ) from None


def _determinized(machine: _Machine, start: int, need_twins: Callable[[], None], most: int) -> _Output:
    """The sets that can be reached, and their arcs. A weighted machine with many more sets than states is tested by `need_twins`."""
    arcs = 2 * len(machine.codes) + FIRST_STATES
    pool = _Pool(
        np.empty(arcs, np.int32),
        np.empty(arcs),
        np.zeros(FIRST_STATES + 1, np.int64),
        np.zeros(FIRST_STATES, np.uint64),
        np.zeros(2 * FIRST_STATES, np.int32),
    )
    row_start, final = np.zeros(FIRST_STATES + 1, np.int64), np.empty(FIRST_STATES)
    output = _Output(row_start, np.empty(arcs, np.int32), np.empty(arcs, np.int32), np.empty(arcs, np.float32), final)
    buffer, counts = _buffer(FIRST_STATES, len(machine.final)), counters()
    begin.call(start, pool, counts)
    while (result := extend.call(machine, pool, buffer, output, counts)) != COMPLETE:
        if result == MORE_BUFFER:
            buffer = _buffer(2 * int(counts[BUFFER]), len(machine.final))
        elif result == MORE_ARCS:
            columns = (grown(column, MAX_ARCS, "arcs", counts, OPERATION) for column in output[1:4])
            output = _Output._make([output.row_start, *columns, output.final])
        elif result == MORE_MEMBERS:
            members, residuals = (grown(column, MAX_ARCS, "members of sets of states", counts, OPERATION) for column in pool[:2])
            pool = pool._replace(members=members, residuals=residuals)
        else:
            if machine.weight.any() and counts[STATES] > MANY_SETS * len(machine.final):
                need_twins()
            pool, output = _more_states(pool, output, counts, most)
    states, made = counts[STATES], counts[ARCS]
    return _Output._make([output.row_start[: states + 1], *(column[:made] for column in output[1:4]), output.final[:states]])


def _buffer(length: int, states: int) -> _Buffer:
    return _Buffer(np.empty((2, length), np.int64), np.empty((2, length)), np.empty(states + 1, np.int64))


def _more_states(pool: _Pool, output: _Output, counts: NDArray[np.int64], most: int) -> tuple[_Pool, _Output]:
    """Twice the room for states, at most `most`. The length of `slots` stays a power of two."""
    hashes = grown(pool.hashes, most, "states", counts, OPERATION)
    slots = slots_of(hashes[: counts[STATES]], 2 * len(pool.slots))
    pool = _Pool(pool.members, pool.residuals, longer(pool.starts, len(hashes) + 1), hashes, slots)
    row_start, final = longer(output.row_start, len(hashes) + 1), longer(output.final, len(hashes))
    return pool, output._replace(row_start=row_start, final=final)
