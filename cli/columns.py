"""Columns: documents in a column of Parquet or Arrow IPC, and ids as a column after the others. Everything here needs pyarrow."""

from __future__ import annotations

import io
import shutil
import tempfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from fst import Matches
from fst.cli.documents import IDS, OFFSETS, TOKENS, Documents, Encoded, Fault, not_text
from fst.cli.packing import CHUNK
from fst.cli.streams import Source
from fst.cli.with_pyarrow import pa, pq
from fst.errors import TextError
from fst.runtime.arrow import MATCH

if TYPE_CHECKING:
    from fst import Searcher, Segmenter, Tokenizer

Result = TypeVar("Result")
Input = TypeVar("Input", contravariant=True)

BLOCK_BYTES = 1 << 21  # of columns that are dealt with together
MOST_ROWS = 1 << 14  # of them: where texts repeat, a Parquet file has fewer bytes than they are
GROUP_BYTES = 1 << 24  # of a row group that is written
FILE_MAGIC, STREAM_AT = b"ARROW1", 8  # a file of Arrow IPC is a stream between what it begins and ends with
MAX_LISTED = 12  # names of columns
STRINGS = ("string", "large_string", "string_view")
NOT_JSON = "write Parquet or Arrow, or leave the column out"


def documents(source: Source, kind: str, column: str, *, others: bool, with_text: bool = False) -> Generator[Documents, None, None]:
    """The documents of a column. A file without rows gives one block without documents, which states the columns.

    Args:
        source: the file.
        kind: "arrow" or "parquet".
        column: the name of the column.
        others: whether the other columns are wanted.
        with_text: whether the column itself is wanted among them.

    Raises:
        TextError: the file is damaged, or has no such column, or the column does not hold text.
    """
    first = 1
    with _blaming(source.name):
        for batch in (_of_parquet if kind == "parquet" else _of_arrow)(source, column, others):
            rest = (batch if with_text else batch.drop_columns([column])) if others else None
            yield Column(source.name, "row", range(first, first + batch.num_rows), batch.column(column), rest)
            first += batch.num_rows


class Column(Documents):
    """Documents whose texts are a pyarrow array, with nulls, and whose `others` are a record batch."""

    def not_text(self) -> dict[int, Fault]:
        """The rows that are not text, each with its fault."""
        rows = enumerate(_in_bytes(self.texts).to_pylist())
        return {row: fault for row, text in rows if text is not None and (fault := not_text(text)) is not None}

    def _in_utf8(self) -> Documents:
        rows = zip(self.numbers, _in_bytes(self.texts).to_pylist(), strict=True)
        known = {number: text for number, text in rows if text is not None}
        return Documents(self.file, self.unit, list(known), list(known.values()))

    def taken(self, rows: Sequence[int]) -> Documents:
        """Some rows, each as often as it is named."""
        taken = pa.array(rows, pa.int64())
        others = None if self.others is None else self.others.take(taken)
        return replace(self, numbers=[self.numbers[row] for row in rows], texts=self.texts.take(taken), others=others)

    def mended(self) -> Documents:
        """The same documents with U+FFFD for malformed bytes of text."""
        texts = [None if text is None else str(text, "utf-8", "replace") for text in _in_bytes(self.texts).to_pylist()]
        kind = self.texts.type.value_type if pa.types.is_dictionary(self.texts.type) else self.texts.type
        array = pa.array(texts, pa.string()).cast(kind)
        return replace(self, texts=array.dictionary_encode() if pa.types.is_dictionary(self.texts.type) else array)

    def texts_in_utf8(self, rows: Sequence[int]) -> list[bytes | None]:
        """The texts of some rows; None for nulls."""
        texts: list[bytes | None] = _in_bytes(self.texts).take(pa.array(rows, pa.int64())).to_pylist()
        return texts

    def carrying(self, texts: Any, name: str) -> Documents:
        """The same documents, with texts in their column."""
        place = self.others.schema.get_field_index(name)
        return replace(self, others=self.others.set_column(place, name, texts))

    def records(self) -> Any:
        """The other columns as a list of objects for JSON; None: they were not read.

        Raises:
            TextError: JSON cannot hold the values of a column, or two columns have one name.
        """
        if self.others is None:
            return None
        schema = pa.schema([(field.name, self._json_type(field)) for field in self.others.schema])
        if len(set(schema.names)) < len(schema):
            twice = next(name for name in schema.names if schema.names.count(name) > 1)
            raise TextError(f"{self.file}: several columns are called {twice!r}, but an object of JSON can have one; {NOT_JSON}")
        columns = [column.cast(field.type) for field, column in zip(schema, self.others.columns, strict=True)]
        return pa.RecordBatch.from_arrays(columns, schema=schema).to_pylist()

    def _json_type(self, field: Any) -> Any:
        if (kind := _in_json(field.type)) is None:
            raise TextError(f"{self.file}: column {field.name!r} is {field.type}, which JSON does not have; {NOT_JSON}")
        return kind

    def encode(self, tokenizer: Tokenizer, errors: str, **options: Any) -> Encoded:
        """Their ids; the options are those of `Tokenizer.encode_arrow`."""
        lists = tokenizer.encode_arrow(self.texts, errors=errors, **options)
        nulls = lists.is_null().to_numpy(zero_copy_only=False) if lists.null_count else None
        ids, *spans = (lists.values.field(name).to_numpy() for name in MATCH) if options.get("offsets") else (lists.values.to_numpy(),)
        offsets = np.column_stack(spans) if spans else None
        return Encoded(self, ids, lists.offsets.to_numpy()[1:].astype(np.int64), nulls, offsets)

    def count(self, tokenizer: Tokenizer, errors: str, **options: Any) -> int:
        """How many ids they have; the options are those of `Tokenizer.encode_arrow`."""
        return len(self.encode(tokenizer, errors, **options).ids)

    def find(self, searcher: Searcher, threads: int | None) -> tuple[Matches, NDArray[np.bool_] | None]:
        """Their matches, in characters; and which of them are null, None if none is."""
        lists = searcher.find_arrow(self.texts, threads=threads)
        nulls = lists.is_null().to_numpy(zero_copy_only=False) if lists.null_count else None
        ids, starts, ends = (lists.values.field(name).to_numpy() for name in MATCH)
        return Matches(ids, starts, ends, lists.offsets.to_numpy().astype(np.int64)), nulls

    def count_matches(self, searcher: Searcher, threads: int | None) -> NDArray[np.int64]:
        """int64[rows], how many matches each has."""
        return np.diff(self.find(searcher, threads)[0].row_splits)

    def segment(self, segmenter: Segmenter, threads: int | None) -> Any:
        """Their tokens, as an array of lists."""
        return segmenter.segment_arrow(self.texts, threads=threads)

    def replace(self, searcher: Searcher, by: str, threads: int | None) -> Any:
        """Their texts with matches replaced, as an array of the same type."""
        return searcher.replace_arrow(self.texts, by, threads=threads)


def _in_json(kind: Any) -> Any:
    """The type that JSON can hold in place of a type; times and decimals become strings. None: there is no such type."""
    if _is_any(kind, "null", "boolean", "integer", "float32", "float64", *STRINGS):
        return kind
    if _is_any(kind, "date", "time", "timestamp", "decimal"):
        return pa.string()
    if pa.types.is_float16(kind):
        return pa.float32()
    if pa.types.is_dictionary(kind):
        return _in_json(kind.value_type)
    if _is_any(kind, "list", "large_list", "fixed_size_list"):
        return None if (values := _in_json(kind.value_type)) is None else pa.list_(values)
    if pa.types.is_struct(kind):
        fields = [(field.name, _in_json(field.type)) for field in kind]
        return None if None in dict(fields).values() or len(dict(fields)) < len(fields) else pa.struct(fields)
    return None


def _is_any(kind: Any, *types: str) -> bool:
    return any(getattr(pa.types, f"is_{name}")(kind) for name in types)


def _in_bytes(texts: Any) -> Any:
    """A column of text as a column of bytes, which need not be UTF-8."""
    values = texts.dictionary_decode() if pa.types.is_dictionary(texts.type) else texts
    return values.cast(pa.large_binary())


def _of_parquet(source: Source, column: str, others: bool) -> Iterator[Any]:
    """The rows of a Parquet file, some megabytes at a time."""
    with _seekable(source) as file:
        table = pq.ParquetFile(file, pre_buffer=False, buffer_size=CHUNK)
        _check(table.schema_arrow, column, source.name)
        wanted = None if others else [column]
        for group in range(table.num_row_groups):
            about = table.metadata.row_group(group)
            rows = _rows(about.num_rows, about.total_byte_size)
            yield from table.iter_batches(rows, row_groups=[group], columns=wanted, use_threads=False)
        if not table.metadata.num_rows:
            yield _without_rows(table.schema_arrow)


def _of_arrow(source: Source, column: str, others: bool) -> Iterator[Any]:
    """The rows of a file or a stream of Arrow IPC, some megabytes at a time; a batch of the file is read whole."""
    is_file = source.file.peek(len(FILE_MAGIC)).startswith(FILE_MAGIC)
    source.file.read(STREAM_AT if is_file else 0)
    stream = pa.ipc.open_stream(source.file)
    _check(stream.schema, column, source.name)
    yield _without_rows(stream.schema)
    for batch in stream:
        _prove(batch, column)
        found = batch if others else batch.select([column])
        size = _rows(found.num_rows, found.nbytes)
        yield from (found.slice(first, size) for first in range(0, found.num_rows, size))
    if is_file and not _last(source, len(FILE_MAGIC)) == FILE_MAGIC:
        raise TextError(f"{source.name}: the Arrow file is cut short; fetch it again")


def _prove(batch: Any, column: str) -> None:
    """Prove that no offset leads out of a batch. Encoding finds text that is not UTF-8."""
    for field, array in zip(batch.schema, batch.columns, strict=True):
        is_text = field.name == column and (pa.types.is_string(field.type) or pa.types.is_large_string(field.type))
        (array.view(pa.binary() if pa.types.is_string(field.type) else pa.large_binary()) if is_text else array).validate(full=True)


def _last(source: Source, count: int) -> bytes:
    """The last bytes of the rest of a file."""
    last = b""
    for chunk in source.chunks():
        last = (last + chunk)[-count:]
    return last


@contextmanager
def _seekable(source: Source) -> Iterator[IO[bytes]]:
    """A seekable file: this one, or a temporary copy on disk."""
    if source.file.seekable():
        yield source.file
        return
    with tempfile.TemporaryFile() as file:
        shutil.copyfileobj(source.file, file, CHUNK)
        yield file


def _rows(rows: int, size: int) -> int:
    """How many rows to process together, for a table of this size."""
    return max(1, min(MOST_ROWS, rows * BLOCK_BYTES // max(size, 1)))


def _without_rows(schema: Any) -> Any:
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)


def _check(schema: Any, column: str, name: str) -> None:
    """Refuse a table without exactly one column of text of this name."""
    found = [field.type for field in schema if field.name == column]
    if len(found) == 1 and _is_text(found[0].value_type if pa.types.is_dictionary(found[0]) else found[0]):
        return
    what = f"column {column!r} is {found[0]}, no text" if len(found) == 1 else f"{len(found) or 'no'} columns are called {column!r}"
    more = f" and {len(schema) - MAX_LISTED:,} more" if len(schema) > MAX_LISTED else ""
    listed = ", ".join(f"{field.name!r} ({field.type})" for field in list(schema)[:MAX_LISTED])
    raise TextError(f"{name}: {what}; there are {listed or 'none'}{more}: name one of text with --column")


def _is_text(kind: Any) -> bool:
    return _is_any(kind, *STRINGS, "binary", "large_binary", "binary_view")


@contextmanager
def _blaming(name: str) -> Iterator[None]:
    """Name the file in the error that pyarrow raises for it."""
    try:
        yield
    except (pa.ArrowException, MemoryError, OSError) as error:
        if isinstance(error, OSError) and error.errno:
            raise
        first = str(error).splitlines()[0]
        raise TextError(f"{name}: damaged or cut short, or not what pyarrow {pa.__version__} reads: {first}; write it again") from None


class ColumnsOf(Protocol[Input]):
    """The columns that results have in tables."""

    @property
    def added(self) -> Sequence[tuple[str, Any]]:
        """The name and the type of each."""

    def of(self, result: Input, /) -> tuple[Documents, Sequence[Any]]:
        """The documents of a result, and an array for each column."""


class IdsColumns:
    """Ids, and tokens and spans if they are wanted.

    Args:
        spellings: the tokens by their ids; None: they are not wanted.
        with_offsets: whether spans are wanted.
    """

    def __init__(self, spellings: Mapping[int, str] | None, with_offsets: bool) -> None:
        self.added = [(IDS, pa.list_(pa.int32()))]
        self._tokens: Any = None
        if spellings is not None:
            self._tokens = pa.array([spellings[number] for number in range(max(spellings) + 1)])
            self.added.append((TOKENS, pa.list_(pa.string())))
        self.added += [(OFFSETS, pa.list_(pa.list_(pa.int32(), 2)))] * with_offsets

    def of(self, encoded: Encoded, /) -> tuple[Documents, Sequence[Any]]:
        """See `ColumnsOf`."""
        values = [pa.array(encoded.ids)]
        if self._tokens is not None:
            values.append(self._tokens.take(values[0]))
        if encoded.offsets is not None:
            values.append(pa.FixedSizeListArray.from_arrays(pa.array(encoded.offsets.ravel()), 2))
        return encoded.documents, [_lists(encoded, each) for each in values]


class Writer(Generic[Result]):
    """Writes the other columns, then those of results.

    Args:
        file: where to write.
        form: "arrow" or "parquet".
        columns: the columns of results.

    Raises:
        TextError: the other columns differ between documents, or one of them has the name of an added column.
    """

    def __init__(self, file: IO[bytes], form: str, columns: ColumnsOf[Result]) -> None:
        self._file, self._form, self._columns = file, form, columns
        self._added = [*columns.added]
        self._writer: Any = None
        self._schema: Any = None
        self._waiting: list[Any] = []

    def write(self, result: Result) -> None:
        """Add the rows of some documents."""
        documents, arrays = self._columns.of(result)
        if isinstance(documents.others, list) and not documents.others:
            return  # no rows have stated the columns
        self._waiting.append(self._batch(documents, arrays))
        if self._form == "arrow" or sum(batch.nbytes for batch in self._waiting) >= GROUP_BYTES:
            self._flush()

    def close(self) -> None:
        """Write the rest."""
        self._open(pa.schema(self._added))
        self._flush()
        self._writer.close()

    def abandon(self) -> None:
        """Write no more."""
        if isinstance(self._writer, pq.ParquetWriter):
            self._writer.is_open = False  # else it would write when it is collected

    def _open(self, schema: Any) -> None:
        """Open the writer at the first rows."""
        if self._writer is None:
            self._schema = schema
            is_arrow = self._form == "arrow"
            self._writer = pa.ipc.new_file(self._file, schema) if is_arrow else _parquet_writer(self._file, schema, self._added)

    def _flush(self) -> None:
        table = pa.Table.from_batches(self._waiting, self._schema)
        if len(table):
            self._writer.write_table(table, len(table))
        self._waiting = []

    def _batch(self, documents: Documents, arrays: Sequence[Any]) -> Any:
        """The rows of some documents, with the columns of the first ones."""
        others = self._others(documents)
        schema = pa.schema([*((name, column.type) for name, column in others), *self._added])
        for name, _ in self._added:
            if schema.names.count(name) > 1:
                raise TextError(f"{documents.file}: {name!r} is there already, which is what is written; rename it")
        self._open(schema)
        if not schema.equals(self._schema):
            raise TextError(f"{documents.file}: its columns are not those of the files before it; write it to another output")
        return pa.RecordBatch.from_arrays([*(column for _, column in others), *arrays], schema=schema)

    def _others(self, documents: Documents) -> list[tuple[str, Any]]:
        """The other columns by their names. Dictionary columns are decoded, because batches may have different dictionaries."""
        others = documents.others
        if others is None:
            return []
        if isinstance(others, list):
            count = len(self._schema) - len(self._added) if self._schema else 0
            types = dict(zip(self._schema.names[:count], self._schema.types, strict=False)) if self._schema else None
            return list(_columns(documents, types))
        plain = (column.dictionary_decode() if pa.types.is_dictionary(column.type) else column for column in others.columns)
        return list(zip(others.schema.names, plain, strict=True))


def _parquet_writer(file: IO[bytes], schema: Any, added: Sequence[tuple[str, Any]]) -> Any:
    """A writer of Parquet. It stores ids as differences in as few bits as possible: half of their size, without compression.

    Args:
        file: where it goes.
        schema: the columns.
        added: those at the end that are added: ids, and perhaps tokens; or matches.
    """
    leaves = _leaves(schema)
    own = leaves[len(leaves) - len(_leaves(pa.schema(added))) :]
    ids = [leaf.path for leaf in own if leaf.physical_type == "INT32"]
    others = [leaf.path for leaf in leaves if leaf.path not in ids]
    return pq.ParquetWriter(
        file,
        schema,
        use_dictionary=others or False,
        compression={**dict.fromkeys(others, "snappy"), **dict.fromkeys(ids, "none")},
        column_encoding=dict.fromkeys(ids, "DELTA_BINARY_PACKED"),
        write_statistics=others or False,
        write_batch_size=1 << 16,
    )


def _leaves(schema: Any) -> list[Any]:
    """The columns of Parquet that a schema becomes."""
    empty = io.BytesIO()
    pq.write_table(schema.empty_table(), empty)
    leaves = pq.ParquetFile(empty).schema
    return [leaves.column(number) for number in range(len(leaves))]


def _lists(encoded: Encoded, values: Any) -> Any:
    """Ids, or a value for each, as an array of lists."""
    offsets = np.zeros(len(encoded.ends) + 1, np.int32)
    offsets[1:] = encoded.ends
    mask = None if encoded.nulls is None else pa.array(encoded.nulls)
    return pa.ListArray.from_arrays(pa.array(offsets), values, mask=mask)


def _columns(documents: Documents, types: dict[str, Any] | None) -> Iterator[tuple[str, Any]]:
    """The fields of objects as columns. Types are those of the first objects; if there are none, they are inferred."""
    known = dict.fromkeys(name for record in documents.others for name in record) if types is None else types
    for number, record in zip(documents.numbers, documents.others, strict=True):
        if late := record.keys() - known.keys():
            raise TextError(f"{documents.place(number)}: the field {min(late)!r} comes too late to be a column; write JSON lines")
    for name, kind in known.items():
        yield name, _column(documents, name, kind)


def _column(documents: Documents, name: str, kind: Any) -> Any:
    values = [record.get(name) for record in documents.others]
    try:
        found = pa.array(values)
        if kind is None or found.type == kind:
            return found
        if _fits(found.type, kind):
            return pa.array(values, kind)
        what = f"{found.type}, {kind} before"
    except (ValueError, TypeError, OverflowError) as error:
        what = str(error)
    place = f"{documents.file}, lines {documents.numbers[0]} to {documents.numbers[-1]}"
    raise TextError(f"{place}: the field {name!r} makes no column of one type ({what}); write JSON lines")


def _fits(found: Any, kind: Any) -> bool:
    """Whether values of one type keep their meaning as another. pyarrow would not refuse: it makes 1 of 1.5."""
    if pa.types.is_list(found) and pa.types.is_list(kind):
        return _fits(found.value_type, kind.value_type)
    if pa.types.is_struct(found) and pa.types.is_struct(kind):
        return all(kind.get_field_index(field.name) >= 0 and _fits(field.type, kind.field(field.name).type) for field in found)
    return bool(found == kind or pa.types.is_null(found) or (pa.types.is_integer(found) and pa.types.is_floating(kind)))
