"""A stream encodes one text that arrives in parts of any size, cut at any position. Each id is returned as soon as no later text can change
the id.

Kernels can read a text in parts, because they store the symbols of an unfinished word for the next call, and stop before characters that
may begin a special token and before a run of marks that may continue. A stream collects small parts until a call is worth its time, stores
the first bytes of a character that is cut in two, and passes unread characters to the kernel again, together with the next characters.

Pending text is text that a kernel has to read again from its beginning in each call, such as an unfinished pre-token of a million letters.
A stream therefore first examines only the new text, and calls no kernel if the pending text continues to the end of the new text, see
`fst.runtime.front_end`. So the time of a read is linear in the text that arrived since the last read.

The memory of a stream is bounded. For a long word, a kernel stores only enough symbols to detect that the word is too long to look up. A
prefix of a special token is shorter than the token. The only exception is a run of marks, which is stored completely, because canonical
ordering may move its last mark to the front. With offsets, this applies to all runs of marks; without offsets, only to runs that begin with
one of the few marks that canonical ordering may move.
"""

from __future__ import annotations

from codecs import IncrementalDecoder, getincrementaldecoder
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Generic, NoReturn, TypeVar

import numpy as np

from fst.errors import TextError
from fst.runtime.front_end import Pending
from fst.runtime.kernels.constants import HALF, LOW_HALF
from fst.runtime.rows.texts import UTF_16, Ints, characters, units, unknown_character
from fst.runtime.run import MORE, NO_MORE, NOTHING, Buffers, Runner
from fst.runtime.workspace import Ids, SpecialIds, Workspace

Result = TypeVar("Result")
Trim = Callable[[Ids, Ints, Ints], None]

MOST_NUMBERS = (1 << 31) - 1  # the highest position that a call of a kernel can express
STREAM_BLOCK = 1 << 15  # characters or bytes per call of a kernel; less text is encoded only by `read` or `close`


@dataclass(frozen=True, eq=False)
class Part:
    """The ids of a part of a stream.

    Attributes:
        ids: int32[n].
        offsets: int64[n, 2], the span of each id in the stream: the first character, and one past the last; (0, 0) for the special tokens
            around the text. None without offsets.
        words: int64[n], the index of each id's word in the stream; -1 for the special tokens around the text. None without offsets.
    """

    ids: Ids
    offsets: Ints | None = None
    words: Ints | None = None


class Stream:
    """An encoder of one text that arrives in parts; made by `fst.Tokenizer.stream`.

    Only one thread at a time may use a stream. Different streams are independent.

    Args:
        runner: runs the kernels.
        pending: recognises long unfinished text; None if the machine has no long unfinished text.
        special_ids: the ids of the special tokens before and after the text.
        errors: "strict" or "replace", as in `fst.Tokenizer.encode`.
        trim: removes the spaces at the ends of tokens from the offsets, in place. The last argument of `trim` is an array with the index of
            the text's first id; empty if this id is in an earlier part.
        gives_spans: whether parts contain the spans that the runner finds.
    """

    def __init__(
        self, runner: Runner, pending: Pending | None, special_ids: SpecialIds, errors: str, trim: Trim, *, gives_spans: bool = True
    ) -> None:
        self._gives_spans = gives_spans
        self._runner, self._pending, self._special_ids, self._errors, self._trim = runner, pending, special_ids, errors, trim
        self._workspace = runner.workspaces.take()
        self._spans = Spans(runner, self._workspace) if runner.with_spans else None
        self._kind: Any = ()  # the type of all pieces, str or bytes; () before the first piece and after `close`
        self._is_closed = False
        self._pieces: list[Any] = []  # pieces to decode
        self._size = 0  # total size of `_pieces`, plus 1 per piece, so that empty pieces count, too
        self._decoder: IncrementalDecoder | None = None
        self._decoded = 0  # bytes decoded so far
        self._unread: list[str] = []  # decoded text that no kernel has read
        self._is_pending = False  # whether `_unread` is pending text; a kernel cannot read any of it yet
        self._characters = self._count = 0  # number of characters that kernels have read, and number of ids for these characters
        self._buffers = Buffers(runner.with_spans)
        self._parts: list[Part] = []  # finished parts that `read` has not returned

    def __reduce__(self) -> NoReturn:
        raise TypeError("a stream is neither pickled nor copied; each text and each process needs its own")

    def write(self, piece: str | bytes) -> None:
        """Append a piece to the text.

        Args:
            piece: str, or bytes in UTF-8, cut at any position, even inside a character. All pieces of a stream must have the same type.

        Raises:
            TextError: the piece has another type than the pieces before, and is ignored. Or the text of the stream is malformed; the
                message contains the position in the stream, possibly in an earlier piece. Malformed text, or a character that the
                vocabulary cannot encode, closes the stream, and ids that were not read are lost.
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

        Three kinds of text at the end have no ids yet: an unfinished word, characters that may begin a special token, and an unfinished run
        of marks that canonical ordering may change.

        Returns:
            A `Part`: ``ids`` and, for a stream with offsets, ``offsets`` and ``words``. The arrays are empty if there are no new ids.

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
        """Take the type of the first piece as the type of all pieces; raise an error for a piece of a different type."""
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
        """Join the finished parts into one part, and remove these parts from the stream."""
        parts, self._parts = self._parts, []
        part = parts[0] if len(parts) == 1 else _joined(parts, self._runner.with_spans)
        return part if self._gives_spans else Part(part.ids)

    def _encode(self, is_last: bool = False) -> None:
        """Encode the collected pieces up to the last certain id, or, with `is_last`, up to the end."""
        pieces = (b"" if self._kind is bytes else "").join(self._pieces)
        self._pieces, self._size = [], 0
        cuts = [*range(0, max(len(pieces) - STREAM_BLOCK, 1), STREAM_BLOCK), len(pieces)]
        for start, end in pairwise(cuts):
            self._encode_block(pieces[start:end], is_last and end == len(pieces))

    def _encode_block(self, block: Any, is_last: bool) -> None:
        text = self._text_of(block, is_last)
        self._unread.append(text)
        # Skip the kernel for pending text, because it would read this text from the beginning for each block, in quadratic time.
        if is_last or not (self._is_pending and self._pending and self._pending.go_on(text)):
            self._run(NO_MORE if is_last else MORE)

    def _text_of(self, block: Any, is_last: bool) -> str:
        """Decode a block. The decoder stores the bytes of an incomplete character at the end of the block."""
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
        """Close the stream, and make the error for malformed text at a position."""
        self._end()
        return TextError(f"position {place} of the stream: {what}; mend the text, or pass errors='replace'")

    def _run(self, more: np.uint64) -> None:
        """Call the kernel for the unread characters, and store the characters that the kernel cannot read yet."""
        text = "".join(self._unread)
        try:
            read_from = units(text, self._runner.rewritten_type)
        except UnicodeEncodeError as error:
            raise self._not_text("a lone surrogate", self._characters + error.start) from None
        runner, workspace, state = self._runner, self._workspace, self._workspace.state
        first = self._spans.number(self._characters, len(text)) if self._spans else 0
        state.count, state.before, workspace.short_starts[1] = 0, first, len(read_from)
        self._buffers.reserve(runner.capacity_after(workspace, len(read_from), 1, self._special_ids), 0)
        ends = workspace.short_ends[:0] if more else workspace.short_ends
        output = runner.output(self._special_ids, self._buffers, ends)
        stopped = runner.encode(read_from, workspace.short_starts, more, output, workspace, self._buffers, rewrites=True)
        self._keep_ids(int(state.count))
        if not runner.encodes_all:
            self._need_known(text)
        read = len(text) if stopped == len(read_from) else characters(read_from[:stopped])
        self._characters += read
        self._unread = [text[read:]] if read < len(text) else []
        self._is_pending = bool(self._unread) and self._pending is not None and self._pending.begins(text[read:])

    def _need_known(self, text: str) -> None:
        """Close the stream and raise an error if the newest part contains an unknown character. `text` is the text of the last call."""
        for part in self._parts[-1:]:
            unknown = np.flatnonzero(part.ids < 0)
            if len(unknown) and part.offsets is not None:
                place = int(part.offsets[unknown[0], 0])
                self._end()
                raise TextError(f"position {place} of the stream: {unknown_character(text, place - self._characters)}")

    def _keep_ids(self, count: int) -> None:
        """Copy the new ids and spans out of the buffers, which the next call of the kernel overwrites."""
        buffers = self._buffers
        part = Part(buffers.ids[:count].copy())
        if self._spans:
            offsets, words = self._spans.of_ids(buffers.offsets[: 2 * count], buffers.words[:count])
            first = len(self._special_ids[0]) - self._count
            self._trim(part.ids, offsets, np.array([first] if 0 <= first < count else [], np.int64))
            part = Part(part.ids, offsets, words)
        self._count += count
        if count:
            self._parts.append(part)


class ResultStream(Generic[Result]):
    """The base class of streams whose results are not ids, but are made from the parts of a `Stream`.

    Only one thread at a time may use a stream. Different streams are independent.

    Args:
        stream: the stream that runs the kernels.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def write(self, piece: str | bytes) -> None:
        """Append a piece to the text.

        Args:
            piece: str, or bytes in UTF-8, cut at any position, even inside a character. All pieces of a stream must have the same type.

        Raises:
            TextError, ValueError: as in `fst.Stream.write`.
        """
        self._stream.write(piece)

    def read(self) -> Result:
        """Return the new results that no later text can change.

        Raises:
            TextError, ValueError: as in `fst.Stream.write`.
        """
        return self._result(self._stream.read())

    def close(self) -> Result:
        """End the text, and return all remaining results. Every later call raises a ValueError.

        Raises:
            TextError, ValueError: as in `fst.Stream.write`.
        """
        return self._result(self._stream.close())

    def _result(self, part: Part) -> Result:
        """Make the result from a part of the stream."""
        raise NotImplementedError


class Spans:
    """A converter of spans from a kernel's 32-bit numbers to positions in a text of any length.

    A kernel's positions have only 32 bits, so the kernel receives numbers that represent positions in the text. The lowest numbers
    represent the begin and the end of each symbol or normalized character that is stored between two calls; the higher numbers ascend with
    the characters. When the numbers run out, numbering starts again.
    """

    def __init__(self, runner: Runner, workspace: Workspace) -> None:
        self._runner, self._workspace = runner, workspace
        self._known = np.empty(0, np.int64)  # position in the text for each of the lowest numbers
        self._first = self._origin = 0  # the first ascending number, and its position in the text
        self._words = 0  # number of words before the current call

    @property
    def kept(self) -> Ints:
        """The begin and the end, in the text, of each symbol or character that the workspace stores."""
        kept = self._runner.kept_spans(self._workspace)
        return self._actual(np.stack([kept & LOW_HALF, kept >> HALF], axis=1).ravel().astype(np.int64))

    def number(self, characters: int, size: int) -> int:
        """Number the `size` characters after the first `characters` characters of the text, and reset the kernel's count of words.

        Returns:
            The number of the first of the `size` characters; 0 only at the beginning of the text.
        """
        self._workspace.state.word = 0
        if self._first + (characters - self._origin) + size > MOST_NUMBERS:
            self._known = self.kept
            numbers = np.arange(len(self._known), dtype=np.uint64)
            self._runner.kept_spans(self._workspace)[:] = numbers[0::2] | numbers[1::2] << HALF
            self._first, self._origin = len(numbers) + (characters > 0), characters
        return self._first + (characters - self._origin)

    def of_ids(self, offsets: Ids, words: Ids) -> tuple[Ints, Ints]:
        """Convert the offsets and word numbers of one call to offsets and word numbers in the complete text."""
        are_special = words < 0
        actual = self._actual(offsets.astype(np.int64)).reshape(-1, 2)
        actual[are_special] = 0
        numbers = np.where(are_special, -1, words + np.int64(self._words))
        self._words += int(self._workspace.state.word)
        return actual, numbers

    def _actual(self, numbers: Ints) -> Ints:
        """Convert numbers to positions in the text."""
        known, new = len(self._known), numbers + (self._origin - self._first)
        return np.where(numbers < known, self._known[np.minimum(numbers, known - 1)], new) if known else new


def _joined(parts: list[Part], is_located: bool) -> Part:
    """Concatenate parts."""
    ids = np.concatenate([NOTHING, *(part.ids for part in parts)])
    if not is_located:
        return Part(ids)
    offsets = [part.offsets for part in parts if part.offsets is not None]
    words = [part.words for part in parts if part.words is not None]
    return Part(ids, np.concatenate([np.empty((0, 2), np.int64), *offsets]), np.concatenate([np.empty(0, np.int64), *words]))
