"""The runner: the only module that sizes outputs and calls the kernels of a table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.core.jit import Deferred, number_kernels
from fst.core.prepared import PreparedCall
from fst.errors import TextError
from fst.runtime.front_end import ShortRewriting, TextFrontEnd, grown
from fst.runtime.rows.texts import (
    UNIT_TYPES,
    Ints,
    Limits,
    Strings,
    Units,
    as_utf_8,
    encode_string,
    find_in_string,
    gather_bytes,
    gather_strings,
)
from fst.runtime.workspace import Ids, SpecialIds, Workspace, Workspaces
from fst.tables.kernel_call import MOST_UNITS, SLACK, IdsOutput, Output, SpansOutput

NO_MORE, MORE = np.uint64(0), np.uint64(1)
NOTHING = np.empty(0, np.int32)  # in place of spans that are not requested
NO_SPANS = np.empty(0, np.uint64)  # the stored spans if no symbols and no characters are stored
NO_SUSPECTS = np.empty(0, np.uint8)  # the marks if kernels mark no texts
READ_AGAIN = -1  # in place of a position: read the text again from its beginning, and rewrite it
MOST_IDS = 1 << 30  # an id with its span takes 16 bytes


@cache
def kernel_of(module: str, name: str, fields: int) -> Deferred:  # noqa: ARG001 - a part of the key
    """Return the kernel of a module for a number of output fields; there is one per number, since compiled code is specific to the types of
    arguments.
    """
    return Deferred(module, name)


class Kernel(NamedTuple):
    """The properties of a table that a runner reads, for runners of another kernel than the table's own."""

    kind: str
    unit: str
    kernel: str
    ids_per_unit: int
    has_bounded_ids: bool = True
    has_tokens: bool = True
    encodes_all: bool = True


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
        """If the capacity of the buffers is below `capacity` ids, allocate the maximum of `capacity` and `expected`, and copy the first
        `count` ids.
        """
        if len(self.ids) >= capacity:
            return
        capacity = max(capacity, expected)
        self.ids = grown(self.ids, count, capacity)
        if self._with_spans:
            self.offsets, self.words = grown(self.offsets, 2 * count, 2 * capacity), grown(self.words, count, capacity)

    def replace(self, splits: Ints, rows: Ints, other: Buffers, ends: Ints) -> Ints:
        """Replace some rows by all rows of `other`.

        Args:
            splits: the start of each row, and the end of the last row.
            rows: the indices of the replaced rows, ascending.
            other, ends: the new rows, and the end of each new row.

        Returns:
            The new `splits`.
        """
        begins, after, bounds = splits[rows], splits[rows + 1], [0, *ends.tolist()]
        shifts = np.zeros_like(splits)
        shifts[rows + 1] = np.diff(bounds) - (after - begins)
        moved = splits + np.cumsum(shifts)
        places = [*splits[rows[:1]].tolist(), *np.stack([begins, after], axis=1).ravel().tolist(), splits.item(-1)]
        self.reserve(moved.item(-1), splits.item(-1))
        pairs = (self.ids, other.ids), (self.words, other.words), (self.offsets.reshape(-1, 2), other.offsets.reshape(-1, 2))
        for numbers, others in pairs if self._with_spans else pairs[:1]:
            numbers[places[0] : moved[-1]] = _spliced(numbers, places, others, bounds)
        return moved


def _spliced(numbers: Ids, places: Sequence[int], others: Ids, bounds: Sequence[int]) -> Ids:
    """Cut `numbers` at `places`, and `others` at `bounds`; replace every second part of `numbers` by the next part of `others`."""
    parts = [numbers[start:end] for start, end in pairwise(places)]
    parts[1::2] = [others[start:end] for start, end in pairwise(bounds)]
    return np.concatenate(parts)


class Runner:
    """A caller of the kernels of a table, for ids only or for ids and spans.

    Args:
        table: the table of any machine.
        arguments: the kernels' argument ``table``.
        workspaces: idle workspaces for the kernels.
        with_spans: whether to find the spans of ids.
        front_end: prepares texts for the kernels; None if the kernels read every text unchanged.
        first_row: the number of the first row; None if ids do not depend on the numbers of rows.

    Attributes:
        unit, unit_type: the unit of text, "utf-16" or "utf-8", and the dtype of units.
        rewritten_type: the dtype of units, for texts that `encode` must rewrite.
        keeps_text: whether rewritten text, instead of symbols, is stored for the next call.
        encodes_all: whether every text has ids. If False, the caller checks the ids.
        is_plain: whether `encode_texts` may be called: no spans are requested, kernels mark no texts, the number of ids of a text is
            bounded, and every text has ids.
        can_be_short: whether `prepare_short` may be called: the number of ids of a text is bounded, the front end prepares short texts, and
            every text has ids.
    """

    def __init__(
        self,
        table: Any,
        arguments: Any,
        workspaces: Workspaces,
        *,
        with_spans: bool = False,
        front_end: TextFrontEnd | None = None,
        first_row: int | None = None,
    ) -> None:
        self.arguments, self.workspaces, self.with_spans = arguments, workspaces, with_spans
        self.front_end, self.first_row = front_end, first_row
        self.unit, self.unit_type = table.unit, UNIT_TYPES[table.unit]
        self._is_bounded: bool = table.has_bounded_ids
        self.encodes_all: bool = table.encodes_all
        marks_rows, encoder = (front_end.marks_rows, front_end.encoder) if front_end else (False, None)
        self.is_plain = not with_spans and not marks_rows and self._is_bounded and self.encodes_all
        self.can_be_short = self._is_bounded and self.encodes_all and (front_end is None or front_end.prepares_short)
        self._ids_per_unit: int = table.ids_per_unit
        self._ids_per_read = max(table.ids_per_unit // front_end.expansion_bound, 1) if front_end else table.ids_per_unit
        self.rewritten_type = UNIT_TYPES["utf-8"] if encoder else self.unit_type
        self.keeps_text = front_end is not None and not encoder
        of_rewritten = len((SpansOutput if with_spans else IdsOutput)._fields)
        fields = len(SpansOutput._fields) if marks_rows else of_rewritten
        self._rows = kernel_of(table.kernel, "encode_rows" if table.has_tokens else "run_rows", fields)
        self._rewritten_rows = kernel_of(encoder, "encode_rows", of_rewritten) if encoder else self._rows
        if not self._rows.is_ready:
            number_kernels(table.kind + " with offsets" * with_spans, self._kernels())

    def _kernels(self) -> list[list[Deferred]]:
        """List the kernels in the order of their calls, for `number_kernels`."""
        before = [[kernel] for kernel in self.front_end.kernels] if self.front_end and not self.front_end.encoder else []
        after = [[kernel] for kernel in self.front_end.restoring] if self.front_end and self.with_spans else []
        readers = [*(kernels[self.unit_type] for kernels in (gather_strings, gather_bytes, encode_string)), find_in_string]
        return [readers, *before, [self._rows], *after]

    def capacity(self, units: int, rows: int, special_ids: SpecialIds) -> int:
        """Compute `capacity_for` with the table's `ids_per_unit`."""
        return capacity_for(self._ids_per_unit, units, rows, special_ids)

    def capacity_as_is(self, units: int, rows: int, special_ids: SpecialIds) -> int:
        """Compute the capacity for rows that are not rewritten. If necessary, `encode` reserves more after it has rewritten rows."""
        return capacity_for(self._ids_per_read, units, rows, special_ids)

    def capacity_after(self, workspace: Workspace, units: int, rows: int, special_ids: SpecialIds) -> int:
        """Compute `capacity_as_is` for rows, together with the text that a workspace stores from the last call."""
        return workspace.symbols + self.capacity_as_is(units + (0 if self.front_end else workspace.kept), rows, special_ids)

    def kept(self, workspace: Workspace) -> NDArray[Any]:
        """Return the symbols, or the bytes of rewritten text, that a workspace stores for the next call. The array is a view."""
        stored = workspace.text_buffers.rewritten.text if self.keeps_text else workspace.stored
        return stored[: workspace.kept]

    def restore_kept(self, workspace: Workspace, data: bytes) -> None:
        """Put bytes of `kept` back into a workspace, whose state contains their number."""
        if self.keeps_text:
            workspace.text_buffers.reserve(len(data), 1, with_spans=False)
            workspace.text_buffers.unfinished = None
        kept = self.kept(workspace)
        kept[:] = np.frombuffer(data, kept.dtype)

    def kept_spans(self, workspace: Workspace) -> NDArray[np.uint64]:
        """Return the spans of the symbols, or of the rewritten characters, that a workspace stores for the next call.

        Returns:
            uint64[n], ``first character | one past the last << 32``. The array is a view: writes to it change the stored spans.
        """
        if self.keeps_text:
            return workspace.text_buffers.rewritten.places[: int(workspace.state.kept_characters)]
        kept = int(workspace.state.kept)
        return workspace.work.spans[:kept] if kept else NO_SPANS

    def output(self, special_ids: SpecialIds, buffers: Buffers, ends: Ints) -> Output:
        """Make the kernels' argument ``output``."""
        if not self.with_spans:
            return IdsOutput(*special_ids, buffers.ids, ends)
        return SpansOutput(*special_ids, buffers.ids, ends, buffers.offsets, buffers.words, NO_SUSPECTS)

    def encode(
        self,
        text: Units,
        starts: Ints,
        more: np.uint64,
        output: Output,
        workspace: Workspace,
        buffers: Buffers,
        *,
        counted: bool = False,
        rewrites: bool = False,
        in_place: bool = True,
    ) -> int:
        """Encode rows of text, and return the position where reading stopped. With `more`, there is only one row, and it continues in the
        next call.

        If a separate kernel reads rewritten texts, either all parts of a text are rewritten, or no part is. The result is `READ_AGAIN` if
        earlier parts were not rewritten but must be rewritten. Then pass the text again from its beginning, with `rewrites`, and in units
        of `rewritten_type`. A stream always passes `rewrites`. Without `in_place`, texts are also rewritten if kernels can read them in
        place.

        The buffers of `output` grow if rewritten texts need more capacity. If the number of ids per unit of text is not bounded, the
        buffers also grow if there are more than `capacity` ids, unless ids are only `counted`.

        Raises:
            TextError: a word is too long for one call (see `MOST_UNITS`); there are more than `MOST_IDS` ids; or the unfinished end of a
                text exceeds the capacity of a kernel's arrays.
        """
        if self.front_end and self.front_end.encoder and not rewrites:
            return self._encode_in_place(self.front_end, text, starts, more, output, workspace, buffers)
        if self.front_end:
            return self._encode_prepared(self.front_end, text, starts, more, output, workspace, buffers, counted, in_place)
        return self._call(self._rows, text, starts, more, self.arguments, output, workspace, buffers, counted)[0]

    def _call(
        self,
        rows: Deferred,
        text: Units,
        starts: Ints,
        more: np.uint64,
        table: Any,
        output: Output,
        workspace: Workspace,
        buffers: Buffers,
        counted: bool,
    ) -> tuple[int, Output]:
        """Call a kernel; if the number of ids exceeds the capacity of the output, call the kernel again with a larger output. Return the
        position where reading stopped, and the output.
        """
        if len(text) > MOST_UNITS:
            raise TextError(f"a text has a word of more than {MOST_UNITS:,} bytes, which is more than can be read at once: cut it")
        if self._is_bounded:
            read = int(rows.call(text, starts, more, table, output, workspace.work))
            if read > len(text):
                raise TextError("a text has more possible segmentations than there is memory for: cut it")
            return read, output
        state = workspace.state.copy()
        read = int(rows.call(text, starts, more, table, output, workspace.work))
        count = int(workspace.state.count)
        if count > len(output.ids) and not counted:
            if count > MOST_IDS:
                raise TextError(f"the texts have more than {MOST_IDS:,} matches: search fewer of them at a time, or only count")
            buffers.reserve(count, int(state.count), 2 * len(buffers.ids))
            output = self._into(buffers, output)
            workspace.state[:] = state
            rows.call(text, starts, more, table, output, workspace.work)
        return read, output

    def _into(self, buffers: Buffers, output: Output) -> Output:
        """Return the output with the arrays of the grown buffers."""
        output = output._replace(ids=buffers.ids)
        return output._replace(offsets=buffers.offsets, words=buffers.words) if isinstance(output, SpansOutput) else output

    def _encode_in_place(
        self, front_end: TextFrontEnd, text: Units, starts: Ints, more: np.uint64, output: Output, workspace: Workspace, buffers: Buffers
    ) -> int:
        """Encode rows of text in place. Then rewrite the rows that the table's kernel cannot read in place, and encode these rows again."""
        state, changed = workspace.state, front_end.changed(text, starts)
        is_part, start, read = bool(more or state.is_open), state.count, int(starts[-1])
        if np.count_nonzero(changed) < len(changed):  # takes a sixth of the time of `ndarray.all`
            own = output
            if front_end.marks_rows:
                own = SpansOutput(output.prefix, output.suffix, output.ids, output.ends, buffers.offsets, buffers.words, changed)
            read, _ = self._call(self._rows, text, starts, more, self.arguments, own, workspace, buffers, counted=False)
        if not np.count_nonzero(changed):
            return read
        if is_part:
            return READ_AGAIN
        self._encode_again(text, starts, np.flatnonzero(changed), int(start), output, workspace, buffers)
        return read

    def _encode_again(
        self, text: Units, starts: Ints, rows: Ints, start: int, output: Output, workspace: Workspace, buffers: Buffers
    ) -> None:
        """Rewrite the rows with the indices `rows`, and replace their ids. `start` is the index of the first id of the first row."""
        text, starts = as_utf_8(text, starts, rows)
        special_ids, are_all = (output.prefix, output.suffix), len(rows) == len(output.ends)
        into, first, ends = (buffers, start, output.ends) if are_all else (Buffers(self.with_spans), 0, np.empty(len(rows), np.int64))
        into.reserve(first + self.capacity_as_is(len(text), len(rows), special_ids), first)
        workspace.start_anew(first)
        self.encode(text, starts, NO_MORE, self.output(special_ids, into, ends), workspace, into, rewrites=True)
        if not are_all:
            output.ends[:] = buffers.replace(np.append(start, output.ends), rows, into, ends)[1:]
            workspace.start_anew(output.ends.item(-1))

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
        in_place: bool,
    ) -> int:
        """Encode rows of text. Rewrite all rows first, unless kernels can read them in place."""
        if more:
            starts = np.array([starts[0], front_end.border(text, starts, workspace.memo)])
            if starts[0] == starts[1]:
                return int(starts[0])
            text = text[: starts[1]]
        state, text_buffers = workspace.state, workspace.text_buffers
        is_inside, kept = bool(state.is_open), int(state.kept)
        reads = True
        if in_place and not front_end.encoder and front_end.leaves(text, starts, state, workspace.memo):
            read, output = self._call(self._rows, text, starts, more, self.arguments, output, workspace, buffers, counted)
            if not more or read > starts[0]:
                return read
            reads = False  # store the rewritten text, so that a kernel need not read the pre-token from its beginning again
        count = state.count  # the spans of later ids refer to the rewritten text
        rewritten = front_end.rewrite(text, starts, state, text_buffers, is_inside=is_inside, with_spans=self.with_spans, more=bool(more))
        own = rewritten.text[: rewritten.starts[-1]]
        read = 0
        if reads and not (more and kept and front_end.goes_on(own, text_buffers)):
            if len(own) > len(text):  # the reserved capacity may be too small
                special_ids = output.prefix, output.suffix
                buffers.reserve(int(count) + self.capacity_after(workspace, len(own), len(rewritten.starts), special_ids), int(count))
                output = self._into(buffers, output)
            table = front_end.arguments_for(rewritten)
            read, output = self._call(self._rewritten_rows, own, rewritten.starts, more, table, output, workspace, buffers, counted)
            text_buffers.unfinished = None
        if isinstance(output, SpansOutput) and self.with_spans and state.count <= len(output.ids):
            front_end.restore(output, count, state.count, rewritten)
        return front_end.resume(text, starts, rewritten, read, state, text_buffers, more=bool(more))

    def prepare_short(self, text: Units, starts: Ints, most: int, output: Output, workspace: Workspace) -> list[PreparedCall | None]:
        """Prepare the calls for a text of at most `most` units, in the order of `fst.runtime.short_texts.CALLS`."""
        by, work = self.front_end, workspace.work
        with_spans = isinstance(output, SpansOutput) and len(output.offsets) > 0
        found, table = (by.prepare_short(text, starts, most, with_spans=with_spans), by.arguments) if by else (ShortRewriting(), None)
        encode = PreparedCall(self._rows, text, starts, NO_MORE, self.arguments, output, work)
        own, encode_rewritten = found.rewritten, None
        if own is not None:
            encode_rewritten = PreparedCall(self._rows, own.text, own.starts, NO_MORE, table, output, work)
        return [found.is_unchanged, encode, found.rewrite, encode_rewritten]

    def encode_texts(self, texts: Sequence[Any], limits: Limits, special_ids: SpecialIds) -> tuple[Ids, Ints] | None:
        """Encode a few texts, without the overhead of a batch; return None if the texts exceed `limits`, or if a text is not valid or must
        be rewritten.

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
