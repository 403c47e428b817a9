"""Equivalence of acceptors, and of those transducers for which it is decidable."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.compile.algebra.arcs import Arcs, make
from fst.compile.algebra.connect import connect
from fst.compile.algebra.decisions.functional import is_functional
from fst.compile.algebra.forms.determinize import determinize, is_deterministic
from fst.compile.algebra.rational import project, union
from fst.compile.algebra.shortest import Labels, paths, push
from fst.compile.algebra.symbols import with_shared_symbols
from fst.errors import UnsupportedError

MAX_PAIRS = 1 << 10  # pairs of input and output that are compared one by one


def is_equivalent(first: Arcs, second: Arcs) -> bool:
    """Whether two machines have the same pairs of input and output, with the same weights (up to 2⁻¹⁰).

    In functional transducers, the input determines the output. So they are equivalent if their inputs have the same weights, and their
    union is functional. The equivalence of other transducers is undecidable in general. Those with few pairs are compared pair by pair;
    others are known to be equivalent if they are as acceptors of pairs of labels.
    """
    first, second = with_shared_symbols([first, second])
    if first.is_acceptor and second.is_acceptor:
        return _accept_the_same(first, second)
    functional = [is_functional(machine) for machine in (first, second)]
    if functional[0] != functional[1]:
        return False
    if all(functional):
        inputs = [project(machine, "input") for machine in (first, second)]
        return _accept_the_same(*inputs) and is_functional(union([first, second]))
    return _have_the_same_pairs(first, second)


def _have_the_same_pairs(first: Arcs, second: Arcs) -> bool:
    """Whether two transducers have the same pairs, decided for some only; see `is_equivalent`."""
    from fst.compile.algebra.kernels.equivalence import TOLERANCE

    listed, others = _listed(first), _listed(second)
    if len(listed) != len(others):
        return False
    if len(listed) <= MAX_PAIRS:
        return listed.keys() == others.keys() and all(abs(weight - others[pair]) <= TOLERANCE for pair, weight in listed.items())
    if _accept_the_same(*_of_pairs(first, second)):
        return True
    raise UnsupportedError(
        "the transducers have several outputs for an input, and many pairs; their equivalence is undecidable; compare acceptors, or "
        "transducers with one output for each input"
    )


def _listed(arcs: Arcs) -> dict[tuple[Labels, Labels], float]:
    """The pairs of a machine with their weights; the first `MAX_PAIRS` + 1 of them."""
    return {(read, written): weight for read, written, weight in paths(arcs, MAX_PAIRS + 1)}


def _of_pairs(*machines: Arcs) -> list[Arcs]:
    """The acceptors of the pairs of labels of some machines, which share the numbers of pairs. The pair of ε and ε stays ε."""
    keys = [machine.ilabel.astype(np.int64) << 32 | machine.olabel for machine in machines]
    numbers = {pair: number for number, pair in enumerate(np.unique(np.concatenate([[0], *keys])).tolist())}
    found = []
    for machine, pairs in zip(machines, keys, strict=True):
        labels = np.array([numbers[pair] for pair in pairs.tolist()], np.int64)
        found.append(make(machine.sources, labels, labels, machine.target, machine.weight, machine.final, machine.start))
    return found


class _Rows(NamedTuple):
    row_start: NDArray[np.int64]
    label: NDArray[np.int32]
    target: NDArray[np.int32]
    weight: NDArray[np.float32]


def _accept_the_same(first: Arcs, second: Arcs) -> bool:
    from fst.compile.algebra.kernels.equivalence import agree

    first, second = (push(connect(machine) if is_deterministic(machine) else determinize(machine)) for machine in (first, second))
    if not first.states or not second.states:
        return first.states == second.states
    rows, others = (_Rows(machine.row_start, machine.ilabel, machine.target, machine.weights) for machine in (first, second))
    states = first.states + second.states
    parents, queue = np.arange(states, dtype=np.int32), np.empty(2 * states, np.int32)
    final = np.concatenate([first.final, second.final])
    return bool(agree(rows, others, final, np.array([first.start, second.start]), parents, queue))
