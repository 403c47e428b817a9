"""Arrow columns: texts are read in the column's own buffers, and the arrays of their ids become the buffers of the new column.

Only this module imports pyarrow, and only `fst.Tokenizer.encode_arrow` imports this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.errors import TextError
from fst.runtime.batch import Batch
from fst.runtime.texts import Column, Ints, not_text_at

try:
    import pyarrow as pa
except ModuleNotFoundError:
    raise ModuleNotFoundError("columns take pyarrow 18 or later: pip install 'pyarrow>=18'", name="pyarrow") from None

MAX_IDS = (1 << 31) - 1  # in a chunk: the offsets of a list have 32 bits
OFFSETS = {pa.string(): np.int32, pa.binary(): np.int32, pa.large_string(): np.int64, pa.large_binary(): np.int64}
WITHOUT_VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary(), pa.null(): pa.string()}

Encode = Callable[[Column], Batch]


@dataclass(frozen=True)
class Filling:
    """How rows are padded.

    Attributes:
        width: the number of ids to which rows are padded; no row has more.
        id: the id of the padding.
        side: the side of the padding, "right" or "left".
    """

    width: int
    id: int
    side: str


def encoded(column: Any, encode: Encode, filling: Filling | None, *, by_row: bool) -> Any:
    """The ids of a column.

    Args:
        column: as in `fst.Tokenizer.encode_arrow`.
        encode: encodes rows.
        filling: how rows are padded; None: not at all.
        by_row: whether equal texts may have different ids, so that each row must be encoded.

    Raises:
        TextError: it is not a column of texts, or `encode` raises one.
    """
    column = _imported(column)
    if not isinstance(column, pa.ChunkedArray):
        return _chunk(column, encode, filling, by_row)
    chunks, first = [], 0
    for chunk in column.chunks:
        with _renumbered(partial(add, first)):
            chunks.append(_chunk(chunk, encode, filling, by_row))
        first += len(chunk)
    return pa.chunked_array(chunks, type=_kind(filling))


def _imported(column: Any) -> Any:
    """Import a column of any library as an array or a chunked array of pyarrow."""
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return column
    if hasattr(column, "__arrow_c_stream__"):
        return pa.chunked_array(column)
    if hasattr(column, "__arrow_c_array__"):
        return pa.array(column)
    raise TextError(f"{type(column).__name__} is no column; columns are those of pyarrow, polars, pandas, and others that Arrow can import")


def _chunk(chunk: Any, encode: Encode, filling: Filling | None, by_row: bool) -> Any:
    """The ids of one array."""
    if isinstance(chunk, pa.DictionaryArray):
        return _of_dictionary(_texts(chunk.dictionary), chunk.indices, encode, filling, by_row)
    chunk = _texts(chunk)
    if not chunk.null_count:
        return _array(encode(_rows(chunk)), filling, None)
    is_null = chunk.is_null()
    present = np.flatnonzero(~is_null.to_numpy(zero_copy_only=False))
    with _renumbered(lambda row: int(present[row])):
        batch = encode(_rows(chunk.drop_null()))
    lengths = np.zeros(len(chunk), np.int64)
    lengths[present] = np.diff(batch.row_splits)
    return _array(Batch(batch.ids, np.concatenate([[0], np.cumsum(lengths)])), filling, is_null)


def _of_dictionary(texts: Any, numbers: Any, encode: Encode, filling: Filling | None, by_row: bool) -> Any:
    """The ids of a dictionary array: indices `numbers` into `texts`. Each text is encoded once, unless there are more texts than rows, or
    each row must be.
    """
    if len(texts) <= len(numbers) and not by_row:
        try:
            return _chunk(texts, encode, filling, by_row).take(numbers)
        except TextError:
            pass  # encode the rows instead: a text of no row may be wrong, and errors name rows
    return _chunk(texts.take(numbers), encode, filling, by_row)


def _texts(chunk: Any) -> Any:
    """Cast an array to one of the types in `OFFSETS`, whose texts lie one after the other.

    Raises:
        TextError: it is not an array of texts.
    """
    chunk = chunk.cast(WITHOUT_VIEWS[chunk.type]) if chunk.type in WITHOUT_VIEWS else chunk
    if chunk.type not in OFFSETS:
        raise TextError(f"a column of {chunk.type} is none of texts; cast it to string")
    return chunk


@contextmanager
def _renumbered(number: Callable[[int], int]) -> Iterator[None]:
    """Convert the row in errors by a function."""
    try:
        yield
    except TextError as error:
        if error.row is None or error.place is None:
            raise
        raise not_text_at(number(error.row), error.place, b"") from None


def _rows(chunk: Any) -> Column:
    """The rows of an array without nulls.

    Raises:
        TextError: its offsets do not ascend, or lead out of its data.
    """
    _, offsets, data = chunk.buffers()
    size = OFFSETS[chunk.type]
    if not len(chunk):
        return Column(np.empty(0, np.uint8), np.zeros(1, size))
    ends = np.frombuffer(offsets, size)[chunk.offset : chunk.offset + len(chunk) + 1]
    characters = np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    if ends[0] < 0 or ends[-1] > len(characters) or (ends[1:] < ends[:-1]).any():
        raise TextError("the column is damaged: its offsets do not ascend within its data; make it anew")
    return Column(characters, ends)


def _array(batch: Batch, filling: Filling | None, is_null: Any) -> Any:
    """Rows of ids as an array. Without `filling`, it shares the memory of the batch's ids.

    Raises:
        TextError: there are more ids than the offsets of a list can reach.
    """
    if filling:
        return pa.FixedSizeListArray.from_arrays(_values(_filled(batch, filling)), filling.width, mask=is_null)
    if batch.row_splits[-1] > MAX_IDS:
        raise TextError(f"{batch.row_splits[-1]:,} ids in one array, and list<int32> has at most {MAX_IDS:,}; encode slices of it")
    return pa.ListArray.from_arrays(_values(batch.row_splits.astype(np.int32)), _values(batch.ids), mask=is_null)


def _filled(batch: Batch, filling: Filling) -> NDArray[np.int32]:
    """All rows with their padding, one after the other."""
    lengths: Ints = np.diff(batch.row_splits)[:, None]
    places = np.arange(filling.width)
    is_id = places < lengths if filling.side == "right" else places >= filling.width - lengths
    filled = np.full(is_id.shape, filling.id, np.int32)
    filled[is_id] = batch.ids
    return filled.ravel()


def _values(numbers: NDArray[np.int32]) -> Any:
    """An Arrow array over the memory of some numbers."""
    return pa.Array.from_buffers(pa.int32(), len(numbers), [None, pa.py_buffer(numbers)])


def _kind(filling: Filling | None) -> Any:
    return pa.list_(pa.int32(), filling.width if filling else -1)
