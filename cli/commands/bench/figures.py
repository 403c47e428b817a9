"""Measure the speed of a table on the texts of the user, and count their tokens."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from fst.cli.files.progress import note
from fst.cli.tables import ready
from fst.cli.terminal import aligned, visible
from fst.errors import TextError, UnsupportedError

if TYPE_CHECKING:
    from fst import Tokenizer
    from fst.cli.tables import TokenizerTable
    from fst.runtime.files.documents import Documents as Block
    from fst.runtime.files.inputs import Reading
    from fst.runtime.rows.batch import Batch

RUNS = 5  # number of timed runs after a warm-up
SHOWN = 10  # the maximum number of unknown words in the output
LONGEST = 40  # maximum number of characters of a word in the output
GROUP = 1000  # number of texts that are encoded at a time in the search for unknown words
DIFFERENT = 1 << 16  # maximum number of distinct words that are counted; if there are more, the most frequent half remains


@dataclass(frozen=True)
class Documents:
    """All documents in memory, and the number of their characters and words."""

    lines: list[bytes]  # the documents, in UTF-8
    characters: int  # the number of code points
    words: int  # the number of runs of characters between whitespace
    blocks: list[Block]  # the file and the number of each document, in the order of the documents, as blocks without texts

    @property
    def size(self) -> int:
        """The number of bytes of all documents."""
        return sum(map(len, self.lines))

    def place(self, row: int) -> str:
        """The file of a document and its number in this file, for messages."""
        ends = [*accumulate(map(len, self.blocks))]
        number = bisect_right(ends, row)
        block = self.blocks[number]
        return block.place(block.numbers[row - ends[number]])  # index of the document, counted from the end of the block, so it is negative


def documents(how: Reading, files: tuple[str, ...], advance: Callable[[int], None]) -> Documents:
    """Read the documents of all files into memory."""
    lines, characters, words = list[bytes](), 0, 0
    blocks: list[Block] = []
    for some in how.documents(files, advance):
        block = some.in_utf8()
        texts = block.texts
        for text in map(bytes.decode, texts):
            characters += len(text)
            words += len(text.split())
        lines += texts
        blocks.append(replace(block, texts=(), others=None))
    return Documents(lines, characters, words, blocks)


def measured(table: TokenizerTable, found: Documents) -> Iterator[str]:
    """Measure the speed and count the tokens; return the lines to print, first the counts, then the speeds."""
    tokenizer: Tokenizer = ready(table)

    def encode(threads: int) -> Batch:
        return tokenizer.encode_batch(found.lines, add_special_tokens=False, threads=threads)

    from fst.core.threads import usable_cores

    batch = encode(1)
    tokens, unknown = len(batch.ids), np.flatnonzero(batch.ids == table.metadata.model.unk_id)
    yield from counted(table, found, batch)
    rows = np.unique(np.searchsorted(batch.row_splits, unknown, side="right") - 1)
    del batch
    yield ""
    yield from _speeds(found.size, tokens, {threads: _seconds(encode, threads) for threads in sorted({1, usable_cores()})})
    if len(unknown):
        yield ""
        yield from _most_frequent(tokenizer, (found.lines[row] for row in rows))


def _seconds(encode: Callable[[int], Any], threads: int) -> float:
    """The median time of several runs, after a warm-up."""
    note(f"encoding {RUNS + 1} times with {threads_of(threads)} …")
    times = []
    for _ in range(RUNS + 1):
        begun = perf_counter()
        encode(threads)
        times.append(perf_counter() - begun)
    return median(times[1:])


def counted(table: TokenizerTable, found: Documents, batch: Batch, **more: str) -> Iterator[str]:
    """The counts as lines, followed by the lines `more`."""
    size, tokens, unknown = found.size, len(batch.ids), np.count_nonzero(batch.ids == table.metadata.model.unk_id)
    if not tokens:
        raise TextError("the input has no tokens; name a file with text in it")
    shown = {
        "texts": f"{len(found.lines):,}",
        "size": f"{size / 1e6:,.2f} MB of UTF-8 ({size:,} bytes)",
        "tokens": f"{tokens:,}",
        "tokens per character": f"{tokens / found.characters:.3f}",
        "tokens per word": f"{tokens / found.words:.3f}" if found.words else "no words",
        "unknown tokens": f"{unknown / tokens:.3%}",
        **more,
    }
    width = max(map(len, shown))
    return (f"{name:{width}}  {value}" for name, value in shown.items())


def _speeds(size: int, tokens: int, times: dict[int, float]) -> Iterator[str]:
    """A table of speeds: a column for each number of threads, and a column for the ratio of the last speed to the first."""
    first, last = times[min(times)], times[max(times)]
    rows: list[Sequence[str]] = [("", *map(threads_of, times))]
    for name, amount in (("MB/s", size), ("million tokens/s", tokens)):
        rows.append((name, *(f"{amount / 1e6 / seconds:,.1f}" for seconds in times.values())))
    if len(times) > 1:
        rows = [(*row, cell) for row, cell in zip(rows, ("ratio", *[f"{first / last:.2f}"] * 2), strict=True)]
    yield from aligned(rows)


def _most_frequent(tokenizer: Tokenizer, lines: Iterable[bytes]) -> Iterator[str]:
    """The most frequent unknown words, with their counts."""
    note("looking for unknown words …")
    try:
        counts = unknown_words(tokenizer, lines).most_common(SHOWN)
    except UnsupportedError as error:
        yield f"unknown words are not found: {error}"
        return
    yield "most frequent unknown words"
    width = len(f"{counts[0][1]:,}")
    yield from (f"  {count:{width},}  {_shown(word)}" for word, count in counts)


def unknown_words(tokenizer: Tokenizer, lines: Iterable[bytes]) -> Counter[bytes]:
    """Count each unknown word, spelled as in the text.

    To bound memory, at most `DIFFERENT` words are counted at a time. If there are more, the rarer half is dropped; a dropped word is
    counted from 0 if it appears again.
    """
    number = tokenizer._metadata.model.unk_id
    counts, rest = Counter[bytes](), iter(lines)
    while group := list(islice(rest, GROUP)):
        batch = tokenizer.encode_batch(group, add_special_tokens=False, offsets="bytes")
        assert batch.offsets is not None
        for line, first, last in zip(group, batch.row_splits, batch.row_splits[1:], strict=False):
            unknown = batch.offsets[first:last][batch.ids[first:last] == number].tolist()
            counts.update(line[begin:end] for begin, end in unknown)
        if len(counts) > DIFFERENT:
            counts = Counter(dict(counts.most_common(DIFFERENT // 2)))
    return counts


def _shown(word: bytes) -> str:
    text = visible(word.decode())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def threads_of(number: int) -> str:
    """The text "1 thread", "2 threads" and so on."""
    return f"{number} thread{'s' * (number != 1)}"
