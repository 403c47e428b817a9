"""Rewriting before the kernels of a table read a text, see `fst.text.normalizer`.

A text that arrives in pieces is rewritten up to a *border*, a place across which rewriting has no effect; the caller passes the rest again
with the next piece. The part of the rewritten text that kernels leave unread is kept for the next call.
"""

from __future__ import annotations

from copy import copy
from typing import Any, TypeVar

import numpy as np

from fst.core.jit import Deferred
from fst.runtime.front_end import Pending, Room, TextFrontEnd
from fst.runtime.rows.texts import Ints, Units, characters
from fst.runtime.text.pending import PendingBorder
from fst.tables.header import AddedTokens
from fst.tables.kernel_call import BEFORE, KEPT, KEPT_CHARACTERS, Output
from fst.text.arguments import MARK_BYTES, PREFIX, PUTS_BEHIND, Normalized, growth, normalizer_arguments
from fst.text.character_expansion import CharacterGrowth
from fst.text.normalizer import Normalizer, early, late
from fst.text.whitespace import FIRST, PREFIXES

rewrite, restore, last_border = (Deferred("fst.runtime.text.kernels.normalizer", name) for name in ("rewrite", "restore", "last_border"))
is_unchanged = Deferred("fst.runtime.text.kernels.unchanged", "is_unchanged")
Known = TypeVar("Known", bound="KeepingNormalizer")

LONG = 1 << 20  # bytes; counting the room of shorter texts is not worth its time, and most texts are read in shorter blocks


class KeepingNormalizer(TextFrontEnd):
    """A front end that keeps the part of a rewritten text which kernels leave unread. It is the beginning of the next one."""

    restoring = (restore,)

    def reading_by(self: Known, arguments: Any) -> Known:
        """The same front end, for kernels with other arguments."""
        other = copy(self)
        other.arguments = arguments
        return other

    def restore(self, output: Output, first: Any, count: Any, rewritten: Normalized) -> None:
        """Turn spans in rewritten text into spans in the raw text."""
        restore.call(output, first, count, rewritten)

    def resume(self, text: Units, starts: Ints, rewritten: Normalized, read: int, state: Any, room: Room, *, more: bool) -> int:
        """The end of the text: nothing is passed again."""
        self._keep(rewritten, read, state)
        stop = int(starts[-1])
        state[BEFORE] = room.before + np.uint64(characters(text[starts[0] : stop])) if more else 0
        return stop

    def _keep(self, rewritten: Normalized, read: int, state: Any) -> None:
        """Keep the part of a text that goes on which kernels have not read, from `read` on."""
        end, last = int(rewritten.starts[-1]), int(rewritten.firsts[-1])
        if read == 0:
            state[KEPT], state[KEPT_CHARACTERS] = end, last
            return
        left = rewritten.text[read:end]
        count = characters(left)
        state[KEPT], state[KEPT_CHARACTERS] = len(left), count
        rewritten.text[: len(left)] = left.copy()
        if len(rewritten.places):
            rewritten.places[:count] = rewritten.places[last - count : last].copy()


class TextNormalizer(KeepingNormalizer):
    """Rewrites the texts of a table.

    Args:
        arguments: the kernels' argument ``table`` for rewritten texts.
        by: how texts are rewritten.
        added: the added tokens.
        trimming: as in `fst.pretokens.header.PretokenText`.
    """

    kernels = (is_unchanged, rewrite)

    def __init__(self, arguments: Any, by: Normalizer, added: AddedTokens, trimming: bool | None) -> None:
        self.arguments, self.growth, self._rewriter = arguments, growth(by), normalizer_arguments(by, added, trimming)
        self._needs_spans = self._rewriter.params[PREFIX] == PREFIXES.index(FIRST) or self._rewriter.params[PUTS_BEHIND]
        self._of_characters = CharacterGrowth(by, [*early(added)], [*late(added)], MARK_BYTES + 1)

    def leaves(self, text: Units, starts: Ints, state: Any, memo: Any) -> bool:
        """Whether texts need no rewriting, and none is kept from the last call."""
        return not state[KEPT] and bool(is_unchanged.call(text, starts, self._rewriter, memo))

    def pending(self) -> Pending:
        """An object that recognises text without a border."""
        return PendingBorder(self._rewriter)

    def border(self, text: Units, starts: Ints, memo: Any) -> int:
        """The last border of a text that goes on; its beginning if it has none."""
        return int(last_border.call(text, np.uint64(starts[0]), np.uint64(starts[-1]), self._rewriter, memo))

    def rewrite(
        self,
        text: Units,
        starts: Ints,
        state: Any,
        room: Room,
        *,
        is_inside: bool,
        with_spans: bool,
        more: bool = False,
    ) -> Normalized:
        """Rewrite texts. The first one follows its part that is kept from the last call."""
        kept, kept_characters = state[KEPT], state[KEPT_CHARACTERS]
        size = self._size(text[starts[0] : starts[-1]]) + self.growth * len(starts) + MARK_BYTES
        room.reserve(size, len(starts) - 1, with_spans=with_spans, needs_spans=self._needs_spans, kept=int(kept))
        ends = np.uint64(is_inside), np.uint64(more)
        room.before, state[BEFORE] = state[BEFORE], 0
        rewrite.call(text, starts, room.before, *ends, kept, kept_characters, self._rewriter, room.work, room.rewritten)
        return room.rewritten

    def _size(self, text: Units) -> int:
        """Upper bound on the rewritten bytes of texts, without additions at their ends. For long texts, characters determine it."""
        most = self.growth * len(text)
        return most if len(text) <= LONG else min(most, self._of_characters.bytes_of(text.tobytes()))
