"""Write the results of a search: documents with a match in the style of grep, a line for each match, JSON lines, arrays or columns."""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import IO, TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

from fst.cli.files.formats import forms_of
from fst.cli.files.streams import standard_output, written
from fst.cli.files.writers import Write, as_json, lines_of, records_of
from fst.errors import TextError
from fst.machines.keywords.table import OVERLAPPING, KeywordTable
from fst.runtime.files.documents import Documents
from fst.runtime.files.shards.npy import npy_header
from fst.runtime.files.streams import STANDARD

if TYPE_CHECKING:
    from fst import Matches

MATCHES = "matches"  # the name of the JSON field, and of the column in Arrow and Parquet
PLACES = ("start", "end")
FORMS = forms_of("lines", "matches", "json", arrays={".npz": "npz"}, advice="write .npz")
TAKE_PIECES = ("matches", "npz")  # forms for which a long document may be written in parts; other forms need complete documents
ARRAYS = {"ids": "<i4", "starts": "<i4", "ends": "<i4", "row_splits": "<i8"}  # dtypes of the arrays in .npz
MAX_PLACE = (1 << 31) - 1
ESCAPES = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})  # in keywords, because tabs separate the fields of a line
MATCH_COLOR, FILE_COLOR, SEPARATOR_COLOR, PLAIN = b"\x1b[01;31m", b"\x1b[35m", b"\x1b[36m", b"\x1b[m"  # as in grep


@dataclass(frozen=True, eq=False)
class Found:
    """Documents and the matches in them."""

    documents: Documents
    counts: NDArray[np.int64]  # int64[rows], the number of matches in each document
    matches: Matches | None = None  # the matches, with positions in characters; None: matches were only counted
    nulls: NDArray[np.bool_] | None = None  # bool[rows], whether each document is null; None: no document is null


def check_options(form: str, names: bool, replaces: bool) -> None:
    """Refuse options that have no effect in a form."""
    if names and (replaces or form in ("lines", "npz")):
        what = "--replace" if replaces else form
        raise click.UsageError(f"--names cannot be combined with {what}; expected the format matches, json, arrow or parquet")
    if replaces and form in ("matches", "npz"):
        raise click.UsageError(f"--replace cannot be combined with {form}; expected the format lines, json, arrow or parquet")


def check_replacing(tables: KeywordTable) -> None:
    """Refuse to replace matches that may overlap."""
    if tables.metadata.automaton.match_kind == OVERLAPPING:
        raise click.UsageError("--replace cannot replace overlapping matches; compile the keywords with another --match-kind")


def is_colored(color: str, output: str) -> bool:
    """Whether matches are shown in colour. By default, matches are in colour on a terminal, unless NO_COLOR is set; the option overrides
    this.
    """
    if color != "auto":
        return color == "always"
    return output == STANDARD and standard_output().isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


@contextmanager
def writing(
    name: str, form: str, *, keywords: Sequence[str] | None, file_names: bool, colored: bool, end: bytes | None
) -> Iterator[Write[Found]]:
    """A function that writes results of a search to a file, or to standard output for "-".

    Args:
        name: the file.
        form: one of `FORMS`.
        keywords: the keywords; None: the numbers of keywords are written.
        file_names: whether each line begins with the name of the input file.
        colored: whether matches are shown in colour.
        end: the bytes to write after each document in the form "lines"; None: nothing.
    """
    if form == "matches":
        with lines_of(name) as file:
            yield MatchLines(file, keywords, file_names).write
    elif form == "lines":
        with lines_of(name) as file:
            yield DocumentLines(file, file_names, colored, end).write
    elif form == "npz":
        with written(name) as file, Arrays(file) as arrays:
            yield arrays.write
    else:
        with records_of(name, form, lambda: MatchMembers(keywords), lambda: MatchColumns(keywords)) as write:
            yield write


class DocumentLines:
    """A writer of the documents that contain a match, in the style of grep.

    Args:
        file: the output.
        file_names: whether each line begins with the name of the input file.
        colored: whether matches are shown in colour.
        end: the bytes to write after each document; None: nothing.
    """

    def __init__(self, file: IO[bytes], file_names: bool, colored: bool, end: bytes | None) -> None:
        self._file, self._file_names, self._colored, self._end = file, file_names, colored, end or b""

    def write(self, found: Found) -> None:
        """Write the documents with a match, and flush them."""
        rows: list[int] = np.flatnonzero(found.counts).tolist()
        begin = self._begin(found.documents.file)
        for row, text in zip(rows, found.documents.texts_in_utf8(rows), strict=True):
            shown = text or b""
            if self._colored and found.matches is not None:
                shown = _colored(shown.decode(), found.matches, row)
            self._file.write(begin + shown + self._end)
        self._file.flush()

    def _begin(self, name: str) -> bytes:
        if not self._file_names:
            return b""
        spelled = os.fsencode(name)
        return FILE_COLOR + spelled + PLAIN + SEPARATOR_COLOR + b":" + PLAIN if self._colored else spelled + b":"


def _colored(text: str, matches: Matches, row: int) -> bytes:
    """A text in UTF-8 with the matches in colour. A character in several matches is coloured once, and empty matches are not shown."""
    parts, at = list[bytes](), 0
    for _, start, end in sorted(matches[row], key=lambda match: match.start):
        if end > at:
            begin = max(start, at)
            parts += text[at:begin].encode(), MATCH_COLOR, text[begin:end].encode(), PLAIN
            at = end
    return b"".join([*parts, text[at:].encode()])


class KeywordSpellings(dict[int, str]):
    """The spelling of each keyword in the output, by number. Each keyword is formatted once, by the function `spell`."""

    def __init__(self, spell: Callable[[int], str]) -> None:
        super().__init__()
        self._spell = spell

    def __missing__(self, number: int) -> str:
        self[number] = spelled = self._spell(number)
        return spelled


def _columns(matches: Matches) -> tuple[list[int], list[int], list[int]]:
    return matches.ids.tolist(), matches.starts.tolist(), matches.ends.tolist()


class MatchLines:
    """A writer of a line for each match: the number of the document, the keyword or its number, and the start and end of the match in
    characters, separated by tabs. `file`: the output. `keywords`: as in `writing`. `file_names`: whether each line begins with the name of
    the input file.
    """

    def __init__(self, file: IO[bytes], keywords: Sequence[str] | None, file_names: bool) -> None:
        self._file, self._file_names = file, file_names
        self._spellings = KeywordSpellings(lambda number: str(number) if keywords is None else keywords[number].translate(ESCAPES))

    def write(self, found: Found) -> None:
        """Write the matches in some documents, and flush them."""
        assert found.matches is not None
        begin = f"{found.documents.file}\t" if self._file_names else ""
        numbers = np.repeat(np.asarray(found.documents.numbers, np.int64), found.counts).tolist()
        rows = zip(numbers, *_columns(found.matches), strict=True)
        lines = [f"{begin}{number}\t{self._spellings[keyword]}\t{start}\t{end}\n" for number, keyword, start, end in rows]
        self._file.write("".join(lines).encode("utf-8", "surrogateescape"))
        self._file.flush()


class MatchMembers:
    """A conversion of matches to a JSON member: a list of objects with the keyword or its number, the start and the end."""

    def __init__(self, keywords: Sequence[str] | None) -> None:
        self._spellings = KeywordSpellings(
            lambda number: f'"id":{number}' if keywords is None else f'"keyword":{as_json(keywords[number]).decode()}'
        )

    def of(self, found: Found, /) -> tuple[Documents, Any, dict[str, list[bytes]]]:
        """See `fst.cli.files.writers.MembersOf`."""
        assert found.matches is not None
        rows = zip(*_columns(found.matches), strict=True)
        objects = [f'{{{self._spellings[keyword]},"start":{start},"end":{end}}}' for keyword, start, end in rows]
        lists = [f"[{','.join(objects[begin:end])}]".encode() for begin, end in pairwise(found.matches.row_splits.tolist())]
        return found.documents, found.nulls, {MATCHES: lists}


class MatchColumns:
    """A conversion of matches to a column of lists. A match is a struct of the keyword or its number, the start and the end. `keywords`:
    the keywords; None: the numbers of keywords are written.
    """

    def __init__(self, keywords: Sequence[str] | None) -> None:
        from fst.runtime.files.with_pyarrow import pa

        self._pa = pa
        self._keywords = None if keywords is None else pa.array(keywords, pa.string())
        first = ("id", pa.int32()) if keywords is None else ("keyword", pa.string())
        self._kind = pa.struct([first, *((name, pa.int32()) for name in PLACES)])

    @property
    def added(self) -> Sequence[tuple[str, Any]]:
        """See `fst.cli.files.columns.ColumnsOf`."""
        return [(MATCHES, self._pa.list_(self._kind))]

    def of(self, found: Found, /) -> tuple[Documents, Sequence[Any]]:
        """See `fst.cli.files.columns.ColumnsOf`."""
        assert found.matches is not None
        pa = self._pa
        ids = pa.array(found.matches.ids)
        first = ids if self._keywords is None else self._keywords.take(ids)
        values = pa.StructArray.from_arrays([first, pa.array(found.matches.starts), pa.array(found.matches.ends)], fields=list(self._kind))
        mask = None if found.nulls is None else pa.array(found.nulls)
        return found.documents, [pa.ListArray.from_arrays(pa.array(found.matches.row_splits.astype(np.int32)), values, mask=mask)]


class Arrays:
    """A writer of the arrays of `fst.Matches` as .npz. The arrays grow in temporary files, because a zip file stores them in sequence."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._open = ExitStack()
        self._waiting = {name: self._open.enter_context(tempfile.TemporaryFile()) for name in ARRAYS}  # noqa: SIM115 - the stack closes them
        self._count = 0
        self._waiting["row_splits"].write(np.zeros(1, "<i8").tobytes())

    def __enter__(self) -> Arrays:
        return self

    def write(self, found: Found) -> None:
        """Add the matches of some documents."""
        assert found.matches is not None
        if len(found.matches.ends) and found.matches.ends.max() > MAX_PLACE:
            name = found.documents.file
            raise TextError(f"{name}: a document has more than {MAX_PLACE:,} characters; split it, or pass --format matches")
        arrays = {name: getattr(found.matches, name) for name in ARRAYS}
        arrays["row_splits"] = (arrays["row_splits"][1:] + self._count)[: len(found.documents)]  # an unfinished document has no end yet
        self._count += len(found.matches.ids)
        for name, dtype in ARRAYS.items():
            self._waiting[name].write(np.ascontiguousarray(arrays[name], dtype).data)

    def __exit__(self, kind: object, *_: object) -> None:
        with self._open:
            if kind is None:
                with zipfile.ZipFile(self._file, "w") as archive:
                    for name, dtype in ARRAYS.items():
                        self._add(archive, name, dtype)

    def _add(self, archive: zipfile.ZipFile, name: str, dtype: str) -> None:
        waiting = self._waiting[name]
        count = waiting.tell() // np.dtype(dtype).itemsize
        waiting.seek(0)
        with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
            member.write(npy_header(dtype, count))
            while chunk := waiting.read(1 << 20):
                member.write(chunk)
