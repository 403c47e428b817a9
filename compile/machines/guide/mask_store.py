"""The masks of a table while it is compiled; see `fst.compile.machines.guide.kernels.masks`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fst.automata.hashing import longer, slots_of
from fst.automata.rows import Array
from fst.core.jit import Deferred
from fst.errors import UnsupportedError
from fst.machines.guide.arguments import work_of
from fst.tables.npz import MAX_FILE_BYTES

MASKS, ROWS, FLIPS = COUNTS = range(3)  # indices into `Store.counts`
KERNELS = "fst.compile.machines.guide.kernels.masks"

add_states, add_row = (Deferred(KERNELS, name) for name in ("add_states", "add_row"))


class Store(NamedTuple):
    """Masks.

    Attributes:
        counts: int64[3], the numbers of masks, rows and flips.
        hashes: uint64[masks], the hash of each mask; slots: int32[2ⁿ], a table of hashes, with 1 + the number of a mask, or 0, in each
            slot.
        bases: uint32[masks], the index in `rows` of each mask's base; flip_ends: int64[masks], the end of each mask's flips in `flips`.
        flips: uint32[n], the ids whose bits differ from the base, in ascending order for each mask.
        rows: uint32[rows, words], the bases; row 0 is all zeros.
    """

    counts: Array
    hashes: Array
    slots: Array
    bases: Array
    flip_ends: Array
    flips: Array
    rows: Array


class Masks:
    """A store of masks of `words` 32-bit words each, which grows as masks are added."""

    def __init__(self, words: int) -> None:
        masks, rows = 1 << 6, 1 << 4
        kept = np.empty(masks, np.uint64), np.zeros(4 * masks, np.int32), np.empty(masks, np.uint32), np.empty(masks, np.int64)
        self.store = Store(np.array([0, 1, 0]), *kept, np.empty(8 * words, np.uint32), np.zeros((rows, words), np.uint32))
        self.row = np.zeros(words + 1, np.uint32)

    def add_states(self, automaton: Any, trie: Any, end_id: int | None, states: Array) -> Array:
        """Store the masks of states; return uint32[states], the numbers of these masks."""
        numbers, work = np.empty(len(states), np.uint32), work_of(automaton, self.store.rows.shape[1], trie.longest)
        end = -1 if end_id is None else end_id

        def add(done: int) -> int:
            return int(add_states.call(automaton, trie, end, states, done, work, self.row, self.store, numbers))

        self._until(add, len(states))
        return numbers

    def add(self, row: Array) -> int:
        """Store a mask, uint32[words]; return its number; see `add_states`."""
        self.row[:-1] = row
        found = -1

        def add(_: int) -> int:
            nonlocal found
            found = int(add_row.call(self.row, self.store))
            return int(found >= 0)

        self._until(add, 1)
        return found

    def _until(self, add: Callable[[int], int], wanted: int) -> None:
        """Call a kernel until it has stored all masks; after each call, enlarge the arrays that are full."""
        done = add(0)
        while done < wanted:
            self._grow()
            done = add(done)

    def _grow(self) -> None:
        store = self.store
        if store.rows.nbytes + store.flips.nbytes > MAX_FILE_BYTES:
            found = f"the masks of {store.counts[MASKS]:,} kinds of states"
            raise UnsupportedError(f"{found} take more than {MAX_FILE_BYTES:,} bytes; make masks late: fst.Guide(tok, regex=…)")
        words = store.rows.shape[1]
        if store.counts[MASKS] == len(store.bases):
            names = "hashes", "bases", "flip_ends"
            slots = slots_of(store.hashes, 2 * len(store.slots))
            store = store._replace(slots=slots, **{name: longer(getattr(store, name), 2 * len(store.bases)) for name in names})
        if store.counts[ROWS] == len(store.rows):
            store = store._replace(rows=longer(store.rows, 2 * len(store.rows)))
        if store.counts[FLIPS] + words > len(store.flips):
            store = store._replace(flips=longer(store.flips, 2 * len(store.flips)))
        self.store = store

    def arrays(self) -> dict[str, Array]:
        """The arrays of a `fst.machines.guide.table.GuideTable`."""
        store = self.store
        masks, rows, flips = (int(store.counts[which]) for which in COUNTS)
        return {
            "bases": store.bases[:masks].copy(),
            "flip_ends": store.flip_ends[:masks].copy(),
            "flips": store.flips[:flips].copy(),
            "rows": store.rows[:rows].copy(),
        }
