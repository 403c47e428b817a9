"""Equivalent positions of parts by their definition: the coarsest partition in which equivalent positions have equal arcs and moves."""

from __future__ import annotations

from typing import Any

from fst.machines.guide.item_arguments import Parts
from fst.machines.guide.parts import CALL, FINAL


def firsts(parts: Parts, count: int) -> list[int]:
    """For each position below a number, the first position that is equivalent to it."""
    arcs, moves, starts = parts.arcs.tolist(), parts.moves.tolist(), parts.starts[:, 0].tolist()
    positions = parts.positions.tolist()
    found = [0, *(1 + (flags & FINAL) for _, _, flags in positions[1:count])]

    def signature(position: int) -> Any:
        (arc, move, _), (last_arc, last_move, _) = positions[position : position + 2]
        edges: set[Any] = {(first, last, found[target]) for first, last, target in arcs[arc:last_arc]}
        for kind, one, other, target in moves[move:last_move]:
            edges.add((kind, found[starts[one]] if kind == CALL else one, other, found[target]))
        return found[position], frozenset(edges)

    while True:
        numbers: dict[Any, int] = {}
        following = [numbers.setdefault(signature(position), position) for position in range(count)]
        if following == found:
            return found
        found = following
