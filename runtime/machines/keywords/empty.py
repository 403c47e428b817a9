"""Matches of empty keywords, which are inserted between the matches that a kernel finds.

An empty keyword matches before each character of the raw text, and at its end. Overlapping matches include all of these positions; an empty
match comes after all other matches with the same end. Without overlap, an empty keyword matches only at positions where no other match
begins, continues or ends. This module adds the empty matches, because a kernel may read a normalized text, and cannot find positions in the
raw text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fst.runtime.rows.batch import Batch
from fst.runtime.rows.texts import Ints, Source, characters, replaced
from fst.runtime.stream import Part, Stream


class EmptyKeywords:
    """The empty keywords of a searcher.

    Args:
        numbers: the numbers of the empty keywords, which all match at the same positions.
        overlapping: whether matches may overlap; if so, empty keywords match at all positions.
    """

    def __init__(self, numbers: Sequence[int], *, overlapping: bool) -> None:
        self._numbers, self.overlapping = np.array(numbers, np.int32), overlapping

    def between(self, starts: Ints, ends: Ints, first: int, last: int) -> tuple[Ints, Ints]:
        """Find the positions where empty keywords match.

        Args:
            starts, ends: the matches of nonempty keywords, in order.
            first, last: the first position, and one past the last.

        Returns:
            The positions, each repeated for all empty keywords if matches overlap; and for each position, the number of nonempty matches
            before it.
        """
        if self.overlapping:
            places = np.repeat(np.arange(first, last), len(self._numbers))
            return places, np.searchsorted(ends, places, "right")
        begun = np.bincount(np.clip(starts - first, 0, last - first), minlength=last - first + 2)
        over = np.bincount(np.clip(ends + 1 - first, 0, last - first + 1), minlength=last - first + 2)
        places = first + np.flatnonzero(np.cumsum(begun - over)[: last - first] == 0)
        return places, np.searchsorted(starts, places)

    def ids(self, places: Ints) -> Any:
        """Return the keyword numbers for positions that `between` has returned."""
        return np.resize(self._numbers, len(places))

    def put(self, batch: Batch, lengths: Ints) -> Batch:
        """Insert the matches of empty keywords into a batch with spans; `lengths` contains the number of characters of each row."""
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
    """A stream that also returns the matches of empty keywords.

    Args:
        empties: the empty keywords.
        with_spans: whether the stream returns spans.
        others: the arguments of `Stream`; the runner must find spans.
    """

    def __init__(self, empties: EmptyKeywords, with_spans: bool, *others: Any) -> None:
        super().__init__(*others)
        self._empties, self._asked = empties, with_spans
        self._next = self._end_of_last = 0  # the first position where an empty match is undecided; the end of the last match

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
        """Return the end of the decided positions, where later text cannot change whether an empty keyword matches."""
        if self._is_closed:
            return self._characters + 1
        if self._empties.overlapping:
            return max(self._characters, self._end_of_last + (self._count > 0))
        assert self._spans
        kept: list[int] = self._spans.kept[:1].tolist()
        return min([self._characters, *kept])


def lengths_of(source: Source, errors: str) -> Ints:
    """Count the characters of each row."""
    return np.fromiter((_length(source.text(row), errors) for row in range(len(source))), np.int64, len(source))


def _length(text: Any, errors: str) -> int:
    if errors == "replace":
        return len(replaced(text))
    return len(text) if isinstance(text, str) else characters(np.frombuffer(text, np.uint8))
