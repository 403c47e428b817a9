"""Run a table of the best path on rows of text. The arrays of kernels grow with texts."""

from __future__ import annotations

from codecs import getincrementaldecoder

import numpy as np
from numpy.typing import NDArray

from fst.core.jit import Deferred
from fst.errors import TextError, UnsupportedError
from fst.machines.best_path.arguments import AT, DONE, FILLED, FULL, MAX_GROWTH, NEEDS_OUTPUT, NO_PATH, PLACE, REPORT, ROW, STATE
from fst.machines.best_path.table import COPY, BestPathTable
from fst.runtime.front_end import grown
from fst.runtime.rewriting.rows import MARGIN, MOST_BYTES, NO_SPANS, Rows

NO_MORE, MORE = np.uint64(0), np.uint64(1)

MUCH = 1 << 16  # above this number of bytes, unread text must grow by a quarter before it is read again

rewrite = Deferred("fst.runtime.machines.best_path.kernels.rewriting", "rewrite")


class Buffers:
    """The arrays of one thread, which grow with texts, and the layers that they keep.

    Attributes:
        out, spans: the output, and the spans of its bytes.
    """

    def __init__(self, table: BestPathTable) -> None:
        self._table, self._growth = table, 1
        self.work = table.work()
        self.out, self.spans = np.empty(0, np.uint8), NO_SPANS

    def enlarge(self) -> bool:
        """Replace the kernel's arrays by larger ones; return False if the arrays already have the maximum size."""
        if self._growth == MAX_GROWTH:
            return False
        self._growth *= 2
        self.work = self._table.work(self._growth)
        return True

    def reserve(self, size: int, filled: int, *, with_spans: bool) -> None:
        """Enlarge the output to at least `size` bytes; keep the first `filled`."""
        if size > MOST_BYTES:
            raise TextError(f"the new texts have {size:,} bytes; expected at most {MOST_BYTES:,}; rewrite fewer texts in one call")
        if size > len(self.out):
            self.out = grown(self.out, filled, size + size // 2)
        if with_spans and 2 * len(self.out) + 2 > len(self.spans):
            self.spans = grown(self.spans, 2 * filled, 2 * len(self.out) + 2)


class BestPaths:
    """A table, and its kernel."""

    def __init__(self, table: BestPathTable) -> None:
        self._table, self._arguments = table, table.arguments()

    def buffers(self) -> Buffers:
        """Return the arrays of a thread."""
        return Buffers(self._table)

    def parts(self) -> PathParts:
        """Begin a text that is rewritten in parts."""
        if self._table.metadata.settings.unknown == COPY:
            raise UnsupportedError("a stream cannot copy texts without a path; compile the table with unknown='error'")
        return PathParts(self)

    def start(self) -> NDArray[np.uint64]:
        """Return the place before the first row, see `fst.runtime.machines.best_path.kernels.rewriting.rewrite`."""
        place = np.zeros(len(PLACE), np.uint64)
        place[STATE] = self._arguments.start[0]
        return place

    def run(self, rows: Rows, buffers: Buffers) -> Rows:
        """Rewrite complete rows. The result uses the arrays of `buffers`."""
        place = self.start()
        place[AT] = rows.starts[0]
        new = self.run_part(rows, NO_MORE, place, buffers)
        if not self._table.writes_characters:
            _check(new, rows.first)
        return new

    def run_part(self, rows: Rows, more: np.uint64, place: NDArray[np.uint64], buffers: Buffers) -> Rows:
        """Rewrite rows from a place on, and move the place; with `more`, the last row continues in the next call."""
        has_spans = len(rows.spans) > 0
        starts = np.zeros_like(rows.starts)
        buffers.reserve(len(rows.text) + MARGIN, 0, with_spans=has_spans)
        while True:
            spans = buffers.spans if has_spans else NO_SPANS
            output = buffers.out, starts, spans
            result = int(rewrite.call(rows.text, rows.starts, more, place, rows.spans, *output, self._arguments, buffers.work))
            filled = place.item(FILLED)
            if result == DONE:
                return Rows(buffers.out[:filled], starts, spans[: 2 * filled + 2])
            if result == NEEDS_OUTPUT:
                buffers.reserve(place.item(REPORT), filled, with_spans=has_spans)
            elif result != FULL or not buffers.enlarge():
                row = place.item(ROW)
                raise _fault(result, rows.first + row, place.item(REPORT) - rows.starts.item(row))


class PathParts:
    """A text that is rewritten in parts; the text after the last certain item is stored."""

    def __init__(self, paths: BestPaths) -> None:
        self._paths, self._place, self._buffers = paths, paths.start(), paths.buffers()
        self._unread = b""  # text after the place
        self._least = 0  # unread text is read again when it has at least this number of bytes
        self._decoder = getincrementaldecoder("utf-8")()

    def write(self, text: str) -> str:
        """Append text; return the new text that has become certain."""
        return self._run(text, MORE)

    def close(self) -> str:
        """Return the rest of the new text."""
        return self._run("", NO_MORE)

    def _run(self, text: str, more: np.uint64) -> str:
        """Rewrite the text that was not read, and more text."""
        self._unread += text.encode()
        if more and len(self._unread) < self._least:
            return ""
        data = np.frombuffer(self._unread, np.uint8)
        self._place[[ROW, AT, FILLED]] = 0
        new = self._paths.run_part(Rows(data, np.array([0, len(data)])), more, self._place, self._buffers)
        self._unread = self._unread[self._place.item(AT) :]
        self._least = len(self._unread) * 5 // 4 if len(self._unread) > MUCH else 0
        try:
            return self._decoder.decode(new.text.tobytes(), final=not more)
        except UnicodeDecodeError:
            raise TextError("the text becomes bytes that are not UTF-8; expected arcs that write complete characters") from None


def _check(rows: Rows, first: int) -> None:
    """Refuse rows that are not UTF-8; `first` is the number of the first row."""
    try:
        str(rows.text.data, "utf-8")
        wrong = rows.text[rows.starts[:-1][rows.starts[:-1] < len(rows.text)]] & 0xC0 == 0x80
        place = int(rows.starts[np.argmax(wrong)]) if wrong.any() else -1
    except UnicodeDecodeError as error:
        place = error.start
    if place >= 0:
        row = first + int(np.searchsorted(rows.starts, place, side="right")) - 1
        raise TextError(f"row {row}: the new text is not UTF-8; expected arcs that write complete characters", row)


def _fault(result: int, row: int, place: int) -> TextError:
    """The error for a text that the kernel cannot rewrite."""
    if result == NO_PATH:
        problem = f"row {row}: no path through the transducer goes on after byte {place}; correct the text, or compile with unknown='copy'"
    elif result == FULL:
        problem = f"row {row}: there are too many open paths after byte {place}; rewrite shorter texts"
    else:
        problem = f"row {row}: weights of paths differ too much after byte {place}; rewrite shorter texts"
    return TextError(problem, row, place)
