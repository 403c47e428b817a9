"""The text front end of WordPiece for the few texts that its alphabet does not express.

The alphabet combines normalizers and pre-tokenizers in a mapping of single characters. This mapping does not express effects that depend on
more than one character: characters that compose, marks that several normalizers order, and added tokens that depend on the text next to
them. `StepNormalizer` or the kernel finds each text that may have these effects. This text is then normalized step by step, see
`fst.text.normalizer.NormalizerSteps`, and encoded again. A stream cannot read its text twice, so all of its text is normalized.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CODE_POINTS
from fst.core.jit import Deferred
from fst.core.lazy import Lazy
from fst.core.prepared import PreparedCall
from fst.machines.wordpiece.arguments import Arguments, NormalizedArguments
from fst.machines.wordpiece.table import WordPieceTable
from fst.runtime.front_end import NOWHERE, ShortRewriting, TextBuffers, TextFrontEnd
from fst.runtime.rows.texts import Ints, Units
from fst.runtime.text.normalizer import PendingBorder, last_border, place_in_raw, rewrite
from fst.tables.header import AddedTokens
from fst.text.arguments import Normalized, NormalizerArguments, all_normalizer_arguments, border_arguments, expansion_bound
from fst.text.marks import MARK_BYTES, marks
from fst.text.normalizer import NormalizerSteps

lacks_units = Deferred("fst.runtime.machines.wordpiece.kernels.normalized", "lacks_units")


class Steps:
    """The arguments of the kernels that normalize texts step by step."""

    def __init__(self, steps: NormalizerSteps, added: AddedTokens) -> None:
        self._by, self._added = steps.normalizers, added
        self.bounds = [expansion_bound(by) for by in steps.normalizers]

    @Lazy
    def arguments(self) -> Sequence[NormalizerArguments]:
        """The kernel's arguments of each step."""
        return all_normalizer_arguments(self._by, self._added)

    @Lazy
    def border(self) -> NormalizerArguments:
        """The kernel's arguments for finding positions that are a border for all steps."""
        return border_arguments(self._by, self._added)


class StepNormalizer(TextFrontEnd):
    """A front end that normalizes texts step by step, and replaces each added token by a mark.

    Args:
        table: the table.
        arguments: the arguments of the table's kernels.
        steps: the steps.
        runs: the characters that the alphabet does not express: the first and the last code point of each range of characters. Texts are
            searched only for the first unit of each character, so a few texts without such characters are also normalized.
    """

    kernels, encoder = (rewrite,), "fst.runtime.machines.wordpiece.kernels.normalized"
    expansion_bound = 1  # a byte of rewritten text gives at most as many ids as a unit of raw text

    def __init__(self, table: WordPieceTable, arguments: Arguments, steps: Steps, runs: Sequence[int]) -> None:
        added = table.metadata.added_tokens
        self.arguments, self.marks_rows = arguments, bool(added.contextual) and not table.finds_in_steps
        self.prepares_short = not self.marks_rows
        self._steps, self._units, self._has_units = steps, _first_units(runs), len(runs) > 0
        self._tokens = np.array([table.class_of_id[token] for token in marks(added).values()], np.uint16)

    def changed(self, text: Units, starts: Ints) -> NDArray[np.uint8]:
        """Find the texts that may contain a character that the alphabet does not express."""
        if not self._has_units:
            return super().changed(text, starts)
        return (np.diff(np.searchsorted(np.flatnonzero(self._units[text]), starts)) > 0).astype(np.uint8)

    def leaves(self, text: Units, starts: Ints, state: Any, memo: Any) -> bool:  # noqa: ARG002
        """Whether kernels can read texts in place, except texts that the kernels mark."""
        return bool(lacks_units.call(text, starts, self._units))

    def prepare_short(self, text: Units, starts: Ints, most: int, *, with_spans: bool) -> ShortRewriting:  # noqa: ARG002
        """Prepare the call for a short text; a text that must be rewritten needs a batch."""
        return ShortRewriting(PreparedCall(lacks_units, text, starts, self._units))

    def arguments_for(self, rewritten: Normalized) -> NormalizedArguments:
        """The kernel's argument ``table`` for normalized texts."""
        return NormalizedArguments(self.arguments, self._tokens, rewritten.places)

    def pending(self) -> PendingBorder:
        """Make an object that recognises text without a border."""
        return PendingBorder(self._steps.border)

    def border(self, text: Units, starts: Ints, memo: Any) -> int:
        """Find the last border of a text that continues; return the start of the text if there is no border."""
        return int(last_border.call(text, np.uint64(starts[0]), np.uint64(starts[-1]), self._steps.border, memo))

    def rewrite(
        self, text: Units, starts: Ints, state: Any, buffers: TextBuffers, *, is_inside: bool, with_spans: bool, more: bool = False
    ) -> Normalized:
        """Normalize texts."""
        ends, nothing = (np.uint64(is_inside), np.uint64(more)), np.uint64(0)
        buffers.before = before = state.before
        found, both = Normalized(text, starts, NOWHERE, starts), (buffers, buffers.normalised)
        for number, (by, most) in enumerate(zip(self._steps.arguments, self._steps.bounds, strict=True)):
            into, rows = both[number % 2], len(starts) - 1
            into.reserve(most * (int(found.starts[-1] - found.starts[0]) + rows) + MARK_BYTES, rows, with_spans=with_spans)
            first = nothing if number else before
            rewrite.call(found.text, found.starts, first, *ends, nothing, nothing, by, into.work, into.rewritten)
            if number and with_spans:
                place_in_raw(into.rewritten, found)
            found = into.rewritten
        return found


def _first_units(runs: Sequence[int]) -> NDArray[np.bool_]:
    """Return bool[0x10000], whether a unit of UTF-16 is the first unit of a character in `runs`."""
    begins, ends = np.array([*runs], np.int64).reshape(-1, 2).T
    inside = np.cumsum(np.bincount(begins, minlength=CODE_POINTS + 1) - np.bincount(ends + 1, minlength=CODE_POINTS + 1))
    codes = np.flatnonzero(inside > 0)
    units = np.zeros(1 << 16, bool)
    units[np.where(codes < 1 << 16, codes, 0xD800 + (codes - (1 << 16) >> 10))] = True
    return units
