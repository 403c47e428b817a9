"""Batches: rows of text in, rows of ids out, by any number of threads.

Rows are taken in groups. One thread takes them from the front and writes ids where they stay; the others take them from the back, and
their ids are put behind those of the first. So all end at the same time, and next to nothing is copied. A row that is too long for that is
taken in parts, see `fst.runtime.safe_cuts`.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from fst.cores import thread_count
from fst.errors import TextError
from fst.jit import Deferred
from fst.lazy import Lazy
from fst.runtime.fallback import SecondReader
from fst.runtime.machine import BEFORE, COUNT, OPEN, WORD, Machine, Workspace, Workspaces
from fst.runtime.safe_cuts import parts
from fst.runtime.texts import Ints, Limits, Source, Text, Units, characters, decoded, length, not_text_at, readable, units, whole, wrong_at

Ids = NDArray[np.int32]
SLACK = 16  # ids that a kernel may write past the last one that it counts
BLOCK = 1 << 17  # characters, or up to twice as many, that are gathered and encoded at a time; they stay in a core's own cache
GROUP = 1 << 10  # rows, at most, that a thread takes at a time
NO_MORE, MORE = np.uint64(0), np.uint64(1)
NOWHERE = np.empty(0, np.int32)  # for places that nobody asked for
UNSUSPECTED = np.empty(0, np.uint8)  # for texts that need no second reading
FEW = 1 << 14  # characters that are encoded to the end sooner than it is found out which of them are wanted
UNITS_AN_ID = 8  # of text, more than almost any text has: so much is read at a time where so many ids are wanted and no more
PIECE = 1 << 11  # characters that are read at a time at least: to stop sooner takes longer than to read them
LEAST = 1 << 18  # characters that are worth a thread: it takes some 0.1 ms to wake up, and a core 0.5 ms for so many
MOST_THREADS = 256  # of all batches that are under way


@dataclass(frozen=True, eq=False, init=False)
class Batch:
    """The ids of texts, one after the other.

    ``len(batch)`` is the number of rows, ``batch[r]`` the ids of one row, and ``batch[first:end]`` a batch of some rows, which shares this
    one's memory unless the slice has a step.

    Attributes:
        ids: int32[n].
        row_splits: int64[rows + 1]; the ids of row r are ``ids[row_splits[r]:row_splits[r + 1]]``, which is also ``batch[r]``.
        offsets: int32[n, 2], the characters of its row that each id stands for, first and one past the last; (0, 0) for ids that were put
            around a text. None where they were not asked for.
        words: int32[n], the number of the word in its row that each id belongs to, special tokens in the text counting as words; -1 for
            ids that were put around a text. None where offsets were not asked for.
    """

    ids: Ids
    row_splits: Ints
    offsets: Ids | None = None
    words: Ids | None = None

    def __init__(self, ids: Ids, row_splits: Ints, offsets: Ids | None = None, words: Ids | None = None) -> None:
        own = vars(self)  # what a frozen dataclass does by itself takes 0.3 µs more
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
        """The batch of some rows, in the order of the slice."""
        starts, lengths = self.row_splits[:-1][rows], np.diff(self.row_splits)[rows]
        splits = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        first = int(starts[0]) if len(starts) else 0
        chosen: Any = slice(first, first + int(splits[-1]))
        if rows.step not in (None, 1):
            chosen = np.repeat(starts - splits[:-1], lengths) + np.arange(splits[-1])
        beside = (None if numbers is None else numbers[chosen] for numbers in (self.offsets, self.words))
        return Batch(self.ids[chosen], splits, *beside)


class Kernels(NamedTuple):
    """Kernels that are compiled for the same target, see `fst.runtime.kernels.wordpiece`: `encode_rows` and `encode_read`."""

    rows: Deferred
    read: Deferred


def kernels() -> Kernels:
    """Kernels that are compiled for the target of their first call."""
    return Kernels(Deferred("fst.runtime.kernels.wordpiece", "encode_rows"), Deferred("fst.runtime.kernels.wordpiece", "encode_read"))


# For ids alone, which take two thirds of the time to compile, and for all that can be asked for beside them.
of_ids, of_all = kernels(), kernels()


class Group(NamedTuple):
    """What a thread takes at a time: rows, or a part of one. Groups are in order as the texts are.

    Attributes:
        first, last: from which row on, and before which.
        begin, end: of a part, where it begins and ends in its row, in characters or bytes; 0 and 0 for whole rows.
    """

    first: int
    last: int
    begin: int = 0
    end: int = 0


class Made(NamedTuple):
    """What became of a group.

    Attributes:
        begin, end: its ids, in those of its share.
        ends: int64[rows], where the ids of each row end there; of a part, none unless it is the last one.
        characters_and_words: int64[2], of a part how many it has; the last one of a row, and whole rows, need not say it.
    """

    begin: int
    end: int
    ends: Ints
    characters_and_words: Ints = np.zeros(2, np.int64)


@dataclass(eq=False)  # and not frozen, which takes 0.5 µs more
class Task:
    """What is to be done.

    Attributes:
        source: texts.
        frame: ids put around each of them.
        errors: what to do with what is not text.
        machine, workspaces: what does it.
        located: whether to say where ids come from.
        most: how many ids of a row are wanted, if not all; there may be more.
        counted: whether ids are only counted, and not kept.
        second: reads texts that the kernel cannot, if there may be any.
        blanks: characters after which a text may be cut.
    """

    source: Source
    frame: tuple[Ids, Ids]
    errors: str
    machine: Machine
    workspaces: Workspaces
    located: bool = False
    most: int | None = None
    counted: bool = False
    second: SecondReader | None = None
    blanks: str = ""

    def run(self, threads: int | None) -> Batch:
        """Encode all texts."""
        batch, suspects = self._run(threads)
        return self._read_again(batch, suspects) if suspects else batch

    def _run(self, threads: int | None) -> tuple[Batch, list[int]]:
        """Encode all texts, and say which rows are to be read again."""
        rows = len(self.source)
        block = self._run_block() if rows <= GROUP else None
        if block:
            return block
        threads = thread_count(threads)
        cut = self._cut() if rows <= GROUP and threads > 1 else {}
        threads = min(threads, self.total // LEAST + 1)
        groups = deque(self._groups(threads, cut))
        threads = min(threads, len(groups))
        if threads == 1:
            return _joined([self._share(groups.popleft)], self)
        try:
            return self._run_threads(groups, threads)
        except TextError:
            # The error for the first wrong row, not for the one that happened to be found first.
            return self._run(1)

    def _run_block(self) -> tuple[Batch, list[int]] | None:
        """Encode all texts, if they are short, without the steps that many need."""
        rows = len(self.source)
        splits = np.zeros(rows + 1, np.int64)
        if not rows:
            return self.batch(NOWHERE, splits, NOWHERE, NOWHERE), []
        work = self.workspaces.take()
        short = BLOCK if self.most is None else FEW
        text, starts = self.source.gather(0, rows, Limits(short, short, rows), work.text, self.errors)
        block = None
        if len(starts) > 1:
            room = self.room(text, rows)
            ids = work.short_ids if room <= len(work.short_ids) else np.empty(room, np.int32)
            offsets, words = self.places(room)
            noted = self.unsuspected(rows)
            target = self.target(ids, splits[1:], offsets, words, noted)
            self.kernels.rows.call(text, starts, NO_MORE, self.machine, target, work.arrays)
            block = self.batch(ids[: splits.item(-1)].copy(), splits, offsets, words), self.suspects(text, starts, noted)
        self.workspaces.give_back(work)
        return block

    @property
    def is_noted(self) -> bool:
        """Whether a kernel is to note rows that are to be read again."""
        return self.second is not None and self.second.is_noted

    @property
    def kernels(self) -> Kernels:
        """Those for what is asked for."""
        return of_all if self.located or self.is_noted else of_ids

    def target(self, ids: Ids, ends: Ints, offsets: Ids, words: Ids, noted: NDArray[np.uint8]) -> tuple[NDArray[Any], ...]:
        """Where these kernels write to."""
        beside = (offsets, words, noted) if self.kernels is of_all else ()
        return (*self.frame, ids, ends, *beside)

    def places(self, room: int) -> tuple[Ids, Ids]:
        """Room for the offsets and the words of so many ids, if they are asked for."""
        return (np.empty(2 * room, np.int32), np.empty(room, np.int32)) if self.located else (NOWHERE, NOWHERE)

    def unsuspected(self, rows: int) -> NDArray[np.uint8]:
        """Room to note rows that are to be read again, if a kernel is to do so."""
        return np.zeros(rows, np.uint8) if self.is_noted else UNSUSPECTED

    def suspects(self, text: Units, starts: Ints, noted: NDArray[np.uint8]) -> list[int]:
        """The rows that are to be read again."""
        return np.flatnonzero(self.second.suspected(text, starts, noted)).tolist() if self.second else []

    def _read_again(self, batch: Batch, rows: Sequence[int]) -> Batch:
        """The batch with some rows read again, in ascending order."""
        size = max(BLOCK // self.length, 1)
        parts = [self._encode_again(rows[first : first + size]) for first in range(0, len(rows), size)]
        again = [ids for part in parts for ids in part]
        lengths = np.diff(batch.row_splits)
        lengths[rows] = [len(ids) for ids in again]
        splits = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        if self.counted:
            return self.batch(NOWHERE, splits, NOWHERE, NOWHERE)
        ids = _spliced(batch.ids, batch.row_splits, rows, again)
        if batch.offsets is None or batch.words is None:
            return Batch(ids, splits)
        offsets = [row for part in parts if part.offsets is not None for row in np.split(part.offsets, part.row_splits[1:-1])]
        words = [row for part in parts if part.words is not None for row in np.split(part.words, part.row_splits[1:-1])]
        places = (_spliced(all_rows, batch.row_splits, rows, own) for all_rows, own in ((batch.offsets, offsets), (batch.words, words)))
        return Batch(ids, splits, *places)

    def _encode_again(self, rows: Sequence[int]) -> Batch:
        """Some rows, by a second reading."""
        assert self.second
        symbols, places = self.second.read([whole(self.source, row, self.errors) for row in rows])
        work = self.workspaces.take()
        room = len(symbols) + (len(self.frame[0]) + len(self.frame[1])) * len(rows) + SLACK
        ids, splits = np.empty(room, np.int32), np.zeros(len(rows) + 1, np.int64)
        offsets, words = self.places(room)
        target = self.target(ids, splits[1:], offsets, words, UNSUSPECTED)
        self.kernels.read.call(symbols, places, self.machine, target, work.arrays)
        self.workspaces.give_back(work)
        return self.batch(ids[: splits[-1]], splits, offsets, words)

    def batch(self, ids: Ids, splits: Ints, offsets: Ids, words: Ids) -> Batch:
        """A batch, with places if they are asked for; there may be room behind them."""
        if not self.located:
            return Batch(ids, splits)
        return Batch(ids, splits, offsets[: 2 * len(ids)].reshape(-1, 2), words[: len(ids)])

    def _share(self, next_group: Callable[[], Group]) -> Share:
        work = self.workspaces.take()
        share = Share(self, work)
        while True:
            try:
                group = next_group()
            except IndexError:
                break
            share.encode(group)
        self.workspaces.give_back(work)
        return share

    def _run_threads(self, groups: deque[Group], threads: int) -> tuple[Batch, list[int]]:
        jobs = [_threads().submit(self._share, groups.pop) for _ in range(threads - 1)]
        try:
            front = self._share(groups.popleft)
        finally:
            groups.clear()
            wait(jobs)
        return _joined([front, *(job.result() for job in jobs)], self)

    def room(self, text: Units, rows: int) -> int:
        """How many ids there may be, and be written past the last of them."""
        return len(text) * self.workspaces.ids_per_unit + (len(self.frame[0]) + len(self.frame[1])) * rows + SLACK

    def _cut(self) -> dict[int, list[Group]]:
        """The parts of long rows."""
        if not self.blanks or self.most is not None:
            return {}
        long = [row for row, length in enumerate(self.lengths) if length > 2 * LEAST]
        try:
            return {row: [Group(row, row + 1, *part) for part in parts(self.source.text(row), self.blanks, LEAST)] for row in long}
        except TextError:
            return {}  # a row is no text, and may not be the first one

    def _groups(self, threads: int, cut: Mapping[int, Sequence[Group]]) -> Iterator[Group]:
        """Groups of about `BLOCK` characters, by the length of some rows; of less if all are few; and the parts of rows that were cut."""
        rows = len(self.source)
        characters = BLOCK if threads == 1 else min(BLOCK, max(BLOCK >> 4, rows * self.length // (16 * threads)))
        size = min(max(characters // self.length, 1), GROUP)
        for first, last in pairwise(sorted({*range(0, rows, size), *cut, *(row + 1 for row in cut), rows})):
            yield from cut.get(first, [Group(first, last)])

    @Lazy
    def total(self) -> int:
        """About how many characters are read; of few rows exactly, since one of them may be long."""
        rows = len(self.source)
        return rows * self.length if rows > GROUP or self.most is not None else sum(self.lengths)

    @Lazy
    def lengths(self) -> Sequence[int]:
        """Of all rows."""
        return self.source.lengths(1)

    @Lazy
    def length(self) -> int:
        """About how many characters of a row are read."""
        some = [min(length, self.longest) for length in self.source.lengths(len(self.source) // 16 + 1)]
        return 1 + sum(some) // max(len(some), 1)

    @property
    def longest(self) -> int:
        """Characters in the longest row that is read at once."""
        return 2 * (BLOCK if self.most is None else min(BLOCK, self.piece))

    @property
    def piece(self) -> int:
        """Characters of a long row that are read at a time."""
        return BLOCK if self.most is None else max(UNITS_AN_ID * self.most, PIECE)


class Share:
    """The ids that one thread makes.

    Attributes:
        ids: int32[n], of all its groups, one after the other, and room behind them.
        offsets, words: int32[2 * n] and int32[n], likewise, where places are asked for.
        count: how many ids there are.
        made: what became of each group.
        suspects: rows that are to be read again.
    """

    def __init__(self, task: Task, work: Workspace) -> None:
        self._task, self._work = task, work
        self.ids = self.offsets = self.words = NOWHERE
        self.count = 0
        self._dropped = 0  # ids that are counted and were not kept
        self.made: dict[Group, Made] = {}
        self.suspects: set[int] = set()

    def encode(self, group: Group) -> None:
        """Encode a group."""
        self.made[group] = self._encode_part(group) if group.end else self._encode_rows(group.first, group.last)

    def _encode_rows(self, first: int, last: int) -> Made:
        """Encode the rows from the first to before the last."""
        source, longest = self._task.source, self._task.longest
        limits = Limits(2 * BLOCK, longest)
        ends = np.empty(last - first, np.int64)
        made_from = self._dropped + self.count
        row = first
        while row < last:
            text, starts = source.gather(row, last, limits, self._work.text, self._task.errors)
            after = row + max(len(starts) - 1, 1)
            own_ends = ends[row - first : after - first]
            if len(starts) > 1:
                self._run(text, starts, NO_MORE, own_ends, row)
            else:
                self._encode_long(row, source.text(row), own_ends)
            row = after
        return Made(made_from, int(ends[-1]), ends)

    def _encode_part(self, group: Group) -> Made:
        """Encode a part of a row; the kernel is told that it has begun before, and that it goes on."""
        text, state = self._task.source.text(group.first), self._work.state
        ends = np.empty(int(group.end == len(text)), np.int64)
        made_from = self._dropped + self.count
        state[OPEN] = group.begin > 0
        self._encode_long(group.first, text[group.begin : group.end], ends)
        characters_and_words = state[[BEFORE, WORD]].astype(np.int64)
        self._work.start_anew(self.count)
        return Made(made_from, self._dropped + self.count, ends, characters_and_words)

    def _encode_long(self, row: int, text: Text, ends: Ints) -> None:
        """Encode one row, a piece after the other, so that memory does not grow with it, until there are as many ids as are wanted.

        Where there is no room for its end, it goes on elsewhere.
        """
        text = readable(text, self._task.errors)
        piece = size = self._task.piece
        first, begin = self.count, 0
        while True:
            is_rest = begin + size >= len(text)
            more = not is_rest or not len(ends)
            try:
                string, taken = decoded(text[begin : begin + size], more)
                read_from = units(string)
            except (UnicodeEncodeError, UnicodeDecodeError) as error:
                raise not_text_at(row, begin + error.start, text) from None
            starts = np.array([0, len(read_from)])
            read = self._run(read_from, starts, MORE if more else NO_MORE, ends[:0] if more else ends, row)
            if is_rest:
                return
            has_enough = self._task.most is not None and self.count - first >= self._task.most
            is_read_again = row in self.suspects
            if is_read_again and (place := wrong_at(text)) is not None:  # the rest is not looked at here
                raise not_text_at(row, place, text)
            if has_enough or is_read_again:
                self._work.start_anew(self.count)
                ends[0] = self._dropped + self.count
                return
            # What cannot be read before more of it is known, say a run of marks, is read with more.
            unread = string[characters(read_from[:read]) :] if read < len(read_from) else ""
            begin += taken - length(unread, type(text))
            size = piece if read else 2 * size

    def _run(self, text: Units, starts: Ints, more: np.uint64, ends: Ints, row: int) -> int:
        """Run the kernel for rows from one on; where it stopped reading."""
        task, work = self._task, self._work
        room = self.count + work.room + task.room(text, len(starts) - 1)
        if len(self.ids) < room:
            self._grow(room)
        noted = task.unsuspected(len(starts) - 1)
        target = task.target(self.ids, ends, self.offsets, self.words, noted)
        read = task.kernels.rows.call(text, starts, more, task.machine, target, work.arrays)
        self.suspects.update(row + suspect for suspect in task.suspects(text, starts, noted))
        self.count = int(work.state[COUNT])
        if task.counted:
            ends += self._dropped
            self._dropped += self.count
            self.count = work.state[COUNT] = 0
        return int(read)

    def _grow(self, room: int) -> None:
        """Make room for so many ids and, the first time, for all: most text has an id for two characters or more."""
        expected = self._task.total // 2 if not len(self.ids) else 2 * len(self.ids)
        if self._task.counted:
            expected = room
        self.ids = _grown(self.ids, self.count, max(room, expected))
        if self._task.located:
            self.offsets = _grown(self.offsets, 2 * self.count, 2 * len(self.ids))
            self.words = _grown(self.words, self.count, len(self.ids))


def _grown(ids: Ids, count: int, room: int) -> Ids:
    """So many numbers with room behind them. Memory that is not written is not taken."""
    grown = np.empty(room, np.int32)
    grown[:count] = ids[:count]
    return grown


def _spliced(numbers: Ids, splits: Ints, rows: Sequence[int], others: Sequence[Ids]) -> Ids:
    """Numbers of rows, with those of some rows put in the place of what is there."""
    pieces, begin = [], 0
    for row, other in zip(rows, others, strict=True):
        pieces += [numbers[begin : splits[row]], other]
        begin = int(splits[row + 1])
    return np.concatenate([*pieces, numbers[begin : splits[-1]]])


def _joined(shares: Sequence[Share], task: Task) -> tuple[Batch, list[int]]:
    """The ids of all rows in their order, those of the first share come first; and the rows that are to be read again."""
    front = shares[0]
    total = sum(share.count for share in shares)
    if len(shares) > 1 and len(front.ids) < total:
        front.ids = _grown(front.ids, front.count, total)
        if task.located:
            front.offsets = _grown(front.offsets, 2 * front.count, 2 * total)
            front.words = _grown(front.words, front.count, total)
    made = [(group, share, made) for share in shares for group, made in share.made.items()]
    splits = [np.zeros(1, np.int64)]
    at, before = 0, np.zeros(2, np.int64)  # ids of all rows; characters and words of a row
    for group, share, (begin, end, ends, characters_and_words) in sorted(made, key=itemgetter(0)):
        after = at + end - begin
        if share is not front and not task.counted:
            front.ids[at:after] = share.ids[begin:end]
            if task.located:
                front.offsets[2 * at : 2 * after] = share.offsets[2 * begin : 2 * end]
                front.words[at:after] = share.words[begin:end]
        if group.begin and task.located:
            of_text = after - len(task.frame[1]) * len(ends)
            front.offsets[2 * at : 2 * of_text] += before[0].astype(np.int32)
            front.words[at:of_text] += before[1].astype(np.int32)
        before = before * (group.begin > 0) + characters_and_words
        splits.append(ends + (at - begin))
        at = after
    batch = task.batch(front.ids[:total], np.concatenate(splits), front.offsets, front.words)
    return batch, sorted(set[int]().union(*(share.suspects for share in shares)))


_pools: list[ThreadPoolExecutor] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)  # a child has no threads of its parent


def _threads() -> ThreadPoolExecutor:
    """Threads that wait for work; they are made when there is some, and kept."""
    if not _pools:
        _pools.append(ThreadPoolExecutor(MOST_THREADS, "fst"))
    return _pools[0]


