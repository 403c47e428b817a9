"""Decoding of byte-level tokens. Kernels convert ids to bytes, and Python decodes the bytes to text, either all at once or in a stream."""

from __future__ import annotations

from array import array
from codecs import getincrementaldecoder, utf_8_decode
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from operator import index
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.core.jit import Deferred
from fst.pretokens.decoding import SIZE_BITS, STEP
from fst.runtime.rows.batch import Batch
from fst.runtime.rows.texts import Ints

MAX_ID = (1 << 32) - 1  # the highest id that ``tokenizers`` accepts
KERNELS = "fst.runtime.kernels.decoding"
TYPES = tuple(map(np.dtype, (np.int32, np.uint32, np.int64)))  # dtypes of ids that kernels read without a copy
measure, write = ({dtype: Deferred(KERNELS, name) for dtype in TYPES} for name in ("measure", "write"))

IdsLike = Sequence[int] | NDArray[Any]


def row_of(ids: Any) -> list[int]:
    """Check a row of ids, whole numbers of at most 32 bits, and convert it to a list of int."""
    try:
        numbers = list(map(index, ids.tolist() if isinstance(ids, np.ndarray) else ids))
    except TypeError as error:
        what = "a row of ids is whole numbers; token_to_id returns the id of a token, and decode_batch accepts several rows"
        raise TypeError(f"decode: {error}; {what}") from None
    if numbers and not 0 <= min(numbers) <= max(numbers) <= MAX_ID:
        wrong = next(number for number in numbers if not 0 <= number <= MAX_ID)
        raise OverflowError(f"decode: an id is {wrong}; expected 0 to {MAX_ID}; leave out numbers that are not ids, such as -100 in labels")
    return numbers


def array_of(ids: Any) -> NDArray[Any]:
    """Convert a row of ids to an array with a dtype of `TYPES`, without a check of the numbers' range."""
    if isinstance(ids, np.ndarray) and ids.ndim == 1 and ids.dtype in TYPES:
        return np.ascontiguousarray(ids)
    numbers = ids.tolist() if isinstance(ids, np.ndarray) else ids
    try:
        # Unlike numpy, `array` rejects fractions. A bytes object is converted to a list first, because `array` would combine eight bytes
        # into one number.
        return np.asarray(array("q", numbers if isinstance(numbers, list) else list(numbers)), np.int64)
    except (TypeError, OverflowError):
        return np.asarray(row_of(ids), np.int64)


class Decoded(NamedTuple):
    """The decoded bytes of rows of ids.

    Attributes:
        data: the bytes of all rows, concatenated.
        ends: int64[rows], the end of each row in `data`.
        empty: the number of ids without bytes, in all rows together.
    """

    data: memoryview
    ends: Ints
    empty: int


class ByteDecoder:
    """A decoder that converts ids to the bytes of their tokens, and skips numbers that are not ids.

    Args:
        contents: uint8[n], the bytes of all tokens, followed by `STEP` bytes of padding.
        spans: uint64[highest id + 2], see `fst.pretokens.decoding`; the last element is 0, as is the element of each number that is not an
            id.
    """

    def __init__(self, contents: NDArray[np.uint8], spans: NDArray[np.uint64]) -> None:
        self._contents, self._spans = contents, spans

    def skipping(self, ids: Collection[int]) -> ByteDecoder:
        """Return a decoder that also skips `ids`."""
        spans = self._spans.copy()
        spans[[number for number in ids if number < len(spans)]] = 0
        return ByteDecoder(self._contents, spans)

    def bytes_of_one(self, number: int) -> bytes:
        """The bytes of an id, which is at most the highest id."""
        start, size = divmod(self._spans.item(number), 1 << SIZE_BITS)
        return self._contents[start : start + size].tobytes()

    def bytes_of(self, ids: Any) -> Decoded:
        """Decode one row of ids to bytes."""
        numbers = array_of(ids)
        return self._decoded(numbers, np.array([0, len(numbers)]))

    def bytes_of_rows(self, sequences: Iterable[Any]) -> Decoded:
        """Decode the rows of a `Batch`, or rows of ids, to bytes."""
        if isinstance(sequences, Batch) and _is_whole(sequences):
            return self._decoded(array_of(sequences.ids), sequences.row_splits)
        rows = [array_of(ids) for ids in sequences]
        splits = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return self._decoded(np.concatenate(rows) if rows else np.empty(0, np.int64), splits)

    def _decoded(self, ids: NDArray[Any], splits: Ints) -> Decoded:
        ends = np.empty(len(splits) - 1, np.int64)
        is_beyond, empty = measure[ids.dtype].call(ids, splits, self._spans, ends)
        if is_beyond:
            row_of(ids)  # raises an error for the first wrong id
        size = ends.item(-1) if len(ends) else 0
        data = np.empty(size + STEP, np.uint8)
        write[ids.dtype].call(ids, self._spans, self._contents, data)
        return Decoded(data.data[:size], ends, int(empty))


def decoder_of_contents(contents: Mapping[int, bytes]) -> ByteDecoder:
    """Make a decoder from a mapping of ids to bytes."""
    sizes = np.array([len(content) for content in contents.values()], np.uint64)
    spans = np.zeros(max(contents, default=0) + 2, np.uint64)
    spans[[*contents]] = (np.cumsum(sizes) - sizes) << np.uint64(SIZE_BITS) | sizes
    return ByteDecoder(np.frombuffer(b"".join([*contents.values(), bytes(STEP)]), np.uint8), spans)


def _is_whole(batch: Batch) -> bool:
    """Whether the row splits of a batch are in order and cover all ids, so that kernels can read them without a copy."""
    splits = batch.row_splits
    is_kernels = splits.dtype == np.int64 and splits.flags.c_contiguous and len(splits) > 0
    return is_kernels and splits[0] == 0 and splits[-1] == len(batch.ids) and not (np.diff(splits) < 0).any()


def text_of(data: Any) -> str:
    """Decode bytes to text. Malformed UTF-8 becomes U+FFFD, as in ``tokenizers``."""
    return utf_8_decode(data, "replace", True)[0]


def texts_of(decoded: Decoded) -> list[str]:
    """Decode the bytes of each row to text."""
    return [text_of(decoded.data[start:end]) for start, end in pairwise([0, *decoded.ends.tolist()])]


class DecodeStream:
    """A decoder of ids that arrive one after another, for example from a model.

    The joined results of `write` and `close` equal the result of `fst.Tokenizer.decode` for all ids. Between calls, the stream stores only
    the bytes of an incomplete character, at most three.

    The texts differ only for vocabularies with byte tokens such as ``<0xC3>``. If a run of byte tokens is not valid UTF-8, `decode`
    replaces each byte of the run by U+FFFD. A stream has already returned the complete characters at the beginning of the run, and replaces
    only the remaining bytes.
    """

    def __init__(self) -> None:
        self._is_closed = False

    def write(self, ids: IdsLike) -> str:
        """Decode the next ids.

        Args:
            ids: as in `fst.Tokenizer.decode`; any number of them.

        Returns:
            The new text that no later id can change: complete characters, and U+FFFD for bytes that cannot be part of a character; possibly
            an empty string.

        Raises:
            TypeError, OverflowError: as in `fst.Tokenizer.decode`; the ids are ignored.
            ValueError: the stream is closed.
        """
        self._check_open()
        return self._added(ids)

    def close(self) -> str:
        """End the text.

        Returns:
            The rest of the text: U+FFFD if the last character is incomplete, otherwise an empty string.

        Raises:
            ValueError: the stream is closed.
        """
        self._check_open()
        self._is_closed = True
        return self._rest()

    def _added(self, ids: IdsLike) -> str:
        """Return the characters that `ids` complete."""
        raise NotImplementedError

    def _rest(self) -> str:
        """Return the text of the incomplete bytes at the end of the stream."""
        raise NotImplementedError

    def _check_open(self) -> None:
        if self._is_closed:
            raise ValueError("the stream is closed")


class ByteStream(DecodeStream):
    """A stream for tokens that are decoded to bytes of UTF-8; `bytes_of` decodes a row of ids to bytes."""

    def __init__(self, bytes_of: Callable[[Any], bytes]) -> None:
        super().__init__()
        self._bytes_of = bytes_of
        self._decoder = getincrementaldecoder("utf-8")("replace")

    def _added(self, ids: IdsLike) -> str:
        text = self._decoder.decode(self._bytes_of(ids))
        held, _ = self._decoder.getstate()
        if held[:1] == b"\xed" and held[1:] >= b"\xa0":  # a surrogate is malformed, so do not wait for its last byte
            self._decoder.reset()
            text += text_of(held)
        return text

    def _rest(self) -> str:
        return self._decoder.decode(b"", final=True)
