"""Read words from columns of Parquet and Arrow files, and from Arrow arrays of other libraries. This module needs `pyarrow`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fst.core.regular_files import need_regular
from fst.errors import UnsupportedError, VocabularyError, listed, reason

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    raise UnsupportedError("columns of words take pyarrow, which is not installed: pip install 'pyarrow>=18'") from None

FILE_MAGIC = b"ARROW1"
TEXT = ("string", "large_string", "string_view", "binary", "large_binary", "binary_view")


def words_of(column: Any) -> Sequence[Any]:
    """The words of a column, as str, or as bytes if the column is binary."""
    with _blaming("the column"):
        if not isinstance(column, pa.Array | pa.ChunkedArray):
            column = pa.chunked_array(column) if hasattr(column, "__arrow_c_stream__") else pa.array(column)
        return _listed(column, "the column", 0)


def words_of_file(path: Path, form: str, column: str | None) -> Sequence[Any]:
    """Read the words of a column of a file. If `column` is None, the file must have only one column."""
    need_regular(path, VocabularyError)
    with path.open("rb") as file, _blaming(str(path)):
        table = pq.ParquetFile(file) if form == "parquet" else _arrow(file)
        names = (table.schema_arrow if form == "parquet" else table.schema).names
        name = names[0] if column is None and len(names) == 1 else column
        if names.count(name) != 1:
            what = "name the column of words" if name is None else f"{names.count(name) or 'no'} columns are called {name!r}"
            raise VocabularyError(f"{path}: {what}; there are {listed(names) or 'none'}")
        found = table.read([name]) if form == "parquet" else table.read_all()
        return _listed(found.column(name), f"{path}: column {name!r}", 1)


def _arrow(file: Any) -> Any:
    """Open a file or a stream of Arrow IPC."""
    begun = file.read(len(FILE_MAGIC))
    file.seek(0)
    return pa.ipc.open_file(file) if begun == FILE_MAGIC else pa.ipc.open_stream(file)


def _listed(column: Any, what: str, first: int) -> Sequence[Any]:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not any(getattr(pa.types, f"is_{name}")(kind) for name in TEXT):
        raise VocabularyError(f"{what} is {column.type}, and no text; cast it to string")
    column.validate(full=True)
    words: list[Any] = column.to_pylist()
    if column.null_count:
        raise VocabularyError(f"{what}, row {words.index(None) + first}: the value is null; leave the row out")
    return words


@contextmanager
def _blaming(name: str) -> Iterator[None]:
    """Convert errors of `pyarrow` to errors that name the file or the column."""
    try:
        yield
    except (pa.ArrowException, MemoryError, OSError) as error:
        if isinstance(error, OSError) and error.errno:
            raise
        raise VocabularyError(f"{name}: damaged, or not of its format: {reason(error)}") from None
