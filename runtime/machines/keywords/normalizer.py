"""Front ends of keyword search, which change texts before a kernel searches in them; see `fst.machines.keywords.text`.

A `CaseFolder` replaces each character by its folded character, so spans do not change. A `PlainNormalizer` normalizes texts. A
`KeywordNormalizer` runs all other steps; if the table has normalizers, a `PlainNormalizer` runs first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fst.core.jit import Deferred
from fst.machines.keywords.table import KeywordTable
from fst.machines.keywords.text import FOLDED, NO_TOKENS, KeywordText
from fst.runtime.front_end import NOWHERE, Pending, ShortRewriting, TextBuffers, TextFrontEnd
from fst.runtime.rows.texts import Ints, Units, characters
from fst.runtime.text.normalizer import KeepingNormalizer, TextNormalizer
from fst.text.arguments import Normalized
from fst.text.normalizer import Normalizer

KERNELS = "fst.runtime.machines.keywords.kernels.normalizer"
fold, back, cover, spell = (Deferred(KERNELS, name) for name in ("fold", "back", "cover", "spell"))
RAW = np.empty(0, np.int64)


def front_end_of(table: KeywordTable, arguments: Any) -> TextFrontEnd | None:
    """Make the front end that changes texts in the same way as the table's keywords were changed; `arguments` are the arguments of the
    table's kernel.
    """
    text = table.metadata.text
    normalizer = PlainNormalizer(arguments, text.normalizer) if text.normalizer else None
    if not (text.folds or text.words):
        return normalizer
    return KeywordNormalizer(arguments, text, normalizer) if text.words or normalizer else CaseFolder(arguments, text)


class CaseFolder(TextFrontEnd):
    """A front end that folds the case of texts."""

    kernels, keeps_cuts, expansion_bound = (fold,), True, FOLDED

    def __init__(self, arguments: Any, text: KeywordText) -> None:
        self.arguments, self._codes = arguments, text.codes()

    def rewrite(self, text: Units, starts: Ints, state: Any, buffers: TextBuffers, **_: Any) -> Normalized:  # noqa: ARG002
        """Replace each character by its folded character."""
        buffers.reserve(FOLDED * int(starts[-1] - starts[0]), len(starts) - 1, with_spans=False)
        fold.call(text, starts, self._codes, buffers.rewritten)
        return buffers.rewritten

    def resume(self, text: Units, starts: Ints, rewritten: Normalized, read: int, *_: Any, **__: Any) -> int:
        """Find the position in the raw text of the first character that kernels have not read."""
        stop, end = int(starts[-1]), int(rewritten.starts[-1])
        return int(back.call(text, np.uint64(stop), np.uint64(characters(rewritten.text[read:end])))) if read < end else stop


class PlainNormalizer(TextNormalizer):
    """A front end that normalizes texts. The span of a new character covers its source character and the removed characters after it."""

    def __init__(self, arguments: Any, by: Normalizer) -> None:
        super().__init__(arguments, by, NO_TOKENS, None)

    def rewrite(
        self, text: Units, starts: Ints, state: Any, buffers: TextBuffers, *, is_inside: bool, with_spans: bool, **_: Any
    ) -> Normalized:
        """Normalize texts."""
        kept_characters = state.kept_characters
        found = super().rewrite(text, starts, state, buffers, is_inside=is_inside, with_spans=with_spans)
        if with_spans:
            cover.call(text, starts, buffers.before, kept_characters, found)
        return found

    def prepare_short(self, text: Units, starts: Ints, most: int, *, with_spans: bool) -> ShortRewriting:
        """Prepare the calls for a short text. A text that normalization changes needs a batch, because spans change."""
        return super().prepare_short(text, starts, most, with_spans=with_spans)._replace(rewrite=None, rewritten=None)

    def goes_on(self, text: Units, buffers: TextBuffers) -> bool:  # noqa: ARG002
        """Return False, since keyword search has no pre-tokens that could continue."""
        return False


class KeywordNormalizer(KeepingNormalizer):
    """A front end that folds the case of texts, and inserts borders before and after words. A `normalizer`, if given, runs first."""

    def __init__(self, arguments: Any, text: KeywordText, normalizer: PlainNormalizer | None) -> None:
        self.arguments, self.expansion_bound = arguments, text.expansion_bound
        self._codes, self._own_bound, self._normalizer = text.codes(), text.folding_bound, normalizer
        self.kernels = (*(normalizer.kernels[1:] if normalizer else ()), spell)

    def pending(self) -> Pending | None:
        """Return the `Pending` of the normalizer, since no other step holds text back."""
        return self._normalizer.pending() if self._normalizer else None

    def border(self, text: Units, starts: Ints, memo: Any) -> int:
        """Return the last border of the normalizer, since other steps can begin at any position."""
        return self._normalizer.border(text, starts, memo) if self._normalizer else int(starts[-1])

    def rewrite(
        self, text: Units, starts: Ints, state: Any, buffers: TextBuffers, *, is_inside: bool, with_spans: bool, more: bool = False
    ) -> Normalized:
        """Fold the case of texts, and insert borders before and after words."""
        kept, kept_characters, buffers.before = int(state.kept), state.kept_characters, state.before
        raw = Normalized(text, starts, NOWHERE, RAW)
        if self._normalizer:
            state.kept = state.kept_characters = 0  # stored text is already folded
            raw = self._normalizer.rewrite(text, starts, state, buffers.normalised, is_inside=is_inside, with_spans=with_spans)
        state.before = 0
        size = self._own_bound * int(raw.starts[-1] - raw.starts[0]) + 1
        buffers.reserve(size, len(starts) - 1, with_spans=with_spans, kept=kept)
        at = buffers.before, np.uint64(state.in_word if is_inside else 0), np.uint64(more), np.uint64(kept), kept_characters
        state.in_word = spell.call(raw.text, raw.starts, *at, self._codes, raw, buffers.rewritten)
        return buffers.rewritten
