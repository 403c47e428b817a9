"""Lay out the rows of an automaton in a `fst.automata.rows.RowFormat`. Rows are overlaid with displacements, so that no two rows share a
slot.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fst.automata.rows import BYTES, Array, RowFormat
from fst.automata.trie import Ints
from fst.core.jit import Deferred
from fst.errors import UnsupportedError

ODD = np.uint64(0x9E3779B97F4A7C15)
WORDS_AT_A_TIME, WORD_BITS = 8, 64
KIND_BITS = 4
place = Deferred("fst.compile.layout.displacement", "place")


class TooLargeError(UnsupportedError):
    """An automaton for which a table has no room, or whose construction takes too many steps."""


def placed(rows: RowFormat, starts: Ints, labels: Ints, order: Ints, letters: int = BYTES, shapes: Ints | None = None) -> Ints:
    """Find a slot for every state, so that the slots of all states and transitions are distinct.

    Args:
        rows: the format.
        starts: int64[states + 1]; the labels of state s are ``labels[starts[s]:starts[s + 1]]``.
        labels: int64[n].
        order: int64[states], the order in which states are placed; the first state gets slot 0.
        letters: 1 + the highest possible label.
        shapes: int64[states], a number for each state, equal for states with the same labels. None: use `shapes_of`.

    Returns:
        int64[states], the slot of each state.
    """
    bases = np.empty(len(order), np.int64)
    shapes = shapes_of(starts, labels, letters) if shapes is None else shapes
    tried, free = np.zeros(int(shapes.max()) + 1, np.int64), np.empty(WORDS_AT_A_TIME, np.uint64)
    capacity = len(labels) + len(order) + 2 * (letters + 1)
    while True:
        capacity *= 2
        occupied = np.zeros((capacity + 2 * (letters + 1)) // WORD_BITS + WORDS_AT_A_TIME + 4, np.uint64)
        tried[:] = 0
        if place.call(order, starts, rows.first + labels, shapes, bases, occupied, tried, free) >= 0:
            return bases


def filled(rows: RowFormat, slots: Ints, width: int, own: Any, noun: str) -> Array:
    """Create the entries of a table. Only the slots of states are filled; all other slots are free.

    Args:
        rows: the format.
        slots: the slot of each state.
        width: 1 + the maximum distance from the slot of a state to a slot that a look-up in its row can read.
        own: the entry in each state's slot, as an array, or one entry for all states.
        noun: the name of the automaton in messages.
    """
    size = int(slots.max()) + width
    if size > rows.max_target + 1:
        raise TooLargeError(f"{noun} takes {size:,} slots; a table has room for {rows.max_target + 1:,}")
    entries: Array = np.full(size, rows.free, rows.dtype)
    entries[slots] = own
    return entries


def shapes_of(starts: Ints, labels: Ints, letters: int) -> Ints:
    """A number for each state, computed from the length and a hash of its row, and equal for rows with the same labels.

    Different rows may have the same number. Rows with the same number are placed from left to right: each search starts where the previous
    search ended. The search misses a few free slots, but is faster: o200k takes 2 s (was 9 s) and 12.4 million slots (was 11.8 million).
    """
    powers = np.cumprod(np.full(letters, ODD))  # a random number for each label
    before = np.zeros(len(labels) + 1, np.uint64)
    np.cumsum(powers[labels], out=before[1:])
    kinds = (before[starts[1:]] - before[starts[:-1]]) * ODD >> np.uint64(64 - KIND_BITS)
    shapes: Ints = np.diff(starts) << KIND_BITS | kinds.astype(np.int64)
    return shapes
