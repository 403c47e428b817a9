"""Run the stages of a table of rewrite rules on rows of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.core.jit import Deferred
from fst.errors import TextError
from fst.machines.rules.table import RulesTable, Stage
from fst.runtime.rewriting.rows import MARGIN, MOST_BYTES, NO_SPANS, Rows
from fst.runtime.rows.texts import UTF_16, units

LAST, MORE = np.uint64(1), np.uint64(0)
CODES = f"utf-32-{UTF_16[-2:]}"
START = np.uint64(0)  # the row of the first set or state

to_left, to_right, mirror = (Deferred("fst.runtime.machines.rules.kernels.passes", name) for name in ("to_left", "to_right", "mirror"))


class Place(NamedTuple):
    """The place in a text that arrives in parts: for each stage the row of the set and the row of the state at the start of the next part.

    Attributes:
        is_first, is_last: whether the next part is the first of its text, and whether it is the last.
        sets, states: the rows.
    """

    is_first: bool
    is_last: bool
    sets: Sequence[Any]
    states: Sequence[Any]


class Buffers:
    """The arrays of one thread; they grow with the texts."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}

    def take(self, name: str, size: int, dtype: type[np.generic]) -> NDArray[Any]:
        """Return an array of at least `size` elements, whose contents are lost at the next call with this name."""
        found = self._arrays.get(name)
        if found is None or len(found) < size:
            found = self._arrays[name] = np.empty(size + size // 4, dtype)
        return found


class Stages:
    """The stages of a table: compositions where the table has them, except for spans, which only the stages themselves determine.

    Args:
        table: the table.
    """

    def __init__(self, table: RulesTable) -> None:
        self._table, arrays = table, table.arguments()
        self._single = [*zip(arrays, table.are_mirrored, strict=False)]
        self._whole = self.start()._replace(is_last=True)
        self._composed = [(arrays[number], is_mirrored) for number, is_mirrored in table.path]

    def buffers(self) -> Buffers:
        """Return the arrays of a thread."""
        return Buffers()

    def parts(self) -> RuleParts:
        """Begin a text that is rewritten in parts."""
        return RuleParts(self, self._table.cuts)

    def start(self) -> Place:
        """Return the place before the first part of a text, which is not the last part."""
        nothing = [START] * len(self._single)
        return Place(True, False, nothing, nothing)

    def run(self, rows: Rows, buffers: Buffers) -> Rows:
        """Rewrite complete rows. The result uses the arrays of `buffers`.

        Raises:
            TextError: the new texts are too long.
        """
        return self.run_part(rows, self._whole, buffers)[0]

    def run_part(self, part: Rows, place: Place, buffers: Buffers) -> tuple[Rows, Place]:
        """Rewrite a part of a text, which ends after a character of `fst.machines.rules.table.RulesTable.cuts` or is the last.

        Returns:
            The new part, which uses the arrays of `buffers`; and the place of the next part.
        """
        sets, states = list[Any](), list[Any]()
        for number, (stage, is_mirrored) in enumerate(self._single if len(part.spans) else self._composed):
            given = _mirrored(part, buffers, "mirrored") if is_mirrored else part
            is_last = place.is_first if is_mirrored else place.is_last
            part, left, right = _rewritten(given, stage, buffers, f"text {number % 2}", place.sets[number], place.states[number], is_last)
            part = _mirrored(part, buffers, f"mirrored {number % 2}") if is_mirrored else part
            sets.append(left if is_mirrored else START)
            states.append(START if is_mirrored else right)
        return part, Place(False, False, sets, states)


class RuleParts:
    """A text that is rewritten in parts, each of which ends after a cut; the text after the last cut is stored.

    Args:
        stages: the stages.
        cuts: bool[n], see `fst.machines.rules.table.RulesTable.cuts`.
    """

    def __init__(self, stages: Stages, cuts: NDArray[np.bool_]) -> None:
        self._stages, self._cuts = stages, cuts
        self._place, self._buffers = stages.start(), stages.buffers()
        self._unread: list[str] = []  # text after the last cut

    def write(self, text: str) -> str:
        """Append text; return the new text up to the last cut."""
        cuts = np.flatnonzero(self._cuts[np.frombuffer(text.encode(CODES), np.uint32)])
        end = int(cuts[-1]) + 1 if len(cuts) else 0
        new = ""
        if end:
            new = self._run("".join([*self._unread, text[:end]]), is_last=False)
            self._unread = []
        self._unread += [text[end:]] if end < len(text) else []
        return new

    def close(self) -> str:
        """Return the rest of the new text."""
        return self._run("".join(self._unread), is_last=True)

    def _run(self, text: str, is_last: bool) -> str:
        """Rewrite a part of the text."""
        data = units(text, np.dtype(np.uint8))
        rows, place = Rows(data, np.array([0, len(data)])), self._place._replace(is_last=is_last)
        part, self._place = self._stages.run_part(rows, place, self._buffers)
        return str(part.text.data, "utf-8")


def _rewritten(
    rows: Rows, stage: Stage, buffers: Buffers, name: str, left: np.uint64, right: np.uint64, is_last: bool
) -> tuple[Rows, np.uint64, np.uint64]:
    """Rewrite rows by one stage; return the new rows, the set at their start, and the state at their end.

    Args:
        rows, stage, buffers: the rows, the stage, and the arrays for the new rows.
        name: the name of the arrays.
        left, right: the set at the end of the last row, and the state at the start of the first.
        is_last: whether the last row ends a text.
    """
    size, new_starts, last = len(rows.text), np.empty_like(rows.starts), LAST if is_last else MORE
    columns = buffers.take("columns", size, np.uint16)
    left = to_left.call(rows.text, rows.starts, stage, left, columns)
    capacity = size + size // 2 + MARGIN
    while True:
        out = buffers.take(name, capacity, np.uint8)
        spans = buffers.take(f"{name} spans", 2 * len(out) + 2, np.int32) if len(rows.spans) else NO_SPANS
        end = to_right.call(rows.text, rows.starts, stage, columns, right, last, rows.spans, out, new_starts, spans)
        capacity = new_starts.item(-1)
        if capacity <= len(out):
            return Rows(out[:capacity], new_starts, spans[: 2 * capacity + 2]), np.uint64(left), np.uint64(end)
        if capacity > MOST_BYTES:
            raise TextError(f"the new texts have {capacity:,} bytes; expected at most {MOST_BYTES:,}; rewrite fewer texts in one call")


def _mirrored(rows: Rows, buffers: Buffers, name: str) -> Rows:
    """Reverse the characters of rows."""
    size = len(rows.text)
    out = buffers.take(name, size, np.uint8)[:size]
    spans = buffers.take(f"{name} spans", 2 * size + 2, np.int32)[: 2 * size + 2] if len(rows.spans) else NO_SPANS
    mirror.call(rows.text, rows.starts, rows.spans, out, spans)
    return Rows(out, rows.starts, spans)
