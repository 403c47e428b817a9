"""Complement, difference and equivalence of acceptors; equivalence of functional transducers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.compile.algebra.arcs import Arcs, make
from fst.compile.algebra.compose import need_acceptor, subtract
from fst.compile.algebra.connect import connect
from fst.compile.algebra.determinize import determinize, is_deterministic
from fst.compile.algebra.functional import is_functional
from fst.compile.algebra.rational import project, union, without_weights
from fst.compile.algebra.shortest import push
from fst.compile.algebra.symbols import Symbols, with_shared_symbols
from fst.errors import UnsupportedError


def complement(arcs: Arcs, alphabet: Iterable[str] | None = None) -> Arcs:
    """The acceptor of all strings over an alphabet that an acceptor does not accept with any weight.

    Args:
        arcs: the acceptor.
        alphabet: characters and symbols; None: those on the arcs.

    Raises:
        UnsupportedError: the machine has outputs of its own, or determinization gives too many states.
    """
    symbols = Symbols(arcs.symbols, arcs.unit)
    labels = np.unique(arcs.ilabel[arcs.ilabel != 0] if alphabet is None else [symbols.label(name) for name in alphabet]).astype(np.int64)
    count = len(labels)
    everything = make([0] * count, labels, labels, [0] * count, None, [0], 0, symbols.names, arcs.unit)
    return difference(everything, arcs)


def difference(first: Arcs, second: Arcs) -> Arcs:
    """The acceptor of all strings of the first acceptor, with their weights, that the second does not accept with any weight.

    Raises:
        UnsupportedError: a machine has outputs of its own, or the result has too many states.
    """
    first, second = with_shared_symbols([first, second])
    for machine in (first, second):
        need_acceptor(machine)
    return subtract(first, determinize(without_weights(second)))


def is_equivalent(first: Arcs, second: Arcs) -> bool:
    """Whether two machines have the same pairs of input and output, with the same weights (up to 2⁻¹⁰).

    Raises:
        UnsupportedError: a transducer is not functional (equivalence is then undecidable), or is functional and has weights; or
            determinization gives too many states.
    """
    first, second = with_shared_symbols([first, second])
    if first.is_acceptor and second.is_acceptor:
        return _accept_the_same(first, second)
    if first.is_weighted or second.is_weighted:
        raise UnsupportedError("a transducer has weights; expected acceptors, or functional transducers without weights")
    if not is_functional(first) or not is_functional(second):
        raise UnsupportedError("a transducer is not functional; expected acceptors, or transducers with one output for each input")
    inputs = [project(machine, "input") for machine in (first, second)]
    return _accept_the_same(*inputs) and is_functional(union([first, second]))


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
