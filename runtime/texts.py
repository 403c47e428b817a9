"""Texts as kernels take them: many texts in one array of units, UTF-16 or UTF-8, and where each text begins.

For UTF-16, a kernel reads the objects of a list where they are, each str in the one, two or four bytes a character of Python. UTF-8, of
bytes and of Arrow columns, goes through a kernel of its own; nothing is copied first. (To let the kernels that follow take ASCII bytes as
they are saves 1 % of the time, and takes twice as many kernels.) For UTF-8, a column is read where it is.
"""

from __future__ import annotations

import sys
from codecs import utf_8_decode, utf_16_be_encode, utf_16_le_encode
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fst.errors import TextError
from fst.jit import Deferred

UNIT_TYPES: dict[str, np.dtype[Any]] = {"utf-16": np.dtype(np.uint16), "utf-8": np.dtype(np.uint8)}  # by a machine's unit of text
ERRORS = ("strict", "replace")
UTF_16 = "utf-16-le" if sys.byteorder == "little" else "utf-16-be"
encode_utf_16 = utf_16_le_encode if sys.byteorder == "little" else utf_16_be_encode  # the codec without the search for its name
MAX_GATHERED = 1 << 18  # characters, or bytes, that are gathered at a time
PAST_END = 32  # units that the kernel may write past the last one
ROOM = 2 * MAX_GATHERED + PAST_END  # units that so many characters, or bytes, may take

Texts = Sequence[str] | Sequence[bytes]
Text = str | bytes | memoryview  # the last two hold UTF-8
Ints = NDArray[np.int64]
Units = NDArray[Any]  # uint16, UTF-16, or uint8, UTF-8
Bytes = NDArray[np.uint8]

gather_strings, gather_bytes, transcode = (
    Deferred("fst.runtime.kernels.unicode", name) for name in ("gather_strings", "gather_bytes", "transcode")
)


class Limits(NamedTuple):
    """How many rows are gathered at a time.

    Attributes:
        total: characters, or bytes, in all of them, `MAX_GATHERED` at most.
        longest: in one of them.
        least: how many rows they are to be, or else none.
    """

    total: int
    longest: int
    least: int = 1


ONE_TEXT = Limits(MAX_GATHERED, MAX_GATHERED)


class Source(Protocol):
    """Rows of text."""

    def __len__(self) -> int:
        """How many there are."""

    def lengths(self, step: int) -> Sequence[int]:
        """How long every so manieth row is, in characters or bytes; 0 where it is no text."""

    def gather(self, first: int, last: int, limits: Limits, text: Units, errors: str) -> tuple[Units, Ints]:
        """Lay rows out one after the other: from the first on as many as the limits let, and none from the last on.

        Args:
            first, last: one row or more.
            text: uint16[ROOM], filled, for UTF-16; uint8[n], left as it is, for UTF-8.
            errors: "strict", or "replace": U+FFFD takes the place of what is not text, as in ``bytes.decode``.

        Returns:
            Units of the type of `text`, and most often a part of it, and int64[rows + 1], where each row begins in them.

        Raises:
            TextError: a row is of another kind than the first of all, or something is not text; the message names the row.
        """

    def text(self, row: int) -> Text:
        """One row as it is.

        Raises:
            TextError: it is of another kind than the first of all.
        """


class Strings:
    """A list of str."""

    kind: Any = str
    kernel = gather_strings

    def __init__(self, texts: Sequence[Any]) -> None:
        self._texts = texts

    def __len__(self) -> int:
        return len(self._texts)

    def lengths(self, step: int) -> Sequence[int]:
        """See `Source`."""
        return [self.kind.__len__(text) if isinstance(text, self.kind) else 0 for text in self._texts[::step]]

    def gather(self, first: int, last: int, limits: Limits, text: Units, errors: str) -> tuple[Units, Ints]:
        """See `Source`."""
        some = self._texts[first:last]
        rows = some if isinstance(some, list) else [*some]  # a list of our own: threads may change the caller's, but not this one
        if text.dtype == np.uint8:
            return self._gather_utf_8(rows, first, limits, errors)
        starts = np.empty(len(rows) + 1, np.int64)
        taken, is_text = self.kernel.call(id(rows), len(rows), limits, text, starts)
        if taken < 0:
            raise self._not_a_batch(first)
        return (text[: starts.item(taken)], starts[: taken + 1]) if is_text else _mended(rows[:taken], first, errors, text.dtype)

    def _gather_utf_8(self, rows: Sequence[Any], first: int, limits: Limits, errors: str) -> tuple[Units, Ints]:
        if not all(isinstance(text, self.kind) for text in rows):
            raise self._not_a_batch(first)
        rows = rows[: fitting(np.cumsum([0, *map(self.kind.__len__, rows)]), limits)]
        try:
            encoded = [text.encode() if isinstance(text, str) else text for text in rows]
            return checked_utf_8(np.frombuffer(b"".join(encoded), np.uint8), np.cumsum([0, *map(len, encoded)], dtype=np.int64))
        except UnicodeError:
            return _mended(rows, first, errors, np.dtype(np.uint8))

    def text(self, row: int) -> Text:
        """See `Source`."""
        text: Any = self._texts[row]
        if not isinstance(text, self.kind):
            raise self._not_a_batch(row)
        whole: Text = self.kind.__getitem__(text, slice(None))  # without what a subclass may make of its methods
        return whole

    def _not_a_batch(self, first: int) -> TextError:
        """The error for the first row, from one on, that is of another kind."""
        row, wrong = next((row, text) for row, text in enumerate(self._texts[first:], first) if not isinstance(text, self.kind))
        return TextError(f"row {row} is {type(wrong).__name__}, not {self.kind.__name__}; a batch is all str or all bytes")


class ByteStrings(Strings):
    """A list of bytes of UTF-8."""

    kind = bytes
    kernel = gather_bytes


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

    def gather(self, first: int, last: int, limits: Limits, text: Units, errors: str) -> tuple[Units, Ints]:
        """See `Source`."""
        ends = np.subtract(self._ends[first : last + 1], self._ends[first], dtype=np.int64)
        taken = fitting(ends, limits)
        data, starts = self._data[self._ends[first] : self._ends[first + taken]], ends[: taken + 1]
        try:
            return checked_utf_8(data, starts) if text.dtype == np.uint8 else of_utf_8(data, starts, text)
        except UnicodeError:
            return _mended([self.text(row) for row in range(first, first + taken)], first, errors, text.dtype)

    def text(self, row: int) -> Text:
        """See `Source`."""
        return self._data[self._ends[row] : self._ends[row + 1]].data


def fitting(starts: Ints, limits: Limits) -> int:
    """How many rows fit into limits, by where each begins."""
    taken = int(np.searchsorted(starts[1:], limits.total, "right"))
    long = np.flatnonzero(np.diff(starts[: taken + 1]) > limits.longest)
    taken = int(long[0]) if len(long) else taken
    return taken if taken >= limits.least else 0


def checked_utf_8(data: Bytes, starts: Ints) -> tuple[Bytes, Ints]:
    """The arguments, shown to be UTF-8 in each row.

    Raises:
        UnicodeError: a row is not UTF-8.
    """
    str(data.data, "utf-8")
    inner = starts[starts < len(data)]
    if (data[inner] & 0xC0 == 0x80).any():
        raise UnicodeError
    return data, starts


def rows_of(texts: Texts) -> Source:
    """The rows of a batch.

    Raises:
        TextError: it is no list or tuple. What is in it is looked at when it is read.
    """
    if type(texts) not in (list, tuple):
        if not isinstance(texts, list | tuple):
            raise TextError(f"a batch is a list of str or of bytes, not {type(texts).__name__}")
        texts = list(texts)
    return ByteStrings(texts) if texts and isinstance(texts[0], bytes) else Strings(texts)


def check(errors: str) -> None:
    """Refuse what is no way to treat what is not text.

    Raises:
        ValueError: it is none.
    """
    if errors not in ERRORS:
        raise ValueError(f"errors={errors!r}: there are 'strict' and 'replace'")


def of_utf_8(data: Bytes, starts: Ints, text: Units) -> tuple[Units, Ints]:
    """UTF-16 of texts in UTF-8, and where each begins in it.

    Args:
        data: uint8[n].
        starts: int64[rows + 1], where each text begins, ascending from 0 to n.
        text: uint16[n + PAST_END], filled.

    Raises:
        UnicodeError: a text is not UTF-8.
    """
    unit_starts = np.empty(len(starts), np.int64)
    if transcode.call(data, starts, text, unit_starts) < len(starts) - 1:
        raise UnicodeError
    return text[: unit_starts.item(-1)], unit_starts


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


def lay_out(text: str, into: Units, starts: Ints) -> bool:
    """Lay out one text of `MAX_GATHERED` characters at most, as `Source.gather` does; whether it is text, without a lone surrogate."""
    rows = [text]
    _, is_text = gather_strings.call(id(rows), 1, ONE_TEXT, into, starts)
    return bool(is_text)


def units(text: str, dtype: np.dtype[Any] = UNIT_TYPES["utf-16"]) -> Units:
    """The units of a text: uint16[n], UTF-16, or uint8[n], UTF-8.

    Raises:
        UnicodeEncodeError: there is a lone surrogate.
    """
    return np.frombuffer(text.encode() if dtype == np.uint8 else encode_utf_16(text)[0], dtype)


def characters(text: Units) -> int:
    """How many characters there are."""
    continuing = text & 0xC0 == 0x80 if text.dtype == np.uint8 else text & 0xFC00 == 0xDC00
    return len(text) - int(np.count_nonzero(continuing))


def not_text_at(row: int, place: int, text: Text) -> TextError:
    """The error for a row that is not text from a place on."""
    what = "a lone surrogate" if isinstance(text, str) else "not UTF-8"
    return TextError(f"row {row}, position {place}: {what}; mend the text, or pass errors='replace'", row, place)


def _mended(texts: Sequence[Text], first: int, errors: str, dtype: np.dtype[Any]) -> tuple[Units, Ints]:
    """Texts of which some are not text, laid out with U+FFFD in their places, in units of a type.

    Raises:
        TextError: `errors` is strict; the message names the first such row, where the first of all has a number.
    """
    if errors == "strict":
        raise _not_text(texts, first)
    rows = [units(replaced(text), dtype) for text in texts]
    return np.concatenate(rows), np.cumsum([0, *map(len, rows)], dtype=np.int64)


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
