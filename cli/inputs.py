"""Documents to encode, from files of any kind: text, JSON lines, columns of Parquet and Arrow."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Set
from dataclasses import dataclass

import click

from fst.cli import lines, records
from fst.cli.documents import Documents
from fst.cli.pieces import Piece, Whole
from fst.cli.streams import Source, opened

KINDS = {"text": "text", "json": "JSON lines", "arrow": "Arrow IPC", "parquet": "Parquet"}
# The kinds that an option is for.
OPTIONS = {"--field": {"json"}, "--column": {"arrow", "parquet"}, "--separator": {"text"}, "--document file": {"text"}}
JSON_NAMES = tuple(f".{name}{packed}" for name in ("jsonl", "ndjson") for packed in ("", ".gz", ".zst"))


@dataclass(frozen=True)
class Reading:
    """How files are read.

    Attributes:
        input_format: one of `KINDS`; None: what a file is by its content and its name.
        field: which field of an object is the text, in JSON lines.
        column: which column is the text, in Arrow and Parquet.
        separator: what stands between documents of plain text; None: a line is a document.
        document: what a document of plain text is, a "line" or a "file".
        others: of which kinds to read what else there is beside texts.
        mends: whether lines of JSON that are not UTF-8 are mended.
        in_pieces: whether long documents of plain text may come in pieces.

    Raises:
        click.UsageError: these do not fit together.
    """

    input_format: str | None = None
    field: str | None = None
    column: str | None = None
    separator: str | None = None
    document: str = "line"
    others: Set[str] = frozenset()
    mends: bool = False
    in_pieces: bool = False

    def __post_init__(self) -> None:
        if self.separator is not None and self.document == "file":
            raise click.UsageError("--separator and --document file: a file has several documents, or is one")
        if self.separator == "":
            raise click.UsageError("--separator is empty; for a document a file there is --document file")

    def documents(self, names: Iterable[str], advance: Callable[[int], None]) -> Generator[Documents, None, None]:
        """The documents of files, one file after the other.

        Args:
            names: the files; "-" is standard input.
            advance: is told how many bytes each reading took.

        Raises:
            TextError: a file is damaged, or has no such column.
            click.UsageError: an option is for another kind of file, or one is missing.
        """
        for name in names:
            with opened(name, advance) as source:
                kind = self.input_format or source.kind or ("json" if self.field is not None or name.endswith(JSON_NAMES) else "text")
                self._check(kind, source.name)
                yield from self._of_kind(kind, source)

    def _of_kind(self, kind: str, source: Source) -> Iterator[Documents]:
        if kind == "text":
            return self._texts(source)
        if kind == "json":
            return records.documents(source, self.field or "", others=kind in self.others, mends=self.mends)
        from fst.cli import columns

        return columns.documents(source, kind, self.column or "", others=kind in self.others)

    def _texts(self, source: Source) -> Iterator[Documents]:
        separator = None if self.document == "file" else lines.LINE_FEED if self.separator is None else self.separator.encode()
        whole = Whole()
        for block in lines.blocks(source, separator, in_pieces=self.in_pieces):
            if block.is_begun or block.goes_on:
                whole = whole if block.is_begun else Whole()
                yield Piece(block.file, block.unit, [block.first], block.lines, whole=whole, is_last=not block.goes_on)
            else:
                yield Documents(block.file, block.unit, range(block.first, block.first + len(block.lines)), block.lines)

    def _check(self, kind: str, name: str) -> None:
        """Refuse an option that is for another kind, and the lack of one that this kind needs."""
        values = (self.field, self.column, self.separator, self.document if self.document == "file" else None)
        given = [option for option, value in zip(OPTIONS, values, strict=True) if value is not None]
        for option in given:
            if kind not in OPTIONS[option]:
                raise click.UsageError(f"{option} does not go with {name}, which is {KINDS[kind]}; say --input-format if it is not")
        needed = [option for option, kinds in OPTIONS.items() if kind in kinds and kind != "text"]
        if not given and needed:
            raise click.UsageError(f"{name} is {KINDS[kind]}: say with {needed[0]} what to encode; or --input-format, if it is not")
