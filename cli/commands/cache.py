"""The command `fst cache`: the tables of tokenizers that are cached on disk."""

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
from fst.errors import FstError, TableError, counted, listed

SHOWN = 12  # number of characters of the digest in the list
HEADINGS = ("TABLE", "KIND", "TOKENS", "SIZE", "LAST USED", "SOURCE")
RIGHT = ("TOKENS", "SIZE")  # columns of numbers


@click.command("cache", cls=CliCommand)
@click.argument("patterns", nargs=-1, metavar="[PATTERN]...")
@click.option("--remove", is_flag=True, help="Remove the tables that match a PATTERN.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
def command(patterns: tuple[str, ...], remove: bool, as_json: bool) -> None:
    """List or remove the tables that are cached on disk.

    Python functions that are given a file, a folder, the name of a model or a live tokenizer compile it once, and cache its table, also for
    other processes. The folder is FST_CACHE; by default, it lies in the user's cache. Tables of other versions of this package in the
    user's cache are listed, too.

    PATTERN is a name in the first or the last column, or the last part of a path; * stands for any characters. A removed table is compiled
    again at its next use.

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
    every = [_described(*file, is_own=place == folders[0]) for place in folders for file in tables_in(place)]
    missing = [pattern for pattern in patterns if not any(each.matches(pattern) for each in every)]
    if missing:
        raise FstError(f"no cached table is {listed(missing)}; `fst cache` lists all names")
    chosen = [each for each in every if not patterns or any(map(each.matches, patterns))]
    for each in chosen if remove else ():
        remove_table(Path(each.file))
    show([json.dumps([asdict(each) for each in chosen])] if as_json else _listed(chosen, folders, "removed from" if remove else "in"))


@dataclass(frozen=True)
class CachedTable:
    """A file in a folder of cached tables; `kind` and `tokens` are those of the table, `used` is a time in ISO format."""

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


def _described(path: Path, status: os.stat_result, *, is_own: bool) -> CachedTable:
    """The description of a file. `is_own`: whether the file is in the folder of this version of the package."""
    from fst import registry
    from fst.bridge.table_cache import source_of

    try:
        source = "".join(char if char.isprintable() else "?" for char in source_of(path).read_text("utf-8", "replace"))
    except OSError:
        source = ""
    try:
        table: Any = registry.load(path)
        kind, tokens = table.kind, len(table.token_ids)
    except (OSError, TableError):
        kind, tokens = "damaged" if is_own else "other version", None
    used = datetime.fromtimestamp(status.st_mtime).astimezone().isoformat()
    return CachedTable(str(path), kind, tokens, status.st_size, used, source)


def _listed(tables: Sequence[CachedTable], folders: Sequence[Path], where: str) -> Iterator[str]:
    """The tables in columns; and for each folder, the number and the size of its tables."""
    rows = [HEADINGS, *(each.row for each in tables)] if tables else []
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(HEADINGS, row, widths, strict=True)
        yield "  ".join(cell.rjust(width) if name in RIGHT else cell.ljust(width) for name, cell, width in cells).rstrip()
    for place in folders:
        sizes = [each.bytes for each in tables if Path(each.file).parent == place]
        if sizes or place == folders[0]:
            yield f"{counted(len(sizes), 'table')} {where} {place}, {sum(sizes) / 1e6:,.1f} MB"
