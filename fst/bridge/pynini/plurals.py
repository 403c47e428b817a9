"""The function of ``pynini.examples.plurals`` that grammars import."""

from __future__ import annotations

from fst.bridge.pynini.machine import Fst
from fst.bridge.pynini.operations import compose, difference, union


def _priority_union(q: Fst, r: Fst, sigma: Fst) -> Fst:
    """The first machine for all inputs that it reads, and the second machine for all others."""
    return union(q, compose(difference(sigma, q.copy().project("input")), r))
