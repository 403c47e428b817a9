"""Front ends, which prepare texts for the kernels of a table. The runner uses only the protocol `TextFrontEnd`.

Kernels read a text in place if `leaves` returns True, which is so for most texts. Other texts are rewritten into `TextBuffers`. The kernels
then read the rewritten text, and `restore` converts the spans of ids back into spans in the raw text. If the raw text continues in the next
call, `resume` returns the position from which the caller must pass it again.

By default, either all texts of a call are rewritten, or no text is. If a separate, slower kernel reads rewritten texts, the kernels of the
table first read all texts in place; then only the texts that the kernels cannot read are rewritten, and encoded by the slower kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fst.core.jit import Deferred
from fst.core.lazy import Lazy
from fst.core.prepared import PreparedCall
from fst.runtime.rows.texts import PAST_END, Ints, Units, characters
from fst.tables.kernel_call import Output

if TYPE_CHECKING:
    from fst.text.arguments import Normalized, NormalizerWork

NOWHERE = np.empty(0, np.uint64)  # in place of spans that are not requested


class Pending(Protocol):
    """A test for pending text: unfinished text that a stream must store even if it is long, such as a pre-token of a million letters.

    A kernel would read such a text from its beginning in each call, which takes quadratic time. A stream therefore first examines only the
    new text with this test. While the result is True, the stream calls no kernel. The result False is always safe: a kernel then reads the
    text.
    """

    def begins(self, text: str) -> bool:
        """Whether a text is pending, up to the end of the text. If the result is True, pass the next texts to `go_on`."""

    def go_on(self, text: str) -> bool:
        """Whether the text is still pending at the end of the next text. If the result is False, a kernel must read the whole pending
        text.
        """


class ShortRewriting(NamedTuple):
    """The calls that prepare a short text for the kernels of a table.

    Attributes:
        is_unchanged: a call whose result is 1 if kernels can read the text in place; None: kernels can read every text in place.
        rewrite: a call that rewrites texts that kernels cannot read in place; None: such texts need a batch.
        rewritten: the rewritten text; None if `rewrite` is None.
    """

    is_unchanged: PreparedCall | None = None
    rewrite: PreparedCall | None = None
    rewritten: Normalized | None = None


class TextFrontEnd(Protocol):
    """A front end for the kernels of a table. A front end is immutable: its methods change only the arguments `state` and `buffers`.

    By default, every text is rewritten; an unfinished text is rewritten up to the last character that the call contains.

    Attributes:
        arguments: the kernels' argument ``table`` for rewritten texts.
        expansion_bound: upper bound on the number of rewritten bytes per byte of text.
        kernels: the kernels that a call runs before the kernels of the table, in order.
        restoring: the kernels that `restore` runs.
        keeps_cuts: whether rewritten texts may be cut at the same positions as texts that are read in place.
        encoder: the module of the kernel for rewritten texts; None: the kernel of the table reads rewritten texts.
        marks_rows: with an `encoder`, whether the kernel of the table marks texts that must be rewritten, in addition to the texts that
            `changed` finds.
        prepares_short: whether `prepare_short` may be called; otherwise, every text needs a batch.
    """

    arguments: Any
    expansion_bound: int
    kernels: Sequence[Deferred]
    restoring: Sequence[Deferred] = ()
    keeps_cuts: bool = False
    encoder: str | None = None
    marks_rows: bool = False
    prepares_short: bool = False

    def leaves(self, text: Units, starts: Ints, state: Any, memo: Any) -> bool:  # noqa: ARG002
        """Whether kernels can read texts in place, and no text is stored from the last call.

        Args:
            text, starts: as in `fst.tables.kernel_call`.
            state: the state in the kernels' argument ``work``.
            memo: uint64[3], scratch.
        """
        return False

    def changed(self, text: Units, starts: Ints) -> NDArray[np.uint8]:  # noqa: ARG002
        """With an `encoder`: return uint8[rows], 1 for each text that must be rewritten, by default no text."""
        return np.zeros(len(starts) - 1, np.uint8)

    def arguments_for(self, rewritten: Normalized) -> Any:  # noqa: ARG002
        """Return the kernel's argument ``table`` for rewritten texts."""
        return self.arguments

    def border(self, text: Units, starts: Ints, memo: Any) -> int:  # noqa: ARG002
        """Return the last position up to which an unfinished text can be rewritten independently of the text after the position; if there
        is none, the beginning of the text.
        """
        return int(starts[-1])

    def rewrite(
        self, text: Units, starts: Ints, state: Any, buffers: TextBuffers, *, is_inside: bool, with_spans: bool, more: bool = False
    ) -> Normalized:
        """Rewrite texts. The first text may continue text that is stored from the last call.

        Args:
            text, starts, state: as for `leaves`.
            buffers: the arrays to write to.
            is_inside: whether the first text continues from a border.
            with_spans: whether spans of ids are needed.
            more: whether the last text continues in the next call, after a border.
        """

    def prepare_short(self, text: Units, starts: Ints, most: int, *, with_spans: bool) -> ShortRewriting:  # noqa: ARG002
        """Prepare the calls for one text of at most `most` units; by default, no calls."""
        return ShortRewriting()

    def goes_on(self, text: Units, buffers: TextBuffers) -> bool:  # noqa: ARG002
        """Whether kernels would read nothing of a rewritten text, because they read nothing of the text's first part in the last call
        either.
        """
        return False

    def restore(self, output: Output, first: Any, count: Any, rewritten: Normalized) -> None:  # noqa: ARG002
        """Convert the spans of ids `first` to `count - 1` into spans in the raw text. By default, the spans stay unchanged."""
        return

    def resume(self, text: Units, starts: Ints, rewritten: Normalized, read: int, state: Any, buffers: TextBuffers, *, more: bool) -> int:  # noqa: ARG002
        """Return the position from which the caller must pass the raw text again, after kernels have read the rewritten text up to `read`:
        by default, this is the end of the raw text.
        """
        end = int(starts[-1])
        state.before = buffers.before + np.uint64(characters(text[starts[0] : end])) if more else 0
        return end

    def pending(self) -> Pending | None:
        """Make a test for pending raw text; return None if pending text is never long."""
        return None


def grown(numbers: NDArray[Any], count: int, capacity: int) -> NDArray[Any]:
    """Copy the first `count` numbers into an array of `capacity` numbers. The operating system commits only memory that is written."""
    larger = np.empty(capacity, numbers.dtype)
    larger[:count] = numbers[:count]
    return larger


class TextBuffers:
    """Growing arrays for the rewritten texts of one thread.

    Attributes:
        rewritten: the rewritten texts.
        work: the kernels' argument ``work``.
        unfinished: the front end's state for the unfinished text at the end of the rewritten text; None if no text is unfinished.
        before: the number of characters of the first text that earlier calls have read.
    """

    def __init__(self) -> None:
        self.unfinished: Any = None
        self.before = np.uint64(0)
        self._asked: tuple[int, bool, bool] | None = None  # the arguments of the last allocation
        self._text, self._places, self._own = np.empty(0, np.uint8), NOWHERE, (NOWHERE, NOWHERE)
        self._work = _work(0)
        self.reserve(0, 0, with_spans=False)

    @Lazy
    def normalised(self) -> TextBuffers:
        """A second set of arrays, for texts that are rewritten in several steps."""
        return TextBuffers()

    def reserve(self, size: int, rows: int, *, with_spans: bool, needs_spans: bool = False, kept: int = 0) -> None:
        """Ensure a capacity of `size` more rewritten bytes in `rows` texts.

        Args:
            size, rows: the number of bytes, and of texts.
            with_spans: whether to write spans of rewritten texts.
            needs_spans: whether rewriting needs the spans of parts of the text even without `with_spans`.
            kept: the number of bytes from earlier calls that are stored, and copied together with their spans.
        """
        asked, capacity = (rows, with_spans, needs_spans), kept + size
        if asked == self._asked == (rows, False, False) and capacity + PAST_END <= len(self._text) and size <= len(self._work.items):
            return
        from fst.text.arguments import Normalized  # look-up, guides and rules do not normalize texts

        self._asked = asked
        if capacity + PAST_END > len(self._text):
            # Allocate 1.5 times the size, so that a growing text is copied only a few times.
            self._text = grown(self._text, kept, max(capacity, len(self._text) + (len(self._text) >> 1)) + PAST_END)
        if size > len(self._work.items):
            self._work = _work(size)
        if with_spans and capacity > len(self._places):
            self._places = grown(self._places, min(kept, len(self._places)), len(self._text) - PAST_END)
        if (with_spans or needs_spans) and size > len(self._own[0]):
            self._own = np.empty(size, np.uint64), np.empty(size, np.uint64)
        starts, firsts = np.empty(rows + 1, np.int64), np.empty(rows + 1, np.int64)
        self.rewritten = Normalized(self._text, starts, self._places if with_spans else NOWHERE, firsts)
        own, spare = self._own if with_spans or needs_spans else (NOWHERE, NOWHERE)
        self.work = self._work._replace(stretch_places=own, spare_places=spare)


def _work(size: int) -> NormalizerWork:
    """Make the kernels' argument ``work`` for a number of rewritten bytes, without capacity for spans."""
    from fst.text.arguments import RANKS, NormalizerWork
    from fst.text.splitter import FAILED, FAILED_BITS

    return NormalizerWork(
        items=np.empty(size, np.uint64),
        sorted_items=np.empty(size, np.uint64),
        counts=np.empty(RANKS + 1, np.uint64),
        origins=np.empty(size + 1, np.uint32),
        stretch=np.empty(size + PAST_END, np.uint8),
        stretch_places=NOWHERE,
        spare=np.empty(size + PAST_END, np.uint8),
        spare_places=NOWHERE,
        symbols=np.empty(size, np.uint8),
        memo=np.zeros(3, np.uint64),
        normalized_memo=np.zeros(3, np.uint64),
        cut_memo=np.zeros(FAILED + (1 << FAILED_BITS), np.uint64),
    )
