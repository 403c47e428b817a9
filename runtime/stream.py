"""Streams encode one text that arrives in parts of any size, cut anywhere. Each id is returned as soon as it is certain.

Kernels can read a text in parts: they keep the symbols of an unfinished word, and stop before a prefix of a special token, or before a run
of marks that may continue. A stream collects small parts until they are worth a call, keeps the bytes of a character that is cut in two,
and passes unread characters to the kernel again, together with the next characters.

A kernel reads pending text, such as a pre-token of a million letters, from its beginning in each call. A stream therefore first examines
only the new text: if the pending text continues to its end, no kernel is called, see `fst.runtime.front_end`. A read takes time linear in
the text since the last read.

Memory does not grow with the stream. A kernel keeps only enough symbols of a long word to show that the word is too long to be looked up. A
prefix of a special token is shorter than the token. The only exception is a run of marks, which is kept whole, since canonical ordering may
move its last mark to the front. Without offsets, this applies only to runs that begin with one of the few characters that canonical
ordering may move; with offsets, to runs that begin with any mark.
"""

from __future__ import annotations

from codecs import IncrementalDecoder, getincrementaldecoder
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from fst.errors import TextError
from fst.runtime.front_end import Pending
from fst.runtime.kernels.constants import HALF, LOW_HALF
from fst.runtime.rows.texts import UTF_16, Ints, characters, units
from fst.runtime.run import MORE, NO_MORE, NOTHING, Buffers, Runner
from fst.runtime.workspace import Frame, Ids, Workspace
from fst.tables.kernel_call import BEFORE, COUNT, WORD

Trim = Callable[[Ids, Ints, Ints], None]

MOST_NUMBERS = (1 << 31) - 1  # the highest position in a call of a kernel
STREAM_BLOCK = 1 << 15  # characters or bytes encoded at a time; a smaller rest waits for `read` or `close`


@dataclass(frozen=True, eq=False)
class Part:
    """The ids of a part of a stream.

    Attributes:
        ids: int32[n].
        offsets: int64[n, 2], the span of each id in the whole stream: its first character and one past the last; (0, 0) for the special
            tokens around the text. None if offsets were not requested.
        words: int64[n], the index of each id's word in the whole stream; -1 for the special tokens around the text. None if offsets were
            not requested.
    """

    ids: Ids
    offsets: Ints | None = None
    words: Ints | None = None


class Stream:
    """An encoder of one text that arrives in parts; made by `fst.Tokenizer.stream`.

    Only one thread at a time may use a stream. Different streams are independent.

    Args:
        runner: runs the kernels.
        pending: a test for unfinished text that may be long; None if the machine has no long unfinished text.
        frame: the ids around the text.
        errors: "strict" or "replace", as in `fst.Tokenizer.encode`.
        trim: removes the spaces at the ends of tokens from the offsets, in place. Its last argument contains the index of the text's first
            id, if this id is among the ids.
    """

    def __init__(self, runner: Runner, pending: Pending | None, frame: Frame, errors: str, trim: Trim) -> None:
        self._runner, self._pending, self._frame, self._errors, self._trim = runner, pending, frame, errors, trim
        self._workspace = runner.workspaces.take()
        self._spans = Spans(runner, self._workspace) if runner.with_spans else None
        self._kind: Any = ()  # the type of all pieces, str or bytes; () before the first piece and after `close`
        self._is_closed = False
        self._pieces: list[Any] = []  # not decoded yet
        self._size = 0  # of all these pieces, plus one per piece, so that empty pieces cannot pile up
        self._decoder: IncrementalDecoder | None = None
        self._decoded = 0  # bytes decoded so far
        self._unread: list[str] = []  # decoded, but not read by a kernel yet
        self._is_pending = False  # whether `_unread` is pending, so that a kernel would read nothing of it
        self._characters = self._count = 0  # characters that kernels have read so far, and the number of their ids
        self._buffers = Buffers(runner.with_spans)
        self._parts: list[Part] = []  # certain, but not returned yet

    def write(self, piece: str | bytes) -> None:
        """Append a piece to the text.

        Args:
            piece: str, or bytes of UTF-8, cut anywhere, even inside a character. All pieces of a stream must have the same type.

        Raises:
            TextError: the piece has a different type; it is ignored. Or the stream is not text; the message names the position in the whole
                stream, possibly in an earlier piece. The stream is then closed, and ids that were not read are lost.
            ValueError: the stream is closed.
        """
        if not isinstance(piece, self._kind):
            self._take_kind(piece)
        self._pieces.append(piece)
        self._size += len(piece) + 1
        if self._size > STREAM_BLOCK:
            self._encode()

    def read(self) -> Part:
        """Return the new ids that no later text can change.

        Three kinds of text wait: an unfinished word; characters that may begin a special token; and an unfinished run of marks that
        canonical ordering may change.

        Returns:
            A `Part`: ``ids`` and, for a stream with offsets, ``offsets`` and ``words``. All are empty if no new id is certain.

        Raises:
            TextError, ValueError: as for `write`.
        """
        self._check_open()
        if self._pieces:
            self._encode()
        return self._given()

    def close(self) -> Part:
        """End the text, and return all remaining ids. Every later call raises a ValueError.

        Raises:
            TextError, ValueError: as for `write`.
        """
        self._check_open()
        self._encode(is_last=True)
        self._end()
        return self._given()

    def _check_open(self) -> None:
        if self._is_closed:
            raise ValueError("the stream is closed")

    def _take_kind(self, piece: Any) -> None:
        """Set the type of all pieces to the type of the first piece; refuse a piece of a different type."""
        self._check_open()
        if self._kind or not isinstance(piece, str | bytes):
            raise TextError(f"a piece is {type(piece).__name__}; the pieces of a stream are all str or all bytes")
        self._kind = bytes if isinstance(piece, bytes) else str
        if self._kind is bytes or self._errors == "replace":
            self._decoder = getincrementaldecoder("utf-8" if self._kind is bytes else UTF_16)(self._errors)

    def _end(self) -> None:
        self._is_closed, self._kind = True, ()
        self._runner.workspaces.give_back(self._workspace)

    def _given(self) -> Part:
        """Remove the finished parts, and return them joined into one."""
        parts, self._parts = self._parts, []
        return parts[0] if len(parts) == 1 else _joined(parts, self._runner.with_spans)

    def _encode(self, is_last: bool = False) -> None:
        """Encode the pieces up to the last certain id, or up to the end of the text."""
        pieces = (b"" if self._kind is bytes else "").join(self._pieces)
        self._pieces, self._size = [], 0
        cuts = [*range(0, max(len(pieces) - STREAM_BLOCK, 1), STREAM_BLOCK), len(pieces)]
        for begin, end in pairwise(cuts):
            self._encode_block(pieces[begin:end], is_last and end == len(pieces))

    def _encode_block(self, block: Any, is_last: bool) -> None:
        text = self._text_of(block, is_last)
        self._unread.append(text)
        # With each block, a kernel would read long pending text from its beginning, in quadratic time.
        if is_last or not (self._is_pending and self._pending and self._pending.go_on(text)):
            self._run(NO_MORE if is_last else MORE)

    def _text_of(self, block: Any, is_last: bool) -> str:
        """Decode a block. The decoder keeps the bytes of an incomplete character at the end."""
        if self._decoder is None:
            text: str = block
            return text
        data = block if self._kind is bytes else block.encode(UTF_16, "surrogatepass")
        try:
            text = self._decoder.decode(data, is_last)
        except UnicodeDecodeError as error:
            held, _ = self._decoder.getstate()
            raise self._not_text("not UTF-8", self._decoded - len(held) + error.start) from None
        self._decoded += len(data)
        return text

    def _not_text(self, what: str, place: int) -> TextError:
        """Close the stream, and return the error for a malformed position."""
        self._end()
        return TextError(f"position {place} of the stream: {what}; mend the text, or pass errors='replace'")

    def _run(self, more: np.uint64) -> None:
        """Pass the unread characters to the kernel, which reads as far as it can."""
        text = "".join(self._unread)
        try:
            read_from = units(text, self._runner.unit_type)
        except UnicodeEncodeError as error:
            raise self._not_text("a lone surrogate", self._characters + error.start) from None
        runner, workspace, state = self._runner, self._workspace, self._workspace.state
        first = self._spans.number(self._characters, len(text)) if self._spans else 0
        state[COUNT], state[BEFORE], workspace.short_starts[1] = 0, first, len(read_from)
        self._buffers.reserve(runner.capacity_after(workspace, len(read_from), 1, self._frame), 0)
        ends = workspace.short_ends[:0] if more else workspace.short_ends
        output = runner.output(self._frame, self._buffers, ends)
        stopped = runner.encode(read_from, workspace.short_starts, more, output, workspace, self._buffers)
        self._keep_ids(int(state[COUNT]))
        read = len(text) if stopped == len(read_from) else characters(read_from[:stopped])
        self._characters += read
        self._unread = [text[read:]] if read < len(text) else []
        self._is_pending = bool(self._unread) and self._pending is not None and self._pending.begins(text[read:])

    def _keep_ids(self, count: int) -> None:
        """Copy the ids and spans that the kernel has written, since it will overwrite them."""
        buffers = self._buffers
        part = Part(buffers.ids[:count].copy())
        if self._spans:
            offsets, words = self._spans.of_ids(buffers.offsets[: 2 * count], buffers.words[:count])
            first = len(self._frame[0]) - self._count
            self._trim(part.ids, offsets, np.array([first] if 0 <= first < count else [], np.int64))
            part = Part(part.ids, offsets, words)
        self._count += count
        if count:
            self._parts.append(part)


class Spans:
    """Spans in a text of any length.

    A kernel's positions have only 32 bits, so positions in the whole text are numbered. The lowest numbers are the bounds of the symbols or
    rewritten characters that are kept at the time of numbering, two for each; the other numbers ascend with the characters. When the
    numbers run out, all positions are numbered again.

    Args:
        runner: runs the kernels.
        workspace: their workspace.
    """

    def __init__(self, runner: Runner, workspace: Workspace) -> None:
        self._runner, self._workspace = runner, workspace
        self._known = np.empty(0, np.int64)  # for each of the lowest numbers, the position in the whole text
        self._first = self._origin = 0  # the first number after them, and the position that it represents
        self._words = 0  # number of words before the current call

    @property
    def kept(self) -> Ints:
        """The bounds of the kept symbols or characters in the whole text: begin and end of each."""
        kept = self._runner.kept_spans(self._workspace)
        return self._actual(np.stack([kept & LOW_HALF, kept >> HALF], axis=1).ravel().astype(np.int64))

    def number(self, characters: int, size: int) -> int:
        """Number the next `size` characters, which follow the first `characters` characters, and restart the count of words.

        Returns:
            The number of the first of these characters; only the first character of the whole text has the number 0.
        """
        self._workspace.state[WORD] = 0
        if self._first + (characters - self._origin) + size > MOST_NUMBERS:
            self._known = self.kept
            numbers = np.arange(len(self._known), dtype=np.uint64)
            self._runner.kept_spans(self._workspace)[:] = numbers[0::2] | numbers[1::2] << HALF
            self._first, self._origin = len(numbers) + (characters > 0), characters
        return self._first + (characters - self._origin)

    def of_ids(self, offsets: Ids, words: Ids) -> tuple[Ints, Ints]:
        """Convert the offsets and words of a call to offsets and words in the whole text."""
        is_framed = words < 0
        actual = self._actual(offsets.astype(np.int64)).reshape(-1, 2)
        actual[is_framed] = 0
        numbers = np.where(is_framed, -1, words + np.int64(self._words))
        self._words += int(self._workspace.state[WORD])
        return actual, numbers

    def _actual(self, numbers: Ints) -> Ints:
        """Convert numbers to positions in the whole text."""
        known, new = len(self._known), numbers + (self._origin - self._first)
        return np.where(numbers < known, self._known[np.minimum(numbers, known - 1)], new) if known else new


def _joined(parts: list[Part], is_located: bool) -> Part:
    """Join parts into one part."""
    ids = np.concatenate([NOTHING, *(part.ids for part in parts)])
    if not is_located:
        return Part(ids)
    offsets = [part.offsets for part in parts if part.offsets is not None]
    words = [part.words for part in parts if part.words is not None]
    return Part(ids, np.concatenate([np.empty((0, 2), np.int64), *offsets]), np.concatenate([np.empty(0, np.int64), *words]))
