"""Small machines: insertion, deletion, weights and lists. The module ``pynini.lib.pynutil``."""

from __future__ import annotations

from fst.bridge.pynini.machine import Fst, FstLike
from fst.bridge.pynini.operations import accep, concat, cross, one
from fst.bridge.pynini.weights import WeightLike


def add_weight(expr: FstLike, weight: WeightLike) -> Fst:
    """The machine with a weight added to every path.

    Raises:
        FstOpError: the weight belongs to another semiring.

    Examples:
        >>> list(add_weight("a", 2).paths().items())
        [('a', 'a', <tropical Weight 2>)]
    """
    machine = one(expr)
    return accep("", weight, machine.arc_type()).concat(machine)


def insert(expr: FstLike, weight: WeightLike | None = None) -> Fst:
    """The machine that reads nothing and writes the strings of an acceptor."""
    return _weighted(cross("", expr), weight)


def delete(expr: FstLike, weight: WeightLike | None = None) -> Fst:
    """The machine that reads the strings of an acceptor and writes nothing."""
    return _weighted(cross(expr, ""), weight)


def join(expr: FstLike, sep: FstLike) -> Fst:
    """One or more strings of a machine, with a separator between each two.

    Examples:
        >>> list((join("a", ",") @ "a,a").paths().ostrings())
        ['a,a']
    """
    return concat(expr, concat(sep, expr).closure())


def _weighted(machine: Fst, weight: WeightLike | None) -> Fst:
    return machine if weight is None else add_weight(machine, weight)
