"""The encoder of look-up: words → rows of ids, see `fst.machines.lookup.table`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from fst.automata.marks import FORBIDDEN, KEPT
from fst.automata.rows import Array
from fst.automata.trie import spread
from fst.core.lazy import Lazy
from fst.errors import TextError
from fst.machines.lookup.layout import BEGINS, END, MAX_ANALYSES, SLOW
from fst.machines.lookup.walk import analyses
from fst.runtime.encoder import Encoder
from fst.runtime.machines.lookup.spelling import spelled
from fst.runtime.rows.batch import Batch
from fst.runtime.rows.texts import Ints, Source, rows_of, whole
from fst.runtime.run import Runner
from fst.runtime.workspace import NO_SPECIAL_IDS

MOST_CASES = 2  # maximum number of results of `cases_of`


def cases_of(word: str) -> list[str]:
    """The spellings in another case that Hunspell also looks up for a word. A word with a capital is looked up in lower case. A word in
    upper case is looked up with only its first letter in upper case, and then in lower case.

    Examples:
        >>> cases_of("Word"), cases_of("WORD"), cases_of("wORD"), cases_of("McDonald")
        (['word'], ['Word', 'word'], [], [])
    """
    upper = [char.lower() != char for char in word]
    lower = word.lower()
    if sum(upper) == 1 and upper[0]:
        return [lower]
    if sum(upper) > 1 and all(is_upper or char.upper() == char for is_upper, char in zip(upper, word, strict=True)):
        return [lower[:1].upper() + lower[1:], lower]
    return []


class LookupEncoder(Encoder):
    """The encoder of one direction, with at most `limit` analyses of a word. If `like`, an encoder of the same table, is given, both share
    arrays.
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
        """Look up words. If `folds`, look up words without analyses in the other cases that `cases_of` returns."""
        batch = self._encode(rows, special_ids=NO_SPECIAL_IDS, threads=threads, errors=errors)
        if not folds:
            return batch
        unknown = np.flatnonzero(np.diff(batch.row_splits) == 0).tolist()
        cases = {row: some for row in unknown if (some := cases_of(whole(rows, row, errors)))}
        if self._reads(FORBIDDEN):
            cases = {row: some for row, some in cases.items() if not self._is_forbidden(row, whole(rows, row, errors), some)}
        for turn in range(MOST_CASES):
            others = {row: some[turn] for row, some in cases.items() if turn < len(some)}
            found = self._in_case(others, threads)
            batch = with_rows(batch, np.fromiter(others, np.int64, len(others)), found.ids, found.row_splits)
            cases = {row: cases[row] for row, size in zip(others, np.diff(found.row_splits).tolist(), strict=True) if not size}
        return batch

    def _in_case(self, words: dict[int, str], threads: int | None) -> Batch:
        """Look up words in another case than in the text; `words` maps rows to words. Words that keep their case have no analyses."""
        found = self._encode(rows_of([*words.values()]), numbers=[*words], special_ids=NO_SPECIAL_IDS, threads=threads)
        if not self._reads(KEPT):
            return found
        marked = rows_of([KEPT + word for word in words.values()])
        kept = self._encode(marked, numbers=[*words], special_ids=NO_SPECIAL_IDS, threads=threads)
        rows = np.flatnonzero(np.diff(kept.row_splits))
        ids = [self._without(found[row].tolist(), kept[row].tolist()) for row in rows.tolist()]
        return with_rows(found, rows, *_concatenated(ids))

    def _without(self, ids: list[int], others: list[int]) -> list[int]:
        """The ids of analyses, without the analyses that `others` contains, too; the table must be unweighted."""
        pieces = self._table.pieces
        written, left = {*spelled(others, pieces, weighted=False)}, list[int]()
        for analysis, part in zip(spelled(ids, pieces, weighted=False), _parts(ids), strict=True):
            left += [] if analysis in written else part
        return left

    def _is_forbidden(self, row: int, word: str, cases: Sequence[str]) -> bool:
        """Whether a word is forbidden; for a word in upper case, also whether the word with only its first letter in upper case is
        forbidden.
        """
        some = [FORBIDDEN + each for each in (word, *cases[:-1])]
        return len(self._encode(rows_of(some), numbers=[row] * len(some), special_ids=NO_SPECIAL_IDS, threads=1).ids) > 0

    def _reads(self, mark: str) -> bool:
        """Whether the table contains words that begin with a mark; see `fst.machines.lookup.layout`."""
        return not self.inverse and int(self._table.units[ord(mark)]) % BEGINS > 0

    @Lazy
    def _ids_runner(self) -> Runner:
        return self._runner(with_spans=False)

    @Lazy
    def _spans_runner(self) -> Runner:
        return self._runner(with_spans=True)

    def _runner(self, *, with_spans: bool) -> Runner:
        start = self._table.begin(inverse=self.inverse, limit=self.limit)
        return Runner(self._table, self.arguments._replace(begin=start), self._workspaces, with_spans=with_spans)

    def _encode(
        self,
        source: Source,
        *,
        counted: bool = False,  # noqa: ARG002 - slow words need ids
        errors: str = "strict",
        numbers: Sequence[int] | None = None,
        **options: Any,
    ) -> Batch:
        """See `Encoder._encode`; `numbers`: the numbers of the rows in error messages."""
        batch = super()._encode(source, errors=errors, **options)
        places = np.flatnonzero(batch.ids == SLOW)
        if not len(places):
            return batch
        rows = np.searchsorted(batch.row_splits, places, "right") - 1

        def walk(row: int) -> list[int]:
            return analyses(self._table, whole(source, row, errors), inverse=self.inverse, limit=self.limit)

        return with_rows(batch, rows, *walked(walk, rows.tolist(), numbers))


def walked(walk: Callable[[int], list[int]], rows: Sequence[int], numbers: Sequence[int] | None = None) -> tuple[Array, Ints]:
    """The ids of rows by a slow walk, and their row splits. `numbers`: the numbers of the rows in error messages; None: `rows`."""
    row, found = -1, list[list[int]]()
    try:
        for row in rows:
            found.append(walk(row))
    except TextError as error:
        number = row if numbers is None else numbers[row]
        raise TextError(f"row {number}: {error}", number) from None
    return _concatenated(found)


def _concatenated(rows: Sequence[Sequence[int]]) -> tuple[Array, Ints]:
    """The ids of all rows, and their row splits."""
    return np.array([*chain.from_iterable(rows)], np.int32), np.cumsum([0, *map(len, rows)])


def _parts(ids: Sequence[int]) -> Iterator[list[int]]:
    """Yield the ids of each analysis."""
    start = 0
    for at, number in enumerate(ids):
        if number == END:
            yield [*ids[start : at + 1]]
            start = at + 1


def with_rows(batch: Batch, rows: Ints, ids: Any, splits: Ints) -> Batch:
    """Replace the ids of some rows, in ascending order. The new ids have the span of the first id of their row."""
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
