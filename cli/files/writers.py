"""Writers of lines of text, JSON lines and columns, for several commands. A file gets its name only when it is complete."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import repeat
from typing import IO, TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from fst.cli.files.packing import packed
from fst.cli.files.streams import written
from fst.errors import TextError
from fst.runtime.files.documents import Documents
from fst.runtime.files.packing import ending

if TYPE_CHECKING:
    from fst.cli.files.columns import ColumnsOf

NPY_HEADER = 128  # bytes
SEPARATORS = (",", ":")  # of JSON

Result = TypeVar("Result")
Input = TypeVar("Input", contravariant=True)
Write = Callable[[Result], None]


@contextmanager
def lines_of(name: str) -> Iterator[Any]:
    """A file to write lines of text to, or standard output for "-". The ending of the name determines the compression."""
    with written(name) as file, packed(file, ending(name)[1]) as data:
        yield data


@contextmanager
def columns_of(name: str, form: str, result: Callable[[], ColumnsOf[Result]]) -> Iterator[Write[Result]]:
    """A function that writes results as columns of an Arrow or Parquet file.

    Args:
        name: the file.
        form: "arrow" or "parquet".
        result: a function that returns the conversion of results to columns; it is called after a check that `pyarrow` is installed.
    """
    from fst.cli.files.columns import Writer

    with written(name) as file:
        table = Writer(file, form, result())
        try:
            yield table.write
            table.close()
        except BaseException:
            table.abandon()
            raise


@contextmanager
def records_of(
    name: str, form: str, members: Callable[[], MembersOf[Result]], columns: Callable[[], ColumnsOf[Result]]
) -> Iterator[Write[Result]]:
    """A function that writes results next to the other fields or columns of documents.

    Args:
        name: the file, or "-" for standard output in the form "json".
        form: "json", "arrow" or "parquet".
        members: a function that returns the conversion of results to members of JSON objects.
        columns: as `result` of `columns_of`.
    """
    if form == "json":
        with lines_of(name) as file:
            yield Objects(file, members()).write
    else:
        with columns_of(name, form, columns) as write:
            yield write


class Objects(Generic[Result]):
    """A writer of JSON lines. Each object contains the other columns or fields of a document, followed by the members of its result.

    Args:
        file: the output.
        members: the conversion of results to members of objects.
    """

    def __init__(self, file: IO[bytes], members: MembersOf[Result]) -> None:
        self._file, self._members = file, members

    def write(self, result: Result) -> None:
        """Write the lines of some documents, and flush them."""
        documents, nulls, members = self._members.of(result)
        for row in [] if nulls is None else np.flatnonzero(nulls):
            for values in members.values():
                values[row] = b"null"
        others = _others(documents, members.keys())
        if members:
            line = b"{%b" + b",".join(b'"%b":%%b' % name.encode() for name in members) + b"}\n"
            lines = [line % row for row in zip(others, *members.values(), strict=False)]
        else:
            lines = [b"{%b}\n" % other.removesuffix(b",") for other in others]
        self._file.write(b"".join(lines))
        self._file.flush()


class MembersOf(Protocol[Input]):
    """A conversion of results, such as ids, to members of JSON objects."""

    def of(self, result: Input, /) -> tuple[Documents, Any, Mapping[str, list[bytes]]]:
        """Split a result into its documents, a mask of null documents or None, and a mapping from member names to their values as JSON."""


def _others(documents: Documents, added: Collection[str]) -> Iterable[bytes]:
    """The other fields of each document, as the first members of an object."""
    records = documents.records()
    if records is None:
        return repeat(b"")
    for number, record in zip(documents.numbers, records, strict=True):
        if taken := record.keys() & added:
            raise TextError(f"{documents.place(number)}: the field {min(taken)!r} has the name of a field that is added; rename it")
    return [as_json(record)[1:-1] + b"," if record else b"" for record in records]


def as_json(value: Any) -> bytes:
    """A value as JSON. Lone surrogates stay escaped. NaN and infinities become null, because JSON has no such numbers."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=SEPARATORS).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=SEPARATORS).encode()
    except ValueError:
        return as_json(json.loads(json.dumps(value), parse_constant=lambda _: None))


def npy_header(dtype: str, length: int) -> bytes:
    """The header of a one-dimensional array in a `.npy` file: always `NPY_HEADER` bytes."""
    described = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({length},), }}"
    return b"\x93NUMPY\x01\x00" + (NPY_HEADER - 10).to_bytes(2, "little") + described.ljust(NPY_HEADER - 11).encode() + b"\n"
