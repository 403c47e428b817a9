"""Tables of counted words in Parquet and Arrow. Engines such as DuckDB, polars and Spark can group and merge these tables.

A table has the columns word (binary), count (int64), first (string) and split (string). To merge the tables of two parts of a corpus, group
all rows by word and split, with ``sum(count)`` and ``min(first)``.

`first` is the first occurrence: three numbers in hexadecimal digits of fixed width. Strings of equal length have the order of their
numbers, and every engine supports the minimum of strings. Few engines support the minimum of structs, and one int64 is too small for the
three numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.errors import UnsupportedError, VocabularyError, quoted
from fst.tables.npz import replacing

Ints = NDArray[np.int64]

MAX_COUNT = (1 << 63) - 1  # maximum sum of the counts of all words
UNKNOWN_SPLIT = ""  # the digest of an unknown splitter
WORD, COUNT, FIRST, SPLIT = "word", "count", "first", "split"
WIDTHS = (8, 12, 12)  # hexadecimal digits of the partition, of the document, and of the word in the document
DIGITS = np.frombuffer(b"0123456789abcdef", np.uint8)
MIN_COUNT = b"fst.min_count"  # the key of `min_count` in the schema's metadata; missing if `min_count` is 1
STOPPED, DEADLINE = b"fst.stopped", b"deadline"  # an entry of the schema's metadata if `is_partial` is True


class Columns(NamedTuple):
    """The columns of a table of words, whose rows have any order. The fields have the same meaning as in `fst.counting.words.Words`."""

    text: NDArray[np.uint8]
    ends: Ints
    counts: Ints
    first: Ints
    split: str
    min_count: int
    is_partial: bool


def pyarrow() -> Any:
    """Import ``pyarrow``, the library for tables."""
    try:
        import pyarrow
    except ImportError:
        what = "tables of words need pyarrow, which is not installed"
        raise UnsupportedError(f"{what}: pip install 'pyarrow>=18'") from None
    return pyarrow


def table_of(words: Columns) -> Any:
    """Convert words to a table of ``pyarrow``."""
    pa = pyarrow()
    size, kind = (np.int32, pa.binary()) if len(words.text) < 1 << 31 else (np.int64, pa.large_binary())
    starts = np.append(0, words.ends).astype(size)
    columns = {
        WORD: pa.Array.from_buffers(kind, len(words.ends), [None, pa.py_buffer(starts), pa.py_buffer(np.ascontiguousarray(words.text))]),
        COUNT: pa.array(words.counts),
        FIRST: _first_column(words.first),
        SPLIT: pa.array([words.split], pa.string()).take(pa.array(np.zeros(len(words.ends), np.int64))),
    }
    metadata = {MIN_COUNT: str(words.min_count)} if words.min_count > 1 else {}
    return pa.table(columns, metadata={**metadata, **({STOPPED: DEADLINE} if words.is_partial else {})} or None)


def save(words: Columns, path: Any) -> None:
    """Write a table as Parquet. An existing file is replaced when the new file is complete."""
    pyarrow()
    import pyarrow.parquet as pq

    with replacing(path) as file:
        pq.write_table(table_of(words), file, compression="zstd", use_dictionary=[SPLIT], row_group_size=1 << 20)


def load(paths: Sequence[Any], split: str | None = None) -> Columns:
    """Read Parquet files, and concatenate their columns."""
    pa = pyarrow()
    import pyarrow.parquet as pq

    try:
        parts = [pq.read_table(path, partitioning=None) for path in paths]
        found = columns_of(pa.concat_tables(parts), split)
        return found._replace(is_partial=any(_is_partial(part) for part in parts))
    except (VocabularyError, pa.ArrowInvalid) as error:
        raise VocabularyError(f"{', '.join(map(str, paths))}: {error}") from None


def is_file(path: str) -> bool:
    """Whether a Parquet file has the columns word and count, as a table of words has."""
    import pyarrow.parquet as pq

    return {WORD, COUNT} <= {*pq.read_schema(path).names}


def columns_of(table: Any, split: str | None = None) -> Columns:
    """Read the columns of a table.

    Args:
        table: a table of ``pyarrow``, a data frame of polars or pandas, a relation of DuckDB, or a mapping of columns to sequences. Its
            columns are word (binary or string) and count, and optionally first and split. Without `first`, the order of rows is the order
            of first occurrence.
        split: the expected digest of the splitter; None: any digest.
    """
    found = imported(table)
    for name in (WORD, COUNT):
        if found.column_names.count(name) != 1:
            raise VocabularyError(f"the table has the columns {', '.join(found.column_names)}; expected one called {name}")
    text, ends = _words(found[WORD])
    counts = _counts(found[COUNT])
    first = _first(found[FIRST]) if FIRST in found.column_names else _in_order(len(ends))
    own = _split(found[SPLIT], split) if SPLIT in found.column_names else split
    return Columns(text, ends, counts, first, own or UNKNOWN_SPLIT, _min_count(found.schema.metadata), _is_partial(found))


def imported(table: Any) -> Any:
    """Convert a table of any supported library to a table of ``pyarrow``."""
    pa = pyarrow()
    if isinstance(table, pa.Table):
        return table
    if isinstance(table, pa.RecordBatch):
        return pa.Table.from_batches([table])
    if hasattr(table, "to_arrow_table"):  # `table` is a relation of DuckDB
        return table.to_arrow_table()
    try:
        if hasattr(table, "__arrow_c_stream__"):
            return pa.table(table)
        if isinstance(table, Mapping):
            return pa.table(dict(table))
        return pa.Table.from_pandas(table, preserve_index=False)
    except (pa.ArrowException, TypeError, AttributeError, OverflowError) as error:
        raise VocabularyError(f"the table is {type(table).__name__}; expected one that pyarrow can read: {error}") from None


def _need_none(column: Any, name: str) -> None:
    """Raise an error if a column contains a null."""
    if column.null_count:
        raise VocabularyError(f"row {column.is_null().index(True).as_py()}: {name} is null; expected a value")


def _words(column: Any) -> tuple[NDArray[np.uint8], Ints]:
    pa = pyarrow()
    _need_none(column, WORD)
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if str(kind).removeprefix("large_").removesuffix("_view") not in ("string", "binary"):
        raise VocabularyError(f"column {WORD} is {column.type}; expected binary or string")
    array = column.cast(kind).cast(pa.large_binary()).combine_chunks()
    chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
    texts, ends, begun = [np.empty(0, np.uint8)], [np.empty(0, np.int64)], 0
    for chunk in chunks:
        _, offsets, data = chunk.buffers()
        bounds = np.frombuffer(offsets, np.int64)[chunk.offset : chunk.offset + len(chunk) + 1] if len(chunk) else np.zeros(1, np.int64)
        own = np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
        texts.append(own[bounds[0] : bounds[-1]])
        ends.append(bounds[1:] - bounds[0] + begun)
        begun += len(texts[-1])
    return np.concatenate(texts), np.concatenate(ends)


def _counts(column: Any) -> Ints:
    pa = pyarrow()
    _need_none(column, COUNT)
    try:
        if not (pa.types.is_integer(column.type) or pa.types.is_decimal(column.type) or pa.types.is_floating(column.type)):
            raise VocabularyError(f"column {COUNT} is {column.type}; expected int64")
        counts: Ints = column.cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid:
        counts = np.zeros(1, np.int64)
    if (counts < 1).any():
        wrong = ((row, count) for row, count in enumerate(column.to_pylist()) if not 1 <= count <= MAX_COUNT or count % 1)
        row, count = next(wrong)
        raise VocabularyError(f"row {row}: {COUNT} is {count}; expected a whole number from 1 to {MAX_COUNT:,}")
    return np.ascontiguousarray(counts)


def _split(column: Any, given: str | None) -> str:
    """The digest of the splitter that the column split contains. `given` is the expected digest; None: any digest."""
    _need_none(column, SPLIT)
    found = sorted(map(str, column.unique().to_pylist()))
    if len(found) > 1:
        raise VocabularyError(f"column {SPLIT} is {quoted(found[0])} and {quoted(found[1])}; expected one split; count the words again")
    own = found[0] if found else given or UNKNOWN_SPLIT
    if given and own and own != given:
        raise VocabularyError(f"column {SPLIT} is {quoted(own)}; expected {quoted(given)}; count the words again")
    return own or given or UNKNOWN_SPLIT


def _in_order(count: int) -> Ints:
    """The first occurrences of words in a table without the column `first`: row i is word i of the first document."""
    first = np.zeros((count, len(WIDTHS)), np.int64)
    first[:, 2] = np.arange(count)
    return first


def _first_column(first: Ints) -> Any:
    """Convert first occurrences to strings."""
    pa = pyarrow()
    digits = np.concatenate([_digits(first[:, place], width) for place, width in enumerate(WIDTHS)], axis=1)
    width = sum(WIDTHS)
    if len(first) * width < 1 << 31:
        starts = np.arange(len(first) + 1, dtype=np.int32) * np.int32(width)
        return pa.Array.from_buffers(pa.string(), len(first), [None, pa.py_buffer(starts), pa.py_buffer(digits)])
    starts = np.arange(len(first) + 1, dtype=np.int64) * width
    return pa.Array.from_buffers(pa.large_string(), len(first), [None, pa.py_buffer(starts), pa.py_buffer(digits)])


def _digits(numbers: Ints, width: int) -> NDArray[np.uint8]:
    """Convert numbers to hexadecimal digits."""
    made = np.empty((len(numbers), width), np.uint8)
    for place in range(width):
        made[:, place] = DIGITS[numbers >> 4 * (width - 1 - place) & 15]
    return made


def _first(column: Any) -> Ints:
    """Convert strings to first occurrences."""
    pa = pyarrow()
    _need_none(column, FIRST)
    width = sum(WIDTHS)
    try:
        text = column.cast(pa.large_string()).combine_chunks()
    except pa.ArrowException:
        raise VocabularyError(f"column {FIRST} is {column.type}; expected string") from None
    listed = text.to_pylist()
    value = np.full(256, 255, np.uint8)
    value[DIGITS] = np.arange(16)
    wrong = next((row for row, place in enumerate(listed) if len(place) != width or not place.isascii()), None)
    if wrong is None:
        digits = value[np.frombuffer("".join(listed).encode(), np.uint8)].reshape(-1, width)
        faults = np.flatnonzero((digits == 255).any(axis=1))
        wrong = int(faults[0]) if len(faults) else None
    if wrong is not None:
        raise VocabularyError(f"row {wrong}: {FIRST} is {quoted(listed[wrong])}; expected {width} hexadecimal digits")
    first, at = np.zeros((len(listed), len(WIDTHS)), np.int64), 0
    for place, count in enumerate(WIDTHS):
        for digit in range(at, at + count):
            first[:, place] = first[:, place] << 4 | digits[:, digit]
        at += count
    return first


def _is_partial(table: Any) -> bool:
    return (table.schema.metadata or {}).get(STOPPED) == DEADLINE


def _min_count(metadata: Mapping[bytes, bytes] | None) -> int:
    """The `min_count` in the metadata of a table's schema."""
    stated = (metadata or {}).get(MIN_COUNT, b"1")
    return int(stated) if stated.isdigit() else 1
