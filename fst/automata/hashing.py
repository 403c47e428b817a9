"""Rows of numbers that kernels intern: equal rows get the same number. The arrays grow by `longer` and `slots_of`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from fst.automata.rows import MULTIPLIERS, Array
from fst.core.jit import Deferred

fill_slots = Deferred("fst.automata.kernels.hashing", "fill_slots")


class Pool(NamedTuple):
    """Different rows of whole numbers, in the order in which `fst.automata.kernels.hashing.intern` adds them.

    Attributes:
        counts: int64[2], the numbers of rows and of cells.
        starts: int64[rows + 1], the first cell of each row, and the end of the last row.
        hashes: uint64[rows]; slots: int32[2ⁿ], 1 + the row in each slot of a table of hashes, or 0; at most half of the slots are taken.
        cells: whole numbers[n], the rows, concatenated.
    """

    counts: NDArray[np.int64]
    starts: NDArray[np.int64]
    hashes: NDArray[np.uint64]
    slots: NDArray[np.int32]
    cells: NDArray[Any]

    @classmethod
    def of(cls, rows: int, cells: int, dtype: DTypeLike) -> Pool:
        """An empty pool with room for the given numbers of rows and cells."""
        slots = np.zeros(1 << (2 * rows - 1).bit_length(), np.int32)
        return cls(np.zeros(2, np.int64), np.zeros(rows + 1, np.int64), np.empty(rows, np.uint64), slots, np.empty(cells, dtype))

    @property
    def room(self) -> int:
        """The number of rows for which there is room."""
        return len(self.hashes)

    def larger(self, most: int = 1 << 31) -> Pool:
        """The same rows in a pool with twice the room for rows, but at most `most`, and twice the room for cells; the one that is not full
        keeps its room while less than half of it is used.
        """
        used, cells = self.counts.tolist()
        rows, size = self.room, len(self.cells)
        if 2 * used > rows:
            rows = min(2 * rows, most)
        if 2 * cells > size or used < self.room:
            size *= 2
        slots = slots_of(self.hashes[:used], 1 << (2 * rows - 1).bit_length())
        return Pool(self.counts, longer(self.starts, rows + 1), longer(self.hashes, rows), slots, longer(self.cells, size))

    def rows(self) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Copies of `starts` and `cells` without the free room."""
        rows, cells = self.counts
        return self.starts[: rows + 1].copy(), self.cells[:cells].copy()


def longer(array: NDArray[Any], length: int) -> NDArray[Any]:
    """A copy of a new length, with 0 after the old elements. Memory is used only for the parts that are written."""
    grown = np.zeros((length, *array.shape[1:]), array.dtype)
    grown[: len(array)] = array
    return grown


def hashes_of(keys: NDArray[np.int64]) -> NDArray[np.uint64]:
    """`fst.automata.kernels.hashing.hash_of` for an array."""
    half, found = np.uint64(32), keys.view(np.uint64)
    for _ in range(2):
        found = (found ^ found >> half) * np.uint64(MULTIPLIERS[0])
    return found ^ found >> half


def slots_of(hashes: Array, size: int) -> Array:
    """int32[size], 1 + the number of the item in each slot, or 0; an item is in the slot of its hash, a uint64, or in the next free slot
    after it. The size is a power of two above the number of hashes, so that each search ends at a free slot.
    """
    if size <= len(hashes) or size & (size - 1):
        raise ValueError(f"the size is {size:,}; expected a power of two above {len(hashes):,}")
    slots = np.zeros(size, np.int32)
    fill_slots.call(hashes, slots)
    return slots
