"""The state of WordPiece training by score, and the class that calls the kernels in `fst.compile.train.scores.loop`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.compile.train.scores.numbers import DONE, FREE, GAP, LEAST, NEIGHBOURS, NONE, NUMBERS, PAIRS, WIDTH
from fst.core.jit import Deferred
from fst.errors import VocabularyError

FIRST_ROWS = 1 << 14  # initial number of rows of pairs
BUDGET = 4_000_000  # cells and rows to visit in a round: about 0.1 s

index_pairs = Deferred("fst.compile.train.scores.loop", "index_pairs")
is_tiled = Deferred("fst.compile.train.scores.loop", "is_tiled")
learn = Deferred("fst.compile.train.scores.loop", "learn")


class State(NamedTuple):
    """The state of a run, from which the run can resume. The `Index` is not stored, because it can be computed from the state.

    Attributes:
        cells: int32[n], the tokens of all words, see `fst.compile.train.scores.loop`.
        lefts, rights: int32[merges], the two tokens of each merge; elements from `made` on are free.
        counts: int64[merges], the number of occurrences of each new token directly after its merge.
        made: int64[1], the number of merges so far.
    """

    cells: NDArray[np.int32]
    lefts: NDArray[np.int32]
    rights: NDArray[np.int32]
    counts: NDArray[np.int64]
    made: NDArray[np.int64]


def widened(state: State, capacity: int) -> State:
    """A copy of a state whose arrays have capacity for more merges."""
    parts = {name: np.concatenate([part := getattr(state, name), np.zeros(capacity, part.dtype)]) for name in ("lefts", "rights", "counts")}
    return state._replace(cells=state.cells.copy(), **parts)


class Index(NamedTuple):
    """An index of the positions and counts of tokens and pairs. A pair that is too rare to merge has no row, because its count never
    increases.

    Attributes:
        words: int32[cells], the word of each cell.
        counts: int64[words].
        lengths: int32[tokens], in cells.
        frequencies: int64[tokens], the current number of occurrences of each token.
        lefts, rights: int32[tokens], for each token, the first row of the list of pairs with this token on the left, and of the list of
            pairs with it on the right; -1: the list is empty.
        pairs: int64[rows, `WIDTH`], see `fst.compile.train.scores.numbers`. A row describes a pair: its two tokens, its count, its block in
            `pool`, the next rows in its two lists, and its index in the heap. In a free row, `NEXT_OF_LEFT` is the next free row.
        heap: int64[rows], row numbers.
        scores, firsts: float64[rows], int64[rows], the score and the first cell of each entry of `heap`.
        pool: int32[3 * cells], the cells where pairs occur. The length is sufficient, since each merged occurrence adds at most two cells
            and removes a token.
        sums, sizes: int64[2 * tokens], all 0 between merges.
        touched: int64[2 * tokens + 1], scratch for `gather`.
        numbers: int64[`NUMBERS`], see `fst.compile.train.scores.numbers`.
    """

    words: NDArray[np.int32]
    counts: NDArray[np.int64]
    lengths: NDArray[np.int32]
    frequencies: NDArray[np.int64]
    lefts: NDArray[np.int32]
    rights: NDArray[np.int32]
    pairs: NDArray[np.int64]
    heap: NDArray[np.int64]
    scores: NDArray[np.float64]
    firsts: NDArray[np.int64]
    pool: NDArray[np.int32]
    sums: NDArray[np.int64]
    sizes: NDArray[np.int64]
    touched: NDArray[np.int64]
    numbers: NDArray[np.int64]


@dataclass
class Merger:
    """Merges pairs by score until the arrays of the state are full."""

    cells: NDArray[np.int32]  # int32[cells], the tokens of all words before the first merge
    words: NDArray[np.int32]  # int32[cells], the word of each cell
    counts: NDArray[np.int64]  # int64[words], positive; the sum of ``count × cells`` over all words is below 2**63
    atoms: int  # the number of tokens before the first merge
    least: int  # the minimum count of a pair for a merge; at least 1
    index: Index | None = None  # the index computed from the state in the first round

    def advance(self, state: State) -> tuple[State, int, bool]:
        """Make one round of merges. Return the state, the number of merges so far, and whether this was the last round."""
        index = self.index or self._indexed(state)
        while (stopped := learn.call(state, index, len(state.lefts), BUDGET)) == PAIRS:
            index = _doubled(index)
        self.index, made = index, int(state.made[0])
        return state, made, stopped == DONE or made == len(state.lefts)

    @property
    def has_pairs(self) -> bool:
        """Whether any word still has two or more tokens after the last round."""
        return self.index is not None and bool(self.index.numbers[NEIGHBOURS])

    def prove(self, state: State) -> None:
        """Check that kernels can safely run on a state from a checkpoint file."""
        for name, holds in self._checks(state):
            if not holds:
                raise VocabularyError(f"{name} of the checkpoint is not of this run; the file is damaged; remove it and start again")

    def _checks(self, state: State) -> Iterator[tuple[str, bool]]:
        """The name of each array, and whether the array passed the check."""
        capacity = len(state.lefts)
        yield "made", state.made.shape == (1,) and 0 <= int(state.made[0]) <= capacity
        made, gaps = int(state.made[0]), self.cells == GAP
        for name in ("lefts", "rights"):
            part = getattr(state, name)
            yield name, len(part) == capacity and bool(np.all((part[:made] >= 0) & (part[:made] < self.atoms + np.arange(made))))
        yield "counts", len(state.counts) == capacity and bool(np.all(state.counts >= 0))
        yield "counts", sum(state.counts[:made].tolist()) <= int(self.counts[self.words[~gaps]].sum())  # a merge of two tokens removes one
        yield "cells", np.array_equal(state.cells == GAP, gaps)
        lengths = self._lengths(state)
        yield "lefts", int(lengths.max(initial=1)) <= max(np.diff(np.flatnonzero(gaps)).max(initial=0) - 1, 1)
        yield "cells", bool(is_tiled.call(state.cells, lengths))

    def _lengths(self, state: State) -> NDArray[np.int32]:
        """The length of each token in cells, at most the number of cells: only damaged states have greater lengths."""
        lengths, most = [1] * self.atoms, len(state.cells)
        for left, right in zip(state.lefts[: state.made[0]].tolist(), state.rights[: state.made[0]].tolist(), strict=True):
            lengths.append(min(lengths[left] + lengths[right], most))
        return np.array(lengths + [0] * (len(state.lefts) - int(state.made[0])), np.int32)

    def _indexed(self, state: State) -> Index:
        """Compute the index of a state, with enough rows for all pairs."""
        rows = FIRST_ROWS
        while index_pairs.call(state.cells, index := self._empty(state, rows)) == PAIRS:
            rows *= 2
        return index

    def _empty(self, state: State, rows: int) -> Index:
        lengths = self._lengths(state)
        tokens = len(lengths)
        numbers = np.zeros(NUMBERS, np.int64)
        numbers[FREE], numbers[LEAST] = NONE, self.least
        return Index(
            words=self.words,
            counts=self.counts,
            lengths=lengths,
            frequencies=np.zeros(tokens, np.int64),
            lefts=np.full(tokens, NONE, np.int32),
            rights=np.full(tokens, NONE, np.int32),
            pairs=np.empty((rows, WIDTH), np.int64),
            heap=np.empty(rows, np.int64),
            scores=np.empty(rows, np.float64),
            firsts=np.empty(rows, np.int64),
            pool=np.empty(3 * len(state.cells), np.int32),
            sums=np.zeros(2 * tokens, np.int64),
            sizes=np.zeros(2 * tokens, np.int64),
            touched=np.empty(2 * tokens + 1, np.int64),
            numbers=numbers,
        )


def _doubled(index: Index) -> Index:
    """A copy of the index with twice as many rows."""
    names = ("pairs", "heap", "scores", "firsts")
    return index._replace(**{name: np.concatenate([part := getattr(index, name), np.empty_like(part)]) for name in names})
