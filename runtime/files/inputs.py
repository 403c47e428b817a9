"""Read documents from files, and recognise the format of each file: plain text, JSON lines, Parquet or Arrow."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fst.errors import ReadingError
from fst.runtime.files import lines
from fst.runtime.files.documents import MEND, MEND_TEXT, Documents, Fault, Lines
from fst.runtime.files.packing import UNSUPPORTED, ending
from fst.runtime.files.pieces import Piece, Whole
from fst.runtime.files.streams import STANDARD, Source, opened

KINDS = {"text": "text", "json": "JSON lines", "arrow": "Arrow IPC", "parquet": "Parquet"}
# The kinds of files to which each option applies.
OPTIONS = {"--field": {"json"}, "--column": {"arrow", "parquet"}, "--separator": {"text"}, "--document file": {"text"}}
JSON_NAMES = (".json", ".jsonl", ".ndjson")
COLUMNAR_NAMES = {".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow"}
# The remedy for files that cannot be read, by the ending of the file name.
INSTEAD = {
    **dict.fromkeys([".csv", ".tsv"], "convert it to Parquet or JSON lines"),
    **dict.fromkeys(UNSUPPORTED, "unpack it"),
}
TEXT = "text"
HEAD = 1 << 12  # number of bytes of a JSON file that `Reading.check` reads
MAX_LISTED = 12  # maximum number of field names in a message
EXCERPT = 40  # maximum number of characters of a value in a message
WHOLE_JSON = re.compile(rb"\s*(?:(\[)|\{\s*\n)")  # the start of JSON that is not JSON lines: an array, or an object on several lines


@dataclass(frozen=True)
class Reading:
    """The options for reading files; the command line has options with the same names.

    Attributes:
        input_format: a key of `KINDS`; None: the format is recognised from the content and the name of the file.
        field: the field with the text, in JSON lines.
        column: the column with the text, in Arrow or Parquet.
        separator: the string between documents in plain text; None: each line is a document.
        document: the part of plain text that is a document, "line" or "file".
        others: whether to read the other fields or columns, too.
        with_text: whether the other fields or columns include the text.
        mends: whether malformed UTF-8 in JSON lines is replaced by U+FFFD.
        in_pieces: whether long documents of plain text are divided into pieces.
        with_ends: whether documents of plain text include the line feed or the separator at their end. Lines are then `Lines`.
        most: the maximum size in bytes of a document of plain text that is not divided, and of a line of JSON; None: `lines.MOST_BYTES`.
        row_group: the row group to read of each Parquet file, from 0; None: all.
    """

    input_format: str | None = None
    field: str | None = None
    column: str | None = None
    separator: str | None = None
    document: str = "line"
    others: bool = False
    with_text: bool = False
    mends: bool = False
    in_pieces: bool = False
    with_ends: bool = False
    most: int | None = None
    row_group: int | None = None

    def __post_init__(self) -> None:
        if self.separator is not None and self.document == "file":
            raise ReadingError("--separator is combined with --document file; expected one of them; leave one out")
        if self.separator == "":
            raise ReadingError("--separator is empty; expected text; pass --document file to read each file as one document")

    @property
    def text_name(self) -> str:
        """The name of the field or column with the text; for plain text, the name of the field to which a command writes the text."""
        return self.field or self.column or TEXT

    @property
    def carried_name(self) -> str | None:
        """The name of the field or column to which a command writes the text; None: the command writes no fields or columns of the
        input.
        """
        return self.text_name if self.others else None

    def documents(self, names: Iterable[str], advance: Callable[[int], None]) -> Generator[Documents, None, None]:
        """Read the documents of files in their order; "-" is standard input. `advance` is called with the number of bytes of each read."""
        for name in names:
            with opened(name, advance) as source:
                kind = self._kind(source)
                self._check_options(kind, source.name)
                yield from self._of_kind(kind, source)

    def kind(self, name: str) -> str:
        """Recognise the kind of a file, a key of `KINDS`, by the first bytes of a regular local file, or by the name of any other file."""
        if self.input_format is None and Path(name).is_file():
            with opened(name, lambda _: None) as source:
                return self._kind(source)
        columnar = COLUMNAR_NAMES.get(ending(name)[0], "parquet" if self.column is not None else None)
        return self.input_format or columnar or self._by_name(name)

    def row_groups(self, name: str) -> Sequence[int | None]:
        """The numbers of the row groups in a Parquet file; for any other file, only None."""
        if self.kind(name) != "parquet":
            return [None]
        from fst.runtime.files import columns

        with opened(name, lambda _: None) as source:
            return range(columns.count_groups(source)) or [None]

    def check(self, names: Iterable[str]) -> None:
        """Check the first bytes of all files before any document is read. Only regular local files are opened, because bytes that are read
        from other files are lost.
        """
        for name in names:
            if name != STANDARD and Path(name).is_file():
                with opened(name, lambda _: None) as source:
                    kind = self._kind(source)
                    if kind == "json" and not self.input_format:
                        _check_lines(name, source.file.read(HEAD))
                    self._check_options(kind, name)

    def _kind(self, source: Source) -> str:
        return self.input_format or source.kind or self._by_name(source.name)

    def _by_name(self, name: str) -> str:
        kind, _ = ending(name)
        if kind in INSTEAD:
            raise ReadingError(f"{name}: {kind} is not read; {INSTEAD[kind]}, or pass --input-format text to read it as it is")
        return "json" if self.field is not None or kind in JSON_NAMES else "text"

    def _of_kind(self, kind: str, source: Source) -> Iterator[Documents]:
        if kind == "text":
            return self._texts(source)
        if kind == "json":
            return map(self._parsed, lines.blocks(source, lines.LINE_FEED, most=self.most))
        from fst.runtime.files import columns

        return columns.documents(source, kind, self.column or "", others=self.others, with_text=self.with_text, group=self.row_group)

    @property
    def end(self) -> bytes | None:
        """The bytes between documents in plain text; None if each file is one document."""
        return None if self.document == "file" else lines.LINE_FEED if self.separator is None else self.separator.encode()

    def _texts(self, source: Source) -> Iterator[Documents]:
        if self.with_ends and self.end == lines.LINE_FEED:
            return self._lines(source)
        return self._blocks(source)

    def _lines(self, source: Source) -> Iterator[Documents]:
        for first, found in lines.ended(source, self.most or lines.MOST_BYTES):
            yield Lines(source.name, "line", range(first, first + len(found)), found)

    def _blocks(self, source: Source) -> Iterator[Documents]:
        whole = Whole()
        for block in lines.blocks(source, self.end, in_pieces=self.in_pieces, with_ends=self.with_ends, most=self.most):
            if block.is_begun or block.goes_on:
                whole = whole if block.is_begun else Whole()
                yield Piece(block.file, block.unit, [block.first], block.lines, whole=whole, is_last=not block.goes_on)
            else:
                yield Documents(block.file, block.unit, range(block.first, block.first + len(block.lines)), block.lines)

    def _parsed(self, block: lines.Block) -> Documents:
        """Parse lines, each of which is a JSON object. Lines that are empty or contain only whitespace are skipped."""
        name, mends = self.field or "", self.mends
        numbers, texts, rest, wrong, replaced = list[int](), list[str](), list[dict[str, Any]](), list[tuple[int, Fault]](), 0
        for number, line in enumerate(block.lines, block.first):
            if not line or line.isspace():
                continue
            try:
                string, is_mended = _decoded(line, mends)
                record = _record(string)
                text = _text(record, name)
            except UnicodeDecodeError as error:
                wrong.append((number, Fault(f"not UTF-8 at byte {error.start}", MEND_TEXT)))
                continue
            except ValueError as error:
                wrong.append((number, Fault(str(error), MEND)))
                continue
            numbers.append(number)
            texts.append(text)
            replaced += is_mended
            if not self.with_text:
                del record[name]
            if self.others:
                rest.append(record)
        return Documents(block.file, block.unit, numbers, texts, rest if self.others else None, wrong, replaced)

    def _check_options(self, kind: str, name: str) -> None:
        """Raise an error for an option that does not apply to the format, and for a missing option that the format requires."""
        values = (self.field, self.column, self.separator, self.document if self.document == "file" else None)
        given = [option for option, value in zip(OPTIONS, values, strict=True) if value is not None]
        for option in given:
            if kind not in OPTIONS[option]:
                raise ReadingError(f"{option} does not go with {name}, which is {KINDS[kind]}; pass --input-format if it is not")
        needed = [option for option, kinds in OPTIONS.items() if kind in kinds and kind != "text"]
        if not given and needed:
            raise ReadingError(f"{name} is {KINDS[kind]}; name its texts with {needed[0]}, or pass --input-format for another format")


def _decoded(line: bytes, mends: bool) -> tuple[str, bool]:
    """Decode a line to str; return also whether malformed bytes were replaced."""
    try:
        return line.decode(), False
    except UnicodeDecodeError:
        if not mends:
            raise
        return line.decode("utf-8", "replace"), True


def _record(line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        what = f" at character {error.pos}: {error.msg}" if isinstance(error, json.JSONDecodeError) else ""
        raise ValueError(f"not JSON{what}") from None
    if not isinstance(record, dict):
        raise ValueError("no JSON object")
    return record


def _text(record: dict[str, Any], name: str) -> str:
    if name not in record:
        names = ", ".join(map(repr, list(record)[:MAX_LISTED])) or "none"
        raise ValueError(f"no field {name!r}; its fields are {names}")
    text = record[name]
    if not isinstance(text, str):
        raise ValueError(f"the field {name!r} is {json.dumps(text)[:EXCERPT]}, no string")
    return text


def _check_lines(name: str, head: bytes) -> None:
    """Raise an error for JSON that does not begin like JSON lines."""
    if found := WHOLE_JSON.match(head):
        what, query = ("an array", "'.[]'") if found[1] else ("an object of several lines", ".")
        hint = f"make JSON lines of it with `jq -c {query}`, or pass --input-format json if each line is an object"
        raise ReadingError(f"{name} is JSON, but {what} and not JSON lines; {hint}")
