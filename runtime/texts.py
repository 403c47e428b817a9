"""Texts as the kernels take them: all of them in one array, and where each begins.

Bytes are taken as they are, in UTF-8. Strings become UTF-16: one join and one encoding for all of them, a fraction of the time of encoding
each as UTF-8, and nothing to decode in the kernel.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.errors import TextError

ERRORS = ("strict", "replace")
UTF_16 = "utf-16-le" if sys.byteorder == "little" else "utf-16-be"
IDS_PER_UNIT = {1: 1, 2: 3}  # the bound of `fst.verify`, by the bytes in a unit of the text
LONGEST = 1 << 30  # units in one text: its ids are counted in 32 bits

Texts = Sequence[str] | Sequence[bytes]
Ints = NDArray[np.int64]


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


def lengths(texts: Texts) -> Ints:
    """int64[rows], the characters or bytes in each text."""
    try:
        return np.fromiter(map(len, texts), np.int64, len(texts))
    except TypeError:
        raise _not_a_batch(texts, str, 0) from None


def gather(texts: Texts, kind: type, first: int, starts: Ints, errors: str) -> tuple[NDArray[Any], Ints]:
    """Lay texts out one after the other.

    Args:
        texts: all of one kind.
        kind: str or bytes.
        first: the row of the first of them, for messages.
        starts: int64[rows + 1], where each text begins, in characters or bytes.
        errors: "strict", or "replace": U+FFFD takes the place of what is not text, as in ``bytes.decode``.

    Returns:
        uint8[n], valid UTF-8, or uint16[n], valid UTF-16; and int64[rows + 1], where each text begins in it.

    Raises:
        TextError: something is not text; the message names its row.
    """
    try:
        text, starts = _of_bytes(texts, starts) if kind is bytes else _of_strings(texts, starts)
        if len(text) > LONGEST:
            raise TextError(f"row {first + int(np.diff(starts).argmax())} is longer than {LONGEST:,} characters; cut it at a blank")
        return text, starts
    except TypeError:
        raise _not_a_batch(texts, kind, first) from None
    except UnicodeError:
        if errors == "strict":
            raise _not_text(texts, first) from None
    replaced = [_replaced(text) for text in texts]
    return _of_strings(replaced, _starts(map(len, replaced), len(replaced)))


def _of_strings(texts: Sequence[Any], starts: Ints) -> tuple[NDArray[Any], Ints]:
    data = "".join(texts).encode(UTF_16)
    if len(data) != 2 * starts[-1]:  # characters beyond U+FFFF have two units
        starts = _starts((len(text.encode(UTF_16)) // 2 for text in texts), len(texts))
    return np.frombuffer(data, np.uint16), starts


def _of_bytes(texts: Sequence[Any], starts: Ints) -> tuple[NDArray[Any], Ints]:
    data = b"".join(texts)
    data.decode()
    # The whole can be valid while a row is not: one that ends within a character, and one that goes on with it.
    if any(text and text[0] & 0xC0 == 0x80 for text in texts):
        raise UnicodeError
    return np.frombuffer(data, np.uint8), starts


def _starts(sizes: Any, rows: int) -> Ints:
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
    row, place = next((row, place) for row, place in enumerate(map(_wrong_at, texts), first) if place is not None)
    what = "a lone surrogate" if isinstance(texts[0], str) else "not UTF-8"
    return TextError(f"row {row}, position {place}: {what}; mend the text, or pass errors='replace'")


def _wrong_at(text: str | bytes) -> int | None:
    """Where a text stops being text."""
    try:
        text.encode() if isinstance(text, str) else text.decode()
    except (UnicodeEncodeError, UnicodeDecodeError) as error:
        return error.start
    return None
