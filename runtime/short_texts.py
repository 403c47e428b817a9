"""Calls with one short text, without the overhead of a batch: one kernel reads the str, and makes prepared calls of all other kernels.

The kernel of `fst.runtime.kernels.short_texts` copies the str to ``text``, and then makes the calls of a `ShortText`::

    is_unchanged → 1: encode
                 → 0: rewrite → encode_rewritten, or None if the text needs a batch
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.core import native
from fst.core.jit import has_private_parts
from fst.core.prepared import PreparedCall
from fst.runtime.rows.texts import MOST_UNITS, Ints, Units, encode_string, find_in_string
from fst.runtime.run import NOTHING, Buffers, Runner
from fst.runtime.workspace import NO_SPECIAL_IDS, Ids, SpecialIds, Workspace
from fst.tables.kernel_call import SHORT, State

NO_CALL = np.empty(0, np.uint64)


class ShortText(NamedTuple):
    """The argument ``short`` of the kernels in `fst.runtime.kernels.short_texts`.

    Attributes:
        text: uint16[n] or uint8[n], receives the units of the text.
        starts: int64[2], 0 and the number of units.
        state: uint64[n], the state of the kernels that encode; the state is reset before each text.
        ids, offsets: the output of the kernels that encode.
        is_unchanged: uint64[n], the words of a prepared call whose result is 1 if the text need not be rewritten; empty: no text is
            rewritten.
        encode: the words of a prepared call that encodes the text.
        rewrite, encode_rewritten: the words of prepared calls that rewrite the text, and that encode the result; empty: such a text needs a
            batch.
    """

    text: Units
    starts: Ints
    state: State
    ids: Ids
    offsets: Ids
    is_unchanged: NDArray[np.uint64] = NO_CALL
    encode: NDArray[np.uint64] = NO_CALL
    rewrite: NDArray[np.uint64] = NO_CALL
    encode_rewritten: NDArray[np.uint64] = NO_CALL


IDS = ShortText._fields.index("ids")  # faster than a name
CALLS = ("is_unchanged", "encode", "rewrite", "encode_rewritten")


class ShortTexts:
    """An encoder of texts of at most `SHORT` characters. Threads can share it without a lock, because ``list.pop`` and ``list.append`` are
    atomic.

    Args:
        runner: a runner for ids, for which `can_be_short` is true.
        special_ids: the special ids around each text.
    """

    def __init__(self, runner: Runner, special_ids: SpecialIds) -> None:
        self._runner, self._special_ids, self._reader = runner, special_ids, encode_string[runner.unit_type]
        self._calls: list[PreparedCall] = []  # kept alive, because the arguments of kernels contain only the words of calls
        self._idle: list[Any] = [self._new()]
        self._call = self._reader.call

    def encode(self, text: str) -> Ids | None:
        """Encode a text; return None if the text is too long, or needs a batch for another reason."""
        try:
            short = self._idle.pop()
        except IndexError:
            short = self._new()
        try:
            count = self._call(text, short)
            return short[IDS][:count].copy() if count >= 0 else None
        finally:
            self._idle.append(short)

    def _new(self) -> ShortText:
        """Make the arguments for a thread."""
        short, calls = prepared(self._runner, self._special_ids, lambda short: self._reader.prepare("", short))
        self._calls += calls
        return short


class ShortSearch:
    """A search of texts of at most `SHORT` characters. The kernel makes the matches, so that a call is a single call of C.

    Args:
        runner: a runner for ids and spans of a table in UTF-8, for which `can_be_short` is true.
        kind: a subclass of tuple.

    Attributes:
        find: a function that returns a list with a `kind` for each id of a str: the id, the start and the end; None if the text needs a
            batch, or if a search that another thread or the garbage collector began has not ended.
    """

    def __init__(self, runner: Runner, kind: type) -> None:
        others = np.zeros(1, np.uint64), kind, np.array(native.tuple_form())
        short, self._calls = prepared(runner, NO_SPECIAL_IDS, lambda short: find_in_string.prepare(short, *others, ""))
        self.find: Callable[[str], list[Any] | None] = partial(find_in_string.call, short, *others)


class Plan(NamedTuple):
    """The calls of kernels for texts of a limited size, and their arrays.

    Attributes:
        text, starts, state, ids, offsets: as in `ShortText`.
        calls: the prepared calls by their names, `CALLS`; None for a call that is not made.
    """

    text: Units
    starts: Ints
    state: State
    ids: Ids
    offsets: Ids
    calls: dict[str, PreparedCall | None]


def plan(runner: Runner, special_ids: SpecialIds, workspace: Workspace, text: Units, starts: Ints, units: int, *, with_spans: bool) -> Plan:
    """Prepare the calls for a text.

    Args:
        runner, special_ids: as in `ShortTexts`.
        workspace: a workspace of the runner.
        text: the array of the text, with `fst.runtime.rows.texts.PAST_END` units after the longest text.
        starts: int64[2], 0 and the number of units.
        units: the maximum number of units of a text.
        with_spans: whether to find spans; if False, `offsets` is empty, even for a runner that finds spans.
    """
    buffers = Buffers(with_spans)
    buffers.reserve(runner.capacity(units, 1, special_ids), 0)
    calls = runner.prepare_short(text, starts, units, runner.output(special_ids, buffers, np.zeros(1, np.int64)), workspace)
    return Plan(text, starts, workspace.state, buffers.ids, buffers.offsets, dict(zip(CALLS, calls, strict=True)))


def prepared(runner: Runner, special_ids: SpecialIds, prepare: Callable[[ShortText], None]) -> tuple[ShortText, list[PreparedCall]]:
    """Make the argument ``short`` of a kernel, and the prepared calls whose words it contains; keep these calls as long as the argument.

    Args:
        runner, special_ids: as in `ShortTexts`.
        prepare: compiles the kernel for an argument, before the calls are prepared.
    """
    workspace, starts = runner.workspaces.take(), np.zeros(2, np.int64)
    prepare(ShortText(workspace.text, starts, workspace.state, NOTHING, NOTHING))
    units = SHORT * MOST_UNITS[runner.unit]
    found = plan(runner, special_ids, workspace, workspace.text, starts, units, with_spans=runner.with_spans)
    made = found.calls.values()
    return ShortText(*found[:-1], *(call.words if call else NO_CALL for call in made)), [call for call in made if call]


def can_be_short(runner: Runner) -> bool:
    """Whether the kernels of a runner can read short texts without a batch."""
    return runner.can_be_short and can_prepare()


def can_prepare() -> bool:
    """Whether kernels can make prepared calls."""
    if native.library() is not None:
        return True
    with native.need_numba("kernels"):
        return has_private_parts()
