"""Ids on their way out: lines of text, pairs of `.npy`, and tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise, repeat
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click
import numpy as np

from fst.cli.documents import Encoded
from fst.cli.formats import Decimals, names
from fst.cli.packing import UNSUPPORTED, ending, packed
from fst.cli.streams import STANDARD, is_device, keep_apart, target, written
from fst.errors import TextError

if TYPE_CHECKING:
    from fst.tables import Tables

FORMS = ("ids", "tokens", "json", "npy", "arrow", "parquet")
ENDINGS = {".json": "json", ".jsonl": "json", ".ndjson": "json", ".npy": "npy", ".arrow": "arrow", ".parquet": "parquet"}
LINES = ("ids", "tokens", "json")  # the forms that are lines of text, which are compressed if the name of the file says so
# What to write in place of formats that are not written.
INSTEAD = {
    **dict.fromkeys([".csv", ".tsv", ".xlsx"], "write JSON lines (.jsonl), or Parquet (.parquet)"),
    **dict.fromkeys([".npz", ".bin", ".h5", ".hdf5", ".pkl", ".pickle", ".pt", ".safetensors", ".zarr"], "write a pair of .npy"),
    **dict.fromkeys([".feather", ".ipc"], "write .arrow, which is the same format"),
    **dict.fromkeys([".avro", ".db", ".duckdb", ".orc", ".sqlite"], "write Parquet (.parquet)"),
}
# What else files say of documents is kept: of files of which kind.
KEEPS = {"json": {"json"}, "arrow": {"json", "arrow", "parquet"}, "parquet": {"json", "arrow", "parquet"}}
TAKE_PIECES = ("ids", "tokens", "npy")  # of documents, where others take whole ones
NPY_HEADER = 128  # bytes

Write = Callable[[Encoded], None]


def checked_form(name: str, form: str | None, inputs: Sequence[str]) -> str:
    """How a file is to be written: as asked, or as its name says. What cannot be written is refused before anything is read.

    Args:
        name: the file, or "-".
        form: one of `FORMS`; None: as the name says.
        inputs: the files that are read.

    Raises:
        click.UsageError: the form is none for such a file, or the file is one of the inputs.
        OSError: there is no folder to write the file in.
    """
    keep_apart([name], inputs)
    form = _form(name, form)
    if form not in LINES:
        _check_whole_file(name, form)
    if name != STANDARD:
        target(name)
    if form == "npy":
        keep_apart([splits_name(name)], inputs)
        target(splits_name(name))
    return form


def _form(name: str, form: str | None) -> str:
    """The form asked for, or else the one that the name of the file says; a name that says nothing is one of ids."""
    kind, _ = ending(name)
    if kind in UNSUPPORTED:
        raise click.UsageError(f"{name}: {kind} is not written; compress with gzip, zstd, bz2 or xz, as in ids.jsonl.gz")
    if form is None and kind in INSTEAD:
        raise click.UsageError(f"{name}: {kind} is not written; {INSTEAD[kind]}, or say with --format what the file is to be")
    return form or ENDINGS.get(kind, "ids")


def _check_whole_file(name: str, form: str) -> None:
    if name == STANDARD or is_device(Path(name)):
        raise click.UsageError(f"--format {form} takes a file that is not written from beginning to end: name one with -o")
    if packing := ending(name)[1]:
        raise click.UsageError(f"{name}: {form} is not packed with {packing}, since programs map it; leave that ending out")


@contextmanager
def writing(name: str, form: str, tables: Tables) -> Iterator[Write]:
    """What writes ids to a file, or to standard output for "-". Files appear whole or not at all."""
    if form in LINES:
        with written(name) as file, packed(file, ending(name)[1]) as data:
            yield Lines(data, form, tables).write
        return
    if form == "npy":
        # The ids come last: where they are, the splits are.
        with written(name) as ids, written(splits_name(name)) as splits:
            arrays = Arrays(ids, splits)
            yield arrays.write
            arrays.close()
        return
    from fst.cli.columns import Writer

    with written(name) as file:
        writer = Writer(file, form)
        try:
            yield writer.write
            writer.close()
        except BaseException:
            writer.abandon()
            raise


def splits_name(name: str) -> str:
    """Where the row splits are that belong to ids."""
    return str(Path(name).with_suffix(".splits.npy"))


class Lines:
    """Lines of text, one a document.

    Args:
        file: where they go.
        form: "ids" or "tokens", separated by blanks, or "json" for both and the other fields of the document.
        tables: what the tokens are called.
    """

    def __init__(self, file: IO[bytes], form: str, tables: Tables) -> None:
        self._file = file
        self._spellings = names(tables)
        self._decimals = Decimals(int(tables.token_ids.max()) + 1 if form == "ids" else 0)
        self._is_begun = False  # whether there are ids of a document that goes on
        self._lines = {"ids": self._numbers, "tokens": self._joined, "json": self._objects}[form]

    def write(self, encoded: Encoded) -> None:
        """Write the lines of some documents; whoever waits for them has them at once."""
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

    def _objects(self, encoded: Encoded) -> bytes:
        documents = encoded.documents
        nulls = repeat(False) if encoded.nulls is None else encoded.nulls
        lines = list[bytes]()
        for number, row, other, is_null in zip(documents.numbers, _rows(encoded), documents.others or repeat({}), nulls, strict=False):
            if taken := other.keys() & {"ids", "tokens"}:
                raise TextError(f"{documents.place(number)}: there is a field {min(taken)!r} already, which is what is written; rename it")
            tokens = [self._spellings[token] for token in row]
            lines.append(_json({**other, "ids": None, "tokens": None} if is_null else {**other, "ids": row, "tokens": tokens}))
        return b"".join(lines)


def _rows(encoded: Encoded) -> Iterator[list[int]]:
    """The ids of each document, and of the one that goes on."""
    ids = encoded.ids.tolist()
    return (ids[first:last] for first, last in pairwise([0, *encoded.ends.tolist(), len(ids)]))


def _json(record: dict[str, Any]) -> bytes:
    """An object as a line. What is no text in it, lone surrogates, stays as it was: escaped."""
    try:
        return f"{json.dumps(record, ensure_ascii=False)}\n".encode()
    except UnicodeEncodeError:
        return f"{json.dumps(record)}\n".encode()


class Arrays:
    """A pair of `.npy` files: the ids, int32[n], and the row splits, int64[rows + 1].

    Args:
        ids, splits: where they go; they begin with their lengths, which are known last.
    """

    def __init__(self, ids: IO[bytes], splits: IO[bytes]) -> None:
        self._ids, self._splits = ids, splits
        self._count = self._rows = 0
        ids.write(bytes(NPY_HEADER))
        splits.write(bytes(NPY_HEADER) + np.zeros(1, "<i8").tobytes())

    def write(self, encoded: Encoded) -> None:
        """Add the ids of some documents."""
        self._ids.write(encoded.ids.astype("<i4", copy=False).data)
        self._splits.write((encoded.ends + self._count).astype("<i8", copy=False).data)
        self._count += len(encoded.ids)
        self._rows += len(encoded.ends)

    def close(self) -> None:
        """Write what they begin with."""
        for file, dtype, length in ((self._ids, "<i4", self._count), (self._splits, "<i8", self._rows + 1)):
            file.seek(0)
            file.write(_npy_header(dtype, length))


def _npy_header(dtype: str, length: int) -> bytes:
    described = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({length},), }}"
    return b"\x93NUMPY\x01\x00" + (NPY_HEADER - 10).to_bytes(2, "little") + described.ljust(NPY_HEADER - 11).encode() + b"\n"
