"""Arcs for any other symbol by their definition: over a small universe of characters, they become an arc for each pair of characters."""

from __future__ import annotations

from collections.abc import Iterator

from fst.compile.algebra.arcs import ANOTHER, OTHER, Arcs
from fst.compile.algebra.machine import Fst
from fst.compile.algebra.symbols import text_of


def spelled(machine: Arcs, universe: str) -> Fst:
    """The machine over a universe, which contains all characters that the machine names."""
    others = [char for char in universe if char not in machine.symbols]
    final = {state: float(weight) for state, weight in enumerate(machine.final) if weight != float("inf")}
    arcs = [
        (state, target, *pair, weight)
        for state in range(machine.states)
        for read, write, target, weight in machine.arcs_of(state)
        for pair in _pairs(text_of([read], machine.symbols), text_of([write], machine.symbols), others)
    ]
    return Fst.from_arcs([*arcs, (machine.states, machine.states, "", "")], final, max(machine.start, 0))


def _pairs(read: str, write: str, others: list[str]) -> Iterator[tuple[str, str]]:
    """The pairs of characters of a pair of labels."""
    for first in others if read == OTHER else [read]:
        for second in others if write in (OTHER, ANOTHER) else [write]:
            is_linked = read == OTHER and write in (OTHER, ANOTHER)
            if not is_linked or (first == second) == (write == OTHER):
                yield first, second
