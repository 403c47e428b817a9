"""Optimization of every machine: minimization, in which weights on cycles are parts of labels."""

from __future__ import annotations

import numpy as np

from fst.compile.algebra.arcs import FIRST_SYMBOL, Arcs, make
from fst.compile.algebra.forms.determinize import determinize, encoded
from fst.compile.algebra.forms.epsilon import lightest, remove_epsilon
from fst.compile.algebra.forms.minimize import merge_states, minimize
from fst.compile.algebra.kernels.room import REMEDY, SizeError
from fst.compile.algebra.shortest import finish_order


def optimize(arcs: Arcs) -> Arcs:
    """A machine with the same paths, for every machine; `minimize` has no result if a string leads to two cycles of different weights.

    The result is the smallest one in which a pair of labels counts as one label. In a machine with cycles and weights, a pair of labels and
    its weight count as one label.
    """
    arcs = remove_epsilon(arcs)
    if arcs.weight is None or is_acyclic(arcs):
        return minimize(arcs)
    pairs = encoded(arcs)
    weights, ranks = np.unique(arcs.weight, return_inverse=True)
    codes, labels = np.unique(pairs.labels.astype(np.int64) * len(weights) + ranks, return_inverse=True)
    if len(codes) >= FIRST_SYMBOL:
        raise SizeError(f"the machine has {len(codes):,} labels with different weights; expected at most {FIRST_SYMBOL:,}", REMEDY)
    acceptor = make(arcs.sources, labels + 1, labels + 1, arcs.target, None, arcs.final, arcs.start)
    smaller = merge_states(determinize(acceptor))
    pair, rank = np.divmod(codes[smaller.ilabel - 1], len(weights))
    columns = smaller.sources, pairs.ilabel[pair], pairs.olabel[pair], smaller.target, weights[rank]
    return make(*lightest(*columns), smaller.final, smaller.start, arcs.symbols, arcs.unit)


def is_acyclic(arcs: Arcs) -> bool:
    """Whether a machine, all states of which can be reached, has no cycle."""
    place = np.empty(arcs.states, np.int64)
    place[finish_order(arcs)] = np.arange(arcs.states)
    return bool((place[arcs.target] < place[arcs.sources]).all())
