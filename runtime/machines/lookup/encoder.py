"""The encoder of look-up: words → rows of ids, see `fst.machines.lookup.table`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fst.automata.rows import Array
from fst.automata.trie import spread
from fst.core.lazy import Lazy
from fst.errors import TextError
from fst.machines.lookup.layout import MAX_ANALYSES, SLOW
from fst.machines.lookup.walk import analyses
from fst.runtime.encoder import Encoder
from fst.runtime.rows.batch import Batch
from fst.runtime.rows.texts import Ints, Source, rows_of, whole
from fst.runtime.run import Runner
from fst.runtime.workspace import NO_SPECIAL_IDS

FOLDS: Sequence[Callable[[str], str]] = (lambda word: word[:1].lower() + word[1:], str.lower)


class LookupEncoder(Encoder):
    """The encoder of one direction.

    Args:
        table: the table.
        inverse: whether the encoder generates.
        limit: the maximum number of analyses of a word.
        like: an encoder of the same table, whose arrays are shared.
    """

    def __init__(self, table: Any, *, inverse: bool = False, limit: int = MAX_ANALYSES, like: LookupEncoder | None = None) -> None:
        super().__init__(table)
        self.inverse, self.limit = inverse, limit
        if like is not None:
            self.arguments = like.arguments
            self._workspaces = like._workspaces

    @Lazy
    def arguments(self) -> Any:
        """The arrays of the table, for analysis without a limit."""
        return self._table.arguments()

    def look_up(self, rows: Source, threads: int | None, errors: str, *, folds: bool) -> Batch:
        """Look up words; if `folds`, look up those without analyses with a lower-case first letter, then in lower case."""
        batch = self._encode(rows, special_ids=NO_SPECIAL_IDS, threads=threads, errors=errors)
        for fold in FOLDS if folds else ():
            unknown = np.flatnonzero(np.diff(batch.row_splits) == 0).tolist()
            words = {row: whole(rows, row, errors) for row in unknown}
            folded = {row: fold(word) for row, word in words.items() if fold(word) != word}
            other = self._encode(rows_of([*folded.values()]), numbers=[*folded], special_ids=NO_SPECIAL_IDS, threads=threads)
            batch = with_rows(batch, np.fromiter(folded, np.int64, len(folded)), other.ids, other.row_splits)
        return batch

    @Lazy
    def _ids_runner(self) -> Runner:
        return self._runner(with_spans=False)

    @Lazy
    def _spans_runner(self) -> Runner:
        return self._runner(with_spans=True)

    def _runner(self, *, with_spans: bool) -> Runner:
        begin = self._table.begin(inverse=self.inverse, limit=self.limit)
        return Runner(self._table, self.arguments._replace(begin=begin), self._workspaces, with_spans=with_spans)

    def _encode(
        self,
        source: Source,
        *,
        counted: bool = False,  # noqa: ARG002 - slow words need ids
        errors: str = "strict",
        numbers: Sequence[int] | None = None,
        **options: Any,
    ) -> Batch:
        """See `Encoder._encode`; `numbers` are those of the rows in errors."""
        batch = super()._encode(source, errors=errors, **options)
        places = np.flatnonzero(batch.ids == SLOW)
        if not len(places):
            return batch
        rows = np.searchsorted(batch.row_splits, places, "right") - 1

        def walk(row: int) -> list[int]:
            return analyses(self._table, whole(source, row, errors), inverse=self.inverse, limit=self.limit)

        return with_rows(batch, rows, *walked(walk, rows.tolist(), numbers))


def walked(walk: Callable[[int], list[int]], rows: Sequence[int], numbers: Sequence[int] | None = None) -> tuple[Array, Ints]:
    """The ids of rows by a slow walk, and their row splits.

    Args:
        walk: the walk of a row.
        rows: the rows.
        numbers: the number of each row of the batch, for errors; None: the row.

    Raises:
        TextError: `walk` raises this error; the message then contains the row.
    """
    row, found = -1, list[list[int]]()
    try:
        for row in rows:
            found.append(walk(row))
    except TextError as error:
        number = row if numbers is None else numbers[row]
        raise TextError(f"row {number}: {error}", number) from None
    return np.array([number for ids in found for number in ids], np.int32), np.cumsum([0, *map(len, found)])


def with_rows(batch: Batch, rows: Ints, ids: Any, splits: Ints) -> Batch:
    """Replace the ids of some rows. The new ids have the span of the first id of their row.

    Args:
        batch: the batch.
        rows: the indices of the rows, ascending.
        ids, splits: the new ids, and their row splits.
    """
    starts, lengths = batch.row_splits[:-1].copy(), np.diff(batch.row_splits)
    firsts = starts[rows]
    starts[rows], lengths[rows] = len(batch.ids) + splits[:-1], np.diff(splits)
    places = spread(starts, lengths)
    new_splits = np.concatenate([[0], np.cumsum(lengths)])
    offsets, words = batch.offsets, batch.words
    if offsets is not None and words is not None:
        offsets = np.concatenate([offsets, np.repeat(offsets[firsts], np.diff(splits), axis=0)])[places]
        words = np.zeros(len(places), np.int32)
    return Batch(np.concatenate([batch.ids, ids])[places], new_splits, offsets, words)
