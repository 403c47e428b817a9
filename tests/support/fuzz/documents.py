"""Readers of documents as targets of fuzzing."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from support.document_files import TEXTS, as_input
from support.fuzz.reader import Reader

from fst.runtime.files.reading import Files


def _read(name: str, **options: Any) -> Callable[[Path], Any]:
    """A function that reads the documents of a file."""

    def read(folder: Path) -> None:
        for documents in Files([folder / name], **options).documents(errors="replace"):
            documents.in_utf8()

    return read


def _packed() -> Sequence[bytes]:
    lines = as_input("lines", TEXTS)
    return [gzip.compress(lines, mtime=0), bz2.compress(lines), lzma.compress(lines)]


def _renamed(kind: str) -> bytes:
    """A file with a column whose name is not UTF-8."""
    return as_input(kind, TEXTS).replace(b"last", b"l\xffst")


FOUND_ARROW = [_renamed("arrow file"), _renamed("arrow stream")]

READERS = {
    "lines": Reader(_read("a.txt"), lambda: [as_input("lines", TEXTS)], ("a.txt",)),
    "json lines": Reader(_read("a.jsonl", field="text", others=True), lambda: [as_input("json", TEXTS)], ("a.jsonl",)),
    "packed lines": Reader(_read("a"), _packed, ("a",)),
    "arrow": Reader(
        _read("a.arrow", column="text"),
        lambda: [as_input("arrow file", TEXTS), as_input("arrow stream", TEXTS)],
        ("a.arrow",),
        found=FOUND_ARROW,
    ),
    "parquet": Reader(_read("a.parquet", column="text"), lambda: [as_input("parquet", TEXTS)], ("a.parquet",), found=[_renamed("parquet")]),
}
