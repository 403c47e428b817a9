"""Run one stage of a table of rewrite rules on rows of text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.core.jit import Deferred
from fst.core.lazy import Lazy
from fst.errors import TextError
from fst.machines.rules.keys import KeyArguments
from fst.machines.rules.quiet import TOO_MANY, Quiet
from fst.machines.rules.table import RulesTable
from fst.runtime.rewriting.rows import MARGIN, MOST_BYTES, NO_SPANS, Rows

LAST, MORE = np.uint64(1), np.uint64(0)
START = np.uint64(0)  # the row of the first set, and of the first state

to_left, to_right, mirror, rewrite_islands, align, replace_keys = (
    Deferred("fst.runtime.machines.rules.kernel", name)
    for name in ("to_left", "to_right", "mirror", "rewrite_islands", "align", "replace_keys")
)


class Ends(NamedTuple):
    """The row of the set at the end of the last row, the row of the state at the start of the first row, and whether the last row ends."""

    left: np.uint64
    right: np.uint64
    is_last: bool


WHOLE = Ends(START, START, True)


class Buffers:
    """The arrays of one thread; they grow with the texts.

    Attributes:
        kept: the text that a stage reads, not reversed. It is the result if a mirrored stage changes nothing.
    """

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}
        self.kept = np.empty(0, np.uint8)

    def name_for(self, given: NDArray[Any]) -> str:
        """Return the name of the array for a new text, which differs from the arrays of the given text and of the kept text."""
        used = self._arrays.get("text 0")
        return "text 1" if used is not None and (given.base is used or self.kept.base is used) else "text 0"

    def take(self, name: str, size: int, dtype: type[np.generic]) -> NDArray[Any]:
        """Return an array of at least `size` elements, whose contents are lost at the next call with this name."""
        found = self._arrays.get(name)
        if found is None or len(found) < size:
            found = self._arrays[name] = np.empty(size + size // 4, dtype)
        return found


class PassStage:
    """A stage of two passes."""

    def __init__(self, table: RulesTable, number: int) -> None:
        self._table, self._number, self._stage = table, number, table.arguments()[number]

    @Lazy
    def _quiet(self) -> Quiet:
        return self._table.quiet(self._number)

    def run(self, rows: Rows, buffers: Buffers) -> Rows:
        """Rewrite complete rows. The result is `rows`, or uses the arrays of `buffers`."""
        if not len(rows.spans) and len(self._quiet.stops):
            new, islands = self._run_islands(rows, buffers)
            if islands != TOO_MANY:
                return new if islands else rows
        return self.run_part(rows, WHOLE, buffers)[0]

    def _run_islands(self, rows: Rows, buffers: Buffers) -> tuple[Rows, int]:
        """The new rows, and the number of islands."""
        columns = buffers.take("columns", len(rows.text), np.uint16)

        def write(out: Any, new_starts: Any, _: Any) -> Any:
            return rewrite_islands.call(rows.text, rows.starts, self._stage, self._quiet, columns, out, new_starts)

        return _written(rows, buffers, write)

    def run_part(self, rows: Rows, ends: Ends, buffers: Buffers) -> tuple[Rows, np.uint64, np.uint64]:
        """Rewrite rows; the last row may be a part of a text.

        Returns:
            The new rows, the set at the start of the first row, and the state at the end of the last row.
        """
        stage, last, columns = self._stage, LAST if ends.is_last else MORE, buffers.take("columns", len(rows.text), np.uint16)
        left = to_left.call(rows.text, rows.starts, stage, ends.left, columns)

        def write(out: Any, new_starts: Any, spans: Any) -> Any:
            given = rows.text, rows.starts, stage, columns, ends.right, last
            if len(spans):
                return align.call(*given, rows.spans, out, new_starts, spans)
            return to_right.call(*given, out, new_starts)

        new, right = _written(rows, buffers, write)
        return new, np.uint64(left), np.uint64(right)


class KeyStage:
    """A stage that replaces keys."""

    def __init__(self, keys: KeyArguments) -> None:
        self._keys = keys

    def run(self, rows: Rows, buffers: Buffers) -> Rows:
        """Rewrite complete rows. The result is `rows`, or uses the arrays of `buffers`."""
        memo = np.zeros(3, np.uint64)

        def write(out: Any, new_starts: Any, spans: Any) -> Any:
            return replace_keys.call(rows.text, rows.starts, self._keys, memo, rows.spans, out, new_starts, spans)

        new, count = _written(rows, buffers, write)
        return new if count else rows

    def run_part(self, rows: Rows, _: Ends, buffers: Buffers) -> tuple[Rows, np.uint64, np.uint64]:
        """Rewrite rows as `PassStage.run_part` does; no key contains a cut, so parts are rewritten as complete rows."""
        return self.run(rows, buffers), START, START


def _written(rows: Rows, buffers: Buffers, write: Callable[[Any, Any, Any], Any]) -> tuple[Rows, Any]:
    """The rows that a kernel writes, and the result of the kernel; the output grows until it is large enough. Kernels may read
    `MARGIN` bytes past the end of an output.
    """
    size, new_starts, name = len(rows.text), np.empty_like(rows.starts), buffers.name_for(rows.text)
    capacity = size + size // 2 + MARGIN
    while True:
        out = buffers.take(name, capacity + MARGIN, np.uint8)[:-MARGIN]
        spans = buffers.take(f"{name} spans", 2 * len(out) + 2, np.int32) if len(rows.spans) else NO_SPANS
        result = write(out, new_starts, spans)
        capacity = new_starts.item(-1)
        if capacity <= len(out):
            return Rows(out[:capacity], new_starts, spans[: 2 * capacity + 2], rows.first), result
        if capacity > MOST_BYTES:
            raise TextError(f"the new texts have {capacity:,} bytes; expected at most {MOST_BYTES:,}; rewrite fewer texts in one call")


def mirrored(rows: Rows, buffers: Buffers, name: str) -> Rows:
    """Reverse the characters of rows."""
    size = len(rows.text)
    out = buffers.take(name, size + MARGIN, np.uint8)[:size]
    spans = buffers.take(f"{name} spans", 2 * size + 2, np.int32)[: 2 * size + 2] if len(rows.spans) else NO_SPANS
    mirror.call(rows.text, rows.starts, rows.spans, out, spans)
    return Rows(out, rows.starts, spans, rows.first)
