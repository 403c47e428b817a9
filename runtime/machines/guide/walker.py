"""Walks through the sets of items of a late guide; see the kernels in `kernels.items` and `kernels.late`."""

from __future__ import annotations

from threading import RLock

import numpy as np

from fst.automata.hashing import Pool, longer
from fst.automata.rows import Array
from fst.core.jit import Deferred
from fst.errors import UnsupportedError
from fst.machines.guide.item_arguments import (
    ALL,
    BEGUN,
    DEAD,
    NO_CLASS,
    NO_PART,
    NO_ROOM,
    NO_ROW,
    NO_WORK,
    NONE,
    OUTERMOST,
    Parts,
    Steps,
    Work,
)
from fst.machines.guide.part_store import PartStore
from fst.machines.guide.vocabulary import Trie, Vocabulary
from fst.runtime.machines.guide.class_tokens import class_tokens
from fst.runtime.machines.guide.string_tokens import string_tokens

FIRST_SETS, FIRST_ROWS = 1 << 8, 1 << 6
MAX_ROWS = 1 << 8  # rows of steps, 0.25 MiB; when they are full, all are freed
MAX_ITEMS = 1 << 18  # in one set
ARCS_A_ROW = 16  # average number of arcs for which there is room
KERNELS = "fst.runtime.machines.guide.kernels.late"

walk_items, mask_items, sets_after, is_accepting, copy_set = (
    Deferred(KERNELS, name) for name in ("walk_items", "mask_items", "sets_after", "is_accepting", "copy_set")
)


class Walker:
    """Sets of items and the steps between them, in arrays that one thread at a time changes.

    Args:
        store: the parts.
        vocabulary: the vocabulary of the tokenizer.
    """

    def __init__(self, store: PartStore, vocabulary: Vocabulary) -> None:
        self._store, self._vocabulary = store, vocabulary
        self._strings, self._classes = string_tokens(vocabulary), class_tokens(vocabulary)
        self._end_id, self._words = NONE if vocabulary.end_id is None else vocabulary.end_id, vocabulary.words
        self.lock, self._is_freed = RLock(), False  # whether rows were freed since the current call of a kernel began
        self.pool = Pool.of(FIRST_SETS, 4 * FIRST_SETS, np.int64)
        self._work = Work.of(FIRST_SETS, max(vocabulary.trie.longest, vocabulary.first.longest))
        targets, arcs = np.empty((FIRST_ROWS, 256), np.int32), np.empty((ARCS_A_ROW * FIRST_ROWS, 2), np.int64)
        finals, ends = np.empty(FIRST_ROWS, np.uint8), np.zeros(FIRST_ROWS + 1, np.int64)
        self._steps = Steps(np.full(FIRST_SETS, -1, np.int32), targets, finals, ends, arcs)
        for number, items in enumerate(([], [0])):  # DEAD and OUTERMOST
            self._append(number, items)

    def first(self, part: int) -> int:
        """The set before the text of a part. Call this before all other methods: the set gets the first free number."""
        self._append(OUTERMOST + 1, [self._store.start_of(part) << 32 | OUTERMOST])
        return OUTERMOST + 1

    def _append(self, number: int, items: list[int]) -> None:
        cells = int(self.pool.counts[1])
        self.pool.cells[cells : cells + len(items)] = items
        self.pool.counts[:] = number + 1, cells + len(items)
        self.pool.starts[number + 1] = cells + len(items)

    def after(self, number: int, data: Array) -> int:
        """The set after some bytes, uint8[n]; `DEAD` if they are not read."""
        return self.after_token(number, 0, data, np.array([len(data)])) if len(data) else number

    def after_token(self, number: int, token: int, data: Array, ends: Array) -> int:
        """The set after the bytes of a token; `DEAD` if they are not read, or there are none. `data`, `ends`: the bytes of all tokens, and
        the end of each token.
        """
        with self.lock:
            self._is_freed = False
            while (found := walk_items.call(number, token, data, ends, *self._arrays())) <= NO_ROOM:
                self._provide(found)
        return found if found > 0 else DEAD

    def is_final(self, number: int) -> bool:
        """Whether a text may end in a set."""
        with self.lock:
            self._is_freed = False
            while (found := is_accepting.call(number, *self._arrays())) <= NO_ROOM:
                self._provide(found)
        return bool(found == 1)

    def mask(self, number: int, *, is_first: bool = False) -> Array:
        """uint32[words], the bits of the tokens, or of the first tokens, that are read from a set, and of the token that ends a text, if it
        may end there.
        """
        tokens = self._vocabulary.first if is_first else self._vocabulary.trie, self._strings
        row = np.empty(self._words + 1, np.uint32)  # the last word gets the bits of nodes without tokens
        with self.lock:
            counts, self._is_freed = self._work.counts, False
            counts.phase = BEGUN
            if is_first:  # `_strings` and `_classes` contain the bytes of later tokens only
                row[:], self._work.path[0] = 0, number
                counts.phase, counts.node, counts.shared, counts.postponed = ALL, 0, NONE, NONE
            while (found := mask_items.call(number, *tokens, self._classes.masks, *self._arrays(), self._end_id, row)) <= NO_ROOM:
                self._provide(found)
        return row[:-1]

    def sets_after(self, number: int, trie: Trie, ids: int) -> Array:
        """int64[ids], the set after each token of a trie that is read from a set; `DEAD` for other ids."""
        found = np.zeros(ids + 1, np.int64)
        with self.lock:
            self._work.counts.node, self._work.path[0], self._is_freed = 0, number, False
            while (failed := sets_after.call(trie, *self._arrays(), found)) <= NO_ROOM:
                self._provide(failed)
        found[trie.twins[:, 0]] = found[trie.twins[:, 1]]
        return found[:-1]

    def targets(self, number: int) -> Array:
        """int32[256], the set after each byte; -1: none."""
        with self.lock:
            self.is_final(number)  # makes the row
            row, found = self._steps.rows[number], np.full(256, -1, np.int32)
            ranges = self._steps.arcs[self._steps.ends[row] : self._steps.ends[row + 1], 0]
            begins = np.unique(np.concatenate([ranges >> 8, (ranges & 0xFF) + 1, [256]]))
            for begin, end in zip(begins.tolist(), begins.tolist()[1:], strict=False):
                found[begin:end] = self.after(number, np.array([begin], np.uint8)) or -1
            return found

    def cells(self, number: int) -> list[int]:
        """The items of a set, or the cells of a tally."""
        found: list[int] = self.pool.cells[self.pool.starts[number] : self.pool.starts[number + 1]].tolist()
        return found

    def copied(self, number: int, source: Pool, numbers: Array) -> int:
        """The number here of a set of another walker with the same parts.

        Args:
            number: the set.
            source: the sets of the other walker.
            numbers: int32[room of the other pool], the number here of each set that was copied before, else -1; it is extended.
        """
        with self.lock:
            self._is_freed = False
            while (found := copy_set.call(number, source, numbers, self.pool, self._work)) <= NO_ROOM:
                self._provide(found)
        return int(found)

    def _arrays(self) -> tuple[Parts, Pool, Steps, Work]:
        """The arrays of a kernel's call."""
        return self._store.parts, self.pool, self._steps, self._work

    def _provide(self, failed: int) -> None:
        """Provide what a kernel lacks."""
        if failed == NO_PART:
            self._store.start_of(int(self._work.counts.needed))
        elif failed == NO_ROW:
            self._free_rows()
        elif failed == NO_CLASS:
            self._classes.add(self._work.members)
        elif failed == NO_WORK:
            self._enlarge_work()
        else:
            self.pool = self.pool.larger()
            rows = longer(self._steps.rows, self.pool.room)
            rows[len(self._steps.rows) :] = -1
            self._steps = self._steps._replace(rows=rows)

    def _free_rows(self) -> None:
        """Make room for rows: free all if there are at least `MAX_ROWS`, else double the room. If a kernel lacks rows again after all were
        freed, it needs more of them at the same time, so the room is doubled, too.
        """
        rows = len(self._steps.targets)
        if rows < MAX_ROWS or self._is_freed:
            longest = {"targets": 2 * rows, "finals": 2 * rows, "ends": 2 * rows + 1, "arcs": 2 * len(self._steps.arcs)}
            self._steps = self._steps._replace(**{name: longer(getattr(self._steps, name), size) for name, size in longest.items()})
        else:
            self._steps.rows[:], self._work.counts.rows, self._work.counts.arcs = -1, 0, 0
            self._is_freed = True

    def _enlarge_work(self) -> None:
        if 2 * len(self._work.found) > MAX_ITEMS:
            found = f"a text can be read in more than {MAX_ITEMS:,} ways at once"
            raise UnsupportedError(f"{found}; make the pattern or the grammar less ambiguous")
        self._work = self._work.larger()
