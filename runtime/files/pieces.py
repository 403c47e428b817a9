"""Documents of plain text that are too long for memory, so that commands read, encode and search them piece by piece."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fst.errors import TextError, UnsupportedError
from fst.runtime.files.documents import MEND_TEXT, Documents, Encoded, Fault

if TYPE_CHECKING:
    from fst import Matches, MatchStream, Searcher, Tokenizer
    from fst.runtime.stream import Stream

PART_BYTES = 1 << 16
NO_IDS = np.empty(0, np.int32)


def takes_pieces(tokenizer: Tokenizer) -> bool:
    """Whether a tokenizer can encode texts piece by piece."""
    try:
        tokenizer.stream()
    except UnsupportedError:
        return False
    return True


class Whole:
    """The state of a document that arrives in pieces."""

    def __init__(self) -> None:
        self._decoder = getincrementaldecoder("utf-8")()
        self._size = 0  # number of bytes passed to the decoder
        self._is_wrong = False
        self._stream: Stream | None = None
        self._search: MatchStream | None = None
        self._after = NO_IDS  # special ids to add after the document
        self._left: int | None = None  # number of ids before `max_length` is reached; None: no limit

    def wrong_byte(self, piece: bytes, is_last: bool) -> int | None:
        """Return the position of the document's first malformed byte if the byte is found in this piece; otherwise None."""
        if self._is_wrong:
            return None
        for part in _parts(piece):
            begun = self._size - len(self._decoder.getstate()[0])
            self._size += len(part)
            try:
                self._decoder.decode(part)
            except UnicodeDecodeError as error:
                self._is_wrong = True
                return begun + error.start
        waiting = len(self._decoder.getstate()[0])
        self._is_wrong = is_last and waiting > 0
        return self._size - waiting if self._is_wrong else None

    def ids(self, tokenizer: Tokenizer, piece: bytes, is_last: bool, add_special_tokens: bool, max_length: int | None) -> Any:
        """Return the new ids that no later piece can change, up to `max_length` ids of the document."""
        parts = []
        if self._stream is None:
            from fst.runtime.text.templates import special_ids

            self._stream = tokenizer.stream(add_special_tokens=False, errors="replace")
            before, self._after = special_ids(tokenizer._metadata.templates.single) if add_special_tokens else (NO_IDS, NO_IDS)
            self._left = None if max_length is None else max_length - len(before) - len(self._after)
            parts.append(before)
        for part in _parts(piece) if self._left != 0 else ():
            self._stream.write(part)
            parts.append(self._wanted(self._stream.read().ids))
        if is_last:
            parts += [self._wanted(self._stream.close().ids), self._after]
        return np.concatenate([NO_IDS, *parts])

    def matches(self, searcher: Searcher, piece: bytes, is_last: bool) -> Matches:
        """Return the new matches that no later piece can change, as one row."""
        from fst import Matches

        if self._search is None:
            self._search = searcher.stream(errors="replace")
        found = []
        for part in _parts(piece):
            self._search.write(part)
            found.append(self._search.read())
        if is_last:
            found.append(self._search.close())
        ids, starts, ends = (np.concatenate([getattr(part, name) for part in found]) for name in ("ids", "starts", "ends"))
        return Matches(ids, starts, ends, np.array([0, len(ids)]))

    def _wanted(self, ids: Any) -> Any:
        if self._left is not None:
            ids = ids[: self._left]
            self._left -= len(ids)
        return ids


def _parts(piece: bytes) -> Iterator[bytes]:
    """Split a piece into parts that are so small that the C library returns the memory of each part to the system."""
    return (piece[first : first + PART_BYTES] for first in range(0, len(piece), PART_BYTES))


@dataclass(frozen=True, eq=False)
class Piece(Documents):
    """A block that contains a piece of one document.

    Attributes:
        whole: the state of the document.
        is_last: whether this is the last piece of the document.
    """

    is_whole = False
    whole: Whole = field(default_factory=Whole)
    is_last: bool = False

    def __len__(self) -> int:
        return int(self.is_last)

    def not_text(self) -> dict[int, Fault]:
        """Return a mapping from row 0 to the document's fault if the fault is found in this piece."""
        byte = self.whole.wrong_byte(self.texts[0], self.is_last)
        return {} if byte is None else {0: Fault(f"not UTF-8 at byte {byte}", MEND_TEXT)}

    def without(self, rows: Collection[int]) -> Documents:
        """Raise an error, because a part of the document may already be written.

        Raises:
            TextError: always.
        """
        where = self.place(self.numbers[min(rows)])
        raise TextError(f"{where}: not UTF-8, and too long to be left out; correct it, or pass --errors replace")

    def encode(self, tokenizer: Tokenizer, errors: str, **options: Any) -> Encoded:  # noqa: ARG002 - the caller has called `not_text`
        """Encode the piece, with U+FFFD for malformed bytes; the options are `add_special_tokens` and `max_length`."""
        ids = self.whole.ids(tokenizer, self.texts[0], self.is_last, options["add_special_tokens"], options.get("max_length"))
        return Encoded(self, ids, np.full(len(self), len(ids), np.int64))

    def mended(self) -> Documents:
        """Return the piece unchanged. The stream repairs the piece later, because the last character may continue in the next piece."""
        return self

    def find(self, searcher: Searcher, threads: int | None) -> tuple[Matches, None]:  # noqa: ARG002 - a stream runs in one thread
        """Find the matches in the piece; positions count characters of the document."""
        return self.whole.matches(searcher, self.texts[0], self.is_last), None

    def count_matches(self, searcher: Searcher, threads: int | None) -> NDArray[np.int64]:
        """Count the matches in the piece; return int64[1]."""
        return np.diff(self.find(searcher, threads)[0].row_splits)

    def count(self, tokenizer: Tokenizer, errors: str, **options: Any) -> int:
        """Count the ids of the piece; the options are as in `encode`."""
        return len(self.encode(tokenizer, errors, **options).ids)
