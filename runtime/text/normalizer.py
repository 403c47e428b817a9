"""Normalization of texts before the kernels of a table read them, see `fst.text.normalizer`.

A text that arrives in parts is normalized up to a *border*: a position such that the text on each side is normalized independently of the
other side. The caller passes the text after the border again with the next part. Normalized text that kernels have not read is stored for
the next call.
"""

from __future__ import annotations

from copy import copy
from typing import Any, TypeVar

import numpy as np

from fst.core.jit import Deferred
from fst.core.prepared import PreparedCall
from fst.runtime.front_end import NOWHERE, Pending, ShortRewriting, TextBuffers, TextFrontEnd
from fst.runtime.kernels.constants import HALF, LOW_HALF
from fst.runtime.rows.texts import PAST_END, UNIT_TYPES, Ints, Units, characters, units, units_or_none
from fst.tables.header import AddedTokens
from fst.tables.kernel_call import Output
from fst.text.arguments import Normalized, NormalizerArguments, all_normalizer_arguments, expansion_bound, normalizer_arguments
from fst.text.character_expansion import CharacterExpansion
from fst.text.marks import MARK_BYTES
from fst.text.normalizer import Normalizer, normalized_tokens, raw_tokens
from fst.text.whitespace import FIRST, PREFIXES

rewrite, restore, last_border, has_border, has_lag = (
    Deferred("fst.runtime.text.kernels.normalizer", name) for name in ("rewrite", "restore", "last_border", "has_border", "has_lag")
)
is_unchanged = Deferred("fst.runtime.text.kernels.unchanged", "is_unchanged")
Known = TypeVar("Known", bound="KeepingNormalizer")

UTF_8 = UNIT_TYPES["utf-8"]
LONG = 1 << 20  # number of bytes; for shorter texts, a tight upper bound on the normalized size would cost more time than it saves


class KeepingNormalizer(TextFrontEnd):
    """A front end that stores the normalized text that kernels have not read, and puts this text at the beginning of the next normalized
    text.
    """

    restoring = (restore,)

    def reading_by(self: Known, arguments: Any) -> Known:
        """Copy this front end for kernels with other arguments."""
        other = copy(self)
        other.arguments = arguments
        return other

    def restore(self, output: Output, first: Any, count: Any, rewritten: Normalized) -> None:
        """Convert spans in the normalized text to spans in the raw text."""
        restore.call(output, first, count, rewritten)

    def resume(self, text: Units, starts: Ints, rewritten: Normalized, read: int, state: Any, buffers: TextBuffers, *, more: bool) -> int:
        """Store the unread part of the normalized text, and return the end of the raw text, because the caller passes no part of the raw
        text again.
        """
        self._keep(rewritten, read, state)
        return super().resume(text, starts, rewritten, read, state, buffers, more=more)

    def _keep(self, rewritten: Normalized, read: int, state: Any) -> None:
        """Store the normalized text from `read` on, which kernels have not read."""
        end, last = int(rewritten.starts[-1]), int(rewritten.firsts[-1])
        if read == 0:
            state.kept, state.kept_characters = end, last
            return
        left = rewritten.text[read:end]
        count = characters(left)
        state.kept, state.kept_characters = len(left), count
        rewritten.text[: len(left)] = left.copy()
        if len(rewritten.places):
            rewritten.places[:count] = rewritten.places[last - count : last].copy()


class PendingBorder:
    """A test for pending raw text, which cannot be normalized yet because the text has no border."""

    def __init__(self, normalizer: NormalizerArguments) -> None:
        self._normalizer, self._memo, self._noted = normalizer, np.zeros(3, np.uint64), np.zeros(3, np.uint64)
        self._reach = 2 * int(normalizer.scalars.reach + normalizer.scalars.longest) + 16  # more bytes than a border depends on
        self._before, self._has_lag = b"", False

    def begins(self, text: str) -> bool:
        """Start with text that the normalizer has not read, because it has no border. If a splitter cuts the text, if the text may
        begin with a code, or if spans may lag, the following text has no border.

        Return True.
        """
        data = units(text, UTF_8)
        by = self._normalizer
        self._has_lag = len(by.splitter.moves) > 0 or by.scalars.has_codes > 0 or bool(has_lag.call(data, by))
        self._before, self._noted[:] = b"", 0
        self._has_border(data)
        return True

    def go_on(self, text: str) -> bool:
        """Whether the pending text still has no border after `text` is appended."""
        data = units_or_none(text, UTF_8)
        return data is not None and (self._has_lag or not self._has_border(data))

    def _has_border(self, more: Units) -> bool:
        """Whether there is a border in new text or shortly before this text."""
        size = len(self._before) + len(more)
        data = np.frombuffer(self._before + more.tobytes() + bytes(PAST_END), np.uint8)[:size]
        found = bool(has_border.call(data, np.uint64(max(size - self._reach, 0)), self._normalizer, self._memo, self._noted))
        place, covered, _ = self._noted.tolist()
        self._before, self._noted[1] = data[place:].tobytes(), max(covered - place, 0)
        return found


class NoBorder:
    """A test for pending raw text that has no border before its end."""

    def begins(self, text: str) -> bool:  # noqa: ARG002
        """Start with text that the normalizer has not read; return True."""
        return True

    def go_on(self, text: str) -> bool:  # noqa: ARG002
        """Whether the pending text still has no border after `text` is appended."""
        return True


def place_in_raw(rewritten: Normalized, raw: Normalized) -> None:
    """Convert spans in texts that an earlier step has normalized to spans in the raw texts."""
    places = rewritten.places[: rewritten.firsts[-1]]
    begins = np.repeat(raw.firsts[:-1], np.diff(rewritten.firsts))
    firsts, lasts = begins + (places & LOW_HALF).astype(np.int64), begins + (places >> HALF).astype(np.int64) - 1
    places[:] = raw.places[firsts] & LOW_HALF | raw.places[lasts] >> HALF << HALF


class TextNormalizer(KeepingNormalizer):
    """A front end that normalizes texts for the kernels of a table.

    Args:
        arguments: the argument ``table`` of the kernels that read normalized texts.
        by: the rules of normalization.
        added: the added tokens.
        trimming: as in `fst.pretokens.header.PretokenText`.
    """

    kernels = (is_unchanged, rewrite)

    def __init__(self, arguments: Any, by: Normalizer, added: AddedTokens, trimming: bool | None) -> None:
        self.arguments, self.expansion_bound, self.prepares_short = arguments, expansion_bound(by), not by.earlier
        *self._earlier, self._normalizer = all_normalizer_arguments(by.steps, added, trimming)
        *self._bounds, self._last_bound = map(expansion_bound, by.steps)
        # In contrast to the arguments for rewriting, those of each step contain all tokens, because no earlier step has marked them.
        self._alone = [normalizer_arguments(each, added, trimming) for each in by.steps] if by.earlier else [self._normalizer]
        self._needs_spans = self._normalizer.scalars.prefix == PREFIXES.index(FIRST) or self._normalizer.scalars.puts_behind
        raw = [*raw_tokens(added), *([added.leading.begin] if added.leading else ())]
        self._of_characters = CharacterExpansion(by.steps[-1], raw, [*normalized_tokens(added)], MARK_BYTES + 1)

    def leaves(self, text: Units, starts: Ints, state: Any, memo: Any) -> bool:
        """Whether normalization leaves texts unchanged, and no text is stored from the last call."""
        return not state.kept and all(is_unchanged.call(text, starts, each, memo) for each in self._alone)

    def pending(self) -> Pending:
        """Make an object that recognises text without a border."""
        return NoBorder() if self._earlier else PendingBorder(self._normalizer)

    def border(self, text: Units, starts: Ints, memo: Any) -> int:
        """Find the last border of a text that continues; return the beginning of the text if it has no border. With earlier normalizers,
        there are no borders.
        """
        if self._earlier:
            return int(starts[0])
        return int(last_border.call(text, np.uint64(starts[0]), np.uint64(starts[-1]), self._normalizer, memo))

    def rewrite(
        self,
        text: Units,
        starts: Ints,
        state: Any,
        buffers: TextBuffers,
        *,
        is_inside: bool,
        with_spans: bool,
        more: bool = False,
    ) -> Normalized:
        """Normalize texts. The first text continues the text that is stored from the last call."""
        kept, kept_characters = state.kept, state.kept_characters
        ends, rows = (np.uint64(is_inside), np.uint64(more)), len(starts) - 1
        before, state.before = state.before, 0
        found = self._rewritten_earlier(text, starts, before, ends, buffers, with_spans=with_spans)
        size = self._size(found.text[found.starts[0] : found.starts[-1]]) + self._last_bound * (rows + 1) + MARK_BYTES
        buffers.reserve(size, rows, with_spans=with_spans, needs_spans=self._needs_spans, kept=int(kept))
        buffers.before, into = before, buffers.rewritten
        first = np.uint64(0) if self._earlier else before
        rewrite.call(found.text, found.starts, first, *ends, kept, kept_characters, self._normalizer, buffers.work, into)
        if self._earlier and with_spans:
            place_in_raw(into, found)
        return into

    def _rewritten_earlier(
        self, text: Units, starts: Ints, before: Any, ends: tuple[Any, Any], buffers: TextBuffers, *, with_spans: bool
    ) -> Normalized:
        """Apply the earlier normalizers. `ends`: whether the first text continues from a border, and whether the last one ends at one."""
        found, rows = Normalized(text, starts, NOWHERE, starts), len(starts) - 1
        both = buffers.normalised, buffers.normalised.normalised
        for number, (by, bound) in enumerate(zip(self._earlier, self._bounds, strict=True)):
            into, first = both[number % 2], np.uint64(0) if number else before
            into.reserve(bound * (int(found.starts[-1] - found.starts[0]) + rows) + MARK_BYTES, rows, with_spans=with_spans)
            rewrite.call(found.text, found.starts, first, *ends, np.uint64(0), np.uint64(0), by, into.work, into.rewritten)
            if number and with_spans:
                place_in_raw(into.rewritten, found)
            found = into.rewritten
        return found

    def prepare_short(self, text: Units, starts: Ints, most: int, *, with_spans: bool) -> ShortRewriting:
        """Prepare the calls for a short text."""
        by, none, buffers = self._normalizer, np.uint64(0), TextBuffers()
        buffers.reserve(self.expansion_bound * (most + 2) + MARK_BYTES, 1, with_spans=with_spans, needs_spans=self._needs_spans)
        rewritten = buffers.rewritten
        return ShortRewriting(
            PreparedCall(is_unchanged, text, starts, by, buffers.work.memo),
            PreparedCall(rewrite, text, starts, *[none] * 5, by, buffers.work, rewritten),
            rewritten,
        )

    def _size(self, text: Units) -> int:
        """Compute an upper bound on the size of normalized texts, without the strings that are added at the ends of texts. For long texts,
        the characters are examined.
        """
        most = self._last_bound * len(text)
        return most if len(text) <= LONG else min(most, self._of_characters.bytes_of(text.tobytes()))
