"""Empty keywords: their matches, put between those that a kernel has found.

An empty keyword matches before each character of a text, and at its end. With overlapping matches it does so everywhere, after all others
that end there. Otherwise it does where no other match begins, holds or ends. Places are those of the raw text, which a kernel may not see,
so kernels leave these matches out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fst.runtime.rows.batch import Batch
from fst.runtime.rows.texts import Ints, Source, characters, replaced
from fst.runtime.stream import Part, Stream


class EmptyKeywords:
    """The matches of empty keywords.

    Args:
        numbers: the numbers of the empty keywords that match in each place.
        overlapping: whether they match everywhere.
    """

    def __init__(self, numbers: Sequence[int], *, overlapping: bool) -> None:
        self._numbers, self.overlapping = np.array(numbers, np.int32), overlapping

    def between(self, starts: Ints, ends: Ints, first: int, last: int) -> tuple[Ints, Ints]:
        """Where empty keywords match.

        Args:
            starts, ends: other matches, in order.
            first, last: the first place, and one past the last.

        Returns:
            The places, each for as many empty keywords as there are; and for each the number of other matches before it.
        """
        if self.overlapping:
            places = np.repeat(np.arange(first, last), len(self._numbers))
            return places, np.searchsorted(ends, places, "right")
        begun = np.bincount(np.clip(starts - first, 0, last - first), minlength=last - first + 2)
        over = np.bincount(np.clip(ends + 1 - first, 0, last - first + 1), minlength=last - first + 2)
        places = first + np.flatnonzero(np.cumsum(begun - over)[: last - first] == 0)
        return places, np.searchsorted(starts, places)

    def ids(self, places: Ints) -> Any:
        """The numbers of the keywords that match in places, as `between` gives them."""
        return np.resize(self._numbers, len(places))

    def put(self, batch: Batch, lengths: Ints) -> Batch:
        """A batch with spans, and the matches of empty keywords between its own; `lengths` are the characters of each row."""
        assert batch.offsets is not None
        borders = lengths + 1
        bases = np.cumsum(borders) - borders
        starts, ends = (batch.offsets + np.repeat(bases, np.diff(batch.row_splits))[:, None]).T
        places, before = self.between(starts, ends, 0, int(borders.sum()))
        rows = np.searchsorted(bases, places, "right") - 1
        found = (places - bases[rows]).astype(np.int32)
        counts = np.append(0, np.cumsum(np.bincount(rows, minlength=len(lengths))))
        return Batch(
            np.insert(batch.ids, before, self.ids(places)),
            batch.row_splits + counts,
            np.insert(batch.offsets, before, found[:, None], axis=0),
            np.zeros(len(batch.ids) + len(places), np.int32),
        )


class EmptyStream(Stream):
    """A stream that gives the matches of empty keywords, too.

    Args:
        empties: the empty keywords.
        with_spans: whether to give spans.
        others: as for `Stream`; the runner finds spans.
    """

    def __init__(self, empties: EmptyKeywords, with_spans: bool, *others: Any) -> None:
        super().__init__(*others)
        self._empties, self._asked = empties, with_spans
        self._next = self._end_of_last = 0  # the first place that is not decided; the end of the last match

    def _given(self) -> Part:
        part = super()._given()
        assert part.offsets is not None
        assert part.words is not None
        starts, ends = part.offsets.T
        self._end_of_last = int(ends[-1]) if len(ends) else self._end_of_last
        last = max(self._decided(), self._next)
        places, before = self._empties.between(starts, ends, self._next, last)
        self._next = last if self._empties.overlapping else max(last, self._end_of_last + (self._count > 0))
        ids = np.insert(part.ids, before, self._empties.ids(places))
        if not self._asked:
            return Part(ids)
        return Part(ids, np.insert(part.offsets, before, places[:, None], axis=0), np.insert(part.words, before, 0))

    def _decided(self) -> int:
        """One past the last place of which is known whether empty keywords match there."""
        if self._is_closed:
            return self._characters + 1
        if self._empties.overlapping:
            return max(self._characters, self._end_of_last + (self._count > 0))
        assert self._spans
        kept: list[int] = self._spans.kept[:1].tolist()
        return min([self._characters, *kept])


def lengths_of(source: Source, errors: str) -> Ints:
    """The characters of each row."""
    return np.fromiter((_length(source.text(row), errors) for row in range(len(source))), np.int64, len(source))


def _length(text: Any, errors: str) -> int:
    if errors == "replace":
        return len(replaced(text))
    return len(text) if isinstance(text, str) else characters(np.frombuffer(text, np.uint8))
