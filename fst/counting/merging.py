"""Merge files of counted words with bounded memory: an external merge of sorted runs.

A file whose words ascend is a run. All other files are read in chunks; each chunk is sorted, and written to a temporary folder as a run. A
merge reads batches of all its runs at the same time. In each round, it combines all words up to the smallest of the last words of these
batches, because no later batch contains such a word. If the memory is too small for the batches of all runs, groups of runs are merged
first.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from tempfile import TemporaryDirectory
from typing import Any

from fst.counting import tables
from fst.counting.parts import Part, part_of, run_of
from fst.counting.words import Listed, Words, need_total, total_of
from fst.errors import VocabularyError, quoted

MEMORY = 1 << 29  # the default of the argument `memory`, in bytes
OPEN = 1 << 23  # memory of an open file in bytes: pages of all columns, compressed and not
MOST_OPEN = 1 << 8  # maximum number of open files, far below the usual limit of a process, 1,024
ROW, COPIES = 200, 4  # memory of a row that is sorted, in bytes: `ROW`, and `COPIES` times its word


def merge(paths: Iterable[Any], output: Any, *, split: str | None = None, min_count: int = 1, memory: int = MEMORY) -> int:
    """Merge files of counted words into one file, and return the number of its words. For the arguments, see
    `fst.train.merge_words`; `split` is the expected digest of the splitter, None: any digest.
    """
    with _Merge(paths, split, min_count, memory) as merged:
        return tables.save((block.columns for block in merged.blocks()), output)


def load(paths: Iterable[Any]) -> Words:
    """Merge files of counted words into `Words`. The merge needs about `MEMORY` bytes more than the result."""
    with _Merge(paths, None, 1, MEMORY) as merged:
        return Words.joined([*merged.blocks()])


class _Merge:
    """A merge of files. As a context, it owns a folder for runs."""

    def __init__(self, paths: Iterable[Any], split: str | None, min_count: int, memory: int) -> None:
        self._parts, begin = list[Part](), 0
        for path in paths:
            self._parts.append(part_of(str(path), begin))
            begin += self._parts[-1].rows
        self._memory = memory
        self._split = _split_of(self._parts, split)
        least = max([min_count, *(part.min_count for part in self._parts)])
        self._least, self._is_partial = least, any(part.is_partial for part in self._parts)

    def __enter__(self) -> _Merge:
        self._folder = TemporaryDirectory(prefix="fst-words-")
        self._names = (f"{self._folder.name}/{number}.parquet" for number in count())
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def blocks(self) -> Iterator[Words]:
        """Yield at least one block of merged words; words ascend, also from block to block."""
        runs = [run for part in self._parts for run in ([part] if part.ascends else self._sorted(part))]
        most = max(2, min(self._memory // OPEN, MOST_OPEN))
        while len(runs) > most:
            runs = [self._merged(runs[begin : begin + most]) for begin in range(0, len(runs), most)]
        yield from self._rounds(runs, self._least)

    def _sorted(self, part: Part) -> Iterator[Part]:
        """Yield sorted runs with the rows of a part."""
        for batch in part.batches(max(1, self._memory // _row_size(part)), self._split):
            yield self._run([Words.combined(*batch[:4], split=self._split)])

    def _merged(self, runs: Sequence[Part]) -> Part:
        return self._run(self._rounds(runs, 1))

    def _run(self, blocks: Iterable[Words]) -> Part:
        tables.save((block.columns for block in blocks), name := next(self._names))
        return run_of(name, self._split)

    def _rounds(self, runs: Sequence[Part], least: int) -> Iterator[Words]:
        """Merge runs. `least`: words with lower counts are left out."""
        share = max(1, self._memory // max(1, 2 * len(runs)))  # the rows of a batch and those that are left of the previous one
        readers = [_Reader(run.batches(rows := max(1, share // _row_size(run)), self._split), rows) for run in runs]
        total, largest, is_over = 0, (0, b""), False
        while not is_over:
            for reader in readers:
                reader.fill()
            last = min((Listed(reader.words)[-1] for reader in readers if reader.has_more), default=None)
            is_over = last is None
            cuts = [len(reader.words) if last is None else bisect_right(Listed(reader.words), last) for reader in readers]
            found = Words.of_slices([reader.words for reader in readers], [[0, cut] for cut in cuts], 1)
            total += total_of(found.counts)
            largest = max(largest, found.largest)
            need_total(total, *largest)
            for reader, cut in zip(readers, cuts, strict=True):
                reader.drop(cut)
            yield replace(found.at_least(least), split=self._split, min_count=least, is_partial=self._is_partial)


class _Reader:
    """The words of a run that are not merged yet. `batches`: the run. `rows`: the number of rows of a batch.

    Attributes:
        words: the next words of the run, at least one if `has_more`.
        has_more: whether the run may have more words.
    """

    def __init__(self, batches: Iterator[tables.Columns], rows: int) -> None:
        self._batches, self._rows = batches, rows
        self.words, self.has_more = Words.of_pairs([]), True

    def fill(self) -> None:
        """Read batches until there are at least as many words as in a batch, or the run ends."""
        waiting, size = [self.words.columns], len(self.words)
        while self.has_more and size < self._rows:
            batch = next(self._batches, None)
            self.has_more = batch is not None
            if batch is not None:
                waiting.append(batch)
                size += len(batch.ends)
        self._take(tables.joined(waiting))

    def drop(self, count: int) -> None:
        """Remove the first words."""
        self._take(tables.rows_of(self.words.columns, count, len(self.words)))

    def _take(self, columns: tables.Columns) -> None:
        self.words = Words(*columns[:4])


def _row_size(part: Part) -> int:
    """The memory of a row of a part that is sorted, in bytes."""
    return ROW + COPIES * part.width


def _split_of(parts: Sequence[Part], expected: str | None) -> str:
    """The common digest of parts."""
    found = {split: part.path for part in reversed(parts) for split in sorted(part.splits)}
    if len(found) > 1:
        (one, first), (two, second) = [*sorted(found.items())][:2]
        both = f"the split is {quoted(one)} in {first}, and {quoted(two)} in {second}"
        raise VocabularyError(f"{both}; expected one split; count the words again")
    own = next(iter(found), None) or expected or tables.UNKNOWN_SPLIT
    if expected and own != expected:
        raise VocabularyError(f"the split of the words is {own}; expected {expected}, that of the splitter; count the words again")
    return own
