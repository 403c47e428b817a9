"""The methods of machines as functions, which leave their argument unchanged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fst.bridge.pynini.machine import Fst, FstLike
from fst.bridge.pynini.operations import one
from fst.bridge.pynini.weights import WeightLike


def arcsort(fst: FstLike, sort_type: str = "ilabel") -> Fst:
    """A copy; see `Fst.arcsort`."""
    return one(fst).copy().arcsort(sort_type)


def connect(fst: FstLike) -> Fst:
    """The machine without states that are on no path."""
    return one(fst).copy().connect()


def invert(fst: FstLike) -> Fst:
    """The machine with inputs and outputs exchanged."""
    return one(fst).copy().invert()


def minimize(fst: FstLike, delta: float = 0, allow_nondet: bool = False) -> Fst:
    """The minimal machine; see `Fst.optimize`."""
    return one(fst).copy().minimize()


def optimize(fst: FstLike, compute_props: bool = False) -> Fst:
    """A smaller machine with the same paths; see `Fst.optimize`."""
    return one(fst).copy().optimize()


def project(fst: FstLike, project_type: str) -> Fst:
    """The acceptor of inputs or outputs; see `Fst.project`."""
    return one(fst).copy().project(project_type)


def relabel_pairs(
    fst: FstLike, ipairs: Iterable[tuple[int, int]] | None = None, opairs: Iterable[tuple[int, int]] | None = None
) -> Fst:
    """The machine with other labels; see `Fst.relabel_pairs`."""
    return one(fst).copy().relabel_pairs(ipairs, opairs)


def rmepsilon(
    fst: FstLike, queue_type: str = "auto", connect: bool = True, weight: WeightLike | None = None, **options: Any
) -> Fst:
    """The machine without arcs that read and write nothing; see `Fst.rmepsilon`."""
    return one(fst).copy().rmepsilon(queue_type, connect, weight)


def topsort(fst: FstLike) -> Fst:
    """The machine with states numbered in the order of arcs; see `Fst.topsort`."""
    return one(fst).copy().topsort()
