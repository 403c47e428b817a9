"""The text front end of WordPiece for the few texts that its alphabet does not express.

The alphabet combines normalizers and pre-tokenizers in a mapping of single characters. It does not express effects of neighbours:
characters that compose, marks that several normalizers order, added tokens that depend on their context. `FallbackFilter` or the kernels
find a text with these effects. Then the text is normalized step by step, see `fst.text.normalizer.NormalizerSteps`, and encoded again. A
stream cannot go back, so all of its text is normalized.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CODE_POINTS
from fst.core.jit import Deferred
from fst.core.lazy import Lazy
from fst.machines.wordpiece.arguments import Arguments, NormalizedArguments
from fst.machines.wordpiece.table import WordPieceTable
from fst.runtime.front_end import NOWHERE, TextBuffers
from fst.runtime.kernels.constants import HALF, LOW_HALF
from fst.runtime.rows.texts import Ints, Units, characters
from fst.runtime.run import Buffers, Kernel, Runner
from fst.runtime.text.normalizer import last_border, rewrite
from fst.runtime.text.pending import PendingBorder
from fst.runtime.workspace import Workspace, Workspaces
from fst.tables.header import AddedTokens
from fst.tables.kernel_call import BEFORE, COUNT, OPEN, Output
from fst.text.arguments import (
    MARK_BYTES,
    Normalized,
    NormalizerArguments,
    all_normalizer_arguments,
    border_arguments,
    expansion_bound,
    marks,
)
from fst.text.normalizer import NormalizerSteps

KERNEL = "fst.runtime.machines.wordpiece.kernels.normalized"


class FallbackFilter:
    """Finds texts that contain some characters. It compares only the first unit of a character, so it may find a few other texts.

    Args:
        runs: the characters, as the first and the last code point of each run of code points.
        marks_rows: whether kernels also mark texts.
        runner: encodes the texts again.
    """

    def __init__(self, runs: Sequence[int], marks_rows: bool, runner: Runner) -> None:
        begins, ends = np.array([*runs], np.int64).reshape(-1, 2).T
        inside = np.cumsum(np.bincount(begins, minlength=CODE_POINTS + 1) - np.bincount(ends + 1, minlength=CODE_POINTS + 1))
        codes = np.flatnonzero(inside > 0)
        self._units = np.zeros(1 << 16, bool)
        self._units[np.where(codes < 1 << 16, codes, 0xD800 + (codes - (1 << 16) >> 10))] = True
        self._has_units = len(codes) > 0
        self.marks_rows, self.runner = marks_rows, runner

    def suspected(self, text: Units, starts: Ints, marked: NDArray[np.uint8]) -> NDArray[Any]:
        """The texts to encode again, see `fst.runtime.fallback.Fallback`."""
        if not self._has_units:
            return marked
        found = np.diff(np.searchsorted(np.flatnonzero(self._units[text]), starts)) > 0
        return found | marked.astype(bool) if self.marks_rows else found


class StepNormalizer:
    """Normalizes texts step by step. It finds added tokens, and writes them as marks.

    Args:
        steps: the normalizers.
        added: the added tokens.
    """

    def __init__(self, steps: NormalizerSteps, added: AddedTokens) -> None:
        self._by, self._added = steps.normalizers, added
        self._bounds = [expansion_bound(by) for by in steps.normalizers]

    @Lazy
    def _steps(self) -> Sequence[NormalizerArguments]:
        return all_normalizer_arguments(self._by, self._added)

    @Lazy
    def _border(self) -> NormalizerArguments:
        return border_arguments(self._by, self._added)

    def pending(self) -> PendingBorder:
        """Return an object that recognises text without a border."""
        return PendingBorder(self._border)

    def border(self, text: Units, starts: Ints, memo: Any) -> int:
        """The last border of a text that continues; without a border, the start of the text."""
        return int(last_border.call(text, np.uint64(starts[0]), np.uint64(starts[-1]), self._border, memo))

    def normalise(
        self, text: Units, starts: Ints, before: np.uint64, buffers: TextBuffers, *, is_inside: bool, with_spans: bool, more: bool
    ) -> Normalized:
        """Normalize texts.

        Args:
            text, starts: UTF-8 of all texts, the start of each text, and the end of the last.
            before: the index of the first character in its text.
            buffers: the arrays to write to.
            is_inside, more: whether the first text continues from a border, and whether the last text continues after a border.
            with_spans: whether to write the spans of characters.
        """
        ends, nothing = (np.uint64(is_inside), np.uint64(more)), np.uint64(0)
        found, both = Normalized(text, starts, NOWHERE, starts), (buffers, buffers.normalised)
        for number, (by, most) in enumerate(zip(self._steps, self._bounds, strict=True)):
            buffers, rows = both[number % 2], len(starts) - 1
            buffers.reserve(most * (int(found.starts[-1] - found.starts[0]) + rows) + MARK_BYTES, rows, with_spans=with_spans)
            first = nothing if number else before
            rewrite.call(found.text, found.starts, first, *ends, nothing, nothing, by, buffers.work, buffers.rewritten)
            if number and with_spans:
                _place(buffers.rewritten, found)
            found = buffers.rewritten
        return found


def _place(rewritten: Normalized, raw: Normalized) -> None:
    """Convert spans in texts that were already rewritten to spans in the raw texts."""
    places = rewritten.places[: rewritten.firsts[-1]]
    begins = np.repeat(raw.firsts[:-1], np.diff(rewritten.firsts))
    firsts, lasts = begins + (places & LOW_HALF).astype(np.int64), begins + (places >> HALF).astype(np.int64) - 1
    places[:] = raw.places[firsts] & LOW_HALF | raw.places[lasts] >> HALF << HALF


class NormalizingRunner(Runner):
    """Normalizes texts, and encodes them.

    Args:
        table: the table.
        arguments: the arguments of its kernels.
        workspaces: idle workspaces for texts in UTF-8.
        normalizer: normalizes the texts.
        with_spans: whether to find the spans of ids.
    """

    def __init__(
        self, table: WordPieceTable, arguments: Arguments, workspaces: Workspaces, normalizer: StepNormalizer, *, with_spans: bool = False
    ) -> None:
        super().__init__(Kernel("wordpiece, normalized", "utf-8", KERNEL, table.ids_per_unit), arguments, workspaces, with_spans=with_spans)
        self.normalizer = normalizer
        self._tokens = np.array([table.class_of_id[token] for token in marks(table.metadata.added_tokens).values()], np.uint16)

    def _kernels(self) -> list[list[Deferred]]:
        gather, *others = super()._kernels()
        return [gather, [rewrite], *others]

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
        """Encode rows of text, see `Runner.encode`. Text after the last border is not read."""
        if more:
            starts = np.array([starts[0], self.normalizer.border(text, starts, workspace.memo)])
            if starts[0] == starts[1]:
                return int(starts[0])
        state, stop = workspace.state, int(starts[-1])
        before, is_inside, count = state[BEFORE], bool(state[OPEN]), state.item(COUNT)
        flags = {"is_inside": is_inside, "more": bool(more), "with_spans": self.with_spans}
        found = self.normalizer.normalise(text[:stop], starts, before, workspace.text_buffers, **flags)
        own = found.text[: found.starts[-1]]
        buffers.reserve(count + self.capacity_after(workspace, len(own), len(starts) - 1, (output.prefix, output.suffix)), count)
        machine = NormalizedArguments(self.arguments, self._tokens, found.places)
        self._call(own, found.starts, more, machine, self._into(buffers, output), workspace, buffers, counted)
        state[BEFORE] = before + np.uint64(characters(text[starts[0] : stop])) if more else 0
        return stop
