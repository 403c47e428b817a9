"""Kernel that adds the arrays of a part to those of all parts."""

from __future__ import annotations

import numpy as np

from fst.core.jit import kernel, part
from fst.machines.guide.parts import CALL, FINAL, RETURNS


@part
def first_calls(base, parts, queue, seen, called):
    """Store the parts that a part calls at its start, or after moves that are not calls; return the number of these calls."""
    count, done, size = np.int64(0), 0, 1
    queue[0], seen[0] = 0, 1
    while done < size:
        position = base + queue[done]
        done += 1
        for move in range(parts.positions[position, 1], parts.positions[position + 1, 1]):
            state = parts.moves[move, 3] - base
            if parts.moves[move, 0] == CALL:
                called[count] = parts.moves[move, 1]
                count += 1
            elif not seen[state]:
                seen[state] = 1
                queue[size] = state
                size += 1
    return count


@kernel
def add_part(added, base, first_arc, first_move, parts, queue, seen, called):
    """Store the positions, arcs and moves of a part, and find the parts that it calls before it reads a byte.

    Args:
        added: a `fst.machines.guide.parts.Part`.
        base, first_arc, first_move: the positions, arcs and moves that are stored so far: the numbers of the first new ones.
        parts: a `fst.machines.guide.item_arguments.Parts` with room for the part, and for one more position.
        queue, seen: int32[states], and uint8[states], initially 0; working arrays.
        called: output, int32[moves], the called parts, possibly some more than once.

    Returns:
        The number of elements in `called`.
    """
    arc, move = np.int64(0), np.int64(0)
    for state in range(len(added.flags)):
        parts.positions[base + state, 0], parts.positions[base + state, 1] = first_arc + arc, first_move + move
        flags, edges = added.flags[state], arc + move
        while arc < len(added.arcs) and added.arcs[arc, 0] == state:
            row = first_arc + arc
            parts.arcs[row, 0], parts.arcs[row, 1], parts.arcs[row, 2] = added.arcs[arc, 1], added.arcs[arc, 2], base + added.arcs[arc, 3]
            arc += 1
        while move < len(added.moves) and added.moves[move, 0] == state:
            row = first_move + move
            for column in range(3):
                parts.moves[row, column] = added.moves[move, column + 1]
            parts.moves[row, 3] = base + added.moves[move, 4]
            move += 1
        parts.positions[base + state, 2] = flags | RETURNS if flags == FINAL and edges == arc + move else flags
    last = base + len(added.flags)
    parts.positions[last, 0], parts.positions[last, 1], parts.positions[last, 2] = first_arc + arc, first_move + move, 0
    return first_calls(base, parts, queue, seen, called)
