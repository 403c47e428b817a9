"""Documents in a column of a Parquet or Arrow IPC file. This module needs pyarrow."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fst.errors import MAX_REASON, TextError, cut
from fst.runtime.files.documents import Documents, Encoded, Fault, not_text
from fst.runtime.files.packing import CHUNK
from fst.runtime.files.streams import Source
from fst.runtime.files.with_pyarrow import pa, pq

if TYPE_CHECKING:
    from fst import Matches, Rewriter, Searcher, Segmenter, Tokenizer

BLOCK_BYTES = 1 << 21  # number of bytes of columns per block
MOST_ROWS = 1 << 14  # maximum number of rows in a block, because repeated texts may need far more bytes in memory than in a Parquet file
FILE_MAGIC, STREAM_AT = b"ARROW1", 8  # an Arrow IPC file contains 8 bytes, then a stream, then a footer
MAX_LISTED = 12  # maximum number of column names in a message
STRINGS = ("string", "large_string", "string_view")
NOT_JSON = "write Parquet or Arrow, or leave the column out"


def documents(
    source: Source, kind: str, column: str, *, others: bool, with_text: bool = False, group: int | None = None
) -> Generator[Documents, None, None]:
    """Read the documents of a column, block by block; `kind` is "arrow" or "parquet". With `others`, the other columns are read, too; with
    `with_text`, ``Documents.others`` includes the column of the text. With `group`, one row group of Parquet is read. For a file without
    rows, yield one block without documents, which contains the columns.
    """
    first = 1
    name = source.name if group is None else f"{source.name}, row group {group}"
    with _blaming(source.name):
        for batch in _of_parquet(source, column, others, group) if kind == "parquet" else _of_arrow(source, column, others):
            rest = (batch if with_text else batch.drop_columns([column])) if others else None
            yield Column(name, "row", range(first, first + batch.num_rows), batch.column(column), rest)
            first += batch.num_rows


class Column(Documents):
    """Documents of a column: `texts` is a pyarrow array, possibly with nulls, and `others` is a record batch."""

    def not_text(self) -> dict[int, Fault]:
        """Find the rows that are malformed; return a mapping from these rows to their faults."""
        rows = enumerate(_in_bytes(self.texts).to_pylist())
        return {row: fault for row, text in rows if text is not None and (fault := not_text(text)) is not None}

    def _in_utf8(self) -> Documents:
        rows = zip(self.numbers, _in_bytes(self.texts).to_pylist(), strict=True)
        known = {number: text for number, text in rows if text is not None}
        return Documents(self.file, self.unit, list(known), list(known.values()))

    def taken(self, rows: Sequence[int]) -> Documents:
        """Select documents by their rows; a row that occurs twice selects its document twice."""
        taken = pa.array(rows, pa.int64())
        others = None if self.others is None else self.others.take(taken)
        return replace(self, numbers=[self.numbers[row] for row in rows], texts=self.texts.take(taken), others=others)

    def mended(self) -> Documents:
        """Return the documents, with malformed bytes replaced by U+FFFD."""
        texts = [None if text is None else str(text, "utf-8", "replace") for text in _in_bytes(self.texts).to_pylist()]
        kind = self.texts.type.value_type if pa.types.is_dictionary(self.texts.type) else self.texts.type
        array = pa.array(texts, pa.string()).cast(kind)
        return replace(self, texts=array.dictionary_encode() if pa.types.is_dictionary(self.texts.type) else array)

    def texts_in_utf8(self, rows: Sequence[int]) -> list[bytes | None]:
        """Return the texts of the chosen rows; the text of a null row is None."""
        texts: list[bytes | None] = _in_bytes(self.texts).take(pa.array(rows, pa.int64())).to_pylist()
        return texts

    def carrying(self, texts: Any, name: str) -> Documents:
        """Return the documents with new texts in the column `name` of `others`."""
        place = self.others.schema.get_field_index(name)
        return replace(self, others=self.others.set_column(place, name, texts))

    def records(self) -> Any:
        """Convert the other columns to a list of objects for JSON; return None if they were not read."""
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
        """Encode the documents; `options` are passed to `Tokenizer.encode_arrow`."""
        lists = tokenizer.encode_arrow(self.texts, errors=errors, **options)
        nulls = lists.is_null().to_numpy(zero_copy_only=False) if lists.null_count else None
        ids, *spans = _ids_and_spans(lists.values) if options.get("offsets") else (lists.values.to_numpy(),)
        offsets = np.column_stack(spans) if spans else None
        return Encoded(self, ids, lists.offsets.to_numpy()[1:].astype(np.int64), nulls, offsets)

    def count(self, tokenizer: Tokenizer, errors: str, **options: Any) -> int:
        """Count the ids of all documents; `options` are passed to `Tokenizer.encode_arrow`."""
        return len(self.encode(tokenizer, errors, **options).ids)

    def find(self, searcher: Searcher, threads: int | None) -> tuple[Matches, NDArray[np.bool_] | None]:
        """Find the matches in the documents, in characters. Return also bool[rows], whether each document is null, or None if no document
        is null.
        """
        lists = searcher.find_arrow(self.texts, threads=threads)
        nulls = lists.is_null().to_numpy(zero_copy_only=False) if lists.null_count else None
        ids, starts, ends = _ids_and_spans(lists.values)
        from fst import Matches

        return Matches(ids, starts, ends, lists.offsets.to_numpy().astype(np.int64)), nulls

    def count_matches(self, searcher: Searcher, threads: int | None) -> NDArray[np.int64]:
        """Count the matches in each document; return int64[rows]."""
        return np.diff(self.find(searcher, threads)[0].row_splits)

    def segment(self, segmenter: Segmenter, threads: int | None) -> Any:
        """Segment the documents into an array of lists of tokens."""
        return segmenter.segment_arrow(self.texts, threads=threads)

    def replace(self, searcher: Searcher, by: str, threads: int | None) -> Any:
        """Replace the matches in the texts; return an array of the same type."""
        return searcher.replace_arrow(self.texts, by, threads=threads)

    def rewrite(self, rewriter: Rewriter, threads: int | None) -> Any:
        """Apply rewrite rules to the texts; return an array of the same type."""
        return rewriter.apply_arrow(self.texts, threads=threads)


def _ids_and_spans(values: Any) -> Iterator[Any]:
    """Yield the fields of an array of structs: the ids, the starts and the ends."""
    return (field.to_numpy() for field in values.flatten())


def _in_json(kind: Any) -> Any:
    """Return the type to which a column is converted for JSON, such as string for times and decimals; None if JSON cannot represent the
    column.
    """
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
    """Convert a column of text to a column of bytes, without a check for UTF-8."""
    values = texts.dictionary_decode() if pa.types.is_dictionary(texts.type) else texts
    return values.cast(pa.large_binary())


def count_groups(source: Source) -> int:
    """The number of row groups in a Parquet file."""
    with _blaming(source.name), _seekable(source) as file:
        return int(pq.ParquetFile(file).num_row_groups)


def _of_parquet(source: Source, column: str, others: bool, only: int | None) -> Iterator[Any]:
    """Read the rows of a Parquet file, or of one row group, in batches of a few megabytes."""
    with _seekable(source) as file:
        table = pq.ParquetFile(file, pre_buffer=False, buffer_size=CHUNK)
        _check(table.schema_arrow, column, source.name)
        wanted = None if others else [column]
        if only is not None and only >= table.num_row_groups:
            count = f"the number of row groups is {table.num_row_groups:,}; expected at least {only + 1:,}"
            raise TextError(f"{source.name}: {count}; the file has changed, so run the command again")
        for group in range(table.num_row_groups) if only is None else [only]:
            info = table.metadata.row_group(group)
            rows = _rows(info.num_rows, info.total_byte_size)
            yield from table.iter_batches(rows, row_groups=[group], columns=wanted, use_threads=False)
        if not table.metadata.num_rows:
            yield _without_rows(table.schema_arrow)


def _of_arrow(source: Source, column: str, others: bool) -> Iterator[Any]:
    """Read the rows of an Arrow IPC file or stream, in batches of a few megabytes. Each batch of the file must fit into memory."""
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
    """Check that all offsets are valid. Texts are checked for UTF-8 later, when they are encoded."""
    for field, array in zip(batch.schema, batch.columns, strict=True):
        is_text = field.name == column and (pa.types.is_string(field.type) or pa.types.is_large_string(field.type))
        (array.view(pa.binary() if pa.types.is_string(field.type) else pa.large_binary()) if is_text else array).validate(full=True)


def _last(source: Source, count: int) -> bytes:
    """Read a file to its end, and return its last `count` bytes."""
    last = b""
    for chunk in source.chunks():
        last = (last + chunk)[-count:]
    return last


@contextmanager
def _seekable(source: Source) -> Iterator[IO[bytes]]:
    """Yield a seekable file: the source itself, or a temporary copy on disk."""
    if source.file.seekable():
        yield source.file
        return
    with tempfile.TemporaryFile() as file:
        shutil.copyfileobj(source.file, file, CHUNK)
        yield file


def _rows(rows: int, size: int) -> int:
    """Return the number of rows per block, from the number of rows and bytes of a table."""
    return max(1, min(MOST_ROWS, rows * BLOCK_BYTES // max(size, 1)))


def _without_rows(schema: Any) -> Any:
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)


def _check(schema: Any, column: str, name: str) -> None:
    """Raise an error unless exactly one column has the name `column`, and this column contains text."""
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
    """Convert errors of pyarrow to errors with the file name."""
    try:
        yield
    except (pa.ArrowException, MemoryError, OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno:
            raise
        first = cut(str(error).partition("\n")[0] or type(error).__name__, MAX_REASON)
        raise TextError(f"{name}: damaged or cut short, or not what pyarrow {pa.__version__} reads: {first}; write it again") from None
