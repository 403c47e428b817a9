"""Arrow columns: texts are read in the column's own buffers, and the arrays of their results become the buffers of the new column.

Only this module imports pyarrow, and only methods with ``arrow`` in their name import this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from operator import add
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fst.errors import TextError
from fst.runtime.batch import Batch
from fst.runtime.texts import Bytes, Column, Ints, not_text_at

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ModuleNotFoundError:
    raise ModuleNotFoundError("columns take pyarrow 18 or later: pip install 'pyarrow>=18'", name="pyarrow") from None

MATCH = ("id", "start", "end")
MAX_OFFSET = (1 << 31) - 1  # in a chunk: the offsets of a list have 32 bits, and so have those of string and binary
OFFSETS = {pa.string(): np.int32, pa.binary(): np.int32, pa.large_string(): np.int64, pa.large_binary(): np.int64}
WITHOUT_VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary(), pa.null(): pa.string()}

Encode = Callable[[Column], Batch]
NewRows = tuple[Ints, Callable[[], Bytes]]  # where each row begins, and the last one ends; and a function that makes their bytes
Rewrite = Callable[[Column], NewRows]


class Shape(Protocol):
    """How rows become an array."""

    @property
    def kind(self) -> Any:
        """The type of the array."""

    def array(self, batch: Batch, is_null: Any) -> Any:
        """The array of some rows; `is_null` marks nulls, None if there are none."""


class Lists:
    """Rows as lists of ids, which share the memory of the batch's ids."""

    @property
    def kind(self) -> Any:
        """See `Shape`."""
        return pa.list_(pa.int32())

    def array(self, batch: Batch, is_null: Any) -> Any:
        """See `Shape`."""
        return _listed(_values(batch.ids), batch, is_null)


class MatchLists:
    """Rows as lists of matches."""

    @property
    def kind(self) -> Any:
        """See `Shape`."""
        return pa.list_(pa.struct([(name, pa.int32()) for name in MATCH]))

    def array(self, batch: Batch, is_null: Any) -> Any:
        """See `Shape`."""
        assert batch.offsets is not None
        columns = (batch.ids, *(np.ascontiguousarray(bounds) for bounds in batch.offsets.T))
        return _listed(pa.StructArray.from_arrays(list(map(_values, columns)), MATCH), batch, is_null)


@dataclass(frozen=True)
class Filling:
    """Rows as lists of ids, padded to one length.

    Attributes:
        width: the number of ids to which rows are padded; no row has more.
        id: the id of the padding.
        side: the side of the padding, "right" or "left".
    """

    width: int
    id: int
    side: str

    @property
    def kind(self) -> Any:
        """See `Shape`."""
        return pa.list_(pa.int32(), self.width)

    def array(self, batch: Batch, is_null: Any) -> Any:
        """See `Shape`."""
        return pa.FixedSizeListArray.from_arrays(_values(_filled(batch, self)), self.width, mask=is_null)


def encoded(column: Any, encode: Encode, shape: Shape, *, by_row: bool = False) -> Any:
    """The ids of a column.

    Args:
        column: as in `fst.Tokenizer.encode_arrow`.
        encode: encodes rows.
        shape: how rows become an array.
        by_row: whether equal texts may have different ids, so that each row must be encoded.

    Raises:
        TextError: it is not a column of texts, or `encode` raises one.
    """
    column = _imported(column)
    return _by_chunks(column, lambda chunk: _chunk(chunk, encode, shape, by_row), shape.kind)


def rewritten(column: Any, rewrite: Rewrite) -> Any:
    """A column of the same type with other texts.

    Args:
        column: as in `fst.Tokenizer.encode_arrow`.
        rewrite: gives new rows for some rows.

    Raises:
        TextError: it is not a column of texts, or `rewrite` raises one, or the new texts are too long for its type.
    """
    column = _imported(column)
    return _by_chunks(column, lambda chunk: _rewritten(chunk, rewrite), column.type)


def _by_chunks(column: Any, work: Callable[[Any], Any], kind: Any) -> Any:
    """The results of an array, or of each chunk, which are of one type."""
    if not isinstance(column, pa.ChunkedArray):
        return work(column)
    chunks, first = [], 0
    for chunk in column.chunks:
        with _renumbered(partial(add, first)):
            chunks.append(work(chunk))
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


def _chunk(chunk: Any, encode: Encode, shape: Shape, by_row: bool) -> Any:
    """The ids of one array."""
    if isinstance(chunk, pa.DictionaryArray):
        return _of_dictionary(_texts(chunk.dictionary), chunk.indices, encode, shape, by_row)
    present = Present(_texts(chunk))
    with present.renumbered():
        batch = encode(present.rows)
    return shape.array(replace(batch, row_splits=present.spread(batch.row_splits)), present.is_null)


def _rewritten(chunk: Any, rewrite: Rewrite) -> Any:
    """One array with other texts."""
    if isinstance(chunk, pa.DictionaryArray):
        return _rewritten_dictionary(chunk, rewrite)
    if pa.types.is_null(chunk.type):
        return chunk
    present = Present(_texts(chunk))
    with present.renumbered():
        starts, make = rewrite(present.rows)
    return _strings(present.spread(starts), make, present).cast(chunk.type)


def _rewritten_dictionary(chunk: Any, rewrite: Rewrite) -> Any:
    """A dictionary array with other texts, each of which is in the new dictionary once."""
    known, kind = _texts(chunk.dictionary), chunk.type
    try:
        texts, numbers = _rewritten(known, rewrite), chunk.indices
    except TextError:
        texts, numbers = _rewritten(known.take(chunk.indices), rewrite), None  # a text of no row may be wrong
    different = texts.drop_null().unique()
    places = pc.index_in(texts, different)
    places = (places if numbers is None else places.take(numbers)).cast(kind.index_type)
    return pa.DictionaryArray.from_arrays(places, different.cast(kind.value_type), ordered=kind.ordered)


class Present:
    """The rows of an array of texts that are not null.

    Attributes:
        rows: the rows.
        is_null: for each row of the array, whether it is null, as an array of pyarrow; None if none is.
    """

    def __init__(self, texts: Any) -> None:
        self.kind, self._count = texts.type, len(texts)
        self.is_null = texts.is_null() if texts.null_count else None
        self._places: Any = None if self.is_null is None else np.flatnonzero(~self.is_null.to_numpy(zero_copy_only=False))
        self.rows = _rows(texts if self.is_null is None else texts.drop_null())

    def renumbered(self) -> AbstractContextManager[None]:
        """Convert the row in errors to that of the array."""
        return nullcontext() if self._places is None else _renumbered(lambda row: int(self._places[row]))

    def spread(self, splits: Ints) -> Ints:
        """Where each row of the array begins, and where the last one ends, for the same of the rows that are not null."""
        if self._places is None:
            return splits
        lengths = np.zeros(self._count, np.int64)
        lengths[self._places] = np.diff(splits)
        return np.concatenate([[0], np.cumsum(lengths)])


def _of_dictionary(texts: Any, numbers: Any, encode: Encode, shape: Shape, by_row: bool) -> Any:
    """The ids of a dictionary array: indices `numbers` into `texts`. Each text is encoded once, unless there are more texts than rows, or
    each row must be.
    """
    if len(texts) <= len(numbers) and not by_row:
        try:
            return _chunk(texts, encode, shape, by_row).take(numbers)
        except TextError:
            pass  # encode the rows instead: a text of no row may be wrong, and errors name rows
    return _chunk(texts.take(numbers), encode, shape, by_row)


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


def _listed(values: Any, batch: Batch, is_null: Any) -> Any:
    """Rows of values as an array.

    Raises:
        TextError: there are more values than the offsets of a list can reach.
    """
    if batch.row_splits[-1] > MAX_OFFSET:
        raise TextError(f"{batch.row_splits[-1]:,} ids in one array, and its lists have at most {MAX_OFFSET:,}; encode slices of it")
    return pa.ListArray.from_arrays(_values(batch.row_splits.astype(np.int32)), values, mask=is_null)


def _strings(starts: Ints, make: Callable[[], Bytes], present: Present) -> Any:
    """Rows of UTF-8 as an array over their memory.

    Raises:
        TextError: they are longer than the offsets of their type can reach; then they are not made.
    """
    size = OFFSETS[present.kind]
    if size is np.int32 and starts[-1] > MAX_OFFSET:
        raise TextError(f"{starts[-1]:,} bytes in one array of {present.kind}; take slices of it, or cast it to large_{present.kind}")
    valid, nulls = None, 0
    if present.is_null is not None:
        is_null = present.is_null.to_numpy(zero_copy_only=False)
        valid, nulls = pa.py_buffer(np.packbits(~is_null, bitorder="little")), int(is_null.sum())
    buffers = [valid, pa.py_buffer(starts.astype(size, copy=False)), pa.py_buffer(make())]
    return pa.Array.from_buffers(present.kind, len(starts) - 1, buffers, nulls)


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
