"""Writers of packed files, lines of text, JSON lines and columns, for several commands. A file gets its name only when it is complete."""

from __future__ import annotations

import bz2
import io
import json
import lzma
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import repeat
from typing import IO, TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from fst.cli.files.streams import written
from fst.errors import TextError
from fst.runtime.files.documents import Documents
from fst.runtime.files.packing import CHUNK, ending

if TYPE_CHECKING:
    from fst.cli.files.columns import ColumnsOf

SEPARATORS = (",", ":")  # between items and after keys in JSON
Result = TypeVar("Result")
Input = TypeVar("Input", contravariant=True)
Write = Callable[[Result], None]


@contextmanager
def packed(file: IO[bytes], packing: str | None) -> Iterator[Any]:
    """A file that compresses data by the method `packing`; None: no compression. The file is complete when the context ends without an
    error.
    """
    if packing is None:
        yield file
        return
    packer = Packer(file, packing)
    yield packer
    packer.end()


class Packer:
    """A compressed output file. `packing`: the kind of compression, a value of `fst.runtime.files.packing.ENDINGS`."""

    def __init__(self, file: IO[bytes], packing: str) -> None:
        self._file, self._compressor = file, _compressor(packing)

    def write(self, data: bytes) -> None:
        """Compress and write data. The compressor may buffer some bytes until more data arrives."""
        self._file.write(self._compressor.compress(data))

    def flush(self) -> None:
        """Flush the file; the compressor may still buffer some bytes."""
        self._file.flush()

    def end(self) -> None:
        """Write the bytes that the compressor still buffers."""
        self._file.write(self._compressor.flush())


def _compressor(packing: str) -> Any:
    if packing == "gzip":
        return zlib.compressobj(wbits=16 + zlib.MAX_WBITS)  # the header has no name and no time, so equal data gives equal bytes
    if packing == "zstd":
        return ZstdCompressor(CHUNK)
    return bz2.BZ2Compressor() if packing == "bz2" else lzma.LZMACompressor()


class ZstdCompressor:
    """A compressor for zstd with the methods of `bz2.BZ2Compressor`. `chunk`: the minimum number of bytes of data in a frame, except the
    last frame.
    """

    def __init__(self, chunk: int) -> None:
        from fst.runtime.files.with_pyarrow import pa

        self._packed = partial(pa.compress, codec="zstd", asbytes=True)
        self._chunk = chunk
        self._waiting = io.BytesIO()

    def compress(self, data: bytes) -> bytes:
        """A frame of the buffered data; empty if there is less than `chunk`."""
        self._waiting.write(data)
        return self.flush() if self._waiting.tell() >= self._chunk else b""

    def flush(self) -> bytes:
        """A frame of the remaining data."""
        data, self._waiting = self._waiting.getvalue(), io.BytesIO()
        return bytes(self._packed(data))


@contextmanager
def lines_of(name: str) -> Iterator[Any]:
    """A file to write lines of text to, or standard output for "-". The ending of the name determines the compression."""
    with written(name) as file, packed(file, ending(name)[1]) as data:
        yield data


@contextmanager
def columns_of(name: str, form: str, result: Callable[[], ColumnsOf[Result]]) -> Iterator[Write[Result]]:
    """A function that writes results as columns of an Arrow or Parquet file. `name`: the file. `form`: "arrow" or "parquet". `result`: a
    function that returns the conversion of results to columns; this function is called after a check that `pyarrow` is installed.
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
    `file`: the output. `members`: the conversion of results to members of objects.
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


@contextmanager
def writing_texts(name: str, form: str, end: bytes | None) -> Iterator[Write[Documents]]:
    """A function that writes documents with new texts. In the form "lines", `end` follows each document."""
    if form == "lines":
        with lines_of(name) as file:
            yield lambda documents: _write_texts(file, documents, end or b"")
    else:
        with records_of(name, form, NoMembers, NoColumns) as write:
            yield write


def _write_texts(file: IO[bytes], documents: Documents, end: bytes) -> None:
    texts = documents.texts_in_utf8(range(len(documents.texts)))
    file.write(b"".join([(text or b"") + end for text in texts]))
    file.flush()


class NoMembers:
    """A conversion that adds no members, so the output has the fields of the document."""

    def of(self, documents: Documents, /) -> tuple[Documents, Any, Mapping[str, list[bytes]]]:
        """See `MembersOf`."""
        return documents, None, {}


class NoColumns:
    """A conversion that adds no columns, so the output has the columns of the input."""

    added: Sequence[tuple[str, Any]] = ()

    def of(self, documents: Documents, /) -> tuple[Documents, Sequence[Any]]:
        """See `fst.cli.files.columns.ColumnsOf`."""
        return documents, ()
