"""Tables that are made once per test run, and stored on disk for all tests and workers of the run.

`wordpiece`, `bpe` and `tokenizer` have the arguments of the functions with these names in `fst.compile`; `assemble` accepts a source that
is already read. Tests of a compiler import the original function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from support.shared_data import SHARED

import fst
from fst.compile.machines.bpe.model import BpeModel
from fst.compile.machines.wordpiece.model import WordPieceModel
from fst.compile.sources.read import read
from fst.compile.text.source import Source
from fst.machines.bpe.table import BpeTable
from fst.machines.wordpiece.table import WordPieceTable

FOLDER = Path()  # set by conftest.py


def wordpiece(source: str | Path | Sequence[str], *, layout: str = "auto", **options: Any) -> WordPieceTable:
    """The stored table of a source of WordPiece; if it is missing, it is compiled first."""
    tables: WordPieceTable = _table(source, options, WordPieceModel.kind, layout)
    return tables


def bpe(source: Any, **options: Any) -> BpeTable:
    """The stored table of a source of BPE; if it is missing, it is compiled first."""
    tables: BpeTable = _table(source, options, BpeModel.kind)
    return tables


def tokenizer(source: Path) -> Any:
    """The stored table of a file or folder of `SHARED`, or of a file alone in its folder; if missing, the table is compiled first."""
    key = source if source.is_relative_to(SHARED) else source.read_bytes()
    return _stored((source.name, key), lambda: fst.compile.tokenizer(source))


def assemble(source: Source[Any], layout: str) -> Any:
    """The stored table of a source, mapped from disk and proven; if it is missing, it is compiled first."""
    return _stored((layout, source), lambda: source.table(layout))


def _table(source: Any, options: dict[str, Any], kind: str, layout: str = "auto") -> Any:
    """The stored table of a source. Files of `SHARED` do not change during a run, so they are read only for the first table."""
    if isinstance(source, Path) and source.is_relative_to(SHARED):
        return _stored((kind, layout, source, options), lambda: read(source, options, kind).table(layout))
    return assemble(read(source, options, kind), layout)


def _stored(key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
    """The stored table with a key, which determines it."""
    path = FOLDER / f"{sha256(repr(key).encode()).hexdigest()}.npz"
    if not path.exists():
        make().save(path)
    return _load(path)


@lru_cache(maxsize=100)
def _load(path: Path) -> Any:
    return fst.load(path)._table
