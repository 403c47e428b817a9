"""The analyses of many words, in arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import Any, cast

import numpy as np

from fst.core.lazy import Lazy
from fst.errors import counted
from fst.machines.lookup.layout import CUT, END
from fst.runtime.machines.lookup.encoder import with_rows
from fst.runtime.machines.lookup.lines import has_nulls, lines
from fst.runtime.machines.lookup.spelling import Strings, spelled, spelled_all
from fst.runtime.rows.batch import Batch
from fst.runtime.rows.strings import strings_of
from fst.runtime.rows.texts import Bytes, Ints
from fst.runtime.workspace import Ids

ROWS = 1 << 10  # number of words whose lists are made together


class Analyses:
    """The analyses of a batch of words.

    ``len(analyses)`` is the number of words, and ``analyses[r]`` is the list of the analyses of word r, a list of str. An analysis is a
    sequence of *pieces*: the strings on the arcs of its path, such as "r" and "un<vblex>".

    Attributes:
        pieces: the strings of the pieces.

    Examples:
        >>> import fst
        >>> from fst.compile import lookup
        >>> found = fst.Lookup(lookup({"flies": ["fly+N", "fly+V"]})).lookup_batch(["flies", "bee"])
        >>> list(found), found.row_splits
        ([['fly+N', 'fly+V'], []], array([0, 2, 2]))
    """

    def __init__(
        self, batch: Batch, pieces: Sequence[str], data: Strings, unknown: Sequence[Any] | None, *, weighted: bool
    ) -> None:
        self._batch, self._data, self._unknown, self._weighted, self.pieces = batch, data, unknown, weighted, pieces

    def __repr__(self) -> str:
        return f"<fst.Analyses of {counted(len(self), 'word')}>"

    def __len__(self) -> int:
        return len(self._batch.row_splits) - 1

    def __getitem__(self, row: int) -> list[str]:
        if not -len(self) <= row < len(self):
            raise IndexError(f"row is {row}; expected a number below {len(self)}")
        row %= len(self)
        splits = self._batch.row_splits
        found = spelled(self._batch.ids[splits[row] : splits[row + 1]].tolist(), self.pieces, weighted=self._weighted)
        return found or self._copied(row)

    def __iter__(self) -> Iterator[list[str]]:
        return chain.from_iterable(self._lists(first, min(first + ROWS, len(self))) for first in range(0, len(self), ROWS))

    def _lists(self, first: int, last: int) -> list[list[str]]:
        """The lists of the words `first` to `last - 1`."""
        begin, end = self._batch.row_splits[[first, last]].tolist()
        written = strings_of(*spelled_all(self._batch.ids[begin:end], self._data, weighted=self._weighted))
        splits = self.row_splits[first : last + 1]
        found = [written[start:stop] for start, stop in pairwise((splits - splits[0]).tolist())]
        return found if self._unknown is None else [row or self._copied(number) for number, row in enumerate(found, first)]

    def _copied(self, row: int) -> list[str]:
        """The list of a word without analyses."""
        if self._unknown is None:
            return []
        word = self._unknown[row]
        return [word if isinstance(word, str) else str(word, "utf-8", "replace")]

    def strings(self) -> tuple[Bytes, Ints]:
        """The UTF-8 of all analyses, concatenated; and int64[analyses + 1], the start of each analysis, and the end of the last
        analysis.
        """
        return spelled_all(self._batch.ids, self._data, weighted=self._weighted)

    def lines(self, words: Sequence[bytes | None], form: str) -> Bytes:
        """The lines of `fst lookup`, see `fst.runtime.machines.lookup.lines`.

        Args:
            words: the words in UTF-8; None: a null, which has no analyses.
            form: "tsv", "apertium" or "xerox".
        """
        if not has_nulls(words):
            return lines(form, cast(Sequence[bytes], words), self._batch, self._data, np.diff(self.row_splits), self.weights)
        given = [word or b"" for word in words]
        nulls = np.array([row for row, word in enumerate(words) if word is None])
        batch = with_rows(self._batch, nulls, np.empty(0, np.int32), np.zeros(len(nulls) + 1, np.int64))
        return Analyses(batch, self.pieces, self._data, None, weighted=self._weighted).lines(given, form)

    @Lazy
    def _ends(self) -> Ints:
        """The index of the end of each analysis in the ids of the batch."""
        return np.flatnonzero(self._batch.ids == END)

    @Lazy
    def _is_piece(self) -> Any:
        found = self._batch.ids >= 0
        if self._weighted:
            found[self._ends + 1] = False
        return found

    @Lazy
    def ids(self) -> Ids:
        """int32[n], the pieces of all analyses, concatenated: indices into `pieces`."""
        ids: Ids = self._batch.ids[self._is_piece]
        return ids

    @Lazy
    def splits(self) -> Ints:
        """int64[analyses + 1]; analysis a contains the pieces ``ids[splits[a]:splits[a + 1]]``."""
        before = np.cumsum(self._is_piece)
        return np.concatenate([[0], before[self._ends]])

    @Lazy
    def weights(self) -> Any:
        """float32[analyses], the weight of each analysis; None for an unweighted table."""
        return self._batch.ids[self._ends + 1].view(np.float32) if self._weighted else None

    @Lazy
    def row_splits(self) -> Ints:
        """int64[rows + 1]; row r contains the analyses ``row_splits[r]`` to ``row_splits[r + 1] - 1``."""
        return np.searchsorted(self._ends, self._batch.row_splits)

    @Lazy
    def is_complete(self) -> Any:
        """bool[rows], whether each row contains all analyses of its word; False if there may be more analyses than the limit."""
        found = np.ones(len(self), np.bool_)
        found[np.searchsorted(self._batch.row_splits, np.flatnonzero(self._batch.ids == CUT), "right") - 1] = False
        return found
