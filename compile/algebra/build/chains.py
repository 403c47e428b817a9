"""Machines from arcs that write strings: a string of several labels becomes a chain of arcs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fst.compile.algebra.arcs import EPSILON, Arcs, Unit, make


class Chains:
    """Arcs that are added one by one. States are numbered in the order in which they are made, including those inside chains.

    Examples:
        >>> chains = Chains()
        >>> start, end = chains.state(), chains.state(0.0)
        >>> chains.add(start, 97, [98, 99], end)
        >>> machine = chains.machine()
        >>> machine.ilabel.tolist(), machine.olabel.tolist()
        ([97, 0], [98, 99])
    """

    def __init__(self) -> None:
        self._arcs, self._final = list[tuple[int, int, int, int, float]](), list[float]()

    def state(self, final: float = np.inf) -> int:
        """Make a state with a final weight. The first state made is the start."""
        self._final.append(final)
        return len(self._final) - 1

    def end(self, state: int, weight: float) -> None:
        """Make a state final, so that paths can end there."""
        self._final[state] = weight

    def add(self, source: int, read: int, written: Sequence[int], target: int, weight: float = 0.0) -> None:
        """Add an arc that reads a label and writes a string."""
        *others, last = written or (EPSILON,)
        for label in others:
            between = self.state()
            self._arcs.append((source, between, read, label, weight))
            source, read, weight = between, EPSILON, 0.0
        self._arcs.append((source, target, read, last, weight))

    def machine(self, symbols: tuple[str, ...] = (), unit: Unit = "character") -> Arcs:
        """The machine of all arcs."""
        source, target, read, written, weight = zip(*self._arcs, strict=True) if self._arcs else [()] * 5
        return make(source, read, written, target, weight, self._final, 0, symbols, unit)
