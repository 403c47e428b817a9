"""Operations on machines as sets of strings or pairs: complement, difference, cross product, priority union, and sets of paths."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fst.compile.algebra.arcs import EPSILON, OTHER, Arcs, Unit, make
from fst.compile.algebra.compose import compose, need_acceptor, subtract
from fst.compile.algebra.forms.determinize import determinize
from fst.compile.algebra.rational import concatenate, project, union, without_inputs, without_outputs, without_weights
from fst.compile.algebra.symbols import Symbols, with_shared_symbols


def complement(arcs: Arcs, alphabet: Iterable[str] | None = None) -> Arcs:
    """The acceptor of all strings over an alphabet that an acceptor does not accept with any weight.

    Args:
        alphabet: characters and symbols; None: all.
    """
    symbols = Symbols(unit=arcs.unit)
    labels = np.unique([symbols.label(name) for name in ([OTHER] if alphabet is None else alphabet)]).astype(np.int64)
    return difference(_everything(labels, symbols.names, arcs.unit), arcs)


def _everything(labels: ArrayLike, symbols: tuple[str, ...], unit: Unit) -> Arcs:
    """The acceptor of all strings of some labels."""
    nothing = np.zeros(len(np.asarray(labels)), np.int64)
    return make(nothing, labels, labels, nothing, None, [0], 0, symbols, unit)


def difference(first: Arcs, second: Arcs) -> Arcs:
    """The acceptor of the first acceptor's strings, with their weights, without the strings that the second accepts with any weight."""
    first, second = with_shared_symbols([first, second])
    for machine in (first, second):
        need_acceptor(machine)
    return subtract(first, determinize(without_weights(second)))


def cross(first: Arcs, second: Arcs) -> Arcs:
    """The transducer from each string of an acceptor to each string of another; weights are added."""
    for machine in (first, second):
        need_acceptor(machine)
    return concatenate(without_outputs(first), without_inputs(second))


def priority_union(first: Arcs, second: Arcs) -> Arcs:
    """All pairs of the first machine, and the pairs of the second whose input the first does not read."""
    first, second = with_shared_symbols([first, second])
    labels = np.setdiff1d(second.ilabel, [EPSILON])
    others = difference(_everything(labels, second.symbols, second.unit), project(first, "input"))
    return union([first, compose(others, second)])


def on_paths(operation: Callable[[Arcs, Arcs], Arcs], first: Arcs, second: Arcs) -> Arcs:
    """The result of an operation on acceptors, applied to two transducers as acceptors of sequences of pairs of labels.

    Examples:
        >>> machine = make([0, 0], [97, 99], [98, 99], [1, 1], None, [np.inf, 0], 0)
        >>> copy = make([0], [99], [99], [1], None, [np.inf, 0], 0)
        >>> found = on_paths(difference, machine, copy)
        >>> found.ilabel.tolist(), found.olabel.tolist()
        ([97], [98])
    """
    shared = with_shared_symbols([first, second])
    acceptors, pairs = of_pairs(*shared)
    found = operation(*acceptors)
    read, write = pairs[found.ilabel] >> 32, pairs[found.ilabel] & 0xFFFFFFFF
    return make(found.sources, read, write, found.target, found.weight, found.final, found.start, shared[0].symbols, first.unit)


def of_pairs(*machines: Arcs) -> tuple[list[Arcs], NDArray[np.int64]]:
    """The acceptors of the machines' pairs of labels; and int64[labels], the pair of each of their labels, packed as
    ``read << 32 | write``. Equal pairs have the same label in all acceptors. The pair of ε and ε stays ε.
    """
    keys = [machine.ilabel.astype(np.int64) << 32 | machine.olabel for machine in machines]
    pairs = np.unique(np.concatenate([[EPSILON], *keys]))
    columns = [np.searchsorted(pairs, key) for key in keys]
    return [
        make(machine.sources, labels, labels, machine.target, machine.weight, machine.final, machine.start)
        for machine, labels in zip(machines, columns, strict=True)
    ], pairs
