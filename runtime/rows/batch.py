"""Encode batches, which are rows of texts, with any number of threads.

Each worker runs in one thread and encodes chunks of rows. The first worker takes chunks from the front of the batch; all other workers take
chunks from the back. At the end, the ids of the other workers are copied after the ids of the first worker. Thus all workers end at nearly
the same time, and the ids of the first worker are not copied. A row that is too long for a chunk is cut into parts, see
`fst.runtime.safe_cuts`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import Any, NamedTuple, overload

import numpy as np

from fst.core.lazy import Lazy
from fst.core.threads import shared_pool, thread_count
from fst.errors import TableError, TextError
from fst.runtime.rows.texts import (
    Ints,
    Limits,
    Source,
    Text,
    Units,
    characters,
    decoded,
    length,
    not_text_at,
    readable,
    units,
)
from fst.runtime.run import MORE, NO_MORE, NOTHING, READ_AGAIN, Buffers, Runner
from fst.runtime.safe_cuts import SafeCuts
from fst.runtime.workspace import Ids, SpecialIds, Workspace

BLOCK = 1 << 17  # number of characters per call (at most twice as many), few enough for the cache of a core
MAX_CHUNK = 1 << 12  # maximum number of rows in a chunk
FEW_ROWS = 1 << 10  # maximum number of rows of a batch for which the lengths of all rows are read first
FEW_CHARACTERS = 1 << 14  # for this number of characters or fewer, encoding all is faster than stopping at `max_ids`
UNITS_AN_ID = 8  # more units per id than in nearly all texts, an estimate for reading a long row up to `max_ids`
MIN_PIECE = 1 << 11  # minimum number of characters per call; shorter calls would not save time
MIN_SHARE = 1 << 18  # minimum number of characters per thread; their encoding takes 0.5 ms, and waking up a thread takes about 0.1 ms
PARTS = 32  # number of parts of a very long text per thread; more parts take longer to find, fewer parts make threads wait


@dataclass(frozen=True, eq=False, init=False)
class Batch:
    """The ids of a batch of texts, concatenated.

    ``len(batch)`` is the number of rows, and ``batch[r]`` contains the ids of row r. ``batch[first:end]`` is a batch of these rows, which
    shares the memory of the original batch unless the slice has a step.

    Attributes:
        ids: int32[n], the ids of all rows.
        row_splits: int64[rows + 1]; the ids of row r are ``ids[row_splits[r]:row_splits[r + 1]]``.
        offsets: int32[n, 2], the span of each id in its text: the first character (or byte), and one past the last character; (0, 0) for
            special tokens around a text. None without offsets.
        words: int32[n], the index of each id's word in its text; a special token inside the text counts as a word; -1 for special tokens
            around a text. None without offsets.
    """

    ids: Ids
    row_splits: Ints
    offsets: Ids | None = None
    words: Ids | None = None

    def __init__(self, ids: Ids, row_splits: Ints, offsets: Ids | None = None, words: Ids | None = None) -> None:
        own = vars(self)  # 0.3 µs faster than the generated `__init__` of a frozen dataclass
        own["ids"], own["row_splits"], own["offsets"], own["words"] = ids, row_splits, offsets, words

    def __len__(self) -> int:
        return len(self.row_splits) - 1

    @overload
    def __getitem__(self, row: int) -> Ids: ...

    @overload
    def __getitem__(self, row: slice) -> Batch: ...

    def __getitem__(self, row: int | slice) -> Ids | Batch:
        if isinstance(row, slice):
            return self._rows(row)
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        row %= len(self)
        return self.ids[self.row_splits[row] : self.row_splits[row + 1]]

    def __iter__(self) -> Iterator[Ids]:
        return (self[row] for row in range(len(self)))

    def _rows(self, rows: slice) -> Batch:
        """Return the rows of a slice as a batch."""
        starts, lengths = self.row_splits[:-1][rows], np.diff(self.row_splits)[rows]
        splits = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        first = int(starts[0]) if len(starts) else 0
        chosen: Any = slice(first, first + int(splits[-1]))
        if rows.step not in (None, 1):
            chosen = np.repeat(starts - splits[:-1], lengths) + np.arange(splits[-1])
        others = (None if numbers is None else numbers[chosen] for numbers in (self.offsets, self.words))
        return Batch(self.ids[chosen], splits, *others)


class Chunk(NamedTuple):
    """The unit of work of a worker: complete rows, or a part of one row. Sorted chunks are in the order of their texts.

    Attributes:
        first, last: the first row, and one past the last row.
        begin, end: the bounds of the part in its row, in characters or bytes; 0 and 0 for complete rows.
    """

    first: int
    last: int
    begin: int = 0
    end: int = 0


class ChunkResult(NamedTuple):
    """The result of a chunk. All indices refer to the ids of the chunk's worker.

    Attributes:
        begin, end: the index of the chunk's first id, and one past its last id.
        ends: int64[rows], the end of each row's ids; for a part of a row, int64[1] if it is the last part, otherwise int64[0].
        characters_and_words: int64[2], the number of characters and of words in a part of a row; used only if another part follows.
    """

    begin: int
    end: int
    ends: Ints
    characters_and_words: Ints = np.zeros(2, np.int64)


@dataclass(eq=False)  # not frozen, because a frozen class is 0.5 µs slower
class Job:
    """The encoding of one batch.

    Attributes:
        source: the texts.
        special_ids: the special ids before and after each text.
        errors: "strict" or "replace", as in `fst.Tokenizer.encode`.
        runner: runs the kernels.
        max_ids: the number of ids that the caller needs from each row; the result may contain more. None: all ids.
        counted: whether ids are counted but not stored.
        safe_cuts: finds the positions where a long text can be cut into parts; None: texts cannot be cut.
    """

    source: Source
    special_ids: SpecialIds
    errors: str
    runner: Runner
    max_ids: int | None = None
    counted: bool = False
    safe_cuts: SafeCuts | None = None

    def run(self, threads: int | None) -> Batch:
        """Encode all texts."""
        rows = len(self.source)
        block = self._run_block() if rows <= FEW_ROWS else None
        if block:
            return block
        threads = thread_count(threads)
        cut = self._cut(threads) if rows <= FEW_ROWS and threads > 1 else {}
        threads = min(threads, self.total // MIN_SHARE + 1)
        chunks = deque(self._chunks(threads, cut))
        threads = min(threads, len(chunks))
        if threads == 1:
            return _joined([self._worker(chunks.popleft)], self)
        try:
            return self._run_threads(chunks, threads)
        except TextError:
            # Encode again in one thread, to raise the error for the first malformed row.
            return self.run(1)

    def _run_block(self) -> Batch | None:
        """Encode all texts in one call of the kernel, without chunks and workers; return None if the texts are too long."""
        rows, runner = len(self.source), self.runner
        splits, buffers = np.zeros(rows + 1, np.int64), Buffers(runner.with_spans)
        if not rows:
            return self.batch(buffers, 0, splits)
        workspace = runner.workspaces.take()
        short = BLOCK if self.max_ids is None else FEW_CHARACTERS
        text, starts = self.source.gather(0, rows, Limits(short, short, rows), workspace.text, self.errors)
        block = None
        if len(starts) > 1:
            capacity = runner.capacity_as_is(len(text), rows, self.special_ids)
            buffers.ids = workspace.short_ids if capacity <= len(workspace.short_ids) and not runner.with_spans else NOTHING
            buffers.reserve(capacity, 0)
            if runner.first_row is not None:
                workspace.state.first_row = runner.first_row
            output = runner.output(self.special_ids, buffers, splits[1:])
            runner.encode(text, starts, NO_MORE, output, workspace, buffers, counted=self.counted)
            buffers.ids = buffers.ids[: splits.item(-1)].copy()
            block = self.batch(buffers, splits.item(-1), splits)
        runner.workspaces.give_back(workspace)
        return block

    def batch(self, buffers: Buffers, count: int, splits: Ints) -> Batch:
        """Make a batch of the first `count` ids in `buffers`, with their spans if the runner computes spans."""
        if not self.runner.with_spans:
            return Batch(buffers.ids[:count], splits)
        return Batch(buffers.ids[:count], splits, buffers.offsets[: 2 * count].reshape(-1, 2), buffers.words[:count])

    def _worker(self, next_chunk: Callable[[], Chunk]) -> Worker:
        """Run a worker until all chunks are encoded."""
        workspace = self.runner.workspaces.take()
        worker = Worker(self, workspace)
        while True:
            try:
                chunk = next_chunk()
            except IndexError:
                break
            worker.encode(chunk)
        self.runner.workspaces.give_back(workspace)
        return worker

    def _run_threads(self, chunks: deque[Chunk], threads: int) -> Batch:
        from concurrent.futures import wait

        helpers = [shared_pool().submit(self._worker, chunks.pop) for _ in range(threads - 1)]
        try:
            front = self._worker(chunks.popleft)
        finally:
            chunks.clear()
            wait(helpers)
        return _joined([front, *(helper.result() for helper in helpers)], self)

    def _cut(self, threads: int) -> dict[int, list[Chunk]]:
        """Cut long rows into parts; return a mapping from each of these rows to its chunks."""
        cuts = self.safe_cuts
        if cuts is None or self.max_ids is not None:
            return {}
        sizes = {row: max(MIN_SHARE, length // (PARTS * threads)) for row, length in enumerate(self.lengths) if length > 2 * MIN_SHARE}
        try:
            return {row: [Chunk(row, row + 1, *part) for part in cuts.parts(self.source.text(row), size)] for row, size in sizes.items()}
        except TextError:
            return {}  # later, the workers raise the error for the first malformed row

    def _chunks(self, threads: int, cut: Mapping[int, Sequence[Chunk]]) -> Iterator[Chunk]:
        """Divide rows into chunks of about `BLOCK` characters, or fewer for small batches, and insert the parts in `cut`."""
        rows = len(self.source)
        characters = BLOCK if threads == 1 else min(BLOCK, max(BLOCK >> 4, rows * self.length // (16 * threads)))
        size = min(max(characters // self.length, 1), MAX_CHUNK)
        for first, last in pairwise(sorted({*range(0, rows, size), *cut, *(row + 1 for row in cut), rows})):
            yield from cut.get(first, [Chunk(first, last)])

    @Lazy
    def total(self) -> int:
        """The number of characters to read: an estimate for many rows, and exact for few rows, because one row may be very long."""
        rows = len(self.source)
        return rows * self.length if rows > FEW_ROWS or self.max_ids is not None else sum(self.lengths)

    @Lazy
    def lengths(self) -> Sequence[int]:
        """The length of each row, in characters or bytes."""
        return self.source.lengths(1)

    @Lazy
    def length(self) -> int:
        """The estimated number of characters to read in a row, at least 1."""
        some = [min(length, self.longest) for length in self.source.lengths(len(self.source) // 16 + 1)]
        return 1 + sum(some) // max(len(some), 1)

    @property
    def longest(self) -> int:
        """The maximum number of characters in a row that one call reads."""
        return 2 * (BLOCK if self.max_ids is None else min(BLOCK, self.piece))

    @property
    def piece(self) -> int:
        """The number of characters per call in rows that are read in several calls."""
        return BLOCK if self.max_ids is None else max(UNITS_AN_ID * self.max_ids, MIN_PIECE)


class Worker:
    """An encoder of chunks in one thread.

    Attributes:
        buffers: the ids of all chunks, concatenated, with unused capacity at the end.
        count: the number of ids in `buffers`.
        results: the result of each chunk.
    """

    def __init__(self, job: Job, workspace: Workspace) -> None:
        self._job, self._runner, self._workspace = job, job.runner, workspace
        self.buffers = Buffers(job.runner.with_spans)
        self.count = 0
        self._dropped = 0  # number of ids that were counted, and not stored
        self.results: dict[Chunk, ChunkResult] = {}

    def encode(self, chunk: Chunk) -> None:
        """Encode a chunk."""
        self.results[chunk] = self._encode_part(chunk) if chunk.end else self._encode_rows(chunk.first, chunk.last)

    def _encode_rows(self, first: int, last: int) -> ChunkResult:
        """Encode the rows `first` to `last - 1`."""
        source, longest = self._job.source, self._job.longest
        limits = Limits(2 * BLOCK, longest)
        ends = np.empty(last - first, np.int64)
        start = self._dropped + self.count
        row = first
        while row < last:
            text, starts = source.gather(row, last, limits, self._workspace.text, self._job.errors)
            after = row + max(len(starts) - 1, 1)
            own_ends = ends[row - first : after - first]
            if len(starts) > 1:
                self._run(text, starts, NO_MORE, own_ends, row)
            else:
                self._encode_long(row, source.text(row), own_ends)
            row = after
        return ChunkResult(start, int(ends[-1]), ends)

    def _encode_part(self, chunk: Chunk) -> ChunkResult:
        """Encode a part of a row. The kernel treats the part as the middle of a text, except at the begin and the end of the row."""
        text, state, cuts = self._job.source.text(chunk.first), self._workspace.state, self._job.safe_cuts
        assert cuts
        is_last = chunk.end == len(text)
        ahead = 0 if is_last else cuts.ahead
        ends = np.empty(int(is_last), np.int64)
        start = self._dropped + self.count
        state.is_open = chunk.begin > 0
        unread = self._encode_long(chunk.first, text[chunk.begin : chunk.end + ahead], ends)
        if unread != ahead:
            where = f"row {chunk.first}, position {chunk.end}"
            raise TableError(f"{where}: the text cannot be cut here, although the table allows it; compile the table again")
        characters_and_words = np.array([state.before, state.word], np.int64)
        self._workspace.start_anew(self.count)
        return ChunkResult(start, self._dropped + self.count, ends, characters_and_words)

    def _encode_long(self, row: int, text: Text, ends: Ints) -> int:
        """Encode a row or a part of a row piece by piece, so that memory is bounded for rows of any length. Stop after `max_ids` ids.

        `ends` has one element; it is empty for a part that is not the last part. Return the number of units at the end of the text that the
        kernel has not read.
        """
        job = self._job
        text = readable(text, job.errors)
        piece = size = job.piece
        first, dropped, start, rewrites = self.count, self._dropped, 0, False
        while True:
            is_rest = start + size >= len(text)
            more = not is_rest or not len(ends)
            try:
                string, taken = decoded(text[start : start + size], more)
                read_from = units(string, self._runner.rewritten_type if rewrites else self._runner.unit_type)
            except (UnicodeEncodeError, UnicodeDecodeError) as error:
                raise not_text_at(row, start + error.start, text) from None
            starts = np.array([0, len(read_from)])
            read = self._run(read_from, starts, MORE if more else NO_MORE, ends[:0] if more else ends, row, rewrites)
            if read == READ_AGAIN:
                self.count, self._dropped, start, rewrites = first, dropped, 0, True
                self._workspace.start_anew(first)
                continue
            if is_rest:
                return len(read_from) - read
            if job.max_ids is not None and self.count - first >= job.max_ids:
                self._workspace.start_anew(self.count)
                ends[0] = self._dropped + self.count
                return 0
            # The kernel may leave characters unread, such as a run of marks that may continue, so pass them again with the next piece.
            unread = string[len(string) - characters(read_from[read:]) :]
            start += taken - length(unread, type(text))
            size = piece if read else 2 * size

    def _run(self, text: Units, starts: Ints, more: np.uint64, ends: Ints, row: int, rewrites: bool = False) -> int:
        """Run the kernel over rows; return the result of `Runner.encode`. `row` is the number of the first row."""
        job, runner, workspace, rows = self._job, self._runner, self._workspace, len(starts) - 1
        capacity = self.count + runner.capacity_after(workspace, len(text), rows, job.special_ids)
        self.buffers.reserve(capacity, self.count, self._expected())
        if runner.first_row is not None:
            workspace.state.first_row = runner.first_row + row
        output = runner.output(job.special_ids, self.buffers, ends)
        read = runner.encode(text, starts, more, output, workspace, self.buffers, counted=job.counted, rewrites=rewrites)
        self.count = int(workspace.state.count)
        if job.counted:
            ends += self._dropped
            self._dropped += self.count
            self.count = workspace.state.count = 0
        return read

    def _expected(self) -> int:
        """The capacity to reserve: at first, half the number of characters in the batch, which suffices for most texts; later, twice the
        present capacity.
        """
        if self._job.counted:
            return 0
        return 2 * len(self.buffers.ids) or self._job.total // 2


def _joined(workers: Sequence[Worker], job: Job) -> Batch:
    """Join the ids of all workers in one batch, in the order of the rows."""
    with_spans, front = job.runner.with_spans, workers[0].buffers
    total = sum(worker.count for worker in workers)
    front.reserve(total, workers[0].count)
    results = [(chunk, worker.buffers, result) for worker in workers for chunk, result in worker.results.items()]
    splits = [np.zeros(1, np.int64)]
    at, before = 0, np.zeros(2, np.int64)  # number of ids; number of characters and of words in the current row
    for chunk, buffers, (start, end, ends, characters_and_words) in sorted(results, key=itemgetter(0)):
        after = at + end - start
        if buffers is not front and not job.counted:
            front.ids[at:after] = buffers.ids[start:end]
            if with_spans:
                front.offsets[2 * at : 2 * after] = buffers.offsets[2 * start : 2 * end]
                front.words[at:after] = buffers.words[start:end]
        if chunk.begin and with_spans:
            of_text = after - len(job.special_ids[1]) * len(ends)
            front.offsets[2 * at : 2 * of_text] += before[0].astype(np.int32)
            front.words[at:of_text] += before[1].astype(np.int32)
        before = before * (chunk.begin > 0) + characters_and_words
        splits.append(ends + (at - start))
        at = after
    return job.batch(front, total, np.concatenate(splits))
