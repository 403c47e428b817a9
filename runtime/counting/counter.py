"""Count the words of documents, with any number of threads and bounded memory.

Each thread takes blocks of documents, and counts their words in its own table. A table that exceeds its share of the memory is written to a
temporary folder as a *run*, a sorted list of words. At the end, each thread sorts the words of its table, and all tables and runs are
merged in ranges of words, so that the result does not depend on the number of threads, the size of blocks or the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from threading import Lock, Thread
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.core.jit import Deferred
from fst.core.threads import in_threads
from fst.counting.arguments import DONE, HAS_ADDED, NO_SLOTS, SLOT, counts
from fst.counting.words import PLACE, UNKNOWN_SPLIT, Words
from fst.errors import TextError
from fst.pretokens.arguments import work
from fst.runtime.front_end import TextBuffers
from fst.runtime.rows.texts import CAPACITY, UNIT_TYPES, Ints, Limits, Source, not_text_at, units, whole, wrong_at
from fst.runtime.text.normalizer import TextNormalizer
from fst.tables.kernel_call import MOST_UNITS

count_words, move_words, list_words = (
    Deferred("fst.runtime.counting.kernel", name) for name in ("count_words", "move_words", "list_words")
)
Progress = Callable[[int, int], None]

BLOCK = 1 << 17  # number of characters or bytes per call, few enough for the cache of a core
LIMITS = Limits(BLOCK, BLOCK)
UTF_8 = UNIT_TYPES["utf-8"]
FIELDS = ("text", "ends", "counts", "first")  # fields of a run; each is stored in a file
SPACE = b" "


class Block(NamedTuple):
    """Documents that one thread counts at a time.

    Attributes:
        rows: the documents.
        first: the number of the first document.
        place: a function that returns the name of a row's document, for messages.
    """

    rows: Source
    first: int
    place: Callable[[int], str]


@dataclass(frozen=True)
class Splitter:
    """The part of a pipeline that splits texts into words.

    Attributes:
        table: a table that splits texts into pre-tokens.
        of_kernels: whether words are the pre-tokens that the table's kernels look up: spaces are not replaced by a symbol, and added tokens
            are skipped. Otherwise, a document with an added token is an error.
    """

    table: Any
    of_kernels: bool = False
    arguments: Any = field(init=False)
    normalizer: TextNormalizer | None = field(init=False)

    def __post_init__(self) -> None:
        text, normalizer = self.table.metadata.text, None
        if text.normalizer is not None:
            normalizer = TextNormalizer(self.table.marked_arguments(), text.normalizer, self.table.metadata.added_tokens, text.trimming)
            normalizer.arguments = normalizer.arguments.shared
        own: dict[str, Any] = {"arguments": self.table.arguments().shared, "normalizer": normalizer}
        for name, value in own.items():
            object.__setattr__(self, name, value)

    @property
    def symbol(self) -> bytes:
        """The character that replaces spaces in words, in UTF-8."""
        symbol: str = "" if self.of_kernels else self.table.metadata.model.letters.symbol
        return symbol.encode() or SPACE


class Counter:
    """A counter of words for one thread, with a table of at most `most` bytes. The documents belong to the part `partition` of a corpus;
    `folder` receives runs.
    """

    def __init__(self, splitter: Splitter, partition: int, errors: str, most: int, folder: Path) -> None:
        self._splitter, self._partition, self._errors, self._most, self._folder = splitter, partition, errors, most, folder
        self._work, self._text_buffers = work(), TextBuffers()
        self._memo, self._text = np.zeros(3, np.uint64), np.empty(CAPACITY["utf-8"], UTF_8)
        self._counts = counts()
        self._counts.position.skips_added = splitter.of_kernels
        self.runs: list[Words] = []

    def count(self, block: Block) -> int:
        """Count the words of a block; return the number of bytes of its documents."""
        row, rows, read = 0, len(block.rows), 0
        while row < rows:
            try:
                text, starts = block.rows.gather(row, rows, LIMITS, self._text, self._errors)
                if len(starts) == 1:
                    text = self._long(block.rows, row)
                    starts = np.array([0, len(text)])
            except TextError as error:
                raise placed(error, block) from None
            normalized, ends, machine = self._normalized(text, starts)
            if (size := max(len(text), int(ends[-1]))) > MOST_UNITS:
                raise TextError(f"{block.place(row)} has {size:,} bytes, normalized; expected at most {MOST_UNITS:,}; cut it")
            if (wrong := self._count(normalized, ends, machine, block.first + row)) is not None:
                where = block.place(wrong - block.first)
                raise TextError(f"{where} has an added token of the splitter; expected text without them; remove it")
            row += len(starts) - 1
            read += len(text)
        return read

    def texts(self, rows: Source) -> list[str]:
        """Normalize documents, without counting their words."""
        row, found = 0, list[str]()
        while row < len(rows):
            text, starts = rows.gather(row, len(rows), LIMITS, self._text, self._errors)
            if len(starts) == 1:
                text = self._long(rows, row)
                starts = np.array([0, len(text)])
            normalized, ends, _ = self._normalized(text, starts)
            data, places = normalized.tobytes(), ends.tolist()
            found += [data[begin:end].decode() for begin, end in pairwise(places)]
            row += len(starts) - 1
        return found

    def _long(self, rows: Source, row: int) -> NDArray[np.uint8]:
        """Return the text of a document that is too long for a block."""
        text = whole(rows, row, self._errors)
        try:
            return units(text, UTF_8)
        except UnicodeEncodeError:
            raise not_text_at(row, wrong_at(text) or 0, text) from None

    def _normalized(self, text: NDArray[np.uint8], starts: Ints) -> tuple[NDArray[np.uint8], Ints, Any]:
        """Normalize documents. Return the result, and the splitter's arguments for normalized documents or, if no document changes, for raw
        documents.
        """
        normalizer = self._splitter.normalizer
        if normalizer is None or normalizer.leaves(text, starts, self._work.state, self._memo):
            return text, starts, self._splitter.arguments
        rewritten = normalizer.rewrite(text, starts, self._work.state, self._text_buffers, is_inside=False, with_spans=False)
        return rewritten.text, rewritten.starts, normalizer.arguments

    def _count(self, text: NDArray[np.uint8], starts: Ints, machine: Any, document: int) -> int | None:
        """Count the words of normalized documents. Return None, or the number of the first document with an added token, because such a
        document cannot be split.
        """
        position = self._counts.position
        position.row, position.at, position.document, position.word = 0, starts[0], document, 0
        while (reason := count_words.call(text, starts, machine, self._work, self._counts)) != DONE:
            if reason == HAS_ADDED:
                return int(position.document)
            self._grow(reason)
        return None

    def _grow(self, reason: int) -> None:
        """Enlarge the table, or write its words as a run if the larger table would exceed the memory."""
        sizes, slots, pool = self._counts.sizes, len(self._counts.slots) // SLOT, len(self._counts.pool)
        if reason == NO_SLOTS:
            slots *= 2
        else:
            pool = max(2 * pool, int(sizes.pool + self._counts.position.needed))
        if _size(slots, pool) > self._most and sizes.words:
            self.store()
        else:
            self._enlarge(slots, pool)

    def _enlarge(self, slots: int, pool: int) -> None:
        old = self._counts
        if len(old.pool) < pool:
            old = old._replace(pool=np.append(old.pool, np.empty(pool - len(old.pool), np.uint8)))
        if len(old.slots) < SLOT * slots:
            new = counts(slots, pool)
            move_words.call(old, new)
            new.position[:] = old.position
            old = new
        self._counts = old

    def store(self) -> None:
        """Write the words of the table as a run, and clear the table."""
        self.runs.append(stored(self.words(), self._folder))
        self._counts.slots.fill(0)
        self._counts.sizes.fill(0)

    def words(self) -> Words:
        """Return the words in the table with their counts and first occurrences."""
        size = int(self._counts.sizes.words)
        text, first = np.empty(int(self._counts.sizes.bytes), np.uint8), np.empty((size, PLACE), np.int64)
        ends, numbers, places = np.empty(size, np.int64), np.empty(size, np.int64), np.empty((size, PLACE - 1), np.int64)
        list_words.call(self._counts, text, ends, numbers, places)
        first[:, 0], first[:, 1:] = self._partition, places
        text, ends = _with_symbol(text, ends, self._splitter.symbol)
        return Words.combined(text, ends, numbers, first, split=UNKNOWN_SPLIT)


def count_documents(
    splitter: Splitter,
    blocks: Iterator[Block],
    *,
    split: str,
    threads: int,
    partition: int,
    errors: str,
    min_count: int,
    memory: int,
    progress: Progress | None,
    is_over: Callable[[], bool],
) -> Words:
    """Count the words of documents.

    Args:
        splitter: the splitter of documents.
        blocks: the documents.
        split: the digest that identifies the splitter.
        threads: the number of threads.
        partition: the number of the part of the corpus to which the documents belong; first occurrences contain this number.
        errors: "strict" or "replace", as in `fst.Tokenizer.encode`.
        min_count: the minimum count of a word in the result.
        memory: the maximum total size of all threads' tables in bytes; full tables are written to a temporary folder.
        progress: a function that is called with the number of documents, and of bytes, that have been counted.
        is_over: a function that returns whether the deadline has passed. Then the count ends after the current blocks; at least one block
            is counted.

    Returns:
        The words; `is_partial` is true if documents are left.
    """
    with TemporaryDirectory(prefix="fst-words-") as name:
        job = _Job(blocks, progress, is_over, lambda: Counter(splitter, partition, errors, memory // (2 * threads), Path(name)))
        job.run(threads)
        found = Words.merged(job.words(threads), split=split, documents=job.documents, min_count=min_count, threads=threads)
        return replace(found, is_partial=job.is_cut)


class _Job:
    """The state of one call of `count_documents`: the remaining documents, the progress, and each thread's counter.

    Attributes:
        counters: the counters of the threads.
        documents: the number of counted documents.
        is_cut: whether the deadline passed before the last block was taken.
    """

    def __init__(
        self, blocks: Iterator[Block], progress: Progress | None, is_over: Callable[[], bool], make: Callable[[], Counter]
    ) -> None:
        self._blocks, self._progress, self._is_over, self._make, self._lock = blocks, progress, is_over, make, Lock()
        self._is_begun = self.is_cut = False
        self.counters: list[Counter] = []
        self.documents = self._read = 0
        self._failed: list[tuple[int, BaseException]] = []

    def run(self, threads: int) -> None:
        """Count all documents in `threads` threads, one of which is the calling thread. If blocks fail, raise the error of the first of
        these blocks.
        """
        others = [Thread(target=self._count, daemon=True) for _ in range(threads - 1)]
        for thread in others:
            thread.start()
        try:
            self._count()
            for thread in others:
                thread.join()
        except BaseException as error:
            self._failed.append((-1, error))  # the other threads stop after their current block
            for thread in others:
                thread.join()
        if self._failed:
            raise min(self._failed, key=itemgetter(0))[1]

    def _count(self) -> None:
        """Count blocks until all blocks are counted or a thread has failed. Record an error together with the number of the first document
        in its block.

        Blocks are taken in the order of documents, so the first block that fails is the same for any number of threads.
        """
        first, counter = -1, None
        try:
            while (block := self._taken()) is not None:
                first = block.first
                if counter is None:
                    counter = self._make()
                    self.counters.append(counter)
                self._add(len(block.rows), counter.count(block))
        except BaseException as error:
            self._failed.append((first, error))

    def words(self, threads: int) -> list[Words]:
        """The sorted words of all tables and runs. If there are runs, the tables are written as runs, too."""
        if any(each.runs for each in self.counters):
            in_threads(Counter.store, self.counters, threads)
            return [run for each in self.counters for run in each.runs]
        return in_threads(Counter.words, self.counters, threads)

    def _taken(self) -> Block | None:
        with self._lock:
            if self._failed or self.is_cut:
                return None
            block = next(self._blocks, None)
            self.is_cut = block is not None and self._is_begun and self._is_over()
            self._is_begun = True
            return None if self.is_cut else block

    def _add(self, documents: int, read: int) -> None:
        with self._lock:
            self.documents += documents
            self._read += read
            if self._progress is not None:
                self._progress(self.documents, self._read)


def placed(error: TextError, block: Block) -> TextError:
    """Replace the row number in the message of an error by the document's name."""
    if error.row is None or error.place is None:
        return error
    reason = str(error).partition(": ")[2]
    return TextError(f"{block.place(error.row)}, position {error.place}: {reason}", block.first + error.row, error.place)


def _size(slots: int, pool: int) -> int:
    """Compute the size of a table in bytes."""
    return slots * (8 * SLOT + 16) + pool


def stored(words: Words, folder: Path) -> Words:
    """Move words to memory-mapped files in a new folder."""
    own = Path(mkdtemp(dir=folder))
    for name in FIELDS:
        np.save(own / f"{name}.npy", getattr(words, name), allow_pickle=False)
    return Words(*(np.load(own / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in FIELDS))


def _with_symbol(text: NDArray[np.uint8], ends: Ints, symbol: bytes) -> tuple[NDArray[np.uint8], Ints]:
    """Replace each space in words by `symbol`."""
    if symbol == SPACE:
        return text, ends
    spaces = np.cumsum(text == ord(SPACE))
    before = np.append(0, spaces)[ends]
    return np.frombuffer(text.tobytes().replace(SPACE, symbol), np.uint8), ends + before * (len(symbol) - 1)
