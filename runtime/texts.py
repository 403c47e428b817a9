"""Texts as the kernels take them: the UTF-8 of all of them in one array, and where each begins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fst.errors import TextError

ERRORS = ("strict", "replace")


def gather(texts: Sequence[str] | Sequence[bytes], errors: str) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Lay texts out one after the other.

    Args:
        texts: all str, or all bytes.
        errors: "strict", or "replace": U+FFFD takes the place of what is not text, as in ``bytes.decode``.

    Returns:
        uint8[n], valid UTF-8, and int64[rows + 1], where each text begins.

    Raises:
        TextError: something is not text; the message names its row.
    """
    if errors not in ERRORS:
        raise ValueError(f"errors={errors!r}: there are 'strict' and 'replace'")
    encoded = _encoded(texts, errors)
    starts = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=starts[1:])
    return np.frombuffer(b"".join(encoded), np.uint8), starts


def _encoded(texts: Sequence[str] | Sequence[bytes], errors: str) -> Sequence[bytes]:
    if not isinstance(texts, list | tuple):
        raise TextError(f"a batch is a list of str or of bytes, not {type(texts).__name__}")
    try:
        if texts and isinstance(texts[0], bytes):
            return _validated(texts, errors)
        return list(map(str.encode, texts))  # type: ignore[arg-type]
    except (TypeError, AttributeError):
        kind = bytes if isinstance(texts[0], bytes) else str
        row = next(row for row, text in enumerate(texts) if not isinstance(text, kind))
        raise TextError(f"row {row} is {type(texts[row]).__name__}, not {kind.__name__}; a batch is all str or all bytes") from None
    except UnicodeError:
        if errors == "strict":
            raise _not_text(texts) from None
        return [_replaced(text) for text in texts]


def _validated(texts: Sequence[bytes], errors: str) -> Sequence[bytes]:
    """Texts of bytes, once they are shown to be UTF-8."""
    data = b"".join(texts)
    data.decode()
    # The whole can be valid while a row is not: one that ends within a character, and one that goes on with it.
    if any(text and text[0] & 0xC0 == 0x80 for text in texts):
        raise UnicodeError
    return texts


def _replaced(text: str | bytes) -> bytes:
    if isinstance(text, str):
        text = text.encode("utf-16", "surrogatepass")
        return text.decode("utf-16", "replace").encode()
    return text.decode("utf-8", "replace").encode()


def _not_text(texts: Sequence[str] | Sequence[bytes]) -> TextError:
    """The error for the first row that is not text."""
    for row, text in enumerate(texts):
        try:
            text.encode() if isinstance(text, str) else text.decode()
        except UnicodeError as error:
            what = "a lone surrogate" if isinstance(text, str) else "not UTF-8"
            return TextError(f"row {row}, position {error.start}: {what}; mend the text, or pass errors='replace'")
    raise AssertionError("every row is text")
