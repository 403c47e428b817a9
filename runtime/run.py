"""The runner: the one place that sizes outputs and calls the kernels of a table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.errors import TextError
from fst.jit import Deferred
from fst.machines.kernel_call import COUNT, SLACK, IdsOutput, Output, SpansOutput
from fst.runtime.fallback import Fallback
from fst.runtime.texts import UNIT_TYPES, Ints, Limits, Strings, Units, lay_out
from fst.runtime.workspace import Workspace, Workspaces

Ids = NDArray[np.int32]
Frame = tuple[Ids, Ids]  # the ids before and after a text
NO_MORE, MORE = np.uint64(0), np.uint64(1)
NOTHING = np.empty(0, np.int32)  # for spans that nobody asked for
NO_SUSPECTS = np.empty(0, np.uint8)  # for texts that need no fallback
SHORT = 1 << 13  # characters in a text that `Runner.encode_text` takes


@cache
def kernel_of(module: str, name: str, fields: int) -> Deferred:  # noqa: ARG001 - a part of the key
    """A kernel of one kind of machine, for outputs of so many fields: machines never share compiled code."""
    return Deferred(module, name)


class Buffers:
    """Room for ids and, where asked for, for their spans. It grows, and keeps what is written.

    Attributes:
        ids: int32[n].
        offsets, words: int32[2 * n] and int32[n], or empty without spans.
    """

    def __init__(self, with_spans: bool) -> None:
        self._with_spans = with_spans
        self.ids = self.offsets = self.words = NOTHING

    def reserve(self, room: int, count: int, expected: int = 0) -> None:
        """Make room for so many ids, the first of which are written already, or for more if as many are expected."""
        if len(self.ids) >= room:
            return
        room = max(room, expected)
        self.ids = _grown(self.ids, count, room)
        if self._with_spans:
            self.offsets, self.words = _grown(self.offsets, 2 * count, 2 * room), _grown(self.words, count, room)


def _grown(numbers: Ids, count: int, room: int) -> Ids:
    """So many numbers with room behind them. Memory that is not written is not taken."""
    grown = np.empty(room, np.int32)
    grown[:count] = numbers[:count]
    return grown


class Runner:
    """Runs the kernels of a table, for ids alone or for ids and spans.

    Args:
        table: any machine's.
        arguments: what its kernels take for ``machine``.
        workspaces: of its kernels.
        with_spans: whether to say where ids come from.
        fallback: reads texts that the kernels cannot, if there may be any.

    Attributes:
        unit_type: the type of units of text.
        is_plain: whether `encode_text` and `encode_texts` are for it.
        is_noted: whether its kernels note rows for the fallback.
    """

    def __init__(
        self, table: Any, arguments: Any, workspaces: Workspaces, *, with_spans: bool = False, fallback: Fallback | None = None
    ) -> None:
        self.arguments, self.workspaces, self.with_spans, self.fallback = arguments, workspaces, with_spans, fallback
        self.unit_type = UNIT_TYPES[table.unit]
        self.is_plain = table.unit == "utf-16" and not with_spans and not fallback
        self._ids_per_unit: int = table.ids_per_unit
        self.is_noted = fallback is not None and fallback.is_noted
        self._output: type[Output] = SpansOutput if with_spans or self.is_noted else IdsOutput
        self._rows, self._read = (kernel_of(table.kernel, name, len(self._output._fields)) for name in ("encode_rows", "encode_read"))

    def room(self, units: int, rows: int, frame: Frame) -> int:
        """The most ids of so many units of text in so many rows, and what may be written past the last."""
        return units * self._ids_per_unit + (len(frame[0]) + len(frame[1])) * rows + SLACK

    def suspects(self, rows: int) -> NDArray[np.uint8]:
        """Room to note rows for the fallback, if a kernel is to do so."""
        return np.zeros(rows, np.uint8) if self.is_noted else NO_SUSPECTS

    def output(self, frame: Frame, buffers: Buffers, ends: Ints, suspects: NDArray[np.uint8] = NO_SUSPECTS) -> Output:
        """Where the kernels write to."""
        if self._output is IdsOutput:
            return IdsOutput(*frame, buffers.ids, ends)
        return SpansOutput(*frame, buffers.ids, ends, buffers.offsets, buffers.words, suspects)

    def encode(self, text: Units, starts: Ints, more: np.uint64, output: Output, workspace: Workspace) -> int:
        """Encode rows of text; where reading stopped."""
        return int(self._rows.call(text, starts, more, self.arguments, output, workspace.work))

    def encode_read(self, symbols: NDArray[np.uint16], spans: NDArray[np.uint64], output: Output, workspace: Workspace) -> None:
        """Encode texts whose symbols are known, see `fst.runtime.fallback.Fallback.read`."""
        self._read.call(symbols, spans, self.arguments, output, workspace.work)

    def encode_text(self, text: str, frame: Frame) -> Ids | None:
        """The ids of one text of `SHORT` characters at most, without the steps that a batch needs; None where it is not text."""
        workspace = self.workspaces.take()
        ids = None
        if lay_out(text, workspace.text, workspace.short_starts):
            output = IdsOutput(*frame, workspace.short_ids, workspace.short_ends)
            self._rows.call(workspace.text, workspace.short_starts, NO_MORE, self.arguments, output, workspace.work)
            ids = workspace.short_ids[: workspace.state.item(COUNT)].copy()
        self.workspaces.give_back(workspace)
        return ids

    def encode_texts(self, texts: Sequence[Any], limits: Limits, frame: Frame) -> tuple[Ids, Ints] | None:
        """The ids of a few texts, with room behind them, and where those of each begin; None where they are too long, or not text."""
        workspace = self.workspaces.take()
        try:
            text, starts = Strings(texts).gather(0, len(texts), limits, workspace.text, "strict")
        except TextError:
            text, starts = workspace.text[:0], np.zeros(1, np.int64)
        found = None
        if len(starts) > 1:
            ids, splits = np.empty(self.room(len(text), len(texts), frame), np.int32), np.zeros(len(starts), np.int64)
            self._rows.call(text, starts, NO_MORE, self.arguments, IdsOutput(*frame, ids, splits[1:]), workspace.work)
            found = ids, splits
        self.workspaces.give_back(workspace)
        return found
