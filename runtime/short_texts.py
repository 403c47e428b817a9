"""Calls with one short text, without the overhead of a batch: one kernel reads the str, and makes prepared calls of all other kernels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.core.jit import has_private_parts
from fst.core.prepared import PreparedCall
from fst.runtime.rows.texts import MOST_UNITS, Ints, Units, encode_string, find_in_string
from fst.runtime.run import Buffers, Runner
from fst.runtime.workspace import Ids, SpecialIds
from fst.tables.kernel_call import SHORT

NO_CALL = np.empty(0, np.uint64)


class ShortText(NamedTuple):
    """The argument ``short`` of the kernels in `fst.runtime.kernels.short_texts`.

    Attributes:
        text: uint16[n] or uint8[n], receives the units of the text.
        starts: int64[2], 0 and the number of units.
        state: uint64[n], the state of the kernels that encode; it is reset before each text.
        ids, offsets: the output of these kernels.
        is_unchanged: a prepared call whose result is 1 if the text need not be rewritten; empty: no text is rewritten.
        encode: a prepared call that encodes the text.
        rewrite, encode_rewritten: prepared calls that rewrite the text, and that encode the result; empty: such a text needs a batch.
    """

    text: Units
    starts: Ints
    state: NDArray[np.uint64]
    ids: Ids
    offsets: Ids
    is_unchanged: NDArray[np.uint64] = NO_CALL
    encode: NDArray[np.uint64] = NO_CALL
    rewrite: NDArray[np.uint64] = NO_CALL
    encode_rewritten: NDArray[np.uint64] = NO_CALL


IDS = ShortText._fields.index("ids")  # faster than a name


class ShortTexts:
    """A caller of kernels for texts of at most `SHORT` characters. Threads can share it without a lock, because ``list.pop`` and
    ``list.append`` are atomic.

    Args:
        runner: the runner of the kernels, for which `can_be_short` is true.
        special_ids: the special ids around each text.
    """

    def __init__(self, runner: Runner, special_ids: SpecialIds) -> None:
        self._runner, self._special_ids = runner, special_ids
        self._reader = find_in_string if runner.with_spans else encode_string[runner.unit_type]
        self._calls: list[PreparedCall | None] = []  # their words are in the arguments of kernels
        self._idle: list[Any] = [self._new()]
        self._call = self._reader.call

    def encode(self, text: str) -> Ids | None:
        """Encode a text with a runner for ids; return None if the text is too long, or needs a batch for another reason."""
        try:
            short = self._idle.pop()
        except IndexError:
            short = self._new()
        try:
            count = self._call(text, short)
            return short[IDS][:count].copy() if count >= 0 else None
        finally:
            self._idle.append(short)

    def find(self, text: str, kind: type) -> list[Any] | None:
        """Find the ids of a text and their spans, with a runner for spans.

        Returns:
            A list with a tuple of the class `kind` for each id: the id, the start and the end; None as for `encode`.
        """
        try:
            short = self._idle.pop()
        except IndexError:
            short = self._new()
        try:
            found: list[Any] | None = self._call(text, short, kind)
            return found
        finally:
            self._idle.append(short)

    def _new(self) -> ShortText:
        """Make the arguments for a thread, and compile all kernels in the order of their calls."""
        runner, workspace, buffers = self._runner, self._runner.workspaces.take(), Buffers(self._runner.with_spans)
        text, starts, units = workspace.text, np.zeros(2, np.int64), SHORT * MOST_UNITS[runner.unit]
        buffers.reserve(runner.capacity(units, 1, self._special_ids), 0)
        arrays = text, starts, workspace.state, buffers.ids, buffers.offsets
        self._reader.prepare("", ShortText(*arrays), *([tuple] if runner.with_spans else []))
        output = runner.output(self._special_ids, buffers, np.zeros(1, np.int64))
        calls = runner.prepare_short(text, starts, units, output, workspace.work)
        self._calls += calls
        return ShortText(*arrays, *(call.words if call else NO_CALL for call in calls))


def short_texts_of(runner: Runner, special_ids: SpecialIds) -> ShortTexts | None:
    """Make a caller for short texts; return None if all texts need a batch."""
    return ShortTexts(runner, special_ids) if runner.can_be_short and has_private_parts() else None
