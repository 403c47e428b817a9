"""Outputs: files by their forms, and the writers of ids: lines of text, arrays with the places of rows beside them, and columns."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise, repeat
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

import click
import numpy as np

from fst.cli.formats import IDS, OFFSETS, TOKENS, Decimals, names
from fst.cli.packing import packed
from fst.cli.streams import check_target, is_device, keep_apart, written
from fst.errors import TextError
from fst.runtime.files.documents import Documents, Encoded
from fst.runtime.files.packing import UNSUPPORTED, ending
from fst.runtime.files.streams import STANDARD

if TYPE_CHECKING:
    from fst.cli.columns import ColumnsOf
    from fst.machines.wordpiece.table import Tables

ENDINGS = {".json": "json", ".jsonl": "json", ".ndjson": "json", ".arrow": "arrow", ".parquet": "parquet"}
# What to use instead of formats that are not written.
INSTEAD = {
    **dict.fromkeys([".csv", ".tsv", ".xlsx"], "write JSON lines (.jsonl), or Parquet (.parquet)"),
    **dict.fromkeys([".feather", ".ipc"], "write .arrow, which is the same format"),
    **dict.fromkeys([".avro", ".db", ".duckdb", ".orc", ".sqlite"], "write Parquet (.parquet)"),
}
OF_ARRAYS = (".npz", ".npy", ".bin", ".h5", ".hdf5", ".pkl", ".pickle", ".pt", ".safetensors", ".zarr")  # and their like
KEEP_OTHERS = ("json", "arrow", "parquet")  # forms that keep the other columns or fields of a document, and may have tokens too
ARRAYS = ("npy", "bin")  # forms of ids with their row splits in a file beside them
TAKE_PIECES = ("ids", "tokens", *ARRAYS)  # forms that take documents in pieces; the others take whole ones
NPY_HEADER = 128  # bytes
SEPARATORS = (",", ":")  # of JSON

Result = TypeVar("Result")
Input = TypeVar("Input", contravariant=True)
Value = TypeVar("Value")
Write = Callable[[Result], None]


class Forms(NamedTuple):
    """The forms of a command's outputs.

    Attributes:
        lines: forms that are lines of text, compressed if the name of the file says so. The first one is the default.
        endings: forms by the endings of names.
        instead: what to use instead of formats that are not written, by their endings.
    """

    lines: Sequence[str]
    endings: Mapping[str, str]
    instead: Mapping[str, str]


def forms_of(*lines: str, arrays: Sequence[str] = (), advice: str) -> Forms:
    """The forms of a command that also writes columns, and such arrays; `advice` is for all who want others."""
    endings = {f".{form}": form for form in arrays}
    others = dict.fromkeys((ending for ending in OF_ARRAYS if ending not in endings), advice)
    return Forms(lines, {**ENDINGS, **endings}, {**INSTEAD, **others})


OF_IDS = forms_of("ids", "tokens", "json", arrays=ARRAYS, advice="write a pair of .npy, or .bin")


def checked_form(forms: Forms, name: str, form: str | None, inputs: Sequence[str]) -> str:
    """The form of an output: as asked, or by the ending of its name. An output that cannot be written is refused before any input is read.

    Args:
        forms: the forms of the command.
        name: the file, or "-".
        form: one of these forms; None: by the ending of the name.
        inputs: the files that are read.

    Raises:
        click.UsageError: the file cannot have this form, or is one of the inputs.
        OSError: the folder of the file is missing or cannot be written.
    """
    form = form_of(forms, name, form)
    keep_apart(files_of(name, form), inputs)
    check_writable(name, form)
    return form


def files_of(name: str, form: str) -> list[str]:
    """The files that an output has in a form."""
    return [name, splits_name(name)] if form in ARRAYS else [name]


def check_writable(name: str, form: str) -> None:
    """Check that the files of an output can be written, as far as this can be checked in advance.

    Raises:
        OSError: the folder of the file is missing or cannot be written.
    """
    for file in files_of(name, form):
        check_target(file)


def form_of(forms: Forms, name: str, form: str | None) -> str:
    """The form of an output: as asked, or by the ending of its name.

    Raises:
        click.UsageError: the file cannot have this form.
    """
    form = _form(forms, name, form)
    if form not in forms.lines:
        _check_whole_file(name, form)
    return form


def _form(forms: Forms, name: str, form: str | None) -> str:
    """The form asked for, or else the form of the name's ending, or else the default."""
    kind, _ = ending(name)
    if kind in UNSUPPORTED:
        raise click.UsageError(f"{name}: {kind} is not written; compress with gzip, zstd, bz2 or xz, as in ids.jsonl.gz")
    if form is None and kind in forms.instead:
        raise click.UsageError(f"{name}: {kind} is not written; {forms.instead[kind]}, or say with --format what the file is to be")
    return form or forms.endings.get(kind, forms.lines[0])


def _check_whole_file(name: str, form: str) -> None:
    if name == STANDARD or is_device(Path(name)):
        raise click.UsageError(f"--format {form} takes a regular file, since it is not written from beginning to end: name one with -o")
    if packing := ending(name)[1]:
        raise click.UsageError(f"{name}: {form} is not packed with {packing}, since programs map such files; leave that ending out")


@contextmanager
def lines_of(name: str) -> Iterator[Any]:
    """A file for lines of text, packed if its name says so, or standard output for "-". A file appears whole or not at all."""
    with written(name) as file, packed(file, ending(name)[1]) as data:
        yield data


@contextmanager
def columns_of(name: str, form: str, result: Callable[[], ColumnsOf[Result]]) -> Iterator[Write[Result]]:
    """A function that writes results as columns of a file, "arrow" or "parquet". It appears whole or not at all.

    Args:
        name: the file.
        form: the form.
        result: makes the columns of results, once it is known that pyarrow is there.
    """
    from fst.cli.columns import Writer

    with written(name) as file:
        table = Writer(file, form, result())
        try:
            yield table.write
            table.close()
        except BaseException:
            table.abandon()
            raise


@contextmanager
def writing(
    name: str, form: str, tables: Tables, *, with_tokens: bool = False, with_offsets: bool = False
) -> Iterator[Write[Encoded]]:
    """A function that writes ids to a file, or to standard output for "-", and tokens and spans if wanted. A file appears whole or not at
    all.
    """
    if form in OF_IDS.lines:
        with lines_of(name) as data:
            writer = Objects(data, IdsMembers(tables, with_tokens)) if form == "json" else Lines(data, form, tables)
            yield writer.write
        return
    if form in ARRAYS:
        # The ids are moved last: if they exist, the splits do.
        with written(name) as ids, written(splits_name(name)) as splits:
            arrays = Arrays(ids, splits) if form == "npy" else Arrays(ids, splits, raw_type(tables), header=0)
            yield arrays.write
            arrays.close()
        return
    with columns_of(name, form, lambda: _ids_columns(tables, with_tokens, with_offsets)) as write:
        yield write


def _ids_columns(tables: Tables, with_tokens: bool, with_offsets: bool) -> ColumnsOf[Encoded]:
    from fst.cli.columns import IdsColumns

    return IdsColumns(names(tables) if with_tokens else None, with_offsets)


def splits_name(name: str) -> str:
    """The path of the row splits for the path of the ids."""
    return name.removesuffix(Path(name).suffix) + ".splits.npy"


class Lines:
    """Writes lines of text, one for each document.

    Args:
        file: the output.
        form: "ids" or "tokens", separated by blanks.
        tables: the vocabulary, for the names of tokens.
    """

    def __init__(self, file: IO[bytes], form: str, tables: Tables) -> None:
        self._file = file
        self._spellings = names(tables)
        self._decimals = Decimals(int(tables.token_ids.max()) + 1 if form == "ids" else 0)
        self._is_begun = False  # whether there are ids of a document that goes on
        self._lines = self._numbers if form == "ids" else self._joined

    def write(self, encoded: Encoded) -> None:
        """Write the lines of some documents, and flush them."""
        self._file.write(self._lines(encoded))
        self._file.flush()
        if len(encoded.ids) or len(encoded.ends):
            self._is_begun = len(encoded.ids) > (encoded.ends[-1] if len(encoded.ends) else 0)

    def _numbers(self, encoded: Encoded) -> bytes:
        return self._decimals.lines(encoded.ids, encoded.ends, self._is_begun)

    def _joined(self, encoded: Encoded) -> bytes:
        *rows, rest = _rows(encoded)
        text = "".join([f"{self._spelled(row)}\n" for row in rows]) + self._spelled(rest)
        return f" {text}".encode() if self._is_begun and text[:1] not in ("", "\n") else text.encode()

    def _spelled(self, row: list[int]) -> str:
        return " ".join(map(self._spellings.__getitem__, row))


def _rows(encoded: Encoded) -> Iterator[list[int]]:
    """The ids of each document, the one that goes on included."""
    return _by_row(encoded.ids.tolist(), encoded)


def _by_row(values: list[Value], encoded: Encoded) -> Iterator[list[Value]]:
    """A value for each id, by documents, the one that goes on included."""
    return (values[first:last] for first, last in pairwise([0, *encoded.ends.tolist(), len(values)]))


class Objects(Generic[Result]):
    """Writes JSON lines. Each object has the document's other columns or fields, and then the members of its result.

    Args:
        file: the output.
        members: the members of results.
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
    """The members that results have in JSON."""

    def of(self, result: Input, /) -> tuple[Documents, Any, Mapping[str, list[bytes]]]:
        """The documents of a result; which of them are null, None if none is; and a list of JSON values by the name of each member."""


class IdsMembers:
    """Ids, tokens if they are wanted, and spans if they are there.

    Args:
        tables: the vocabulary, for the names of tokens.
        with_tokens: whether tokens are wanted.
    """

    def __init__(self, tables: Tables, with_tokens: bool) -> None:
        self._decimals = Decimals(int(tables.token_ids.max()) + 1)
        self._spellings = names(tables) if with_tokens else None

    def of(self, encoded: Encoded, /) -> tuple[Documents, Any, dict[str, list[bytes]]]:
        """See `MembersOf`."""
        members = {IDS: self._ids(encoded)}
        if self._spellings is not None:
            members[TOKENS] = self._tokens(encoded, self._spellings)
        if encoded.offsets is not None:
            *spans, _ = _by_row(encoded.offsets.tolist(), encoded)
            members[OFFSETS] = list(map(as_json, spans))
        return encoded.documents, encoded.nulls, members

    def _ids(self, encoded: Encoded) -> list[bytes]:
        rows = self._decimals.lines(encoded.ids, encoded.ends, is_begun=False).replace(b" ", b",").split(b"\n")
        return [b"[%b]" % row for row in rows[:-1]]

    def _tokens(self, encoded: Encoded, spellings: Mapping[int, str]) -> list[bytes]:
        *rows, _ = _rows(encoded)
        return [as_json([spellings[number] for number in row]) for row in rows]


def _others(documents: Documents, added: Collection[str]) -> Iterable[bytes]:
    """The other fields of each document, as the first members of an object.

    Raises:
        TextError: a document already has a member with the name of an added one.
    """
    records = documents.records()
    if records is None:
        return repeat(b"")
    for number, record in zip(documents.numbers, records, strict=True):
        if taken := record.keys() & added:
            raise TextError(f"{documents.place(number)}: {min(taken)!r} is there already, which is what is written; rename it")
    return [as_json(record)[1:-1] + b"," if record else b"" for record in records]


def as_json(value: Any) -> bytes:
    """A value as JSON. Lone surrogates stay escaped, as they were read. NaN and infinities become null, because JSON lacks them."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=SEPARATORS).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=SEPARATORS).encode()
    except ValueError:
        return as_json(json.loads(json.dumps(value), parse_constant=lambda _: None))


def raw_type(tables: Tables) -> str:
    """The type of ids in a `.bin` file: the smaller one of uint16 and uint32 that holds all ids of a table."""
    return "<u2" if int(tables.token_ids.max()) < 1 << 16 else "<u4"


class Arrays:
    """Writes the ids, and a `.npy` file of the row splits, int64[rows + 1].

    Args:
        ids, splits: the outputs; headers hold lengths, which are known last.
        dtype: the type of the ids.
        header: the bytes of the header of the ids; 0: they have none.
    """

    def __init__(self, ids: IO[bytes], splits: IO[bytes], dtype: str = "<i4", header: int = NPY_HEADER) -> None:
        self._ids, self._splits, self._dtype, self._header = ids, splits, dtype, header
        self._count = self._rows = 0
        ids.write(bytes(header))
        splits.write(bytes(NPY_HEADER) + np.zeros(1, "<i8").tobytes())

    def write(self, encoded: Encoded) -> None:
        """Add the ids of some documents."""
        self._ids.write(encoded.ids.astype(self._dtype, copy=False).data)
        self._splits.write((encoded.ends + self._count).astype("<i8", copy=False).data)
        self._count += len(encoded.ids)
        self._rows += len(encoded.ends)

    def close(self) -> None:
        """Write the headers."""
        headers = [(self._ids, self._dtype, self._count)] if self._header else []
        for file, dtype, length in (*headers, (self._splits, "<i8", self._rows + 1)):
            file.seek(0)
            file.write(npy_header(dtype, length))


def npy_header(dtype: str, length: int) -> bytes:
    """The header of an array of one axis in a `.npy` file; `NPY_HEADER` bytes, whatever the length."""
    described = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({length},), }}"
    return b"\x93NUMPY\x01\x00" + (NPY_HEADER - 10).to_bytes(2, "little") + described.ljust(NPY_HEADER - 11).encode() + b"\n"
