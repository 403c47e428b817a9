"""Streams: one text that comes in pieces, of any size and cut anywhere, whose ids come out as soon as they are certain.

A kernel reads a text in pieces already: it keeps the symbols of a word that has not ended, and stops before what may be the beginning of a
special token, or of a run of marks that goes on. A stream sees to the rest: small pieces wait until there are enough of them to be worth a
call, bytes of a character that is cut in two until the others come, and characters that were not read are read with those that follow.

Memory does not grow with the stream. Of a word, however long, no more symbols are kept than tell that it is too long to be looked up; what
may be the beginning of a special token is shorter than the longest of them. One thing is kept whole, since its last character may be the
first that counts: a run of marks that begins with one of the few that canonical ordering may move, and where offsets are asked for with
any mark.
"""

from __future__ import annotations

from codecs import IncrementalDecoder, getincrementaldecoder
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.errors import TextError
from fst.machines.kernel_call import BEFORE, COUNT, KEPT, WORD
from fst.machines.wordpiece import Tables
from fst.rows import CONTINUES_RUN, HAS_MARKS
from fst.runtime.run import MORE, NO_MORE, NOTHING, Buffers, Frame, Ids, Runner
from fst.runtime.texts import UTF_16, Ints, characters, units
from fst.runtime.workspace import Workspace

STREAM_BLOCK = 1 << 15  # characters or bytes that are encoded at a time; fewer wait for others, unless they are asked for
HALF, LOW_HALF = np.uint64(32), np.uint64((1 << 32) - 1)  # of spans


@dataclass(frozen=True, eq=False)
class Part:
    """The ids of a part of a stream.

    Attributes:
        ids: int32[n].
        offsets: int64[n, 2], the characters of the whole stream that each id stands for, first and one past the last; (0, 0) for ids that
            were put around the text. None where they were not asked for.
        words: int64[n], the number of the word in the whole stream that each id belongs to; -1 for ids that were put around the text. None
            where offsets were not asked for.
    """

    ids: Ids
    offsets: Ints | None = None
    words: Ints | None = None


class Stream:
    """One text that comes in pieces, from `fst.Tokenizer.stream`. One thread at a time may use it; streams do not disturb each other.

    Args:
        runner: runs the kernels, without a fallback.
        runs: what tells runs of marks, if the machine has any.
        frame: ids put around the text.
        errors: "strict" or "replace", what to do with what is not text.
    """

    def __init__(self, runner: Runner, runs: Runs | None, frame: Frame, errors: str) -> None:
        self._runner, self._runs, self._frame, self._errors = runner, runs, frame, errors
        self._workspace = runner.workspaces.take()
        self._spans = Spans(self._workspace) if runner.with_spans else None
        self._kind: Any = ()  # what pieces are: str or bytes; before the first one, and once the stream is closed, nothing
        self._is_closed = False
        self._pieces: list[Any] = []  # not decoded yet
        self._size = 0  # of all of them, one more for each, since there may be empty ones without end
        self._decoder: IncrementalDecoder | None = None
        self._decoded = 0  # characters or bytes so far
        self._unread: list[str] = []  # decoded, and not read yet
        self._is_run = False  # whether `_unread` is a run of marks that may go on, and holds no special token
        self._characters = 0  # read so far
        self._buffers = Buffers(runner.with_spans)
        self._parts: list[Part] = []  # certain, and not given out yet

    def write(self, piece: str | bytes) -> None:
        """Let the text go on.

        Args:
            piece: str, or bytes of UTF-8, cut anywhere, also inside a character. All pieces of a stream are of one kind.

        Raises:
            TextError: the piece is of another kind, and was not taken. Or the stream is not text; the message says at which position of
                the whole, which may be in an earlier piece. Then the stream is closed, and what was not read of it is lost.
            ValueError: the stream is closed.
        """
        if not isinstance(piece, self._kind):
            self._take_kind(piece)
        self._pieces.append(piece)
        self._size += len(piece) + 1
        if self._size > STREAM_BLOCK:
            self._encode()

    def read(self) -> Part:
        """The ids that are certain, whatever the text goes on with, and were not read before.

        That is all but those of the last word, until what ends it was read. Characters that may begin a special token wait until it is
        known whether they do; and a run of marks that has to be put in order, until it ends.

        Returns:
            A `Part`: ``ids`` and, if the stream was asked for them, ``offsets`` and ``words``; all empty where nothing more is certain.

        Raises:
            TextError, ValueError: as for `write`.
        """
        self._check_open()
        if self._pieces:
            self._encode()
        return self._given()

    def close(self) -> Part:
        """The ids that were not read before, those of the end included. After that every call is a ValueError.

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
        """Have the first piece say what all are to be; refuse one that is something else."""
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
        """What is certain, in one part."""
        parts, self._parts = self._parts, []
        return parts[0] if len(parts) == 1 else _joined(parts, self._runner.with_spans)

    def _encode(self, is_last: bool = False) -> None:
        """Encode the pieces, as far as it is certain what becomes of them, or to the end of the text."""
        pieces = (b"" if self._kind is bytes else "").join(self._pieces)
        self._pieces, self._size = [], 0
        cuts = [*range(0, max(len(pieces) - STREAM_BLOCK, 1), STREAM_BLOCK), len(pieces)]
        for begin, end in pairwise(cuts):
            self._encode_block(pieces[begin:end], is_last and end == len(pieces))

    def _encode_block(self, block: Any, is_last: bool) -> None:
        text = self._text_of(block, is_last)
        self._unread.append(text)
        # Reading a long run of marks again from its beginning with each block would take quadratic time.
        if is_last or not (self._is_run and self._runs and self._runs.go_on(text)):
            self._run(NO_MORE if is_last else MORE)

    def _text_of(self, block: Any, is_last: bool) -> str:
        """A block as str, without a character that is cut in two."""
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
        """The error for what is not text, which is the end of the stream."""
        self._end()
        return TextError(f"position {place} of the stream: {what}; mend the text, or pass errors='replace'")

    def _run(self, more: np.uint64) -> None:
        """Have the kernel read what was not read yet, as far as it can."""
        text = "".join(self._unread)
        try:
            read_from = units(text, self._runner.unit_type)
        except UnicodeEncodeError as error:
            raise self._not_text("a lone surrogate", self._characters + error.start) from None
        runner, workspace, state = self._runner, self._workspace, self._workspace.state
        first = self._spans.renumber() if self._spans else 0
        state[COUNT], state[BEFORE], workspace.short_starts[1] = 0, first, len(read_from)
        self._buffers.reserve(workspace.room + runner.room(len(read_from), 1, self._frame), 0)
        output = runner.output(self._frame, self._buffers, workspace.short_ends)
        stopped = runner.encode(read_from, workspace.short_starts, more, output, workspace)
        self._keep_ids(int(state[COUNT]))
        read = len(text) if stopped == len(read_from) else characters(read_from[:stopped])
        self._characters += read
        self._unread = [text[read:]] if read < len(text) else []
        self._is_run = bool(self._unread) and self._runs is not None and self._runs.begins(text[read:])

    def _keep_ids(self, count: int) -> None:
        """Take what the kernel has written, which it will write over."""
        buffers = self._buffers
        ids = buffers.ids[:count].copy()
        spans = self._spans.of_ids(buffers.offsets[: 2 * count], buffers.words[:count], self._characters) if self._spans else ()
        if count:
            self._parts.append(Part(ids, *spans))


class Runs:
    """Tells runs of marks that go on, which a kernel reads only once they have ended.

    Args:
        tables: of the stream.
        with_spans: marks that leave no symbol count only where spans are asked for.
    """

    def __init__(self, tables: Tables, with_spans: bool) -> None:
        self._tables = tables
        self._begins = HAS_MARKS | CONTINUES_RUN if with_spans else HAS_MARKS
        self._end = ""  # the last characters of the run, among which a special token may have begun

    def begins(self, text: str) -> bool:
        """Whether a text is a run of marks that may go on; from then on `go_on` is asked about what follows it."""
        self._end = text[0]
        return bool(self._flags(text[0])[0] & self._begins) and self.go_on(text[1:])

    def go_on(self, text: str) -> bool:
        """Whether the run goes on to the end of the text that follows: the text has only marks, and no special token ends in it."""
        if not (self._flags(text) & CONTINUES_RUN).all():
            return False
        specials = self._tables.specials_in_runs
        known = self._end + text
        self._end = known[-max(map(len, specials), default=1) :]
        return not any(special in known for special in specials)

    def _flags(self, text: str) -> NDArray[np.uint8]:
        """The flags of each character that becomes a list of symbols; 0 for other characters."""
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
        return self._tables.flags[self._tables.classes_of(codes)]


class Spans:
    """Where ids come from, in a text of any length.

    The places of a kernel have 32 bits. So it is given small ones for each text that it reads: first two for each symbol that it has kept,
    wherever that comes from, and then those of the characters of the text.

    Args:
        workspace: of the kernel.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._state, self._of_symbols = workspace.state, workspace.work.spans
        self._kept = np.empty(0, np.int64)  # of each symbol that the kernel has kept, its first character and one past the last, in turns
        self._words = 0  # so far

    def renumber(self) -> int:
        """Give the symbols that the kernel has kept small places, and count words anew; the place of the first character to be read."""
        numbers = np.arange(len(self._kept), dtype=np.uint64)
        self._of_symbols[: len(numbers) // 2] = numbers[0::2] | numbers[1::2] << HALF
        self._state[WORD] = 0
        return len(numbers)

    def of_ids(self, offsets: Ids, words: Ids, characters: int) -> tuple[Ints, Ints]:
        """The offsets and the words in the whole text, of those that the kernel has just written; it had so many characters before."""
        is_framed = words < 0
        actual = self._actual(offsets.astype(np.int64), characters).reshape(-1, 2)
        actual[is_framed] = 0
        numbers = np.where(is_framed, -1, words + np.int64(self._words))
        self._words += int(self._state[WORD])
        kept = self._of_symbols[: int(self._state[KEPT])]
        self._kept = self._actual(np.stack([kept & LOW_HALF, kept >> HALF], axis=1).ravel().astype(np.int64), characters)
        return actual, numbers

    def _actual(self, places: Ints, characters: int) -> Ints:
        """Places in the whole text."""
        known = len(self._kept)
        new = places + (characters - known)
        return np.where(places < known, self._kept[np.minimum(places, known - 1)], new) if known else new


def _joined(parts: list[Part], is_located: bool) -> Part:
    """Several parts in one, or none."""
    ids = np.concatenate([NOTHING, *(part.ids for part in parts)])
    if not is_located:
        return Part(ids)
    offsets = [part.offsets for part in parts if part.offsets is not None]
    words = [part.words for part in parts if part.words is not None]
    return Part(ids, np.concatenate([np.empty((0, 2), np.int64), *offsets]), np.concatenate([np.empty(0, np.int64), *words]))
