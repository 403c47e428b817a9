"""Compare the ids and the speed of a table with other tokenizers, on the texts of the user."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import fst
from fst.cli.commands.bench.figures import counted, threads_of
from fst.cli.files.progress import note
from fst.cli.peers import libraries
from fst.cli.peers.libraries import seconds
from fst.cli.peers.references import EXTRA, files, kind
from fst.cli.process import Process
from fst.cli.tables import ready
from fst.cli.terminal import aligned
from fst.errors import FstError, UnsupportedError
from fst.tables.header import TOKENIZERS

if TYPE_CHECKING:
    from fst.cli.commands.bench.figures import Documents
    from fst.cli.tables import TokenizerTable
    from fst.runtime.rows.batch import Batch

ALL = "all"
OURS = "fst"
EQUAL = "equal"
ROUNDS = 5
AT_LEAST = 0.1  # minimum seconds of a run
PARTS = {"utf-8": "▏▎▍▌▋▊▉█", "ascii": "#"}  # characters of a bar, from a character that is one eighth full to a full one
MAX_BAR = 60  # columns


@dataclass(frozen=True)
class Timed:
    """A tokenizer and the times of its runs.

    Attributes:
        name, version: the name and the version of the library.
        first: seconds of a pass over all texts, for each round.
        again: seconds of a second pass for each round, if the library has a cache; otherwise empty.
        ids: the comparison with the ids of the table, such as "equal"; empty for the table itself.
    """

    name: str
    version: str
    first: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)
    ids: str = ""

    @property
    def is_equal(self) -> bool:
        """Whether the ids are equal to those of the table."""
        return self.ids in ("", EQUAL)

    def add(self, first: float, again: float | None) -> None:
        """Add the times of one round."""
        self.first.append(first)
        if again is not None:
            self.again.append(again)


@dataclass(frozen=True)
class Compared:
    """The results of a comparison of the table with other libraries."""

    counts: list[str]  # lines with the size of the texts, their number of tokens, and similar counts
    size: int  # the number of bytes of all texts
    threads: int  # the number of threads of each tokenizer
    timed: Sequence[Timed]  # the table and the libraries, with their times

    def lines(self) -> Iterator[str]:
        """The lines to print: the counts, and a table of the libraries."""
        head = ("library", "version", "MB/s first pass", "ratio", "MB/s again", "ratio", "ids")
        rows = [head, *map(self._row, self.timed)]
        yield from [*self.counts, ""]
        for line, row in zip(aligned([row[:-1] for row in rows]), rows, strict=True):
            yield f"{line}  {row[-1]}".rstrip()

    def _row(self, timed: Timed) -> tuple[str, ...]:
        ratios = [_rounded(self._ratio(times)) if timed.name != OURS and times else "" for times in (timed.first, timed.again)]
        speeds = [f"{self._speed(times):,.1f}" if times else "" for times in (timed.first, timed.again)]
        return timed.name, timed.version, speeds[0], ratios[0], speeds[1], ratios[1], timed.ids

    def _speed(self, times: list[float]) -> float:
        return self.size / median(times) / 1e6

    def _ratio(self, times: list[float]) -> float:
        """The speed of the table divided by the speed of a library, as the median of all rounds."""
        return median(theirs / own for theirs, own in zip(times, self.timed[0].first, strict=True))

    def bars(self) -> Iterator[tuple[str, float, bool]]:
        """The bars of the chart. Each bar has a label, a speed in MB/s, and whether the ids are equal to the ids of the table."""
        for timed in self.timed:
            yield f"{timed.name}, first pass" if timed.again else timed.name, self._speed(timed.first), timed.is_equal
            if timed.again:
                yield f"{timed.name}, again", self._speed(timed.again), timed.is_equal


def _rounded(ratio: float) -> str:
    """Format a ratio with three digits, or with more if its integer part has more digits."""
    return f"{ratio:,.{2 - (ratio >= 10) - (ratio >= 100)}f}"


def sources(names: Sequence[str], source: Path) -> dict[str, Path]:
    """Choose the file that each library reads from the source. `names`: keys of `fst.cli.peers.libraries.LIBRARIES`, or `ALL` for all
    installed libraries that read a file of the source. `source`: a file, or a folder.
    """
    by_kind = {kind(file): file for file in reversed(files(source))}
    wanted = libraries.LIBRARIES if ALL in names else dict.fromkeys(names)
    found = {name: file for name in wanted if (file := _readable(name, by_kind, names)) is not None}
    _need_some(found)
    return found


def _readable(name: str, by_kind: Mapping[str, Path], names: Sequence[str]) -> Path | None:
    try:
        return libraries.readable(name, by_kind)
    except UnsupportedError as error:
        _left_out(name, error, names)
        return None


def _need_some(found: Collection[str]) -> None:
    if not found:
        names = ", ".join(libraries.LIBRARIES)
        raise UnsupportedError(f"none of {names} is installed and reads the source; install {EXTRA}")


def _left_out(name: str, error: FstError, names: Sequence[str]) -> None:
    """Print why a library is left out of the comparison; if the user named the library, raise the error instead."""
    if name in names:
        raise error
    note(f"{name} is left out: {error}")


def compared(table: TokenizerTable, found: Documents, read: Mapping[str, Path], names: Sequence[str], threads: int) -> Compared:
    """Compare the ids of libraries with the ids of a table, then time the table and the libraries in turns.

    Args:
        table: the table.
        found: the texts.
        read: the result of `sources` for `names`.
        names: the same names as for `sources`.
        threads: the number of threads of each tokenizer.
    """
    tokenizer, texts = ready(table), [line.decode() for line in found.lines]
    encode = partial(tokenizer.encode_batch, texts, add_special_tokens=False, threads=threads)
    batch = encode()
    facts = {"threads": str(threads), "reference of the table": table.header.get("reference", TOKENIZERS)}
    counts = list(counted(table, found, batch, **facts))
    own = Timed(OURS, fst.__version__)
    with ExitStack() as stack:
        processes = {name: _started(name, path, threads, stack) for name, path in read.items()}
        answers = {name: _ids_compared(name, process, texts, batch, found, names) for name, process in processes.items()}
        theirs = {name: Timed(name, version(name), ids=ids) for name, ids in answers.items() if ids}
        _need_some(theirs)
        del batch
        for number in range(ROUNDS):
            note(f"round {number + 1} of {ROUNDS}, {threads_of(threads)} each …")
            own.add(seconds(encode, AT_LEAST), None)
            for name, timed in theirs.items():
                timed.add(*processes[name].ask("time", AT_LEAST))
    return Compared(counts, found.size, threads, [own, *theirs.values()])


def _started(name: str, path: Path, threads: int, stack: ExitStack) -> Process:
    """Start the process of a library; the process ends when `stack` is closed."""
    process = Process(name, "fst.cli.peers.libraries:Worker", name, path, threads, settings=libraries.settings(threads))
    stack.callback(process.end)
    return process


def _ids_compared(name: str, process: Process, texts: list[str], batch: Batch, found: Documents, names: Sequence[str]) -> str:
    """Compare the ids of a library with the ids of the table, and return the result as text; this text is empty if the library is left
    out.
    """
    note(f"{name}: comparing ids …")
    try:
        rows = differing(batch, *process.ask("load", texts))
    except FstError as error:
        _left_out(name, error, names)
        return ""
    if not rows:
        return EQUAL
    row, place = rows[0]
    return f"{len(rows):,} of {len(texts):,} texts differ, first {found.place(row)}, from token {place + 1} on"


def differing(batch: Batch, ids: NDArray[np.int64], lengths: NDArray[np.int64]) -> list[tuple[int, int]]:
    """The texts with different ids, and for each of these texts the position of the first different id. `batch` contains the ids of the
    table, `ids` the ids of a library for all texts, in order. `lengths`: the number of ids of each text.
    """
    splits = np.concatenate([[0], np.cumsum(lengths)])
    if np.array_equal(batch.row_splits, splits) and np.array_equal(batch.ids, ids):
        return []
    pairs = [(batch[row], ids[splits[row] : splits[row + 1]]) for row in range(len(lengths))]
    return [(row, _first(*pair)) for row, pair in enumerate(pairs) if not np.array_equal(*pair)]


def _first(ids: NDArray[Any], others: NDArray[Any]) -> int:
    both = min(len(ids), len(others))
    unequal = np.flatnonzero(ids[:both] != others[:both])
    return int(unequal[0]) if len(unequal) else both


def as_bars(result: Compared) -> Iterator[str]:
    """Draw the speeds as bars of characters, for a terminal."""
    labels, speeds, _ = zip(*result.bars(), strict=True)
    figures = [f"{speed:,.1f} MB/s" for speed in speeds]
    width = max(map(len, labels))
    bar_width = min(max(shutil.get_terminal_size().columns - width - max(map(len, figures)) - len("    "), 1), MAX_BAR)
    for label, speed, figure in zip(labels, speeds, figures, strict=True):
        yield f"{label:{width}}  {bar(speed / max(speeds) * bar_width)}  {figure}"


def bar(columns: float) -> str:
    """A bar with a length of `columns`, at least one character, drawn with characters that standard output can encode."""
    parts = PARTS["utf-8" if _has_blocks() else "ascii"]
    filled = max(round(columns * len(parts)), 1)
    whole, rest = divmod(filled, len(parts))
    return parts[-1] * whole + (parts[rest - 1] if rest else "")


def _has_blocks() -> bool:
    try:
        PARTS["utf-8"].encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        return False
    return True
