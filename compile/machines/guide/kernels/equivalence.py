"""Classes of equivalent positions of parts. Equivalent positions have the same arcs and moves, except that these lead to equivalent
positions and call equivalent parts.

A round puts two positions of one class into different classes if their arcs and moves differ, as sets of numbers::

    a range of bytes     first byte << 40 | last byte << 32 | class of the next position
    a call               1 << 62 | class of the start of the called part << 31 | class of the next position
    another move         1 << 61 | number of its kind and arguments << 31 | class of the next position

Preconditions: all parts are made, see `fst.machines.guide.part_store.PartStore`.
"""

from __future__ import annotations

import numpy as np

from fst.automata.kernels.hashing import FULL, intern
from fst.core.jit import kernel
from fst.machines.guide.kernels.items import sort
from fst.machines.guide.parts import CALL

CALLED, MOVED = np.int64(1 << 62), np.int64(1 << 61)


@kernel
def classify(parts, labels, classes, row, pool, found):
    """Find the classes of a round.

    Args:
        parts: see `fst.machines.guide.item_arguments.Parts`.
        labels: int32[moves], a number for the kind and the arguments of each move.
        classes: int32[positions], the class of each position before the round.
        row: int64[n], a working array: the arcs and moves of any one position, and one number more.
        pool: an empty `fst.automata.hashing.Pool` of int64.
        found: int32[positions], output: the classes after the round, numbered in the order of their first positions.

    Returns:
        Whether the pool has room for the rows.
    """
    for position in range(len(classes)):
        row[0], size = -1 - classes[position], 1
        for arc in range(parts.positions[position, 0], parts.positions[position + 1, 0]):
            first, last = np.int64(parts.arcs[arc, 0]), np.int64(parts.arcs[arc, 1])
            row[size] = first << 40 | last << 32 | classes[parts.arcs[arc, 2]]
            size += 1
        for move in range(parts.positions[position, 1], parts.positions[position + 1, 1]):
            label = MOVED | np.int64(labels[move]) << 31
            if parts.moves[move, 0] == CALL:
                label = CALLED | np.int64(classes[parts.starts[parts.moves[move, 1], 0]]) << 31
            row[size] = label | classes[parts.moves[move, 3]]
            size += 1
        number = intern(row, 0, sort(row, size), pool)
        if number == FULL:
            return False
        found[position] = number
    return True
