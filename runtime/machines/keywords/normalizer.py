"""Spelling texts for keyword search, see `fst.machines.keywords.text`.

A `Folder` only folds the case of a text. Characters keep their numbers, so spans stay as they are, and only the place where a kernel stops
becomes another one in the raw text. A `Speller` does all other steps. Like the rewriter of `fst.runtime.text.normalizer`, it notes the
span of each character, and keeps the part of a text that kernels leave unread.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fst.core.jit import Deferred
from fst.machines.keywords.table import IN_WORD, KeywordTables
from fst.machines.keywords.text import FOLDED, NO_TOKENS, PLAIN, KeywordText
from fst.runtime.rows.texts import Ints, Units, characters
from fst.runtime.text.normalizer import NOWHERE, KeepingRewriter, Room, TextRewriter, rewrite
from fst.runtime.text.pending import Pending
from fst.tables.kernel_call import BEFORE, KEPT, KEPT_CHARACTERS
from fst.text.arguments import Rewritten
from fst.text.normalizer import Rewriting

KERNELS = "fst.runtime.machines.keywords.kernels.normalizer"
fold, back, cover, spell = (Deferred(KERNELS, name) for name in ("fold", "back", "cover", "spell"))
RAW = np.empty(0, np.int64)


def reading_of(table: KeywordTables) -> dict[str, Any]:
    """The arguments of a `fst.runtime.run.Runner` by which it reads texts as the keywords of a table are spelled."""
    text = table.metadata.text
    if text.folds and not text.words and not text.rewriting:
        return {"folder": Folder(text)}
    return {} if text == PLAIN else {"rewriter": Speller(table.arguments(), text)}


class Folder:
    """Folds the case of texts."""

    kernels = (fold,)

    def __init__(self, text: KeywordText) -> None:
        self._codes = text.codes()

    def fold(self, text: Units, starts: Ints, room: Room) -> Rewritten:
        """Texts, with their case folded."""
        room.reserve(FOLDED * int(starts[-1] - starts[0]), len(starts) - 1, with_spans=False)
        fold.call(text, starts, self._codes, room.rewritten)
        return room.rewritten

    def place(self, text: Units, stop: int, folded: Rewritten, read: int) -> int:
        """The position in texts, which end at `stop`, of one in folded texts."""
        left = characters(folded.text[read : folded.starts[-1]])
        return int(back.call(text, np.uint64(stop), np.uint64(left))) if left else stop


class Speller(KeepingRewriter):
    """Spells the texts of a table. Its methods are those of `fst.runtime.text.normalizer.TextRewriter`.

    Args:
        arguments: the kernels' argument ``machine``.
        text: how texts are spelled.
    """

    def __init__(self, arguments: Any, text: KeywordText) -> None:
        self.arguments = arguments
        self._codes, self.growth, self._own_growth = text.codes(), text.growth, text.spelling_growth
        self._spells = bool(text.folds or text.words)
        self._normalizer = _normalizer(arguments, text.rewriting) if text.rewriting else None
        self.kernels = (*((rewrite,) if text.rewriting else ()), spell) if self._spells else TextRewriter.kernels

    def leaves(self, text: Units, starts: Ints, state: Any, memo: Any) -> bool:
        """Whether texts need no rewriting, and none is kept from the last call. Nearly all have words, or capitals."""
        return not self._spells and self._normalizer is not None and self._normalizer.leaves(text, starts, state, memo)

    def pending(self) -> Pending | None:
        """An object that recognises text without a border of the normalizer; None without a normalizer, since no text is then held back."""
        return self._normalizer.pending() if self._normalizer else None

    def border(self, text: Units, starts: Ints, memo: Any) -> int:
        """The last border of the normalizer. Other steps need none."""
        return self._normalizer.border(text, starts, memo) if self._normalizer else int(starts[-1])

    def rewrite(
        self, text: Units, starts: Ints, state: Any, room: Room, *, is_inside: bool, with_spans: bool, more: bool = False
    ) -> Rewritten:
        """Spell texts. The first one follows its part that is kept from the last call."""
        if not self._spells:
            return self._normalized(text, starts, state, room, is_inside, with_spans)
        kept, kept_characters, origin = int(state[KEPT]), state[KEPT_CHARACTERS], state[BEFORE]
        raw = Rewritten(text, starts, NOWHERE, RAW)
        if self._normalizer:
            state[KEPT] = state[KEPT_CHARACTERS] = 0  # what is kept is spelled already
            raw = self._normalized(text, starts, state, room.normalised, is_inside, with_spans)
        size = self._own_growth * int(raw.starts[-1] - raw.starts[0]) + 1
        room.reserve(size, len(starts) - 1, with_spans=with_spans, kept=kept)
        in_word = np.uint64(state[IN_WORD] if is_inside else 0)
        state[IN_WORD] = spell.call(
            raw.text, raw.starts, origin, in_word, np.uint64(more), np.uint64(kept), kept_characters, self._codes, raw, room.rewritten
        )
        return room.rewritten

    def _normalized(self, text: Units, starts: Ints, state: Any, room: Room, is_inside: bool, with_spans: bool) -> Rewritten:
        assert self._normalizer
        found = self._normalizer.rewrite(text, starts, state, room, is_inside=is_inside, with_spans=with_spans)
        if with_spans:
            cover.call(text, starts, state[BEFORE], state[KEPT_CHARACTERS], found)
        return found


def _normalizer(arguments: Any, by: Rewriting) -> TextRewriter:
    return TextRewriter(arguments, by, NO_TOKENS, None)
