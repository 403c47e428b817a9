"""Tables of counted words in Parquet and Arrow. Engines such as DuckDB, polars and Spark can group and merge these tables.

A table has the columns word (binary), count (int64), first (string) and split (string). To merge the tables of two parts of a corpus, group
all rows by word and split, with ``sum(count)`` and ``min(first)``.

`first` is the first occurrence: three numbers in hexadecimal digits of fixed width. Strings of equal length have the order of their
numbers, and every engine supports the minimum of strings. Few engines support the minimum of structs, and one int64 is too small for the
three numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
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
GROUP, MOST_TEXT = 1 << 20, (1 << 31) - 1  # maximum numbers of rows, and of bytes of all words, in a group of rows of a file
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


def save(blocks: Iterable[Columns], path: Any) -> int:
    """Write words as Parquet, and return their number. An existing file is replaced when the new file is complete.

    Args:
        blocks: at least one block of words; words ascend, also from block to block. The division into blocks does not change the file.
        path: the file to write.
    """
    pyarrow()
    import pyarrow.parquet as pq

    count = 0
    with replacing(path) as file, ExitStack() as stack:
        writer: Any = None
        for group in _groups(blocks):
            table = table_of(group)
            writer = writer or stack.enter_context(pq.ParquetWriter(file, table.schema, compression="zstd", use_dictionary=[SPLIT]))
            writer.write_table(table, row_group_size=GROUP)
            count += len(group.ends)
    return count


def _groups(blocks: Iterable[Columns]) -> Iterator[Columns]:
    """Divide words into groups of `GROUP` rows, or of fewer rows if their text is larger than a column of Arrow with 32-bit offsets."""
    waiting, rows, size = list[Columns](), 0, 0
    for block in blocks:
        waiting.append(block)
        rows, size = rows + len(block.ends), size + len(block.text)
        if rows <= GROUP and size <= MOST_TEXT:
            continue
        left = joined(waiting)
        while (count := min(GROUP, int(np.searchsorted(left.ends, MOST_TEXT, "right")) or 1)) < len(left.ends):
            yield rows_of(left, 0, count)
            left = rows_of(left, count, len(left.ends))
        waiting, rows, size = [left], len(left.ends), len(left.text)
    if waiting:
        yield joined(waiting)


def rows_of(words: Columns, begin: int, end: int) -> Columns:
    """The rows `begin` to `end` - 1."""
    ends = words.ends[begin:end]
    start = int(words.ends[begin - 1]) if begin else 0
    text = words.text[start : int(ends[-1]) if len(ends) else start]
    return words._replace(text=text, ends=ends - start, counts=words.counts[begin:end], first=words.first[begin:end])


def joined(parts: Sequence[Columns]) -> Columns:
    """The rows of at least one part, in order, with the other fields of the first part."""
    starts = np.cumsum([0, *(len(part.text) for part in parts)])
    ends = [part.ends + start for part, start in zip(parts, starts.tolist(), strict=False)]
    text, counts, first = (np.concatenate([part[field] for part in parts]) for field in (0, 2, 3))
    return parts[0]._replace(text=text, ends=np.concatenate(ends), counts=counts, first=first)


def is_file(path: str) -> bool:
    """Whether a Parquet file has the columns word and count, as a table of words has."""
    import pyarrow.parquet as pq

    return {WORD, COUNT} <= {*pq.read_schema(path).names}


def columns_of(table: Any, split: str | None = None, begin: int = 0) -> Columns:
    """Read the columns of a table.

    Args:
        table: a table of ``pyarrow``, a data frame of polars or pandas, a relation of DuckDB, or a mapping of columns to sequences. Its
            columns are word (binary or string) and count, and optionally first and split. Without `first`, the order of rows is the order
            of first occurrence.
        split: the expected digest of the splitter; None: any digest.
        begin: the number of the first row, if the table is a part of another one.
    """
    found = imported(table)
    for name, least in ((WORD, 1), (COUNT, 1), (FIRST, 0), (SPLIT, 0)):
        if not least <= found.column_names.count(name) <= 1:
            raise VocabularyError(f"the table has the columns {', '.join(found.column_names)}; expected one called {name}")
    text, ends = _words(found[WORD], begin)
    counts = _counts(found[COUNT], begin)
    first = _first(found[FIRST], begin) if FIRST in found.column_names else _in_order(begin, len(ends))
    own = _split(found[SPLIT], split, begin) if SPLIT in found.column_names else split
    return Columns(text, ends, counts, first, own or UNKNOWN_SPLIT, min_count_of(found.schema.metadata), is_partial(found.schema.metadata))


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


def need_none(column: Any, name: str, begin: int) -> None:
    """Raise an error if a column contains a null."""
    if column.null_count:
        raise VocabularyError(f"row {begin + column.is_null().index(True).as_py()}: {name} is null; expected a value")


def _words(column: Any, begin: int) -> tuple[NDArray[np.uint8], Ints]:
    pa = pyarrow()
    need_none(column, WORD, begin)
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if str(kind).removeprefix("large_").removesuffix("_view") not in ("string", "binary"):
        raise VocabularyError(f"column {WORD} is {column.type}; expected binary or string")
    return _strings(column.cast(kind).cast(pa.large_binary()))


def _strings(column: Any) -> tuple[NDArray[np.uint8], Ints]:
    """The bytes of all strings in a column with 64-bit offsets, and the end of each string."""
    pa = pyarrow()
    array = column.combine_chunks()
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


def _counts(column: Any, begin: int) -> Ints:
    pa = pyarrow()
    need_none(column, COUNT, begin)
    try:
        if not (pa.types.is_integer(column.type) or pa.types.is_decimal(column.type) or pa.types.is_floating(column.type)):
            raise VocabularyError(f"column {COUNT} is {column.type}; expected int64")
        counts: Ints = column.cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid:
        counts = np.zeros(1, np.int64)
    if (counts < 1).any():
        wrong = ((row, count) for row, count in enumerate(column.to_pylist()) if not 1 <= count <= MAX_COUNT or count % 1)
        row, count = next(wrong)
        raise VocabularyError(f"row {begin + row}: {COUNT} is {count}; expected a whole number from 1 to {MAX_COUNT:,}")
    return np.ascontiguousarray(counts)


def splits_of(column: Any, begin: int) -> set[str]:
    """The digests in the column split. `begin`: the number of its first row."""
    need_none(column, SPLIT, begin)
    try:
        return {*map(str, column.unique().to_pylist())}
    except (pyarrow().ArrowException, UnicodeDecodeError) as error:
        raise VocabularyError(f"column {SPLIT} is not text ({column.type}: {error}); expected one split; count the words again") from None


def _split(column: Any, given: str | None, begin: int) -> str:
    """The digest of the splitter that the column split contains. `given` is the expected digest; None: any digest."""
    found = sorted(splits_of(column, begin))
    if len(found) > 1:
        raise VocabularyError(f"column {SPLIT} is {quoted(found[0])} and {quoted(found[1])}; expected one split; count the words again")
    own = found[0] if found else given or UNKNOWN_SPLIT
    if given and own and own != given:
        raise VocabularyError(f"column {SPLIT} is {quoted(own)}; expected {quoted(given)}; count the words again")
    return own or given or UNKNOWN_SPLIT


def _in_order(begin: int, count: int) -> Ints:
    """The first occurrences of words in a table without the column `first`: row i is word i of the first document."""
    first = np.zeros((count, len(WIDTHS)), np.int64)
    first[:, 2] = np.arange(begin, begin + count)
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


def _first(column: Any, begin: int) -> Ints:
    """Convert strings to first occurrences."""
    pa = pyarrow()
    need_none(column, FIRST, begin)
    width = sum(WIDTHS)
    try:
        text = column.cast(pa.large_string()).cast(pa.large_binary())
    except pa.ArrowException:
        raise VocabularyError(f"column {FIRST} is {column.type}; expected string") from None
    data, ends = _strings(text)
    value = np.full(256, 255, np.uint8)
    value[DIGITS] = np.arange(16)
    wrong = np.flatnonzero(np.diff(ends, prepend=0) != width)
    if not len(wrong):
        digits = value[data].reshape(-1, width)
        wrong = np.flatnonzero((digits == 255).any(axis=1))
    if len(wrong):
        found = text[int(wrong[0])].as_py().decode(errors="backslashreplace")
        raise VocabularyError(f"row {begin + int(wrong[0])}: {FIRST} is {quoted(found)}; expected {width} hexadecimal digits")
    packed, at = digits[:, ::2] << 4 | digits[:, 1::2], 0
    first = np.empty((len(ends), len(WIDTHS)), np.int64)
    for place, size in enumerate(width // 2 for width in WIDTHS):
        numbers = np.zeros((len(ends), 8), np.uint8)
        numbers[:, 8 - size :] = packed[:, at : at + size]
        first[:, place] = numbers.view(">i8")[:, 0]
        at += size
    return first


def is_partial(metadata: Mapping[bytes, bytes] | None) -> bool:
    """Whether the metadata of a table's schema contain that a deadline stopped the count."""
    return (metadata or {}).get(STOPPED) == DEADLINE


def min_count_of(metadata: Mapping[bytes, bytes] | None) -> int:
    """The `min_count` in the metadata of a table's schema."""
    stated = (metadata or {}).get(MIN_COUNT, b"1")
    return int(stated) if stated.isdigit() and len(stated) < len(str(MAX_COUNT)) else 1
