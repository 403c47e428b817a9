"""Operations that keep states and arcs: inversion and projection."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from fst.compile.algebra.arcs import Arcs, make
from fst.errors import VocabularyError, not_one_of

Side = Literal["input", "output"]


def invert(arcs: Arcs) -> Arcs:
    """The machine that reads what `arcs` writes, and writes what it reads."""
    return make(arcs.sources, arcs.olabel, arcs.ilabel, arcs.target, arcs.weight, arcs.final, arcs.start, arcs.symbols, arcs.unit)


def project(arcs: Arcs, side: Side) -> Arcs:
    """The acceptor of all inputs, or of all outputs.

    Raises:
        VocabularyError: `side` is not "input" or "output".
    """
    if side == "input":
        return replace(arcs, olabel=arcs.ilabel)
    if side == "output":
        inverted = invert(arcs)
        return replace(inverted, olabel=inverted.ilabel)
    raise VocabularyError(not_one_of("side", side, ("input", "output")))
