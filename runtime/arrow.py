"""Arrow columns: texts are read in the column's own buffers, and the arrays of their ids become the buffers of the new column. Tokens that
are parts of texts share the buffers of these.

Only this module imports pyarrow, and only methods that take columns import this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.errors import TextError
from fst.runtime.batch import Batch
from fst.runtime.texts import Column, Ints, not_text_at
from fst.trie import spread

try:
    import pyarrow as pa
except ModuleNotFoundError:
    raise ModuleNotFoundError("columns take pyarrow 18 or later: pip install 'pyarrow>=18'", name="pyarrow") from None

MAX_VALUES = (1 << 31) - 1  # in a chunk: the offsets of a list, and those of strings, have 32 bits
OFFSETS = {pa.string(): np.int32, pa.binary(): np.int32, pa.large_string(): np.int64, pa.large_binary(): np.int64}
WITHOUT_VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary(), pa.null(): pa.string()}



class Lists(NamedTuple):
    """Lists, one after the other.

    Attributes:
        values: an array of pyarrow.
        row_splits: int64[rows + 1], as in `Batch`.
    """

    values: Any
    row_splits: Ints


Make = Callable[[Column], Lists]


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


def encoded(column: Any, encode: Callable[[Column], Batch], filling: Filling | None, *, by_row: bool) -> Any:
    """The ids of a column.

    Args:
        column: as in `fst.Tokenizer.encode_arrow`.
        encode: encodes rows.
        filling: how rows are padded; None: not at all.
        by_row: whether equal texts may have different ids, so that each row must be encoded.

    Raises:
        TextError: it is not a column of texts, or `encode` raises one.
    """

    def make(rows: Column) -> Lists:
        batch = encode(rows)
        return Lists(_values(batch.ids), batch.row_splits)

    return _made(column, make, pa.list_(pa.int32(), filling.width if filling else -1), filling, by_row)


def segmented(column: Any, segment: Callable[[Column], Batch]) -> Any:
    """The tokens of a column.

    Args:
        column: as in `fst.Tokenizer.encode_arrow`.
        segment: segments rows; the spans are in characters.

    Raises:
        TextError: it is not a column of texts, or `segment` raises one.
    """

    def make(rows: Column) -> Lists:
        batch = segment(rows)
        return Lists(_tokens(rows, batch), batch.row_splits)

    return _made(column, make, pa.list_(pa.string()), None, by_row=False)


def _made(column: Any, make: Make, kind: Any, filling: Filling | None, by_row: bool) -> Any:
    """A column of lists, of a kind, from a column of texts."""
    column = _imported(column)
    if not isinstance(column, pa.ChunkedArray):
        return _chunk(column, make, filling, by_row)
    chunks, first = [], 0
    for chunk in column.chunks:
        with _renumbered(partial(add, first)):
            chunks.append(_chunk(chunk, make, filling, by_row))
        first += len(chunk)
    return pa.chunked_array(chunks, type=kind)


def _imported(column: Any) -> Any:
    """Import a column of any library as an array or a chunked array of pyarrow."""
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return column
    if hasattr(column, "__arrow_c_stream__"):
        return pa.chunked_array(column)
    if hasattr(column, "__arrow_c_array__"):
        return pa.array(column)
    raise TextError(f"{type(column).__name__} is no column; columns are those of pyarrow, polars, pandas, and others that Arrow can import")


def _chunk(chunk: Any, make: Make, filling: Filling | None, by_row: bool) -> Any:
    """The lists of one array."""
    if isinstance(chunk, pa.DictionaryArray):
        return _of_dictionary(_texts(chunk.dictionary), chunk.indices, make, filling, by_row)
    chunk = _texts(chunk)
    if not chunk.null_count:
        return _array(make(_rows(chunk)), filling, None)
    is_null = chunk.is_null()
    present = np.flatnonzero(~is_null.to_numpy(zero_copy_only=False))
    with _renumbered(lambda row: int(present[row])):
        lists = make(_rows(chunk.drop_null()))
    lengths = np.zeros(len(chunk), np.int64)
    lengths[present] = np.diff(lists.row_splits)
    return _array(Lists(lists.values, np.concatenate([[0], np.cumsum(lengths)])), filling, is_null)


def _of_dictionary(texts: Any, numbers: Any, make: Make, filling: Filling | None, by_row: bool) -> Any:
    """The lists of a dictionary array: indices `numbers` into `texts`. Each text is read once, unless there are more texts than rows, or
    each row must be.
    """
    if len(texts) <= len(numbers) and not by_row:
        try:
            return _chunk(texts, make, filling, by_row).take(numbers)
        except TextError:
            pass  # read the rows instead: a text of no row may be wrong, and errors name rows
    return _chunk(texts.take(numbers), make, filling, by_row)


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


def _array(lists: Lists, filling: Filling | None, is_null: Any) -> Any:
    """Lists as an array. Without `filling`, it shares the memory of the values.

    Raises:
        TextError: there are more values than the offsets of a list can reach.
    """
    if filling:
        return pa.FixedSizeListArray.from_arrays(_values(_filled(lists, filling)), filling.width, mask=is_null)
    splits = lists.row_splits
    if splits[-1] > MAX_VALUES:
        raise TextError(f"{splits[-1]:,} values in one array, and a list has at most {MAX_VALUES:,}; pass slices of it")
    return pa.ListArray.from_arrays(_values(splits.astype(np.int32)), lists.values, mask=is_null)


def _filled(lists: Lists, filling: Filling) -> NDArray[np.int32]:
    """All rows of ids with their padding, one after the other."""
    lengths: Ints = np.diff(lists.row_splits)[:, None]
    places = np.arange(filling.width)
    is_id = places < lengths if filling.side == "right" else places >= filling.width - lengths
    filled = np.full(is_id.shape, filling.id, np.int32)
    filled[is_id] = lists.values.to_numpy()
    return filled.ravel()


def _tokens(rows: Column, batch: Batch) -> Any:
    """The strings of tokens, which share the memory of the texts if there is nothing between them.

    Raises:
        TextError: there are more bytes than the offsets of strings can reach.
    """
    assert batch.offsets is not None
    data = rows.data[rows.ends[0] : rows.ends[-1]]
    if len(data) > MAX_VALUES:
        raise TextError(f"{len(data):,} bytes of text in one array, and strings have at most {MAX_VALUES:,}; pass slices of it")
    borders = np.append(np.flatnonzero(data & 0xC0 != 0x80).astype(np.int32), np.int32(len(data)))
    firsts = np.searchsorted(borders, rows.ends[:-1] - rows.ends[0])  # the number of characters before each row
    spans = borders[batch.offsets + np.repeat(firsts, np.diff(batch.row_splits))[:, None]]
    if (spans[1:, 0] < spans[:-1, 1]).any():
        return _overlapping(spans.astype(np.int64), data)
    if (spans[1:, 0] == spans[:-1, 1]).all():
        return _strings(np.append(spans[:, 0], spans[-1:, 1] if len(spans) else np.int32(0)), data)
    return _strings(np.append(spans.ravel(), spans[-1, 1]), data).take(pa.array(np.arange(0, 2 * len(spans), 2)))


def _overlapping(spans: Ints, data: NDArray[np.uint8]) -> Any:
    """The strings of spans of bytes that need not ascend."""
    lengths = spans[:, 1] - spans[:, 0]
    if lengths.sum() > MAX_VALUES:
        raise TextError(f"{lengths.sum():,} bytes of tokens in one array, and strings have at most {MAX_VALUES:,}; pass slices of it")
    return _strings(np.append(0, np.cumsum(lengths)).astype(np.int32), data[spread(spans[:, 0], lengths)])


def _strings(ends: NDArray[np.int32], data: NDArray[np.uint8]) -> Any:
    """Strings over the memory of some UTF-8; `ends` says where each begins, and where the last one ends."""
    return pa.StringArray.from_buffers(len(ends) - 1, pa.py_buffer(ends), pa.py_buffer(data))


def _values(numbers: NDArray[np.int32]) -> Any:
    """An Arrow array over the memory of some numbers."""
    return pa.Array.from_buffers(pa.int32(), len(numbers), [None, pa.py_buffer(numbers)])
