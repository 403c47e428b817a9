"""Checks of the arguments of a ``SentencePieceProcessor``, with the error messages of ``sentencepiece``."""

from __future__ import annotations

from array import array
from codecs import register_error
from typing import Any, NamedTuple

import numpy as np

from fst.automata.rows import Array
from fst.errors import UnsupportedError

RETURN_TYPES = (int, str, bytes, "numpy", "offset_mapping")
BUFFERS = ("proto", "serialized_proto", "immutable_proto")
NOT_IDS = "Input must be an integer buffer, list of integers, or a sequence of integers."
NOT_PIECES = "Sequence elements must be str or bytes"
NOT_TEXTS = "List elements must be str or bytes"
OUT_OF_RANGE = "OUT_OF_RANGE: piece id is out of range."
NO_BUFFERS = "protocol buffers are not made; take return_type='offset_mapping', a dictionary of ids, pieces and offsets"
MOST_INT = (1 << 31) - 1
UNKNOWN = "\ufffd"
EACH_BYTE = "fst.sentencepiece"  # an error handler that replaces each malformed byte by U+FFFD, as in ``sentencepiece``


def _mended(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return UNKNOWN * (error.end - error.start), error.end


register_error(EACH_BYTE, _mended)


class Form(NamedTuple):
    """The form of results that a caller requests.

    Attributes:
        kind: one of `RETURN_TYPES`.
        add_bos, add_eos, reverse, emit_unk_piece: as in `fst.runtime.compat.sentencepiece.processor.SentencePieceProcessor.encode`.
        in_bytes: whether offsets count bytes.
    """

    kind: Any
    add_bos: bool
    add_eos: bool
    reverse: bool
    emit_unk_piece: bool
    in_bytes: bool = False

    @property
    def is_placed(self) -> bool:
        """Whether results contain the spans of pieces in the text."""
        return bool(self.kind == "offset_mapping")


def one_type(return_type: Any, out_type: Any, default: Any) -> Any:
    """Determine the type of results from `return_type` and `out_type`, of which only one may be given; the default applies if neither is
    given.
    """
    if out_type is not None and return_type is not None:
        raise ValueError("Cannot specify both out_type and return_type. Use return_type instead.")
    kind = next((given for given in (out_type, return_type) if given is not None), default)
    if kind in BUFFERS:
        raise UnsupportedError(f"return_type={kind!r}: {NO_BUFFERS}")
    if kind not in RETURN_TYPES:
        raise ValueError(f"Invalid return_type: {kind}. Must be one of {RETURN_TYPES}")
    return kind


def need_no_offsets(form: Form) -> None:
    """Raise an error if offsets are requested; methods that do not return offsets call this function."""
    if form.kind == "offset_mapping":
        raise ValueError("unknown return_type=offset_mapping")


def is_sequence(value: Any) -> bool:
    """Whether an argument is a sequence other than str and bytes."""
    return hasattr(value, "__len__") and not isinstance(value, str | bytes)


def counts_bytes(input: Any, return_bytes: bool | None) -> bool:
    """Whether the offsets in a result count bytes."""
    if return_bytes is not None:
        return return_bytes
    return isinstance(input[0] if isinstance(input, list) and input else input, bytes)


def text_of(input: Any) -> str:
    """Convert a text to str; a lone surrogate raises a `RuntimeError`, as in ``sentencepiece``."""
    if not isinstance(input, str | bytes):
        raise TypeError("Input must be str or bytes")
    if isinstance(input, bytes):
        return input.decode("utf-8", EACH_BYTE)
    try:
        input.encode()
    except UnicodeEncodeError as error:
        raise RuntimeError(f"Unable to cast a str with a lone surrogate, at character {error.start}: mend the text") from None
    return input


def text_in_list(input: Any) -> str:
    """Convert an item of a list of texts to str."""
    try:
        return text_of(input)
    except (TypeError, RuntimeError):
        raise TypeError(NOT_TEXTS) from None


def need_utf_8(text: str, raw: Any) -> bytes:
    """Return the bytes of a text; raise an error if they are not UTF-8, because offsets are defined only for UTF-8."""
    data = text.encode()
    if isinstance(raw, bytes) and raw != data:
        raise UnsupportedError("the input is not UTF-8: offsets count bytes, return_type='offset_mapping' and return_bytes=True")
    return data


def starts_of(text: str, data: bytes) -> list[int]:
    """Return the position in `data` where each character of a text begins, and then the end of `data`. A character U+FFFD may represent a
    malformed byte.
    """
    starts = [0]
    for char in text:
        size = len(char.encode())
        starts.append(starts[-1] + (size if char != UNKNOWN or data.startswith(char.encode(), starts[-1]) else 1))
    return starts


def piece_of(piece: Any) -> str:
    """Convert a piece to str. Malformed bytes become a str that is not a piece of any model."""
    (data,) = pieces_of_row([piece], NOT_PIECES)
    return data.decode("utf-8", "surrogateescape")


def pieces_of_row(row: Any, wrong: str = NOT_TEXTS) -> list[bytes]:
    """Convert the pieces of a row to bytes; `wrong` is the error message for an item of another type."""
    if not is_sequence(row):
        raise TypeError("Input must be a list or tuple of str or bytes")
    if not all(isinstance(piece, str | bytes) for piece in row):
        raise TypeError(wrong)
    try:
        return [piece.encode() if isinstance(piece, str) else piece for piece in row]
    except UnicodeEncodeError:
        raise TypeError(wrong) from None


def numbers_of(ids: Any) -> Array:
    """Convert a row of ids to an array of int64."""
    if isinstance(ids, np.ndarray):
        if ids.dtype.kind not in "iu" or ids.ndim != 1:
            raise TypeError("Buffer must be of integer type" if ids.ndim == 1 else "Buffer must be 1-dimensional")
        return ids.astype(np.int64)  # a number that is too large becomes negative, which is out of range, too
    if isinstance(ids, str | bytes | bytearray):
        raise TypeError(NOT_IDS)
    try:
        found = np.asarray(array("q", ids if type(ids) is list else list(ids)), np.int64)
    except (TypeError, OverflowError):
        raise TypeError(NOT_IDS) from None
    if len(found) and abs(found).max() > MOST_INT:
        raise TypeError(NOT_IDS)
    return found
