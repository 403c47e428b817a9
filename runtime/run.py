"""The runner: the only module that sizes outputs and calls the kernels of a table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.core.jit import Deferred, number_kernels
from fst.errors import TextError
from fst.runtime.fallback import Fallback
from fst.runtime.front_end import TextFrontEnd, grown
from fst.runtime.rows.texts import UNIT_TYPES, Ints, Limits, Strings, Units, gather_bytes, gather_strings, lay_out
from fst.runtime.workspace import Ids, SpecialIds, Workspace, Workspaces
from fst.tables.kernel_call import COUNT, KEPT, KEPT_CHARACTERS, MOST_UNITS, OPEN, SLACK, IdsOutput, Output, SpansOutput

NO_MORE, MORE = np.uint64(0), np.uint64(1)
NOTHING = np.empty(0, np.int32)  # instead of spans that are not requested
NO_SPANS = np.empty(0, np.uint64)  # if nothing is kept
NO_SUSPECTS = np.empty(0, np.uint8)  # without a fallback
MOST_IDS = 1 << 30  # an id with its span takes 16 bytes
SHORT = 1 << 13  # the maximum number of characters for `Runner.encode_text`


@cache
def kernel_of(module: str, name: str, fields: int) -> Deferred:  # noqa: ARG001 - a part of the key
    """The kernel of a module. There is one for each number of output fields, since compiled code is specific to the types of arguments."""
    return Deferred(module, name)


class Kernel(NamedTuple):
    """The properties of a table that a runner reads, for use with a different kernel."""

    kind: str
    unit: str
    kernel: str
    ids_per_unit: int
    has_bounded_ids: bool = True
    has_tokens: bool = True


def capacity_for(ids_per_unit: int, units: int, rows: int, special_ids: SpecialIds) -> int:
    """An upper bound on the number of ids of `rows` rows with `units` units of text in total, plus `SLACK`."""
    return units * ids_per_unit + (len(special_ids[0]) + len(special_ids[1])) * rows + SLACK


class Buffers:
    """Growing buffers for ids and, if requested, for their spans.

    Attributes:
        ids: int32[n].
        offsets, words: int32[2 * n] and int32[n]; empty without spans.
    """

    def __init__(self, with_spans: bool) -> None:
        self._with_spans = with_spans
        self.ids = self.offsets = self.words = NOTHING

    def reserve(self, capacity: int, count: int, expected: int = 0) -> None:
        """If fewer than `capacity` ids fit, grow to the maximum of `capacity` and `expected`, and keep the first `count` ids."""
        if len(self.ids) >= capacity:
            return
        capacity = max(capacity, expected)
        self.ids = grown(self.ids, count, capacity)
        if self._with_spans:
            self.offsets, self.words = grown(self.offsets, 2 * count, 2 * capacity), grown(self.words, count, capacity)


class Runner:
    """A caller of the kernels of a table, for ids only or for ids and spans.

    Args:
        table: the table of any machine.
        arguments: the kernels' argument ``table``.
        workspaces: idle workspaces for the kernels.
        with_spans: whether to find the spans of ids.
        fallback: encodes texts that the kernels cannot read; None if they can read every text.
        front_end: prepares texts for the kernels; None if they read every text as it is.
        first_row: the number of the first row; None if ids do not depend on the numbers of rows.

    Attributes:
        unit_type: the dtype of a unit of text.
        is_plain: whether `encode_text` and `encode_texts` may be called: without spans and fallback, for tables with a bound on their ids.
        marks_rows: whether the kernels mark rows for the fallback.
    """

    def __init__(
        self,
        table: Any,
        arguments: Any,
        workspaces: Workspaces,
        *,
        with_spans: bool = False,
        fallback: Fallback | None = None,
        front_end: TextFrontEnd | None = None,
        first_row: int | None = None,
    ) -> None:
        self.arguments, self.workspaces, self.with_spans = arguments, workspaces, with_spans
        self.fallback, self.front_end, self.first_row = fallback, front_end, first_row
        self.unit_type = UNIT_TYPES[table.unit]
        self._is_bounded: bool = table.has_bounded_ids
        self.is_plain = not with_spans and not fallback and self._is_bounded
        self._ids_per_unit: int = table.ids_per_unit
        self._ids_per_read = max(table.ids_per_unit // front_end.expansion_bound, 1) if front_end else table.ids_per_unit
        self.marks_rows = fallback is not None and fallback.marks_rows
        self._output: type[Output] = SpansOutput if with_spans or self.marks_rows else IdsOutput
        self._rows = kernel_of(table.kernel, "encode_rows" if table.has_tokens else "run_rows", len(self._output._fields))
        self._find = kernel_of(table.kernel, "find_in_string", len(self._output._fields))
        if not self._rows.is_ready:
            number_kernels(table.kind + " with offsets" * with_spans, self._kernels())

    def _kernels(self) -> list[list[Deferred]]:
        """The kernels in the order of their calls, for `number_kernels`."""
        before = [[kernel] for kernel in self.front_end.kernels] if self.front_end else []
        after = [[kernel] for kernel in self.front_end.restoring] if self.front_end and self.with_spans else []
        return [[gather_strings[self.unit_type], gather_bytes[self.unit_type]], *before, [self._rows, self._find], *after]

    def capacity(self, units: int, rows: int, special_ids: SpecialIds) -> int:
        """The result of `capacity_for` for the runner's machine."""
        return capacity_for(self._ids_per_unit, units, rows, special_ids)

    def capacity_as_is(self, units: int, rows: int, special_ids: SpecialIds) -> int:
        """The result of `capacity` for rows that are not rewritten. `encode` reserves more for rewritten rows, once their size is known."""
        return capacity_for(self._ids_per_read, units, rows, special_ids)

    def capacity_after(self, workspace: Workspace, units: int, rows: int, special_ids: SpecialIds) -> int:
        """The result of `capacity_as_is` for rows after the text that a workspace keeps from the last call."""
        return workspace.symbols + self.capacity_as_is(units + (0 if self.front_end else workspace.kept), rows, special_ids)

    def suspects(self, rows: int) -> NDArray[np.uint8]:
        """The array in which kernels mark rows for the fallback; empty if they mark no rows."""
        return np.zeros(rows, np.uint8) if self.marks_rows else NO_SUSPECTS

    def kept_spans(self, workspace: Workspace) -> NDArray[np.uint64]:
        """The spans of the symbols or rewritten characters that a workspace keeps for the next call.

        Returns:
            uint64[n], ``first character | one past the last << 32``, a view: writes to it change the kept spans.
        """
        if self.front_end:
            return workspace.text_buffers.rewritten.places[: workspace.state.item(KEPT_CHARACTERS)]
        kept = workspace.state.item(KEPT)
        return workspace.work.spans[:kept] if kept else NO_SPANS

    def output(self, special_ids: SpecialIds, buffers: Buffers, ends: Ints, suspects: NDArray[np.uint8] = NO_SUSPECTS) -> Output:
        """The kernels' argument ``output``."""
        if self._output is IdsOutput:
            return IdsOutput(*special_ids, buffers.ids, ends)
        return SpansOutput(*special_ids, buffers.ids, ends, buffers.offsets, buffers.words, suspects)

    def encode(
        self,
        text: Units,
        starts: Ints,
        more: np.uint64,
        output: Output,
        workspace: Workspace,
        buffers: Buffers,
        counted: bool = False,
    ) -> int:
        """Encode rows of text, and return the position where reading stopped. With `more`, there is only one row, and it continues in the
        next call.

        The buffers of `output` grow if rewritten texts need more capacity. If the table has no bound on the number of ids, they also grow
        for more than `capacity` ids, unless ids are only `counted`.

        Raises:
            TextError: a word is too long for one call (see `MOST_UNITS`); there are more ids than `MOST_IDS`; or a kernel has no room for
                the open end of a text.
        """
        if self.front_end:
            return self._encode_prepared(self.front_end, text, starts, more, output, workspace, buffers, counted)
        return self._call(text, starts, more, self.arguments, output, workspace, buffers, counted)[0]

    def _call(
        self,
        text: Units,
        starts: Ints,
        more: np.uint64,
        machine: Any,
        output: Output,
        workspace: Workspace,
        buffers: Buffers,
        counted: bool,
    ) -> tuple[int, Output]:
        """Call the kernel, and again with a larger output if there is no room for all ids. Return the position where reading stopped, and
        the output.
        """
        if len(text) > MOST_UNITS:
            raise TextError(f"a text has a word of more than {MOST_UNITS:,} bytes, which is more than can be read at once: cut it")
        if self._is_bounded:
            read = int(self._rows.call(text, starts, more, machine, output, workspace.work))
            if read > len(text):
                raise TextError("a text has more possible segmentations than there is memory for: cut it")
            return read, output
        state = workspace.state.copy()
        read = int(self._rows.call(text, starts, more, machine, output, workspace.work))
        count = int(workspace.state[COUNT])
        if count > len(output.ids) and not counted:
            if count > MOST_IDS:
                raise TextError(f"the texts have more than {MOST_IDS:,} matches: search fewer of them at a time, or only count")
            buffers.reserve(count, int(state[COUNT]))
            output = self._into(buffers, output)
            workspace.state[:] = state
            self._rows.call(text, starts, more, machine, output, workspace.work)
        return read, output

    def _into(self, buffers: Buffers, output: Output) -> Output:
        """The output with grown buffers."""
        output = output._replace(ids=buffers.ids)
        return output._replace(offsets=buffers.offsets, words=buffers.words) if isinstance(output, SpansOutput) else output

    def _encode_prepared(
        self,
        front_end: TextFrontEnd,
        text: Units,
        starts: Ints,
        more: np.uint64,
        output: Output,
        workspace: Workspace,
        buffers: Buffers,
        counted: bool,
    ) -> int:
        """Encode rows of text, rewritten if necessary."""
        if more:
            starts = np.array([starts[0], front_end.border(text, starts, workspace.memo)])
            if starts[0] == starts[1]:
                return int(starts[0])
            text = text[: starts[1]]
        state, text_buffers = workspace.state, workspace.text_buffers
        is_inside, kept = bool(state[OPEN]), int(state[KEPT])
        reads = True
        if front_end.leaves(text, starts, state, workspace.memo):
            read, output = self._call(text, starts, more, self.arguments, output, workspace, buffers, counted)
            if not more or read > starts[0]:
                return read
            reads = False  # keep the rewritten text, so that the piece is not read from its beginning again
        count = state[COUNT]  # later ids have spans in the rewritten text
        rewritten = front_end.rewrite(text, starts, state, text_buffers, is_inside=is_inside, with_spans=self.with_spans, more=bool(more))
        own = rewritten.text[: rewritten.starts[-1]]
        read = 0
        if reads and not (more and kept and front_end.goes_on(own, text_buffers)):
            if len(own) > len(text):  # the reserved capacity may be too small
                special_ids = output.prefix, output.suffix
                buffers.reserve(int(count) + self.capacity_as_is(len(own), len(rewritten.starts), special_ids), int(count))
                output = self._into(buffers, output)
            read, output = self._call(own, rewritten.starts, more, front_end.arguments, output, workspace, buffers, counted)
            text_buffers.unfinished = None
        if isinstance(output, SpansOutput) and self.with_spans and state[COUNT] <= len(output.ids):
            front_end.restore(output, count, state[COUNT], rewritten)
        return front_end.resume(text, starts, rewritten, read, state, text_buffers, more=bool(more))

    def encode_text(self, text: str, special_ids: SpecialIds) -> Ids | None:
        """The ids of one text of at most `SHORT` characters, without the overhead of a batch; None if the text needs a batch."""
        workspace = self.workspaces.take()
        ids, own, starts, machine = None, workspace.text, workspace.short_starts, self.arguments
        is_read, by = lay_out(text, own, starts), self.front_end
        if is_read and by is not None and not by.leaves(own, starts, workspace.state, workspace.memo):
            rewritten = by.rewrite(own, starts, workspace.state, workspace.text_buffers, is_inside=False, with_spans=False)
            own, starts, machine = rewritten.text, rewritten.starts, by.arguments
        if is_read:
            if workspace.special_ids is not special_ids:
                workspace.make_short_output(special_ids)
            self._rows.call(own, starts, NO_MORE, machine, workspace.short_output, workspace.work)
            ids = workspace.short_ids[: workspace.short_ends.item()].copy()
        self.workspaces.give_back(workspace)
        return ids

    def find_in_text(self, text: str) -> bytes | None:
        """The matches in one text of at most `SHORT` characters, without the overhead of a batch.

        Call this only for a runner of keywords with spans that would otherwise be `is_plain`.

        Returns:
            int32[3 * n] as bytes: the keyword, the start and the end of each match; None if the text needs a batch.
        """
        workspace = self.workspaces.take()
        found = None
        if self.front_end is None or self._laid_out(text, workspace):
            rows, short = [text], workspace.short_search
            count = self._find.call(id(rows), self.arguments, short, workspace.work)
            found = short.found[: 3 * count].tobytes() if count >= 0 else None
        self.workspaces.give_back(workspace)
        return found

    def _laid_out(self, text: str, workspace: Workspace) -> bool:
        """Lay out a short text in a workspace. Return whether kernels can read it as it is."""
        starts = workspace.short_starts
        is_text = lay_out(text, workspace.text, starts)
        return is_text and (self.front_end is None or self.front_end.leaves(workspace.text, starts, workspace.state, workspace.memo))

    def encode_texts(self, texts: Sequence[Any], limits: Limits, special_ids: SpecialIds) -> tuple[Ids, Ints] | None:
        """The ids of a few texts, without the overhead of a batch; None if they exceed `limits`, or if one of them is not text or must be
        rewritten.

        Returns:
            int32[n], the ids, followed by unused capacity; int64[rows + 1], the bounds of the ids of each text.
        """
        workspace = self.workspaces.take()
        try:
            text, starts = Strings(texts).gather(0, len(texts), limits, workspace.text, "strict")
        except TextError:
            text, starts = workspace.text[:0], np.zeros(1, np.int64)
        found = None
        leaves = self.front_end is None or self.front_end.leaves(text, starts, workspace.state, workspace.memo)
        if len(starts) > 1 and leaves:
            ids, splits = np.empty(self.capacity(len(text), len(texts), special_ids), np.int32), np.zeros(len(starts), np.int64)
            self._rows.call(text, starts, NO_MORE, self.arguments, IdsOutput(*special_ids, ids, splits[1:]), workspace.work)
            found = ids, splits
        self.workspaces.give_back(workspace)
        return found
