"""Minimization of machines, after the removal of ε-arcs and determinization."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fst.automata.refinement import classes_of
from fst.compile.algebra.arcs import FIRST_SYMBOL, Arcs, Columns, make
from fst.compile.algebra.connect import connect
from fst.compile.algebra.forms.determinize import determinize, encoded, is_deterministic
from fst.compile.algebra.forms.epsilon import lightest, remove_epsilon
from fst.compile.algebra.kernels.room import REMEDY, SizeError
from fst.compile.algebra.shortest import push, topological_order

MANY_SETS = 4
QUANTA = 2.0**17  # weights are equal if they are equal in units of 2⁻¹⁷


def minimize(arcs: Arcs, most: int | None = None) -> Arcs:
    """The deterministic machine with the fewest states; see `determinize`. Weights are pushed towards the start."""
    arcs = push(arcs if is_deterministic(arcs) else determinize(arcs, most))
    return _merged(arcs, _arc_labels(arcs)) if arcs.states else arcs


def minimize_any(arcs: Arcs) -> Arcs:
    """A machine with the same paths, for every machine; `minimize` has no result if a string leads to two cycles of different weights.

    The result is the smallest one in which a pair of labels counts as one label. In a machine with cycles and weights, a pair of labels and
    its weight count as one label.
    """
    arcs = remove_epsilon(arcs)
    if arcs.weight is None or topological_order(arcs) is not None:
        return minimize(arcs)
    pairs = encoded(arcs)
    weights, ranks = np.unique(arcs.weight, return_inverse=True)
    codes, labels = np.unique(pairs.labels.astype(np.int64) * len(weights) + ranks, return_inverse=True)
    if len(codes) >= FIRST_SYMBOL:
        raise SizeError(f"the machine has {len(codes):,} labels with different weights; expected at most {FIRST_SYMBOL:,}", REMEDY)
    acceptor = make(arcs.sources, labels + 1, labels + 1, arcs.target, None, arcs.final, arcs.start)
    smaller = merge_states(determinize(acceptor))
    pair, rank = np.divmod(codes[smaller.ilabel - 1], len(weights))
    columns = Columns(smaller.sources, pairs.ilabel[pair], pairs.olabel[pair], smaller.target, weights[rank])
    return make(*lightest(columns), smaller.final, smaller.start, arcs.symbols, arcs.unit)


def reduce_states(arcs: Arcs) -> Arcs:
    """A machine with the same paths: `minimize`, or if its deterministic form has many more states than the machine, `merge_states`."""
    try:
        return minimize(arcs, MANY_SETS * arcs.states)
    except SizeError:
        return merge_states(remove_epsilon(arcs))


def merge_states(arcs: Arcs) -> Arcs:
    """The trimmed machine in which states with the same arcs are merged. It has the same paths, and never more states, even if
    determinization would be too large.

    Arcs that read and write nothing are treated like other arcs. The arcs of a state with the same labels are distinguished by their order,
    so some states with the same paths are not merged.
    """
    arcs = connect(arcs)
    if not arcs.states:
        return arcs
    labels, sources = _arc_labels(arcs).astype(np.int64), arcs.sources
    order = np.lexsort((arcs.target, labels, sources))
    firsts = np.flatnonzero(np.diff(sources[order], prepend=-1) | np.diff(labels[order], prepend=-1))
    ranks = np.empty(arcs.arcs, np.int64)
    ranks[order] = np.arange(arcs.arcs) - np.repeat(firsts, np.diff(firsts, append=arcs.arcs))
    return _merged(arcs, np.unique(labels << 32 | ranks, return_inverse=True)[1].astype(np.int32))


def _merged(arcs: Arcs, labels: NDArray[np.int32]) -> Arcs:
    """The machine with equivalent states merged. No state has two arcs with the same number in `labels`, and all states are trimmed."""
    finals = np.unique(_quantized(arcs.final), return_inverse=True)[1].astype(np.int32)
    representatives, numbers = classes_of(finals, arcs.sources, labels, arcs.target)
    kept = np.zeros(arcs.states, np.bool_)
    kept[representatives] = True
    kept_arcs = kept[arcs.sources]
    counts = np.diff(arcs.row_start)[representatives]
    weight = arcs.weights[kept_arcs]
    return Arcs(
        np.concatenate([[0], np.cumsum(counts)]),
        arcs.ilabel[kept_arcs],
        arcs.olabel[kept_arcs],
        numbers[arcs.target[kept_arcs]],
        weight if weight.any() else None,
        arcs.final[representatives],
        int(numbers[arcs.start]),
        arcs.symbols,
        arcs.unit,
    )


def _arc_labels(arcs: Arcs) -> NDArray[np.int32]:
    """int32[arcs], a number for each pair of labels and weight."""
    labels = encoded(arcs).labels
    if arcs.weight is None:
        return labels
    weights = np.unique(_quantized(arcs.weight), return_inverse=True)[1]
    numbers: NDArray[np.int32] = np.unique(labels.astype(np.int64) << 32 | weights, return_inverse=True)[1].astype(np.int32)
    return numbers


def _quantized(weights: NDArray[np.float32]) -> NDArray[np.float64]:
    return np.floor(weights.astype(np.float64) * QUANTA + 0.5)
