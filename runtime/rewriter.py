"""Rewriting before the kernels of a table read a text, see `fst.rewriting`.

Most texts are as rewriting would leave them, and kernels read these where they lie. All others are rewritten first. The kernels then read
what was rewritten, and the spans of ids are turned back into spans in the raw text.

A text that comes in pieces is rewritten up to a *border*, a place across which nothing has an effect; the caller reads the rest again with
the next piece. What kernels leave unread of the rewritten text is kept for the next call.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.jit import Deferred
from fst.machines.bpe import BpeTables
from fst.machines.kernel_call import BEFORE, KEPT, KEPT_CHARACTERS
from fst.machines.rewriting_arguments import MARK_BYTES, RANKS, Rewriter, RewritingWork, Rewritten, rewriter
from fst.rewriting import Rewriting
from fst.runtime.texts import PAST_END, Ints, Units, characters

rewrite, restore, is_unchanged, last_border = (
    Deferred("fst.runtime.kernels.rewriting", name) for name in ("rewrite", "restore", "is_unchanged", "last_border")
)
NOWHERE = np.empty(0, np.uint64)  # for spans that are not asked for


def grown(numbers: NDArray[Any], count: int, room: int) -> NDArray[Any]:
    """Copy the first `count` numbers into an array of `room`. The operating system only commits memory that is written."""
    larger = np.empty(room, numbers.dtype)
    larger[:count] = numbers[:count]
    return larger


class Room:
    """The arrays in which one thread rewrites texts, which grow as they must.

    Attributes:
        rewritten: the texts.
        work: the kernels' argument ``work``.
    """

    def __init__(self) -> None:
        self._text, self._places, self._own = np.empty(0, np.uint8), NOWHERE, (NOWHERE, NOWHERE)
        self.reserve(0, 0, with_spans=False)

    def reserve(self, size: int, rows: int, *, with_spans: bool) -> None:
        """Make room for so many rewritten bytes, in so many rows; keep those that there are."""
        if size + PAST_END > len(self._text):
            self._text = grown(self._text, len(self._text), size + PAST_END)
            self._work = RewritingWork(
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
                cut_memo=np.zeros(3, np.uint64),
            )
        if with_spans and size > len(self._places):
            self._places = grown(self._places, len(self._places), size)
            self._own = np.empty(size, np.uint64), np.empty(size, np.uint64)
        starts, firsts = np.empty(rows + 1, np.int64), np.empty(rows + 1, np.int64)
        self.rewritten = Rewritten(self._text, starts, self._places if with_spans else NOWHERE, firsts)
        own, spare = self._own if with_spans else (NOWHERE, NOWHERE)
        self.work = self._work._replace(stretch_places=own, spare_places=spare)


class TextRewriter:
    """Rewrites the texts of a table.

    Args:
        table: the table.
        by: how it rewrites texts.

    Attributes:
        arguments: the kernels' argument ``machine`` for rewritten texts.
    """

    def __init__(self, table: BpeTables, by: Rewriting) -> None:
        self.arguments = table.marked_arguments()
        self._growth = table.ids_per_unit
        self._rewriter: Rewriter = rewriter(by, table.metadata.added_tokens, table.metadata.text.trimming)

    def leaves(self, text: Units, starts: Ints, state: Any, memo: Any) -> bool:
        """Whether texts need no rewriting. `state` is that of the kernels, `memo` uint64[3]."""
        return not state[KEPT] and bool(is_unchanged.call(text, starts, self._rewriter, memo))

    def border(self, text: Units, starts: Ints, memo: Any) -> int:
        """Where a text that goes on may be cut; where it begins, if nowhere."""
        return int(last_border.call(text, np.uint64(starts[0]), np.uint64(starts[-1]), self._rewriter, memo))

    def rewrite(self, text: Units, starts: Ints, state: Any, room: Room, *, is_inside: bool, with_spans: bool) -> Rewritten:
        """Rewrite texts, behind what is kept of the first one."""
        kept, kept_characters = state[KEPT], state[KEPT_CHARACTERS]
        size = int(kept) + self._growth * (int(starts[-1] - starts[0]) + len(starts)) + MARK_BYTES
        room.reserve(size, len(starts) - 1, with_spans=with_spans)
        rewrite.call(text, starts, state[BEFORE], np.uint64(is_inside), kept, kept_characters, self._rewriter, room.work, room.rewritten)
        return room.rewritten

    def keep(self, rewritten: Rewritten, read: int, state: Any) -> None:
        """Keep what kernels have not read of a text that goes on."""
        end, last = int(rewritten.starts[-1]), int(rewritten.firsts[-1])
        left = rewritten.text[read:end]
        count = characters(left)
        state[KEPT], state[KEPT_CHARACTERS] = len(left), count
        rewritten.text[: len(left)] = left.copy()
        if len(rewritten.places):
            rewritten.places[:count] = rewritten.places[last - count : last].copy()
