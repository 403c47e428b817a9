"""Complement and difference of acceptors."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from fst.compile.algebra.arcs import Arcs, make
from fst.compile.algebra.compose import need_acceptor, subtract
from fst.compile.algebra.forms.determinize import determinize
from fst.compile.algebra.rational import without_weights
from fst.compile.algebra.symbols import Symbols, with_shared_symbols


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
