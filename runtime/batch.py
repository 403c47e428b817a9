"""Batches: rows of text in, rows of ids out, by any number of threads.

Rows are taken in groups. One thread takes them from the front and writes ids where they stay; the others take them from the back, and
their ids are put behind those of the first. So all end at the same time, however long the rows are, and next to nothing is copied.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.errors import TextError
from fst.file import usable_cores
from fst.runtime.machine import COUNT, Machine, Workspace, Workspaces
from fst.runtime.texts import Ints, Texts, Units, characters, gather, not_text_at, starts_of, units, whole

Ids = NDArray[np.int32]
IDS_PER_UNIT = 3  # of UTF-16: the bound of `fst.verify`
SLACK = 16  # ids that a kernel may write past the last one that it counts
BLOCK = 1 << 17  # characters that are gathered and encoded at a time; they stay in a core's own cache
GROUP = 1 << 10  # rows, at most, that a thread takes at a time
NO_MORE, MORE = np.uint64(0), np.uint64(1)
LEAST = 1 << 18  # characters that are worth a thread: it takes some 0.1 ms to wake up, and a core 0.5 ms for so many
MOST_THREADS = 256  # of all batches that are under way


@dataclass(frozen=True, eq=False)
class Batch:
    """The ids of texts, one after the other.

    Attributes:
        ids: int32[n].
        row_splits: int64[rows + 1]; the ids of row r are ``ids[row_splits[r]:row_splits[r + 1]]``, which is also ``batch[r]``.
    """

    ids: Ids
    row_splits: Ints

    def __len__(self) -> int:
        return len(self.row_splits) - 1

    def __getitem__(self, row: int) -> Ids:
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        row %= len(self)
        return self.ids[self.row_splits[row] : self.row_splits[row + 1]]

    def __iter__(self) -> Iterator[Ids]:
        return (self[row] for row in range(len(self)))


@cache
def kernel() -> Callable[..., Any]:
    """`fst.runtime.kernels.encode_rows`, compiled when it is first needed."""
    from fst.runtime.kernels import encode_rows

    return encode_rows


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be done: texts and what all of them are to be, ids around each of them, what to do with what is not text, the machine."""

    texts: Texts
    kind: type
    frame: tuple[Ids, Ids]
    errors: str
    machine: Machine
    workspaces: Workspaces

    def run(self, threads: int | None) -> Batch:
        """Encode all texts."""
        if len(self.texts) <= GROUP:
            starts = starts_of(self.texts, self.kind, 0)
            if starts[-1] <= BLOCK:
                return self._run_block(starts)
        threads = min(threads or usable_cores(), len(self.texts) * self.length // LEAST + 1)
        groups = deque(self._groups(threads))
        threads = min(threads, len(groups))
        if threads == 1:
            return _joined([self._share(groups.popleft)])
        try:
            return self._run_threads(groups, threads)
        except TextError:
            # The error for the first wrong row, not for the one that happened to be found first.
            return self.run(1)

    def _run_block(self, starts: Ints) -> Batch:
        """Encode a few short texts, without the steps that many need."""
        splits = np.zeros(len(starts), np.int64)
        if len(starts) == 1:
            return Batch(np.empty(0, np.int32), splits)
        work = self.workspaces.take()
        text, starts = gather(self.texts, self.kind, 0, starts, self.errors)
        room = self.room(text, len(starts) - 1)
        ids = work.short_ids if room <= len(work.short_ids) else np.empty(room, np.int32)
        kernel()(text, starts, NO_MORE, self.machine, (*self.frame, ids, splits[1:]), work.arrays)
        batch = Batch(ids[: splits[-1]].copy(), splits)
        self.workspaces.give_back(work)
        return batch

    def _share(self, next_group: Callable[[], tuple[int, int]]) -> Share:
        work = self.workspaces.take()
        share = Share(self, work)
        with suppress(IndexError):
            while True:
                share.encode_group(*next_group())
        self.workspaces.give_back(work)
        return share

    def _run_threads(self, groups: deque[tuple[int, int]], threads: int) -> Batch:
        jobs = [_threads().submit(self._share, groups.pop) for _ in range(threads - 1)]
        try:
            front = self._share(groups.popleft)
        finally:
            groups.clear()
            wait(jobs)
        return _joined([front, *(job.result() for job in jobs)])

    def room(self, text: Units, rows: int) -> int:
        """How many ids there may be, and be written past the last of them."""
        return len(text) * IDS_PER_UNIT + (len(self.frame[0]) + len(self.frame[1])) * rows + SLACK

    def _groups(self, threads: int) -> Iterator[tuple[int, int]]:
        """First and last row of groups of about `BLOCK` characters, by the length of some rows; of less if all are few."""
        rows = len(self.texts)
        characters = BLOCK if threads == 1 else min(BLOCK, max(BLOCK >> 4, rows * self.length // (16 * threads)))
        size = min(max(characters // self.length, 1), GROUP)
        return ((first, min(first + size, rows)) for first in range(0, rows, size))

    @cached_property
    def length(self) -> int:
        """About how many characters a row has."""
        some = [len(text) for text in self.texts[:: len(self.texts) // 16 + 1] if isinstance(text, self.kind)]
        return 1 + sum(some) // max(len(some), 1)


class Share:
    """The ids that one thread makes.

    Attributes:
        ids: int32[n], of all its groups, one after the other, and room behind them.
        count: how many ids there are.
        ends: of each group, by its first row: where its ids begin, and where those of each row end.
    """

    def __init__(self, task: Task, work: Workspace) -> None:
        self._task, self._work = task, work
        self.ids, self.count = np.empty(0, np.int32), 0
        self.ends: dict[int, tuple[int, Ints]] = {}

    def encode_group(self, first: int, last: int) -> None:
        """Encode the rows from the first to before the last."""
        texts = self._task.texts[first:last]
        starts = starts_of(texts, self._task.kind, first)
        ends = np.empty(last - first, np.int64)
        self.ends[first] = self.count, ends
        for begin, end in _blocks(starts):
            if starts[end] - starts[begin] > 2 * BLOCK:
                self._encode_long(texts[begin], first + begin, ends[begin:end])
                continue
            own_starts = starts[begin : end + 1] - starts[begin]
            text, unit_starts = gather(texts[begin:end], self._task.kind, first + begin, own_starts, self._task.errors)
            self._encode(text, unit_starts, NO_MORE, ends[begin:end])

    def _encode_long(self, text: str | bytes, row: int, ends: Ints) -> None:
        """Encode one row, a piece after the other, so that memory does not grow with it."""
        text = whole(text, self._task.kind, row, self._task.errors)
        begin, size = 0, BLOCK
        while True:
            more = begin + size < len(text)
            try:
                piece = units(text[begin : begin + size])
            except UnicodeEncodeError as error:
                raise not_text_at(row, begin + error.start, text) from None
            read = self._encode(piece, np.array([0, len(piece)]), MORE if more else NO_MORE, ends[:0] if more else ends)
            if not more:
                return
            # What cannot be read before more of it is known, say a run of marks, is read with more.
            begin, size = begin + characters(piece[:read]), BLOCK if read else 2 * size

    def _encode(self, text: Units, starts: Ints, more: np.uint64, ends: Ints) -> int:
        """Run the kernel; where it stopped reading."""
        task, work = self._task, self._work
        room = self.count + work.room + task.room(text, len(starts) - 1)
        if len(self.ids) < room:
            self._grow(room)
        read = kernel()(text, starts, more, task.machine, (*task.frame, self.ids, ends), work.arrays)
        self.count = int(work.state[COUNT])
        return int(read)

    def _grow(self, room: int) -> None:
        """Make room for so many ids and, the first time, for all: most text has an id for two characters or more."""
        expected = len(self._task.texts) * self._task.length // 2 if not len(self.ids) else 2 * len(self.ids)
        ids = np.empty(max(room, expected), np.int32)  # memory that is not written is not taken
        ids[: self.count] = self.ids[: self.count]
        self.ids = ids


def _joined(shares: Sequence[Share]) -> Batch:
    """The ids of all rows in their order; those of the first share come first."""
    front = shares[0]
    total = sum(share.count for share in shares)
    ids = front.ids if len(front.ids) >= total else np.concatenate([front.ids[: front.count], np.empty(total - front.count, np.int32)])
    groups = sorted((first, share, begin, ends) for share in shares for first, (begin, ends) in share.ends.items())
    splits = [np.zeros(1, np.int64)]
    at = 0
    for _, share, begin, ends in groups:
        end = int(ends[-1])
        if share is not front:
            ids[at : at + end - begin] = share.ids[begin:end]
        splits.append(ends + (at - begin))
        at += end - begin
    return Batch(ids[:total], np.concatenate(splits))


def _blocks(starts: Ints) -> list[tuple[int, int]]:
    """First and last row of blocks of about `BLOCK` characters; a row that is much longer is a block by itself."""
    rows, total = len(starts) - 1, int(starts[-1])
    if total <= 2 * BLOCK:
        return [(0, rows)]
    long = np.flatnonzero(np.diff(starts) > BLOCK)
    cuts = {0, *np.searchsorted(starts[1:], np.arange(BLOCK, total, BLOCK)).tolist(), *long.tolist(), *(long + 1).tolist(), rows}
    return list(pairwise(sorted(cuts)))


_pools: list[ThreadPoolExecutor] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)  # a child has no threads of its parent


def _threads() -> ThreadPoolExecutor:
    """Threads that wait for work; they are made when there is some, and kept."""
    if not _pools:
        _pools.append(ThreadPoolExecutor(MOST_THREADS, "fst"))
    return _pools[0]


