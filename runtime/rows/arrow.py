"""Arrow columns as arguments and results. Texts are read from the buffers of a column, and arrays of results become the buffers of a new
column, without a copy. Tokens that are parts of texts share the buffers of the texts.

Only methods with columns as arguments import this module, because this module imports pyarrow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.trie import spread
from fst.errors import TextError
from fst.runtime.rows.batch import Batch
from fst.runtime.rows.texts import Bytes, Column, Ints

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ModuleNotFoundError:
    raise ModuleNotFoundError("columns take pyarrow 18 or later: pip install 'pyarrow>=18'", name="pyarrow") from None

MATCH = ("id", "start", "end")
MAX_VALUES = (1 << 31) - 1  # maximum number of values in an array: offsets of lists and strings have 32 bits
OFFSETS = {pa.string(): np.int32, pa.binary(): np.int32, pa.large_string(): np.int64, pa.large_binary(): np.int64}
WITHOUT_VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary(), pa.null(): pa.string()}


class Lists(NamedTuple):
    """Lists of values, one list for each row.

    Attributes:
        values: the values of all lists, a pyarrow array.
        row_splits: int64[rows + 1], as in `Batch`.
    """

    values: Any
    row_splits: Ints


Make = Callable[[Column], Lists]
NewRows = tuple[Ints, Callable[[], Bytes]]  # the start of each row and the end of the last row; a function that makes the bytes of all rows
Rewrite = Callable[[Column], NewRows]


@dataclass(frozen=True)
class Filling:
    """The settings of padding.

    Attributes:
        width: the number of ids in each row after padding; rows must not have more ids.
        id: the padding id.
        side: the side of the row where padding is added, "right" or "left".
    """

    width: int
    id: int
    side: str


def encoded(column: Any, encode: Callable[[Column], Batch], filling: Filling | None, *, with_spans: bool, by_row: bool) -> Any:
    """Encode a column.

    Args:
        column: as in `fst.Tokenizer.encode_arrow`.
        encode: a function that encodes the rows of a column.
        filling: the padding of rows; None: no padding.
        with_spans: whether the result includes the span of each id.
        by_row: whether each row must be encoded separately, because equal texts may have different ids. If `by_row` is false, each text in
            a dictionary is encoded once.
    """
    return made(column, lambda rows: _ids(encode(rows)), _kind(filling, with_spans), filling, by_row)


def windowed(
    column: Any, encode: Callable[[Column], tuple[Batch, Ints]], filling: Filling | None, *, with_spans: bool, by_row: bool
) -> Any:
    """Encode a column into a list of windows per row; `encode` returns the result of `in_windows`. For other arguments, see `encoded`."""

    def make(rows: Column) -> Lists:
        windows, splits = encode(rows)
        return Lists(_array(_ids(windows), filling, None), splits)

    return made(column, make, pa.list_(_kind(filling, with_spans)), None, by_row)


def segmented(column: Any, segment: Callable[[Column], Batch]) -> Any:
    """Segment a column into tokens; `segment` segments rows, with spans in characters."""

    def make(rows: Column) -> Lists:
        batch = segment(rows)
        return Lists(_tokens(rows, batch), batch.row_splits)

    return made(column, make, pa.list_(pa.string()), None, by_row=False)


def matched(column: Any, find: Callable[[Column], Batch]) -> Any:
    """Find the matches in a column; `find` returns the keyword numbers and the spans of the matches."""
    return made(column, lambda rows: _ids(find(rows)), _kind(None, with_spans=True), None, by_row=False)


def located(column: Any, find: Callable[[Column], Batch]) -> Any:
    """Find the spans of parts of a column's texts; `find` returns a batch with spans."""
    kind = pa.list_(pa.struct([(name, pa.int32()) for name in MATCH[1:]]))
    return made(column, lambda rows: _with_spans(find(rows)), kind, None, by_row=False)


def rewritten(column: Any, rewrite: Rewrite) -> Any:
    """Make a column of the same type with new texts, which `rewrite` makes from the rows of the column."""
    column = _imported(column)
    return _by_chunks(column, lambda chunk: _rewritten(chunk, rewrite), column.type)


def looked_up(column: Any, look_up: Callable[[Column], tuple[Bytes, Ints, Ints]]) -> Any:
    """Make a column of lists of strings from a column of words.

    Args:
        look_up: a function that returns three values for rows: the UTF-8 of all analyses; the start of each analysis and the end of the
            last analysis; and the row splits.
    """

    def make(rows: Column) -> Lists:
        data, starts, row_splits = look_up(rows)
        if starts[-1] > MAX_VALUES:
            raise TextError(f"the analyses have {starts[-1]:,} bytes in one array; expected at most {MAX_VALUES:,}; pass slices of it")
        buffers = [None, pa.py_buffer(starts.astype(np.int32)), pa.py_buffer(data)]
        return Lists(pa.Array.from_buffers(pa.string(), len(starts) - 1, buffers), row_splits)

    return made(column, make, pa.list_(pa.string()), None, by_row=False)


def rows_of_column(column: Any) -> Iterator[Column]:
    """Iterate over the chunks of a column, and omit null rows."""
    column = _imported(column)
    for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
        yield Present(_texts(chunk.dictionary_decode() if isinstance(chunk, pa.DictionaryArray) else chunk)).rows


def _ids(batch: Batch) -> Lists:
    """Convert a batch to lists of ids, each with its span if the batch has spans."""
    if batch.offsets is None:
        return Lists(_values(batch.ids), batch.row_splits)
    return _with_spans(batch, batch.ids)


def _with_spans(batch: Batch, *ids: NDArray[np.int32]) -> Lists:
    """Convert a batch with spans to lists of its spans, with the ids if they are given."""
    assert batch.offsets is not None
    columns = (*ids, *(np.ascontiguousarray(bounds) for bounds in batch.offsets.T))
    return Lists(pa.StructArray.from_arrays(list(map(_values, columns)), MATCH[-len(columns) :]), batch.row_splits)


def _kind(filling: Filling | None, with_spans: bool) -> Any:
    """Return the Arrow type of a row of ids."""
    values = pa.struct([(name, pa.int32()) for name in MATCH]) if with_spans else pa.int32()
    return pa.list_(values, filling.width if filling else -1)


def made(column: Any, make: Make, kind: Any, filling: Filling | None, by_row: bool) -> Any:
    """Make a column of lists from a column of texts; `kind` is the type of a list."""
    column = _imported(column)
    return _by_chunks(column, lambda chunk: _chunk(chunk, make, filling, by_row), kind)


def _by_chunks(column: Any, work: Callable[[Any], Any], kind: Any) -> Any:
    """Apply a function to an array, or to each chunk of a chunked array; `kind` is the type of all results."""
    if not isinstance(column, pa.ChunkedArray):
        return work(column)
    chunks, first = [], 0
    for chunk in column.chunks:
        with _renumbered(partial(add, first)):
            chunks.append(work(chunk))
        first += len(chunk)
    return pa.chunked_array(chunks, type=kind)


def _imported(column: Any) -> Any:
    """Convert a column of any library to a pyarrow array or chunked array."""
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return column
    if hasattr(column, "__arrow_c_stream__"):
        return pa.chunked_array(column)
    if hasattr(column, "__arrow_c_array__"):
        return pa.array(column)
    raise TextError(f"the column is {type(column).__name__}; expected a column of pyarrow, polars, pandas or another library with Arrow")


def _chunk(chunk: Any, make: Make, filling: Filling | None, by_row: bool) -> Any:
    """Make an array of lists from an array of texts."""
    if isinstance(chunk, pa.DictionaryArray):
        return _of_dictionary(_texts(chunk.dictionary), chunk.indices, make, filling, by_row)
    present = Present(_texts(chunk))
    with present.renumbered():
        lists = make(present.rows)
    return _array(lists._replace(row_splits=present.spread(lists.row_splits)), filling, present.is_null)


def _rewritten(chunk: Any, rewrite: Rewrite) -> Any:
    """Make an array of the same type with new texts."""
    if isinstance(chunk, pa.DictionaryArray):
        return _rewritten_dictionary(chunk, rewrite)
    if pa.types.is_null(chunk.type):
        return chunk
    present = Present(_texts(chunk))
    with present.renumbered():
        starts, make = rewrite(present.rows)
    return _new_strings(present.spread(starts), make, present).cast(chunk.type)


def _rewritten_dictionary(chunk: Any, rewrite: Rewrite) -> Any:
    """Make a dictionary array with new texts; the new dictionary contains each distinct text once."""
    known, kind = _texts(chunk.dictionary), chunk.type
    try:
        texts, numbers = _rewritten(known, rewrite), chunk.indices
    except TextError:
        texts, numbers = _rewritten(known.take(chunk.indices), rewrite), None  # the malformed text may belong to no row
    different = texts.drop_null().unique()
    places = pc.index_in(texts, different)
    places = (places if numbers is None else places.take(numbers)).cast(kind.index_type)
    return pa.DictionaryArray.from_arrays(places, different.cast(kind.value_type), ordered=kind.ordered)


class Present:
    """An array of texts without its null rows.

    Attributes:
        rows: the rows that are not null.
        is_null: a pyarrow array that contains for each row whether it is null; None if no row is null.
    """

    def __init__(self, texts: Any) -> None:
        self.kind, self._count = texts.type, len(texts)
        self.is_null = texts.is_null() if texts.null_count else None
        self._places: Any = None if self.is_null is None else np.flatnonzero(~self.is_null.to_numpy(zero_copy_only=False))
        self.rows = _rows(texts if self.is_null is None else texts.drop_null())

    def renumbered(self) -> AbstractContextManager[None]:
        """Convert the row number in an error of `rows` to the row number in the array."""
        return nullcontext() if self._places is None else _renumbered(lambda row: int(self._places[row]))

    def spread(self, splits: Ints) -> Ints:
        """Convert the splits of `rows` to splits of all rows in the array; null rows are empty."""
        if self._places is None:
            return splits
        lengths = np.zeros(self._count, np.int64)
        lengths[self._places] = np.diff(splits)
        return np.concatenate([[0], np.cumsum(lengths)])


def _of_dictionary(texts: Any, numbers: Any, make: Make, filling: Filling | None, by_row: bool) -> Any:
    """Make the lists for a dictionary array, which contains indices into `texts`. Each text is read once, except if `by_row` is true or the
    dictionary has more texts than the array has rows.
    """
    if len(texts) <= len(numbers) and not by_row:
        try:
            return _chunk(texts, make, filling, by_row).take(numbers)
        except TextError:
            pass  # read the rows instead: the malformed text may belong to no row, and an error needs a row number
    return _chunk(texts.take(numbers), make, filling, by_row)


def _texts(chunk: Any) -> Any:
    """Cast an array to one of the types in `OFFSETS`; arrays of these types store texts concatenated."""
    chunk = chunk.cast(WITHOUT_VIEWS[chunk.type]) if chunk.type in WITHOUT_VIEWS else chunk
    if chunk.type not in OFFSETS:
        raise TextError(f"the type of the column is {chunk.type}; expected texts; cast it to string")
    return chunk


@contextmanager
def _renumbered(number: Callable[[int], int]) -> Iterator[None]:
    """Replace the row number in an error by the result of the function `number`."""
    try:
        yield
    except TextError as error:
        if error.row is None or error.place is None:
            raise
        row = number(error.row)
        raise TextError(str(error).replace(f"row {error.row}", f"row {row}", 1), row, error.place) from None


def _rows(chunk: Any) -> Column:
    """Make a source from an array without nulls."""
    _, offsets, data = chunk.buffers()
    size = OFFSETS[chunk.type]
    if not len(chunk):
        return Column(np.empty(0, np.uint8), np.zeros(1, size))
    ends = np.frombuffer(offsets, size)[chunk.offset : chunk.offset + len(chunk) + 1]
    characters = np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    if ends[0] < 0 or ends[-1] > len(characters) or (ends[1:] < ends[:-1]).any():
        raise TextError("the column is damaged: its offsets do not ascend within its data; make it again")
    return Column(characters, ends)


def _array(lists: Lists, filling: Filling | None, is_null: Any) -> Any:
    """Convert lists to an array. Without `filling`, the array shares the memory of the values."""
    if filling:
        return pa.FixedSizeListArray.from_arrays(_values(_filled(lists, filling)), filling.width, mask=is_null)
    splits = lists.row_splits
    if splits[-1] > MAX_VALUES:
        raise TextError(f"{splits[-1]:,} values in one array, and a list has at most {MAX_VALUES:,}; pass slices of it")
    return pa.ListArray.from_arrays(_values(splits.astype(np.int32)), lists.values, mask=is_null)


def _new_strings(starts: Ints, make: Callable[[], Bytes], present: Present) -> Any:
    """Convert rows of UTF-8 to an array, without a copy. If offsets of 32 bits cannot count the bytes, `make` is not called."""
    size = OFFSETS[present.kind]
    if size is np.int32 and starts[-1] > MAX_VALUES:
        raise TextError(f"{starts[-1]:,} bytes in one array of {present.kind}; take slices of it, or cast it to large_{present.kind}")
    valid, nulls = None, 0
    if present.is_null is not None:
        is_null = present.is_null.to_numpy(zero_copy_only=False)
        valid, nulls = pa.py_buffer(np.packbits(~is_null, bitorder="little")), int(is_null.sum())
    buffers = [valid, pa.py_buffer(starts.astype(size, copy=False)), pa.py_buffer(make())]
    return pa.Array.from_buffers(present.kind, len(starts) - 1, buffers, nulls)


def _filled(lists: Lists, filling: Filling) -> NDArray[np.int32]:
    """Add padding to the ids of all rows."""
    lengths: Ints = np.diff(lists.row_splits)[:, None]
    places = np.arange(filling.width)
    is_id = places < lengths if filling.side == "right" else places >= filling.width - lengths
    filled = np.full(is_id.shape, filling.id, np.int32)
    filled[is_id] = lists.values.to_numpy()
    return filled.ravel()


def _tokens(rows: Column, batch: Batch) -> Any:
    """Make an array of the tokens' strings, which shares the memory of the texts unless tokens overlap."""
    assert batch.offsets is not None
    data = rows.data[rows.ends[0] : rows.ends[-1]]
    if len(data) > MAX_VALUES:
        raise TextError(f"{len(data):,} bytes of text in one array, and strings have at most {MAX_VALUES:,}; pass slices of it")
    borders = np.append(np.flatnonzero(data & 0xC0 != 0x80).astype(np.int32), np.int32(len(data)))
    firsts = np.searchsorted(borders, rows.ends[:-1] - rows.ends[0])  # number of characters before each row
    spans = borders[batch.offsets + np.repeat(firsts, np.diff(batch.row_splits))[:, None]]
    if (spans[1:, 0] < spans[:-1, 1]).any():
        return _overlapping(spans.astype(np.int64), data)
    if (spans[1:, 0] == spans[:-1, 1]).all():
        return _strings(np.append(spans[:, 0], spans[-1:, 1] if len(spans) else np.int32(0)), data)
    return _strings(np.append(spans.ravel(), spans[-1, 1]), data).take(pa.array(np.arange(0, 2 * len(spans), 2)))


def _overlapping(spans: Ints, data: NDArray[np.uint8]) -> Any:
    """Make an array of the strings with these spans in bytes, which may overlap."""
    lengths = spans[:, 1] - spans[:, 0]
    if lengths.sum() > MAX_VALUES:
        raise TextError(f"{lengths.sum():,} bytes of tokens in one array, and strings have at most {MAX_VALUES:,}; pass slices of it")
    return _strings(np.append(0, np.cumsum(lengths)).astype(np.int32), data[spread(spans[:, 0], lengths)])


def _strings(ends: NDArray[np.int32], data: NDArray[np.uint8]) -> Any:
    """Make a string array over the memory of UTF-8; `ends` contains the start of each string, and the end of the last string."""
    return pa.StringArray.from_buffers(len(ends) - 1, pa.py_buffer(ends), pa.py_buffer(data))


def _values(numbers: NDArray[np.int32]) -> Any:
    """Make an Arrow array over the memory of numbers."""
    return pa.Array.from_buffers(pa.int32(), len(numbers), [None, pa.py_buffer(numbers)])
