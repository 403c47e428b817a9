"""Machines of regular expressions by Thompson's construction.

>>> letters = Fragment.of_pairs((97, 97)).followed_by(Fragment.of_pairs((98, 99)))
>>> letters.repeated(1, None).machine(()).ilabel.tolist()
[97, 98, 97]
"""

from __future__ import annotations

from math import inf

import numpy as np

from fst.compile.algebra.arcs import EPSILON, Arcs, make
from fst.compile.algebra.forms.epsilon import remove_epsilon
from fst.compile.algebra.forms.minimize import minimize
from fst.compile.algebra.kernels.room import SizeError

MAX_ARCS = 1 << 20
MAX_STATES = 1 << 16  # of a machine


class Fragment:
    """Arcs from a first to a last state. Operations change the fragment; the other fragment is copied."""

    def __init__(self, arcs: list[tuple[int, int, int, int, float]], states: int, first: int, last: int) -> None:
        self._arcs, self._states, self._first, self._last = arcs, states, first, last

    @classmethod
    def of_pairs(cls, *pairs: tuple[int, int]) -> Fragment:
        """The fragment that reads a label and writes another, for any of some pairs."""
        return cls([(0, 1, read, write, 0.0) for read, write in pairs], 2, 0, 1)

    @classmethod
    def of_machine(cls, arcs: Arcs) -> Fragment:
        """The fragment of all paths of a machine."""
        columns = (arcs.sources, arcs.target, arcs.ilabel, arcs.olabel, arcs.weights)
        fragment = cls([*zip(*(column.tolist() for column in columns), strict=True)], arcs.states + 2, arcs.states, arcs.states + 1)
        if arcs.states:
            fragment._arc(fragment._first, arcs.start)
        for state in np.flatnonzero(np.isfinite(arcs.final)).tolist():
            fragment._arc(state, fragment._last, float(arcs.final[state]))
        return fragment

    def followed_by(self, other: Fragment) -> Fragment:
        """The concatenation."""
        last = self._last
        first, self._last = self._include(other)
        self._arc(last, first)
        return self

    def united(self, other: Fragment) -> Fragment:
        """The union."""
        first, last = self._include(other)
        before, after = self._enclose()
        self._arc(before, first)
        self._arc(last, after)
        return self

    def weighted(self, weight: float) -> Fragment:
        """The fragment whose paths cost more by a weight."""
        self._enclose(weight)
        return self

    def repeated(self, least: int, most: int | None) -> Fragment:
        """The concatenations of `least` to `most` paths; None: of any number."""
        if (most or least) * len(self._arcs) > MAX_ARCS:
            raise too_large()
        whole, ends = Fragment.of_pairs((EPSILON, EPSILON)), list[int]()
        for number in range(least if most is None else most):
            if number >= least:
                ends.append(whole._last)
            whole.followed_by(self)
        if most is None:
            loop, (before, after) = (self._first, self._last), self._enclose()
            self._arc(*loop[::-1])
            self._arc(before, after)
            whole.followed_by(self)
        for end in ends:
            whole._arc(end, whole._last)
        return whole

    def machine(self, symbols: tuple[str, ...]) -> Arcs:
        """The machine without ε-arcs; minimized, if it has no weights."""
        sources, targets, reads, writes, weights = zip(*self._arcs, strict=True) if self._arcs else [()] * 5
        final = [0.0 if state == self._last else inf for state in range(self._states)]
        found = make(sources, reads, writes, targets, weights, final, self._first, symbols)
        return minimize(found, MAX_STATES) if found.weight is None else remove_epsilon(found)

    def _include(self, other: Fragment) -> tuple[int, int]:
        """Add the arcs of a fragment; return its first and last state."""
        if len(self._arcs) + len(other._arcs) > MAX_ARCS:
            raise too_large()
        offset = self._states
        self._arcs += [(source + offset, target + offset, read, write, weight) for source, target, read, write, weight in other._arcs]
        self._states += other._states
        return other._first + offset, other._last + offset

    def _enclose(self, weight: float = 0.0) -> tuple[int, int]:
        """Add a new first and a new last state; return them."""
        first, last = self._first, self._last
        self._first, self._last = self._states, self._states + 1
        self._states += 2
        self._arc(self._first, first)
        self._arc(last, self._last, weight)
        return self._first, self._last

    def _arc(self, source: int, target: int, weight: float = 0.0) -> None:
        self._arcs.append((source, target, EPSILON, EPSILON, weight))


def too_large() -> SizeError:
    """The error for an expression with too many arcs."""
    return SizeError(f"the regular expression has more than {MAX_ARCS:,} arcs; expected fewer", "lower its counts")
