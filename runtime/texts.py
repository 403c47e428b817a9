"""Texts as the kernels take them: all of them in one array of UTF-16, and where each begins.

Strings take one join and one encoding for all, a fraction of the time of encoding each as UTF-8. UTF-8, of bytes and of Arrow columns, goes
through a kernel of its own, which is faster still: from a column nothing is copied first. (To let the kernels that follow take ASCII as it
is, in bytes, saves 1 % of the time, and takes twice as many of them.)
"""

from __future__ import annotations

import sys
from codecs import utf_8_decode, utf_16_be_encode, utf_16_le_encode
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fst.errors import TextError
from fst.jit import Deferred

ERRORS = ("strict", "replace")
UTF_16 = "utf-16-le" if sys.byteorder == "little" else "utf-16-be"
encode_utf_16 = utf_16_le_encode if sys.byteorder == "little" else utf_16_be_encode  # the codec without the search for its name
SLACK = 32  # units that the kernel may write past the last one

Texts = Sequence[str] | Sequence[bytes]
Text = str | bytes | memoryview  # the last two hold UTF-8
Ints = NDArray[np.int64]
Units = NDArray[np.uint16]
Bytes = NDArray[np.uint8]

transcode = Deferred("fst.runtime.kernels", "transcode", is_uniform=True)


class Source(Protocol):
    """Rows of text."""

    def __len__(self) -> int:
        """How many there are."""

    def lengths(self, step: int) -> Sequence[int]:
        """How long every so manieth row is, in characters or bytes."""

    def starts(self, first: int, last: int) -> Ints:
        """int64[rows + 1], where each of the rows from the first to before the last begins, in characters or bytes from that of the first.

        Raises:
            TextError: a row is of another kind than the first of all; the message names it.
        """

    def gather(self, first: int, last: int, starts: Ints, errors: str) -> tuple[Units, Ints]:
        """Lay rows out one after the other.

        Args:
            first, last: one row or more.
            starts: what `starts` says of them.
            errors: "strict", or "replace": U+FFFD takes the place of what is not text, as in ``bytes.decode``.

        Returns:
            uint16[n], valid UTF-16, and int64[rows + 1], where each text begins in it.

        Raises:
            TextError: something is not text; the message names its row.
        """

    def text(self, row: int) -> Text:
        """One row as it is.

        Raises:
            TextError: it is of another kind than the first of all.
        """


class Strings:
    """A list of str."""

    kind: type[str] | type[bytes] = str

    def __init__(self, texts: Sequence[Any]) -> None:
        self._texts = texts

    def __len__(self) -> int:
        return len(self._texts)

    def lengths(self, step: int) -> Sequence[int]:
        """Without those that are no text."""
        return [len(text) for text in self._texts[::step] if isinstance(text, self.kind)]

    def starts(self, first: int, last: int) -> Ints:
        """See `Source`."""
        texts = self._texts[first:last]
        try:
            return _starts(map(len, texts), len(texts))
        except TypeError:
            raise self._not_a_batch(first) from None

    def gather(self, first: int, last: int, starts: Ints, errors: str) -> tuple[Units, Ints]:
        """See `Source`."""
        texts = self._texts[first:last]
        try:
            return self._laid_out(texts, starts)
        except TypeError:
            raise self._not_a_batch(first) from None
        except UnicodeError:
            return _mended(texts, first, errors)

    def text(self, row: int) -> Text:
        """See `Source`."""
        text: Text = self._texts[row]
        if not isinstance(text, self.kind):
            raise self._not_a_batch(row)
        return text

    def _laid_out(self, texts: Sequence[Any], starts: Ints) -> tuple[Units, Ints]:
        return _of_strings(texts, starts)

    def _not_a_batch(self, first: int) -> TextError:
        """The error for the first row, from one on, that is of another kind."""
        row, wrong = next((row, text) for row, text in enumerate(self._texts[first:], first) if not isinstance(text, self.kind))
        return TextError(f"row {row} is {type(wrong).__name__}, not {self.kind.__name__}; a batch is all str or all bytes")


class ByteStrings(Strings):
    """A list of bytes of UTF-8."""

    kind = bytes

    def starts(self, first: int, last: int) -> Ints:
        """See `Source`."""
        # Bytes join with other buffers, whose length is not in bytes; str joins with nothing but str, so that `gather` notices.
        if not all(issubclass(kind, bytes) for kind in set(map(type, self._texts[first:last]))):
            raise self._not_a_batch(first)
        return super().starts(first, last)

    def _laid_out(self, texts: Sequence[Any], starts: Ints) -> tuple[Units, Ints]:
        return of_utf_8(np.frombuffer(b"".join(texts), np.uint8), starts)


class Column:
    """UTF-8 of all rows in one array.

    Args:
        data: uint8[n].
        ends: int32[rows + 1] or int64[rows + 1], where each row begins in it, and the last one ends: ascending, from 0 to n at most.
    """

    def __init__(self, data: Bytes, ends: NDArray[Any]) -> None:
        self._data, self._ends = data, ends

    def __len__(self) -> int:
        return len(self._ends) - 1

    def lengths(self, step: int) -> Sequence[int]:
        """See `Source`."""
        lengths: list[int] = (self._ends[1::step] - self._ends[:-1:step]).tolist()
        return lengths

    def starts(self, first: int, last: int) -> Ints:
        """See `Source`."""
        starts: Ints = np.subtract(self._ends[first : last + 1], self._ends[first], dtype=np.int64)
        return starts

    def gather(self, first: int, last: int, starts: Ints, errors: str) -> tuple[Units, Ints]:
        """See `Source`."""
        try:
            return of_utf_8(self._data[self._ends[first] : self._ends[last]], starts)
        except UnicodeError:
            return _mended([self.text(row) for row in range(first, last)], first, errors)

    def text(self, row: int) -> Text:
        """See `Source`."""
        return self._data[self._ends[row] : self._ends[row + 1]].data


def rows_of(texts: Texts) -> Source:
    """The rows of a batch.

    Raises:
        TextError: it is no list or tuple. What is in it is looked at when it is read.
    """
    if not isinstance(texts, list | tuple):
        raise TextError(f"a batch is a list of str or of bytes, not {type(texts).__name__}")
    return ByteStrings(texts) if texts and isinstance(texts[0], bytes) else Strings(texts)


def check(errors: str) -> None:
    """Refuse what is no way to treat what is not text.

    Raises:
        ValueError: it is none.
    """
    if errors not in ERRORS:
        raise ValueError(f"errors={errors!r}: there are 'strict' and 'replace'")


def of_utf_8(data: Bytes, starts: Ints) -> tuple[Units, Ints]:
    """UTF-16 of texts in UTF-8, and where each begins in it.

    Args:
        data: uint8[n].
        starts: int64[rows + 1], where each text begins, ascending from 0 to n.

    Raises:
        UnicodeError: a text is not UTF-8.
    """
    text, unit_starts = np.empty(len(data) + SLACK, np.uint16), np.empty(len(starts), np.int64)
    data = data.view()
    data.flags.writeable = False  # which the kernel takes for granted, as the next one does
    if transcode.call(data, starts, text, unit_starts) < len(starts) - 1:
        raise UnicodeError
    text = text[: unit_starts[-1]]
    text.flags.writeable = False
    return text, unit_starts


def whole(source: Source, row: int, errors: str) -> str:
    """One row as str. With `errors` strict, lone surrogates are left to `units`.

    Raises:
        TextError: it is no text, or bytes that are not UTF-8.
    """
    text = source.text(row)
    if errors != "strict":
        return replaced(text)
    try:
        return text if isinstance(text, str) else str(text, "utf-8")
    except UnicodeDecodeError as error:
        raise not_text_at(row, error.start, text) from None


def readable(text: Text, errors: str) -> Text:
    """A text as `decoded` takes it, a piece at a time: with `errors` strict, as it is."""
    return text if errors == "strict" else replaced(text)


def decoded(piece: Text, more: bool) -> tuple[str, int]:
    """A piece of a text as str; where there is `more` of the text, without a character that is cut in two. And how much of it that is.

    Raises:
        UnicodeDecodeError: it is not UTF-8.
    """
    return (piece, len(piece)) if isinstance(piece, str) else utf_8_decode(piece, "strict", not more)


def length(text: str, kind: type) -> int:
    """How long a text is as str, or else as UTF-8."""
    return len(text) if issubclass(kind, str) else len(text.encode())


def units(text: str) -> Units:
    """uint16[n], UTF-16.

    Raises:
        UnicodeEncodeError: there is a lone surrogate.
    """
    return np.frombuffer(encode_utf_16(text)[0], np.uint16)


def characters(text: Units) -> int:
    """How many characters there are."""
    return len(text) - int(np.count_nonzero(text & 0xFC00 == 0xDC00))


def not_text_at(row: int, place: int, text: Text) -> TextError:
    """The error for a row that is not text from a place on."""
    what = "a lone surrogate" if isinstance(text, str) else "not UTF-8"
    return TextError(f"row {row}, position {place}: {what}; mend the text, or pass errors='replace'", row, place)


def _of_strings(texts: Sequence[Any], starts: Ints) -> tuple[Units, Ints]:
    data = units("".join(texts))
    if len(data) != starts[-1]:  # characters beyond U+FFFF have two units
        low = np.flatnonzero(data & 0xFC00 == 0xDC00)
        starts = starts + np.searchsorted(low - np.arange(len(low)), starts, side="right")
    return data, starts


def _mended(texts: Sequence[Text], first: int, errors: str) -> tuple[Units, Ints]:
    """Texts of which some are not text, laid out with U+FFFD in their places.

    Raises:
        TextError: `errors` is strict; the message names the first such row, where the first of all has a number.
    """
    if errors == "strict":
        raise _not_text(texts, first) from None
    strings = [replaced(text) for text in texts]
    return _of_strings(strings, _starts(map(len, strings), len(strings)))


def _starts(sizes: Iterable[int], rows: int) -> Ints:
    starts = np.zeros(rows + 1, np.int64)
    np.cumsum(np.fromiter(sizes, np.int64, rows), out=starts[1:])
    return starts


def replaced(text: Text) -> str:
    """A text with U+FFFD for what is not text."""
    if isinstance(text, str):
        return text.encode(UTF_16, "surrogatepass").decode(UTF_16, "replace")
    return str(text, "utf-8", "replace")


def _not_text(texts: Sequence[Text], first: int) -> TextError:
    """The error for the first row that is not text."""
    row, place, text = next((row, place, text) for row, text in enumerate(texts, first) if (place := wrong_at(text)) is not None)
    return not_text_at(row, place, text)


def wrong_at(text: Text) -> int | None:
    """Where a text stops being text, in characters or bytes; None: nowhere."""
    try:
        text.encode() if isinstance(text, str) else str(text, "utf-8")
    except (UnicodeEncodeError, UnicodeDecodeError) as error:
        return error.start
    return None
