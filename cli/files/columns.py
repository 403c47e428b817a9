"""Write Parquet and Arrow IPC: the columns of the input, followed by columns of results. This module needs `pyarrow`."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, Generic, Protocol, TypeVar

from fst.errors import TextError
from fst.runtime.files.documents import Documents
from fst.runtime.files.with_pyarrow import pa, pq

Result = TypeVar("Result")
Input = TypeVar("Input", contravariant=True)

GROUP_BYTES = 1 << 24  # maximum number of bytes in a row group


class ColumnsOf(Protocol[Input]):
    """A conversion of results, such as ids, to columns of Arrow."""

    @property
    def added(self) -> Sequence[tuple[str, Any]]:
        """The name and the type of each column of results."""

    def of(self, result: Input, /) -> tuple[Documents, Sequence[Any]]:
        """Split a result into its documents and an array for each added column."""


class ListColumn:
    """A conversion of results to a column of lists of strings. `name`: the name of the column. `lists`: a function that returns the lists
    of a result: lists of str, None for a null; or a `pyarrow` array of lists.
    """

    def __init__(self, name: str, lists: Callable[[Any], Any]) -> None:
        self.added = [(name, pa.list_(pa.string()))]
        self._lists = lists

    def of(self, result: Any, /) -> tuple[Documents, Sequence[Any]]:
        """See `ColumnsOf`."""
        lists, ((_, kind),) = self._lists(result), self.added
        return result.documents, [pa.array(lists, kind) if isinstance(lists, list) else lists]


class Writer(Generic[Result]):
    """A writer of rows. A row contains the other columns of a document, followed by the columns of the document's result. `file`: the
    output. `form`: "arrow" or "parquet". `columns`: the conversion of results to columns.
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
            return  # a block without documents does not determine the columns
        self._waiting.append(self._batch(documents, arrays))
        if self._form == "arrow" or sum(batch.nbytes for batch in self._waiting) >= GROUP_BYTES:
            self._flush()

    def close(self) -> None:
        """Write the buffered rows, and end the file."""
        self._open(pa.schema(self._added))
        self._flush()
        self._writer.close()

    def abandon(self) -> None:
        """Stop writing, and leave the file incomplete."""
        if isinstance(self._writer, pq.ParquetWriter):
            self._writer.is_open = False  # otherwise, the writer would write when it is garbage-collected

    def _open(self, schema: Any) -> None:
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
        """The rows of some documents, which must have the same columns as all earlier rows."""
        others = self._others(documents)
        schema = pa.schema([*((name, column.type) for name, column in others), *self._added])
        for name, _ in self._added:
            if schema.names.count(name) > 1:
                raise TextError(f"{documents.file}: the column {name!r} has the name of a column that is added; rename it")
        self._open(schema)
        if not schema.equals(self._schema):
            raise TextError(f"{documents.file}: its columns differ from those of earlier files; write it to another output")
        return pa.RecordBatch.from_arrays([*(column for _, column in others), *arrays], schema=schema)

    def _others(self, documents: Documents) -> list[tuple[str, Any]]:
        """The other columns of a document, by name. Dictionary columns are decoded, because batches may have different dictionaries."""
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
    """A writer of Parquet. Ids are stored as differences with as few bits as possible, which halves their size without compression. `file`:
    the output. `schema`: the columns. `added`: the columns of results at the end of the schema: ids and tokens, or matches.
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
    """The leaf columns of Parquet that store the columns of a schema."""
    empty = io.BytesIO()
    pq.write_table(schema.empty_table(), empty)
    leaves = pq.ParquetFile(empty).schema
    return [leaves.column(number) for number in range(len(leaves))]


def _columns(documents: Documents, types: dict[str, Any] | None) -> Iterator[tuple[str, Any]]:
    """The fields of JSON objects as columns. `types` contains the types of earlier columns; None: types are inferred."""
    known = dict.fromkeys(name for record in documents.others for name in record) if types is None else types
    for number, record in zip(documents.numbers, documents.others, strict=True):
        if late := record.keys() - known.keys():
            what = f"the field {min(late)!r} is missing in the first documents, which define the columns"
            raise TextError(f"{documents.place(number)}: {what}; write JSON lines")
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
    raise TextError(f"{place}: the field {name!r} has values of several types ({what}); write JSON lines")


def _fits(found: Any, kind: Any) -> bool:
    """Whether values can be converted to another type without a change. The conversion by `pyarrow` would turn 1.5 into 1."""
    if pa.types.is_list(found) and pa.types.is_list(kind):
        return _fits(found.value_type, kind.value_type)
    if pa.types.is_struct(found) and pa.types.is_struct(kind):
        return all(kind.get_field_index(field.name) >= 0 and _fits(field.type, kind.field(field.name).type) for field in found)
    return bool(found == kind or pa.types.is_null(found) or (pa.types.is_integer(found) and pa.types.is_floating(kind)))
