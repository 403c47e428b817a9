"""Rewrite one text that arrives in pieces."""

from __future__ import annotations

from codecs import IncrementalDecoder, getincrementaldecoder
from typing import Any

from fst.errors import TextError
from fst.runtime.rewriting.rows import Parts
from fst.runtime.rows.texts import UTF_16, wrong_at


class RewriteStream:
    """A rewriter of one text that arrives in pieces; made by `fst.Rewriter.stream`.

    Only one thread at a time may use a stream. Different streams are independent.

    Args:
        parts: the text, which is rewritten in parts.
        errors: "strict" or "replace", as in `fst.Rewriter.apply`.
    """

    def __init__(self, parts: Parts, errors: str) -> None:
        self._parts, self._errors = parts, errors
        self._kind: Any = ()  # the type of all pieces, str or bytes; () before the first piece
        self._decoder: IncrementalDecoder | None = None
        self._read = 0  # number of characters, or of bytes, in the earlier pieces
        self._ready: list[str] = []  # new text that `read` has not returned
        self._is_closed = False

    def write(self, piece: str | bytes) -> None:
        """Append a piece to the text.

        Args:
            piece: str, or bytes in UTF-8, cut at any position, even inside a character. All pieces of a stream must have the same type.

        Raises:
            TextError: the piece has another type than the pieces before, and is ignored. Or the piece is malformed, which closes the
                stream; the message contains the position in the stream. Or the new text is too long, as in `fst.Rewriter.apply`.
            ValueError: the stream is closed.
        """
        self._check_open()
        if self._kind and not isinstance(piece, self._kind):
            raise TextError(f"a piece is {type(piece).__name__}; the pieces of a stream are all str or all bytes")
        if not self._kind:
            self._take_kind(piece)
        self._ready.append(self._parts.write(self._text_of(piece, is_last=False)))

    def read(self) -> str:
        """Return the new text that no later piece can change.

        Raises:
            ValueError: the stream is closed.
        """
        self._check_open()
        text, self._ready = "".join(self._ready), []
        return text

    def close(self) -> str:
        """End the text, and return the rest of the new text. Every later call raises a ValueError.

        Raises:
            TextError, ValueError: as in `write`.
        """
        self._check_open()
        self._ready.append(self._parts.write(self._text_of(self._kind() if self._kind else "", is_last=True)))
        self._ready.append(self._parts.close())
        text = self.read()
        self._is_closed = True
        return text

    def _check_open(self) -> None:
        if self._is_closed:
            raise ValueError("the stream is closed")

    def _take_kind(self, piece: Any) -> None:
        """Take the type of the first piece as the type of all pieces."""
        if not isinstance(piece, str | bytes):
            raise TextError(f"a piece is {type(piece).__name__}; the pieces of a stream are all str or all bytes")
        self._kind = bytes if isinstance(piece, bytes) else str
        if self._kind is bytes or self._errors == "replace":
            self._decoder = getincrementaldecoder("utf-8" if self._kind is bytes else UTF_16)(self._errors)

    def _text_of(self, piece: Any, is_last: bool) -> str:
        """Decode a piece. The decoder stores the bytes of an incomplete character at the end of the piece."""
        if self._decoder is None:
            return self._checked(piece)
        data = piece if self._kind is bytes else piece.encode(UTF_16, "surrogatepass")
        held = len(self._decoder.getstate()[0])
        try:
            text = self._decoder.decode(data, is_last)
        except UnicodeDecodeError as error:
            raise self._not_text("not UTF-8", error.start - held) from None
        self._read += len(data)
        return text

    def _checked(self, piece: str) -> str:
        """Return a piece without lone surrogates."""
        place = wrong_at(piece)
        if place is not None:
            raise self._not_text("a lone surrogate", place)
        self._read += len(piece)
        return piece

    def _not_text(self, what: str, place: int) -> TextError:
        """Close the stream, and make the error for malformed text at a position in the current piece."""
        self._is_closed = True
        return TextError(f"position {self._read + place} of the stream: {what}; mend the text, or pass errors='replace'")
