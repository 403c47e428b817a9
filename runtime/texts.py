"""Texts as the kernels take them: all of them in one array of UTF-16, and where each begins.

It takes one join and one encoding for all texts, a fraction of the time of encoding each as UTF-8, and there is next to nothing to decode
in the kernel. (Taking ASCII as it is, in bytes, saves 1 % of the time, and takes kernels of its own, whose compilation takes two seconds.)
"""

from __future__ import annotations

import sys
from codecs import utf_8_decode, utf_16_be_encode, utf_16_le_encode
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.errors import TextError

ERRORS = ("strict", "replace")
UTF_16 = "utf-16-le" if sys.byteorder == "little" else "utf-16-be"
encode_utf_16 = utf_16_le_encode if sys.byteorder == "little" else utf_16_be_encode  # the codec without the search for its name

Texts = Sequence[str] | Sequence[bytes]
Ints = NDArray[np.int64]
Units = NDArray[np.uint16]


def check(texts: Texts, errors: str) -> None:
    """Refuse what is no batch at all.

    Raises:
        TextError: it is not a list or tuple of str, or of bytes; the message names the row.
        ValueError: `errors` is unknown.
    """
    if errors not in ERRORS:
        raise ValueError(f"errors={errors!r}: there are 'strict' and 'replace'")
    if not isinstance(texts, list | tuple):
        raise TextError(f"a batch is a list of str or of bytes, not {type(texts).__name__}")
    # Bytes join with other buffers, whose length is not in bytes; str joins with nothing but str, so that `gather` notices.
    if texts and isinstance(texts[0], bytes) and not all(issubclass(kind, bytes) for kind in set(map(type, texts))):
        raise _not_a_batch(texts, bytes, 0)


def starts_of(texts: Texts, kind: type, first: int) -> Ints:
    """int64[rows + 1], where each text begins, in characters or bytes; the other arguments are as in `gather`."""
    try:
        return _starts(map(len, texts), len(texts))
    except TypeError:
        raise _not_a_batch(texts, kind, first) from None


def gather(texts: Texts, kind: type, first: int, starts: Ints, errors: str) -> tuple[Units, Ints]:
    """Lay texts out one after the other.

    Args:
        texts: one or more.
        kind: str or bytes, what all of them are to be.
        first: the row of the first of them, for messages.
        starts: int64[rows + 1], where each text begins, in characters or bytes.
        errors: "strict", or "replace": U+FFFD takes the place of what is not text, as in ``bytes.decode``.

    Returns:
        uint16[n], valid UTF-16, and int64[rows + 1], where each text begins in it.

    Raises:
        TextError: something is not text; the message names its row.
    """
    try:
        return _of_bytes(texts, starts) if kind is bytes else _of_strings(texts, starts)
    except TypeError:
        raise _not_a_batch(texts, kind, first) from None
    except UnicodeError:
        if errors == "strict":
            raise _not_text(texts, first) from None
    replaced = [_replaced(text) for text in texts]
    return _of_strings(replaced, _starts(map(len, replaced), len(replaced)))


def whole(text: str | bytes, kind: type, row: int, errors: str) -> str:
    """One text as str. With `errors` strict, lone surrogates are left to `units`.

    Raises:
        TextError: it is not of the kind, or bytes that are not UTF-8.
    """
    if not isinstance(text, kind):
        raise _not_a_batch([text], kind, row)
    if isinstance(text, bytes):
        try:
            return text.decode("utf-8", errors)
        except UnicodeDecodeError as error:
            raise not_text_at(row, error.start, text) from None
    return text if errors == "strict" else _replaced(text)


def readable(text: str | bytes, kind: type, row: int, errors: str) -> str | bytes:
    """One text as `decoded` takes it, a piece at a time: with `errors` strict, as it is.

    Raises:
        TextError: it is not of the kind.
    """
    return text if errors == "strict" and isinstance(text, kind) else whole(text, kind, row, errors)


def decoded(piece: str | bytes, more: bool) -> str:
    """A piece of a text as str; where there is `more` of the text, without a character that is cut in two.

    Raises:
        UnicodeDecodeError: it is not UTF-8.
    """
    return utf_8_decode(piece, "strict", not more)[0] if isinstance(piece, bytes) else piece


def length(text: str, kind: type) -> int:
    """How long a text is as str, or as bytes."""
    return len(text.encode()) if issubclass(kind, bytes) else len(text)


def units(text: str) -> Units:
    """uint16[n], UTF-16.

    Raises:
        UnicodeEncodeError: there is a lone surrogate.
    """
    return np.frombuffer(encode_utf_16(text)[0], np.uint16)


def characters(text: Units) -> int:
    """How many characters there are."""
    return len(text) - int(np.count_nonzero(text & 0xFC00 == 0xDC00))


def not_text_at(row: int, place: int, text: str | bytes) -> TextError:
    """The error for a row that is not text from a place on."""
    what = "a lone surrogate" if isinstance(text, str) else "not UTF-8"
    return TextError(f"row {row}, position {place}: {what}; mend the text, or pass errors='replace'")


def _of_strings(texts: Sequence[Any], starts: Ints) -> tuple[Units, Ints]:
    data = units("".join(texts))
    if len(data) != starts[-1]:  # characters beyond U+FFFF have two units
        low = np.flatnonzero(data & 0xFC00 == 0xDC00)
        starts = starts + np.searchsorted(low - np.arange(len(low)), starts, side="right")
    return data, starts


def _of_bytes(texts: Sequence[Any], starts: Ints) -> tuple[Units, Ints]:
    data = b"".join(texts)
    if data.isascii():
        return units(data.decode()), starts
    strings = [text.decode() for text in texts]
    return _of_strings(strings, _starts(map(len, strings), len(strings)))


def _starts(sizes: Iterable[int], rows: int) -> Ints:
    starts = np.zeros(rows + 1, np.int64)
    np.cumsum(np.fromiter(sizes, np.int64, rows), out=starts[1:])
    return starts


def _replaced(text: str | bytes) -> str:
    if isinstance(text, bytes):
        return text.decode("utf-8", "replace")
    return text.encode(UTF_16, "surrogatepass").decode(UTF_16, "replace")


def _not_a_batch(texts: Sequence[Any], kind: type, first: int) -> TextError:
    """The error for the first row that is not of the kind."""
    row, wrong = next((row, text) for row, text in enumerate(texts, first) if not isinstance(text, kind))
    return TextError(f"row {row} is {type(wrong).__name__}, not {kind.__name__}; a batch is all str or all bytes")


def _not_text(texts: Sequence[Any], first: int) -> TextError:
    """The error for the first row that is not text."""
    row, place, text = next((row, place, text) for row, text in enumerate(texts, first) if (place := _wrong_at(text)) is not None)
    return not_text_at(row, place, text)


def _wrong_at(text: str | bytes) -> int | None:
    """Where a text stops being text."""
    try:
        text.encode() if isinstance(text, str) else text.decode()
    except (UnicodeEncodeError, UnicodeDecodeError) as error:
        return error.start
    return None
