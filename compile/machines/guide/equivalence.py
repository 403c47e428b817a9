"""Equivalent positions of parts, which are merged before all sets of items are found: so there are fewer sets."""

from __future__ import annotations

import numpy as np

from fst.automata.hashing import Pool
from fst.automata.rows import Array
from fst.core.jit import Deferred
from fst.machines.guide.item_arguments import ACCEPT, Parts
from fst.machines.guide.parts import CALL, FINAL

classify = Deferred("fst.compile.machines.guide.kernels.equivalence", "classify")


def merged(parts: Parts, used: tuple[int, int, int]) -> Parts:
    """Parts in which no arc, move or call leads to a position or part that is equivalent to an earlier one.

    Args:
        parts: parts that call only each other.
        used: the numbers of positions, arcs and moves.

    Returns:
        Parts with the same texts, in new arrays.
    """
    positions, arcs, moves = used
    firsts = _firsts(parts, positions, moves)
    new_arcs, new_moves, starts = parts.arcs[:arcs].copy(), parts.moves[:moves].copy(), parts.starts.copy()
    new_arcs[:, 2], new_moves[:, 3] = firsts[new_arcs[:, 2]], firsts[new_moves[:, 3]]
    made = np.flatnonzero(starts[:, 0] >= 0)
    begins, numbers, of_part = np.unique(firsts[starts[made, 0]], return_index=True, return_inverse=True)
    starts[made, 0] = begins[of_part]
    same = np.arange(len(starts))
    same[made] = made[numbers[of_part]]
    calls = new_moves[:, 0] == CALL
    new_moves[calls, 1] = same[new_moves[calls, 1]]
    return parts._replace(starts=starts, arcs=new_arcs, moves=new_moves)


def _firsts(parts: Parts, positions: int, moves: int) -> Array:
    """int64[positions], the first position that is equivalent to each position."""
    labels = np.unique(parts.moves[:moves, :3], axis=0, return_inverse=True)[1].ravel().astype(np.int32)
    classes = (parts.positions[:positions, 2] & FINAL).astype(np.int32)
    classes[ACCEPT] = FINAL + 1
    edges = np.diff(parts.positions[: positions + 1, :2], axis=0).sum(axis=1)
    row, cells = np.empty(int(edges.max()) + 1, np.int64), int(edges.sum()) + positions
    before, count = 0, 1
    while before < count:
        pool, found = Pool.of(positions, cells, np.int64), np.empty(positions, np.int32)
        assert classify.call(parts, labels, classes, row, pool, found)
        classes, before, count = found, count, int(pool.counts[0])
    return np.unique(classes, return_index=True)[1][classes]
