"""Counted words: the distinct pre-tokens of a corpus and their counts, the input for training of vocabularies."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from fst.core.jit import Deferred
from fst.core.threads import in_threads
from fst.counting import tables
from fst.counting.tables import Columns
from fst.errors import VocabularyError, quoted
from fst.tables.strings import order_of, taken

MAX_COUNT, UNKNOWN_SPLIT = tables.MAX_COUNT, tables.UNKNOWN_SPLIT
PLACE = 3  # number of columns of `Words.first`: partition, document, number of the word in the document
MOST_WEIGHT = 0.999 * MAX_COUNT  # limit for sums in float64, whose relative error is far below 0.001
RANGE = 1 << 16  # number of words that are merged at a time, counted in the part with the most words

merge_equal = Deferred("fst.counting.kernel", "merge_equal")

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Words:
    """Distinct words, sorted by their bytes, and the count of each word.

    Attributes:
        text: uint8[n], the bytes of all words, concatenated. Words of text are normalized UTF-8.
        ends: int64[words], the end of each word in `text`.
        counts: int64[words], positive; their sum is at most `MAX_COUNT`.
        first: int64[words, 3], the first occurrence of each word: the number of the partition, of the document in the partition, and of the
            word in the document. If occurrences are unknown: (0, 0, index of the word in the input).
        split: a digest of the normalizer and the splitter; `UNKNOWN_SPLIT` if they are unknown.
        documents: the number of counted documents; 0 if it is unknown.
        min_count: words with lower counts are left out; 1 if all words are included.
        is_partial: whether a deadline ended the count before the last document.
    """

    text: NDArray[np.uint8]
    ends: Ints
    counts: Ints
    first: Ints
    split: str = UNKNOWN_SPLIT
    documents: int = 0
    min_count: int = 1
    is_partial: bool = False

    @classmethod
    def of_pairs(cls, pairs: Iterable[tuple[str | bytes, int]], split: str = UNKNOWN_SPLIT) -> Words:
        """Make `Words` from pairs of a word and its count, in any order. The counts of a repeated word are added.

        Args:
            pairs: pairs of a word, as str or bytes, and its count.
            split: the digest of the normalizer and the splitter.

        Raises:
            VocabularyError: a word is neither str nor bytes or has a lone surrogate, a count is not a positive whole number, or the sum of
                counts is larger than `MAX_COUNT`. The message contains the number of the pair, except for the sum.

        Examples:
            >>> words = Words.of_pairs([("hug", 10), ("pug", 5), ("hug", 1)])
            >>> [*words], words.counts.tolist(), words.first[:, 2].tolist()
            ([b'hug', b'pug'], [11, 5], [0, 1])
        """
        listed, counts = list[bytes](), list[int]()
        for row, (word, count) in enumerate(pairs):
            if isinstance(count, bool) or not isinstance(count, int | np.integer) or not 1 <= count <= MAX_COUNT:
                raise VocabularyError(f"pair {row}: the count of {quoted(word)} is {quoted(count)}; expected a positive whole number")
            listed.append(_bytes_of(word, row))
            counts.append(int(count))
        first = np.zeros((len(listed), PLACE), np.int64)
        first[:, 2] = np.arange(len(listed))
        ends = np.cumsum([len(word) for word in listed], dtype=np.int64)
        return cls.combined(np.frombuffer(b"".join(listed), np.uint8), ends, np.array(counts, np.int64), first, split=split)

    @classmethod
    def combined(
        cls, text: NDArray[np.uint8], ends: Ints, counts: Ints, first: Ints, *, split: str, documents: int = 0, in_runs: bool = False
    ) -> Words:
        """Make `Words` from arrays in any order. Repeated words become one word, with the sum of the counts and the earliest first
        occurrence.

        Args:
            text, ends, counts, first: arrays like the attributes `text`, `ends`, `counts` and `first`, but unsorted.
            split, documents: see the attributes.
            in_runs: whether the words consist of few sorted runs.

        Raises:
            VocabularyError: the sum of all counts is larger than `MAX_COUNT`.
        """
        _need_sum(text, ends, counts)
        order, begins = order_of(text, ends, in_runs=in_runs)
        size = np.count_nonzero(begins)
        rows, sums, least = np.empty(size, np.int64), np.empty(size, np.int64), np.empty((size, PLACE), np.int64)
        merge_equal.call(order, begins, np.ascontiguousarray(counts), np.ravel(first), rows, sums, np.ravel(least))
        text, ends = taken(text, ends, rows)
        return cls(text, ends, sums, least, split, documents)

    @classmethod
    def merged(cls, parts: Sequence[Words], *, split: str, documents: int = 0, min_count: int = 1, threads: int = 1) -> Words:
        """Merge the words of several parts of a corpus. The parts may be memory-mapped files, because each thread uses only one range of
        words at a time.

        Args:
            parts: the words of each part.
            split, documents: see the attributes.
            min_count: words with lower counts are left out.
            threads: the number of threads.

        Raises:
            VocabularyError: the sum of all counts is larger than `MAX_COUNT`.
        """
        parts = [part for part in parts if len(part)]
        if len(parts) == 1:
            return replace(parts[0], split=split, documents=documents).at_least(min_count)
        longest: Sequence[bytes] = max((Listed(part) for part in parts), key=len, default=())
        size = max(min(RANGE, -(-len(longest) // threads)), 1)
        pivots = longest[size::size]
        cuts = [[0, *(bisect_left(Listed(part), pivot) for pivot in pivots), len(part)] for part in parts]
        slices = [[each[number : number + 2] for each in cuts] for number in range(len(pivots) + 1)]
        found = in_threads(lambda each: cls.of_slices(parts, each, min_count), slices, threads)
        merged = replace(cls.joined(found), split=split, documents=documents, min_count=min_count)
        need_total(total_of(merged.counts), *merged.largest)
        return merged

    @classmethod
    def joined(cls, blocks: Sequence[Words]) -> Words:
        """The words of at least one block; words ascend, also from block to block. The other attributes are those of the first block."""
        text, ends, counts, first, *_ = tables.joined([block.columns for block in blocks])
        return replace(blocks[0], text=text, ends=ends, counts=counts, first=first)

    @classmethod
    def of_slices(cls, parts: Sequence[Words], slices: Sequence[Sequence[int]], min_count: int) -> Words:
        """The words in the given slice of each part, except words that occur fewer than `min_count` times in total."""
        texts, ends, begun = list[NDArray[np.uint8]](), list[Ints](), 0
        for part, (first, last) in zip(parts, slices, strict=True):
            begin = int(part.ends[first - 1]) if first else 0
            own = part.ends[first:last]
            texts.append(part.text[begin : int(own[-1]) if len(own) else begin])
            ends.append(own + (begun - begin))
            begun += len(texts[-1])
        counts = [part.counts[first:last] for part, (first, last) in zip(parts, slices, strict=True)]
        places = [part.first[first:last] for part, (first, last) in zip(parts, slices, strict=True)]
        nothing = np.empty(0, np.int64)
        found = cls.combined(
            np.concatenate([np.empty(0, np.uint8), *texts]),
            np.concatenate([nothing, *ends]),
            np.concatenate([nothing, *counts]),
            np.concatenate([nothing.reshape(0, PLACE), *places]),
            split=UNKNOWN_SPLIT,
            in_runs=True,
        )
        return found.at_least(min_count)

    @property
    def largest(self) -> tuple[int, bytes]:
        """The largest count and its word; 0 and an empty word if there are no words."""
        if not len(self):
            return 0, b""
        most = int(np.argmax(self.counts))
        return int(self.counts[most]), Listed(self)[most]

    def need_sums(self, sizes: Ints, unit: str) -> None:
        """Raise an error if a sum of ``size × count`` over words may be above `MAX_COUNT`. Counts of pairs, characters and tokens are such
        sums, so trainers need no further checks. `sizes`: the number of symbols of each word. `unit`: the name of symbols in the message.
        """
        weights = sizes * self.counts.astype(np.float64)
        total = float(weights.sum())
        if total > MOST_WEIGHT:
            most = int(weights.argmax())
            found = f"the words have {total:.4g} {unit} by their counts, of which {weights[most]:.4g} are of {quoted(Listed(self)[most])}"
            raise VocabularyError(f"{found}; expected less than {MAX_COUNT:.4g}; divide the counts")

    def at_least(self, count: int) -> Words:
        """The words that occur at least `count` times."""
        if count <= 1:
            return self
        kept = np.flatnonzero(self.counts >= count)
        text, ends = taken(self.text, self.ends, kept)
        least = max(count, self.min_count)
        return replace(self, text=text, ends=ends, counts=self.counts[kept], first=self.first[kept], min_count=least)

    @classmethod
    def from_table(cls, table: Any, split: str | None = None) -> Words:
        """The words of a table, in any order. Repeated words become one word, so a table of several parts of a corpus needs no grouping.

        Args:
            table: a table of ``pyarrow``, a data frame of polars or pandas, a relation of DuckDB, or a mapping of columns. Its columns are
                word (binary or string) and count, and optionally first and split, in the form of `to_arrow`. Without `first`, the order of
                rows is the order of first occurrence.
            split: the expected digest of the splitter; None: the digest of the table.

        Raises:
            VocabularyError: a column is missing or has another type; a value is null; a count is not positive; the sum of all counts is
                larger than `MAX_COUNT`; or the digests differ from each other or from `split`. The message names the row or the column.
            UnsupportedError: ``pyarrow`` is not installed.
        """
        columns = tables.columns_of(table, split)
        words = cls.combined(columns.text, columns.ends, columns.counts, columns.first, split=columns.split)
        return replace(words.at_least(columns.min_count), is_partial=columns.is_partial)

    @property
    def columns(self) -> Columns:
        """The columns of a table of the words."""
        return Columns(self.text, self.ends, self.counts, self.first, self.split, self.min_count, self.is_partial)

    def to_arrow(self) -> Any:
        """A table of ``pyarrow`` with the columns word (binary), count (int64), first (string) and split (string), sorted by word.

        To merge the tables of several parts of a corpus, group all rows by word and split, with ``sum(count)`` and ``min(first)``. Any
        engine can do this, because `first` is a string of hexadecimal digits of fixed width, and such strings have the order of the
        occurrences.

        Raises:
            UnsupportedError: ``pyarrow`` is not installed.
        """
        return tables.table_of(self.columns)

    def save(self, path: Any) -> None:
        """Write the table of `to_arrow` as Parquet.

        Raises:
            UnsupportedError: ``pyarrow`` is not installed.
            OSError: the file cannot be written.
        """
        tables.save([self.columns], path)

    def __len__(self) -> int:
        return len(self.ends)

    def __iter__(self) -> Iterator[bytes]:
        whole, begin = self.text.tobytes(), 0
        for end in self.ends.tolist():
            yield whole[begin:end]
            begin = end


class Listed(Sequence[bytes]):
    """Words as a sequence of bytes objects, for binary search."""

    def __init__(self, words: Words) -> None:
        self._words = words

    def __len__(self) -> int:
        return len(self._words)

    @overload
    def __getitem__(self, number: int) -> bytes: ...

    @overload
    def __getitem__(self, number: slice) -> list[bytes]: ...

    def __getitem__(self, number: int | slice) -> bytes | list[bytes]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        ends, number = self._words.ends, range(len(self))[number]
        return self._words.text[int(ends[number - 1]) if number else 0 : int(ends[number])].tobytes()


def _bytes_of(word: Any, row: int) -> bytes:
    if not isinstance(word, str | bytes):
        raise VocabularyError(f"pair {row}: the word is {quoted(word)}; expected str or bytes")
    try:
        return word.encode() if isinstance(word, str) else word
    except UnicodeEncodeError:
        raise VocabularyError(f"pair {row}: the word {quoted(word)} has a lone surrogate; expected text, or bytes") from None


def _need_sum(text: NDArray[np.uint8], ends: Ints, counts: Ints) -> None:
    """Raise an error if the sum of the counts is larger than `MAX_COUNT`."""
    if (total := total_of(counts)) > MAX_COUNT:
        most = int(counts.argmax())
        need_total(total, int(counts[most]), text[int(ends[most - 1]) if most else 0 : int(ends[most])].tobytes())


def need_total(total: int, largest: int, word: bytes) -> None:
    """Raise an error if the sum of all counts, `total`, is larger than `MAX_COUNT`. `largest`: the largest count, that of `word`."""
    if total > MAX_COUNT:
        found = f"the sum of all counts is {total:,}, of which {largest:,} are of {quoted(word)}"
        raise VocabularyError(f"{found}; expected at most {MAX_COUNT:,}; divide the counts")


def total_of(counts: Ints) -> int:
    """The sum of counts, which may be larger than `MAX_COUNT`."""
    return (int((counts >> 32).sum()) << 32) + int((counts & 0xFFFFFFFF).sum())
