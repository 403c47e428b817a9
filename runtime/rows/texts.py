"""Texts in the form that kernels read: an array with the units of many texts in UTF-16 or UTF-8, and the start of each text.

For machines that read UTF-16, kernels convert texts directly from memory: str from Python's representation with one, two or four bytes per
character; bytes and Arrow columns from UTF-8. For machines that read UTF-8, texts in UTF-8 are only checked and copied. A kernel
may read `PAST_END` units after the last unit.
"""

from __future__ import annotations

import sys
from codecs import utf_8_decode, utf_16_be_encode, utf_16_le_encode
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fst.core.jit import Deferred
from fst.errors import TextError, not_one_of

UNIT_TYPES: dict[str, np.dtype[Any]] = {"utf-16": np.dtype(np.uint16), "utf-8": np.dtype(np.uint8)}  # the dtype of each `unit`
ERRORS = ("strict", "replace")
UTF_16 = "utf-16-le" if sys.byteorder == "little" else "utf-16-be"
encode_utf_16 = utf_16_le_encode if sys.byteorder == "little" else utf_16_be_encode  # `str.encode` would search for the codec
MAX_GATHERED = 1 << 18  # maximum number of characters or bytes per call of `Source.gather`
PAST_END = 64  # a kernel may read or write this number of units after the last unit
MOST_UNITS = {"utf-16": 2, "utf-8": 4}  # maximum number of units in a character
CAPACITY = {unit: most * MAX_GATHERED + PAST_END for unit, most in MOST_UNITS.items()}  # length of an array for `MAX_GATHERED` characters

Texts = Iterable[str] | Iterable[bytes]
Text = str | bytes | memoryview  # bytes and memoryview contain UTF-8
Ints = NDArray[np.int64]
Units = NDArray[Any]  # uint16 for UTF-16, or uint8 for UTF-8
Bytes = NDArray[np.uint8]

KERNELS = {np.dtype(np.uint16): "fst.runtime.kernels.unicode", np.dtype(np.uint8): "fst.runtime.kernels.utf_8"}  # kernel module by dtype
gather_strings, gather_bytes, transcode = (
    {dtype: Deferred(module, name) for dtype, module in KERNELS.items()} for name in ("gather_strings", "gather_bytes", "transcode")
)
encode_string = {
    dtype: Deferred("fst.runtime.kernels.short_texts", f"encode_{unit.replace('-', '_')}") for unit, dtype in UNIT_TYPES.items()
}
find_in_string = Deferred("fst.runtime.kernels.short_texts", "find")
copy_as_utf_8 = Deferred("fst.runtime.kernels.utf_8", "as_utf_8")


class Limits(NamedTuple):
    """Limits on the rows of one call of `Source.gather`.

    Attributes:
        total: the maximum number of characters or bytes in all rows together, at most `MAX_GATHERED`.
        longest: the maximum number of characters or bytes in each row.
        least: the minimum number of rows; if the limits admit fewer rows, no row is copied.
    """

    total: int
    longest: int
    least: int = 1


ONE_TEXT = Limits(MAX_GATHERED, MAX_GATHERED)


class Source(Protocol):
    """Rows of text."""

    def __len__(self) -> int:
        """The number of rows."""

    def lengths(self, step: int) -> Sequence[int]:
        """Return the lengths of the rows 0, `step`, 2 * `step` …, in characters or bytes; 0 for a row of another type."""

    def gather(self, first: int, last: int, limits: Limits, text: Units, errors: str) -> tuple[Units, Ints]:
        """Copy rows to one array, until the next row would exceed the limits.

        Args:
            first, last: the first row, and one past the last row; at least one row.
            limits: the limits on the rows.
            text: the array for the units, with a length of `CAPACITY`: uint16 for UTF-16, uint8 for UTF-8.
            errors: "strict"; or "replace": malformed units become U+FFFD, as in ``bytes.decode``.

        Returns:
            The units, usually a view of `text`; and int64[rows + 1], the start of each row, and the end of the last row.
        """

    def text(self, row: int) -> Text:
        """Return the text of a row, unchanged."""


class Strings:
    """A list of str."""

    kind: Any = str
    kernels = gather_strings

    def __init__(self, texts: Sequence[Any]) -> None:
        self._texts = texts

    def __len__(self) -> int:
        return len(self._texts)

    def lengths(self, step: int) -> Sequence[int]:
        """Implement the method of `Source`."""
        return [self.kind.__len__(text) if isinstance(text, self.kind) else 0 for text in self._texts[::step]]

    def gather(self, first: int, last: int, limits: Limits, text: Units, errors: str) -> tuple[Units, Ints]:
        """Implement the method of `Source`."""
        some = self._texts[first:last]
        rows = some if isinstance(some, list) else [*some]  # a new list, which no other thread can change
        starts = np.empty(len(rows) + 1, np.int64)
        taken, is_text = self.kernels[text.dtype].call(id(rows), len(rows), limits, text, starts)
        if taken < 0:
            raise self._not_a_batch(first)
        return (text[: starts.item(taken)], starts[: taken + 1]) if is_text else _mended(rows[:taken], first, errors, text.dtype)

    def text(self, row: int) -> Text:
        """Implement the method of `Source`."""
        text: Any = self._texts[row]
        if not isinstance(text, self.kind):
            raise self._not_a_batch(row)
        whole: Text = self.kind.__getitem__(text, slice(None))  # calls no method that a subclass overrides
        return whole

    def _not_a_batch(self, first: int) -> TextError:
        """Make the error for the first row of another type, from row `first` on."""
        row, wrong = next((row, text) for row, text in enumerate(self._texts[first:], first) if not isinstance(text, self.kind))
        return TextError(f"row {row} is {type(wrong).__name__}, not {self.kind.__name__}; a batch is all str or all bytes")


class ByteStrings(Strings):
    """A list of bytes objects in UTF-8."""

    kind = bytes
    kernels = gather_bytes


class Column:
    """Rows of UTF-8 in one array, such as an Arrow column.

    Attributes:
        data: uint8[n].
        ends: int32[rows + 1] or int64[rows + 1], ascending from 0 to n: the start of each row in `data`, and the end of the last row.
    """

    def __init__(self, data: Bytes, ends: NDArray[Any]) -> None:
        self.data, self.ends = data, ends

    def __len__(self) -> int:
        return len(self.ends) - 1

    def joined(self) -> tuple[Bytes, Ints]:
        """Return the bytes of all rows; and int64[rows + 1], the start of each row, and the end of the last row."""
        starts = self.ends.astype(np.int64) - np.int64(self.ends[0])
        return self.data[self.ends[0] : self.ends[-1]], starts

    def lengths(self, step: int) -> Sequence[int]:
        """Implement the method of `Source`."""
        lengths: list[int] = (self.ends[1::step] - self.ends[:-1:step]).tolist()
        return lengths

    def gather(self, first: int, last: int, limits: Limits, text: Units, errors: str) -> tuple[Units, Ints]:
        """Implement the method of `Source`."""
        ends = np.subtract(self.ends[first : last + 1], self.ends[first], dtype=np.int64)
        taken = fitting(ends, limits)
        data, starts = self.data[self.ends[first] : self.ends[first + taken]], ends[: taken + 1]
        try:
            return of_utf_8(data, starts, text)
        except UnicodeError:
            return _mended([self.text(row) for row in range(first, first + taken)], first, errors, text.dtype)

    def text(self, row: int) -> Text:
        """Implement the method of `Source`."""
        return self.data[self.ends[row] : self.ends[row + 1]].data


def fitting(starts: Ints, limits: Limits) -> int:
    """Count the rows at the beginning that stay within limits. `starts` contains the start of each row, and the end of the last row."""
    taken = int(np.searchsorted(starts[1:], limits.total, "right"))
    long = np.flatnonzero(np.diff(starts[: taken + 1]) > limits.longest)
    taken = int(long[0]) if len(long) else taken
    return taken if taken >= limits.least else 0


def batch_of(text: object) -> Any:
    """Make a batch of one text."""
    if not isinstance(text, str | bytes):
        raise TextError(f"the text is {type(text).__name__}; expected str or bytes")
    return [text]


def listed(texts: Texts) -> list[Any] | tuple[Any, ...]:
    """Convert a batch to a list or a tuple. The type of a row is checked when the row is read."""
    if isinstance(texts, list | tuple):
        return texts
    if isinstance(texts, str | bytes | bytearray | memoryview):
        raise _no_batch(texts, "pass several texts, as in [text], or call the method for one text")
    for name in ("to_pylist", "tolist", "to_list"):  # methods of pyarrow; of NumPy and pandas; of polars. Iteration might not yield str.
        if hasattr(texts, name) and getattr(texts, "ndim", 1) == 1:
            found: list[Any] = getattr(texts, name)()
            return found
    if isinstance(texts, Mapping) or getattr(texts, "ndim", 1) != 1:
        raise _no_batch(texts, "pass one column, as in batch['text']")
    try:
        return list(texts)
    except TypeError:
        if hasattr(texts, "__iter__"):  # `texts` is iterable, so the error comes from its iterator
            raise
        raise _no_batch(texts, "pass a list") from None


def _no_batch(texts: object, remedy: str) -> TextError:
    return TextError(f"a batch is {type(texts).__name__}; expected a list or another iterable of str or of bytes; {remedy}")


def rows_of(texts: Sequence[Any]) -> Source:
    """Make a source from a list or a tuple. The type of a row is checked when the row is read."""
    if type(texts) not in (list, tuple):
        texts = list(texts)  # a subclass may override __iter__
    return ByteStrings(texts) if texts and isinstance(texts[0], bytes) else Strings(texts)


def check(errors: str) -> None:
    """Check the argument `errors`."""
    if errors not in ERRORS:
        raise ValueError(not_one_of("errors", errors, ("strict", "replace")))


def of_utf_8(data: Bytes, starts: Ints, text: Units) -> tuple[Units, Ints]:
    """Check that texts are UTF-8, and convert them to UTF-16 or copy them.

    Args:
        data: uint8[n].
        starts: int64[rows + 1], ascending from 0 to n: the start of each text, and the end of the last text.
        text: uint16 or uint8[n + PAST_END], the output.

    Returns:
        The part of `text` with the units; and int64[rows + 1], the start of each text, and the end of the last text.
    """
    unit_starts = np.empty(len(starts), np.int64)
    if transcode[text.dtype].call(data, starts, text, unit_starts) < len(starts) - 1:
        raise UnicodeError
    return text[: unit_starts.item(-1)], unit_starts


def as_utf_8(text: Units, starts: Ints, rows: Ints) -> tuple[Units, Ints]:
    """Copy the texts with the indices `rows` from UTF-16 to UTF-8; return the new text and the starts, as `Source.gather` does."""
    into, into_starts = np.empty(3 * len(text) + PAST_END, np.uint8), np.empty(len(rows) + 1, np.int64)
    copy_as_utf_8.call(text, starts, rows, into, into_starts)
    return into[: into_starts[-1]], into_starts


def whole(source: Source, row: int, errors: str) -> str:
    """Return the text of a row as str. If `errors` is "strict", the str may contain lone surrogates, for which `units` later raises an
    error.
    """
    text = source.text(row)
    if errors != "strict":
        return replaced(text)
    try:
        return text if isinstance(text, str) else str(text, "utf-8")
    except UnicodeDecodeError as error:
        raise not_text_at(row, error.start, text) from None


def readable(text: Text, errors: str) -> Text:
    """Prepare a text for `decoded`: return it unchanged if `errors` is "strict", otherwise with U+FFFD for malformed units."""
    return text if errors == "strict" else replaced(text)


def decoded(piece: Text, more: bool) -> tuple[str, int]:
    """Decode a piece of a text. With `more`, an incomplete character at the end of the piece is omitted.

    Returns:
        The piece as str, and the number of characters or bytes of `piece` that were decoded.
    """
    return (piece, len(piece)) if isinstance(piece, str) else utf_8_decode(piece, "strict", not more)


def length(text: str, kind: type) -> int:
    """Return the length of a text, in characters if `kind` is str, otherwise in bytes of UTF-8."""
    return len(text) if issubclass(kind, str) else len(text.encode())


def units(text: str, dtype: np.dtype[Any] = UNIT_TYPES["utf-16"]) -> Units:
    """Convert a text to units: uint16[n] in UTF-16, or uint8[n] in UTF-8."""
    data = (text.encode() if dtype == np.uint8 else encode_utf_16(text)[0]) + bytes(PAST_END * dtype.itemsize)
    return np.frombuffer(data, dtype)[:-PAST_END]


def units_or_none(text: str, unit_type: Any) -> Units | None:
    """Convert a text to units; return None if the text has a lone surrogate."""
    try:
        return units(text, unit_type)
    except UnicodeEncodeError:
        return None


def characters(text: Units) -> int:
    """Count the characters of a text."""
    continuing = text & 0xC0 == 0x80 if text.dtype == np.uint8 else text & 0xFC00 == 0xDC00
    return len(text) - int(np.count_nonzero(continuing))


def not_text_at(row: int, place: int, text: Text) -> TextError:
    """Make the error for a row that is malformed at a position, in characters or bytes."""
    what = "a lone surrogate" if isinstance(text, str) else "not UTF-8"
    return TextError(f"row {row}, position {place}: {what}; mend the text, or pass errors='replace'", row, place)


def unknown_character(text: str, place: int) -> str:
    """The reason of an error for an unknown character at a position of a text. If the position is outside the text, no character is
    shown.
    """
    shown = ascii(text[place]) if 0 <= place < len(text) else "a character"
    what = f"{shown} is unknown, and the vocabulary has no unk_id; expected characters of its tokens"
    return f"{what}; leave the character out, or name an unknown token as unk_id"


def _mended(texts: Sequence[Text], first: int, errors: str, dtype: np.dtype[Any]) -> tuple[Units, Ints]:
    """Copy rows to one array, with U+FFFD for malformed units. `first` is the number of the first row."""
    if errors == "strict":
        raise _not_text(texts, first)
    rows = [units(replaced(text), dtype) for text in texts]
    starts = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return np.concatenate([*rows, np.zeros(PAST_END, dtype)])[:-PAST_END], starts


def replaced(text: Text) -> str:
    """Convert a text to str, with U+FFFD for malformed units."""
    if isinstance(text, str):
        return text.encode(UTF_16, "surrogatepass").decode(UTF_16, "replace")
    return str(text, "utf-8", "replace")


def _not_text(texts: Sequence[Text], first: int) -> TextError:
    """Make the error for the first malformed row; `first` is the number of the first row."""
    row, place, text = next((row, place, text) for row, text in enumerate(texts, first) if (place := wrong_at(text)) is not None)
    return not_text_at(row, place, text)


def wrong_at(text: Text) -> int | None:
    """Find the first malformed unit of a text; return its position in characters or bytes, or None for valid text."""
    try:
        text.encode() if isinstance(text, str) else str(text, "utf-8")
    except (UnicodeEncodeError, UnicodeDecodeError) as error:
        return error.start
    return None
