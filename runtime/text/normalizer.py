"""Rewriting before the kernels of a table read a text, see `fst.text.normalizer`.

Most texts need no rewriting, and kernels read them in place. All others are rewritten first; the kernels then read the rewritten text, and
the spans of ids are turned back into spans in the raw text.

A text that arrives in pieces is rewritten up to a *border*, a place across which rewriting has no effect; the caller passes the rest again
with the next piece. The part of the rewritten text that kernels leave unread is kept for the next call.
"""

from __future__ import annotations

from copy import copy
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fst.core.jit import Deferred
from fst.core.lazy import Lazy
from fst.machines.bpe.arguments import FAILED, FAILED_BITS
from fst.runtime.rows.texts import PAST_END, Ints, Units, characters
from fst.runtime.text.pending import OpenPiece, Pending, PendingBorder
from fst.tables.header import AddedTokens
from fst.tables.kernel_call import BEFORE, KEPT, KEPT_CHARACTERS
from fst.text.arguments import MARK_BYTES, PREFIX, PUTS_BEHIND, RANKS, RewritingWork, Rewritten, growth, rewriter
from fst.text.character_expansion import CharacterGrowth
from fst.text.normalizer import Rewriting, early, late
from fst.text.whitespace import FIRST, PREFIXES

rewrite, restore, last_border = (Deferred("fst.runtime.text.kernels.normalizer", name) for name in ("rewrite", "restore", "last_border"))
is_unchanged = Deferred("fst.runtime.text.kernels.unchanged", "is_unchanged")
Known = TypeVar("Known", bound="KeepingRewriter")

NOWHERE = np.empty(0, np.uint64)  # in place of spans that are not asked for
LONG = 1 << 20  # bytes; counting the room of shorter texts is not worth its time, and most texts are read in shorter blocks


def grown(numbers: NDArray[Any], count: int, room: int) -> NDArray[Any]:
    """Copy the first `count` numbers into an array of `room`. The operating system only commits memory that is written."""
    larger = np.empty(room, numbers.dtype)
    larger[:count] = numbers[:count]
    return larger


class Room:
    """The growing arrays in which one thread rewrites texts.

    Attributes:
        rewritten: the rewritten texts.
        work: the kernels' argument ``work``.
        piece: the unfinished piece at the end of rewritten text; None if there is none.
    """

    def __init__(self) -> None:
        self.piece: OpenPiece | None = None
        self._asked: tuple[int, bool, bool] | None = None  # what the arrays were last made for
        self._text, self._places, self._own = np.empty(0, np.uint8), NOWHERE, (NOWHERE, NOWHERE)
        self._work = _work(0)
        self.reserve(0, 0, with_spans=False)

    @Lazy
    def normalised(self) -> Room:
        """Other arrays, for texts that are rewritten twice."""
        return Room()

    def reserve(self, size: int, rows: int, *, with_spans: bool, needs_spans: bool = False, kept: int = 0) -> None:
        """Make room for `size` more rewritten bytes in `rows` texts.

        Args:
            size, rows: how many.
            with_spans: whether to write spans of rewritten texts.
            needs_spans: whether rewriting needs those of stretches in any case.
            kept: the number of bytes before them, which are kept with their spans.
        """
        asked, room = (rows, with_spans, needs_spans), kept + size
        if asked == self._asked == (rows, False, False) and room + PAST_END <= len(self._text) and size <= len(self._work.items):
            return
        self._asked = asked
        if room + PAST_END > len(self._text):
            # Half as much again, so that a growing text is copied only a few times.
            self._text = grown(self._text, kept, max(room, len(self._text) + (len(self._text) >> 1)) + PAST_END)
        if size > len(self._work.items):
            self._work = _work(size)
        if with_spans and room > len(self._places):
            self._places = grown(self._places, min(kept, len(self._places)), len(self._text) - PAST_END)
        if (with_spans or needs_spans) and size > len(self._own[0]):
            self._own = np.empty(size, np.uint64), np.empty(size, np.uint64)
        starts, firsts = np.empty(rows + 1, np.int64), np.empty(rows + 1, np.int64)
        self.rewritten = Rewritten(self._text, starts, self._places if with_spans else NOWHERE, firsts)
        own, spare = self._own if with_spans or needs_spans else (NOWHERE, NOWHERE)
        self.work = self._work._replace(stretch_places=own, spare_places=spare)


def _work(size: int) -> RewritingWork:
    """The kernels' argument ``work`` for so many rewritten bytes, without room for spans."""
    return RewritingWork(
        items=np.empty(size, np.uint64),
        sorted_items=np.empty(size, np.uint64),
        counts=np.empty(RANKS + 1, np.uint64),
        origins=np.empty(size + 1, np.uint32),
        stretch=np.empty(size, np.uint8),
        stretch_places=NOWHERE,
        spare=np.empty(size, np.uint8),
        spare_places=NOWHERE,
        memo=np.zeros(3, np.uint64),
        late_memo=np.zeros(3, np.uint64),
        cut_memo=np.zeros(FAILED + (1 << FAILED_BITS), np.uint64),
    )


class KeepingRewriter:
    """A rewriter that keeps the part of a rewritten text which kernels leave unread. It is the beginning of the next one.

    Attributes:
        arguments: the kernels' argument ``machine`` for rewritten texts.
        growth: the most bytes that one byte becomes.
        kernels: the kernels of a call, in the order in which it calls them.
    """

    arguments: Any
    growth: int
    kernels: tuple[Deferred, ...]

    def pending(self) -> Pending | None:
        """An object that recognises unfinished raw text."""
        raise NotImplementedError

    def goes_on(self, text: Units, room: Room) -> bool:  # noqa: ARG002 - for rewriters before machines that cut texts into pieces
        """Whether the kernels would again leave all of a rewritten text unread, after leaving a part of it before."""
        return False

    def reading_by(self: Known, arguments: Any) -> Known:
        """The same rewriter, for kernels with other arguments."""
        other = copy(self)
        other.arguments = arguments
        return other

    def keep(self, rewritten: Rewritten, read: int, state: Any) -> None:
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


class TextRewriter(KeepingRewriter):
    """Rewrites the texts of a table.

    Args:
        arguments: the kernels' argument ``machine`` for rewritten texts.
        by: how texts are rewritten.
        added: the added tokens.
        trimming: as in `fst.machines.bpe.header.BpeText`.
    """

    kernels = (is_unchanged, rewrite)

    def __init__(self, arguments: Any, by: Rewriting, added: AddedTokens, trimming: bool | None) -> None:
        self.arguments, self.growth, self._rewriter = arguments, growth(by), rewriter(by, added, trimming)
        self._needs_spans = self._rewriter.params[PREFIX] == PREFIXES.index(FIRST) or self._rewriter.params[PUTS_BEHIND]
        self._pieces = getattr(arguments, "beside", arguments)
        self._of_characters = CharacterGrowth(by, [*early(added)], [*late(added)], MARK_BYTES + 1)

    def leaves(self, text: Units, starts: Ints, state: Any, memo: Any) -> bool:
        """Whether texts need no rewriting, and none is kept from the last call.

        Args:
            text, starts: as in `fst.runtime.machines.bpe.kernels.encode.encode_rows`.
            state: of the kernels' argument ``work``.
            memo: uint64[3], scratch.
        """
        return not state[KEPT] and bool(is_unchanged.call(text, starts, self._rewriter, memo))

    def pending(self) -> Pending:
        """An object that recognises text without a border."""
        return PendingBorder(self._rewriter)

    def goes_on(self, text: Units, room: Room) -> bool:
        """Whether the piece at the beginning of a rewritten text continues to the end of the text."""
        if room.piece is None:
            room.piece = OpenPiece(self._pieces)
        if room.piece.goes_on_in(text):
            return True
        room.piece = None
        return False

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
    ) -> Rewritten:
        """Rewrite texts. The first one follows its part that is kept from the last call.

        Args:
            text, starts: as in `fst.runtime.machines.bpe.kernels.encode.encode_rows`.
            state: of the kernels' argument ``work``.
            room: where to write.
            is_inside: whether the first text goes on from a border.
            with_spans: whether to write the spans of characters.
            more: whether the last text goes on in the next call, behind a border.
        """
        kept, kept_characters = state[KEPT], state[KEPT_CHARACTERS]
        size = self._size(text[starts[0] : starts[-1]]) + self.growth * len(starts) + MARK_BYTES
        room.reserve(size, len(starts) - 1, with_spans=with_spans, needs_spans=self._needs_spans, kept=int(kept))
        ends = np.uint64(is_inside), np.uint64(more)
        rewrite.call(text, starts, state[BEFORE], *ends, kept, kept_characters, self._rewriter, room.work, room.rewritten)
        return room.rewritten

    def _size(self, text: Units) -> int:
        """Upper bound on the rewritten bytes of texts, without additions at their ends. For long texts, characters determine it."""
        most = self.growth * len(text)
        return most if len(text) <= LONG else min(most, self._of_characters.bytes_of(text.tobytes()))
