"""The command `fst cache`: a list of the tables that are cached on disk, and their removal."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import click

from fst.cli.files.streams import show
from fst.cli.group import CliCommand
from fst.core import regular_files
from fst.errors import FstError, TableError, counted, listed

MAX_NAME = 1 << 16  # maximum number of bytes of the name of a source
SHOWN = 12  # number of characters of the digest in the list
HEADINGS = ("TABLE", "KIND", "TOKENS", "SIZE", "LAST USED", "SOURCE")
RIGHT = ("TOKENS", "SIZE")  # columns of numbers


@click.command("cache", cls=CliCommand)
@click.argument("patterns", nargs=-1, metavar="[PATTERN]...")
@click.option("--remove", is_flag=True, help="Remove the tables that match a PATTERN.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def command(patterns: tuple[str, ...], remove: bool, as_json: bool) -> None:
    """List or remove the tables that are cached on disk.

    A Python function that takes a tokenizer, such as fst.Tokenizer, compiles a file, a folder, a model or a live tokenizer once, and caches
    the table for later processes. The environment variable FST_CACHE names the folder; by default, it is in the user's cache, and tables of
    other versions of this package there are listed, too.

    PATTERN matches a name in the first or the last column, or the last part of a path; * matches any characters. A removed table is
    compiled again at its next use.

    \b
    Examples:
      fst cache
      fst cache '*qwen*'
      fst cache --remove '*qwen*'
      fst cache --remove '*'
    """
    from fst.bridge.table_cache import folders_of_tables, remove_table, tables_in

    if remove and not patterns:
        raise click.UsageError("--remove needs a PATTERN; '*' removes all tables")
    folders = folders_of_tables()
    every = [_described(*file) for place in folders for file in tables_in(place)]
    missing = [pattern for pattern in patterns if not any(each.matches(pattern) for each in every)]
    if missing:
        raise FstError(f"no cached table matches {listed(missing)}; `fst cache` lists their names")
    chosen = [each for each in every if not patterns or any(map(each.matches, patterns))]
    for each in chosen if remove else ():
        remove_table(Path(each.file))
    show([json.dumps([asdict(each) for each in chosen])] if as_json else _listed(chosen, folders, "removed from" if remove else "in"))


@dataclass(frozen=True)
class CachedTable:
    """A cached table.

    Attributes:
        file: the path.
        kind: the kind of the table; "unreadable" if the file is damaged, or has the format of another version of this package.
        tokens: the number of tokens; None for an unreadable file.
        bytes: the size of the file.
        used: the time of the last use, in ISO format.
        source: the name of the tokenizer, or the path; empty if it is unknown.
    """

    file: str
    kind: str
    tokens: int | None
    bytes: int
    used: str
    source: str

    @property
    def digest(self) -> str:
        """The beginning of the file's name."""
        return Path(self.file).name[:SHOWN]

    def matches(self, pattern: str) -> bool:
        """Whether a pattern of the command matches a name of the table."""
        return any(fnmatchcase(name, pattern) for name in (self.digest, self.source, Path(self.source).name))

    @property
    def row(self) -> tuple[str, ...]:
        """The values under `HEADINGS`."""
        tokens = "" if self.tokens is None else f"{self.tokens:,}"
        return self.digest, self.kind, tokens, f"{self.bytes / 1e6:,.1f} MB", self.used[:16].replace("T", " "), self.source


def _described(path: Path, status: os.stat_result) -> CachedTable:
    """The description of the file of a table."""
    from fst import registry
    from fst.bridge.table_cache import source_of

    try:
        name = regular_files.contents(source_of(path), MAX_NAME, TableError).decode("utf-8", "replace")
    except (OSError, TableError):
        name = ""
    try:
        table: Any = registry.load(path)
        kind, tokens = table.kind, len(table.token_ids)
    except (OSError, TableError):
        kind, tokens = "unreadable", None
    source = "".join(char if char.isprintable() else "?" for char in name)
    used = datetime.fromtimestamp(status.st_mtime).astimezone().isoformat()
    return CachedTable(str(path), kind, tokens, status.st_size, used, source)


def _listed(tables: Sequence[CachedTable], folders: Sequence[Path], where: str) -> Iterator[str]:
    """The lines of the list: a row for each table, then for each folder the number and the size of its tables.

    Args:
        tables: the tables.
        folders: the folders, that of this version first.
        where: the words before the path of a folder.
    """
    rows = [HEADINGS, *(each.row for each in tables)] if tables else []
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(HEADINGS, row, widths, strict=True)
        yield "  ".join(cell.rjust(width) if name in RIGHT else cell.ljust(width) for name, cell, width in cells).rstrip()
    for place in folders:
        sizes = [each.bytes for each in tables if Path(each.file).parent == place]
        if sizes or place == folders[0]:
            yield f"{counted(len(sizes), 'table')} {where} {place}, {sum(sizes) / 1e6:,.1f} MB"
