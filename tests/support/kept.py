"""Tables that are made once per test run, and stored on disk for all tests and workers of the run.

`wordpiece` and `bpe` have the arguments of the functions with these names in `fst.compile`; `assemble` accepts a source of any kind. Tests
of a compiler import the original function.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

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
    tables: WordPieceTable = assemble(read(source, options, WordPieceModel.kind), layout)
    return tables


def bpe(source: Any, **options: Any) -> BpeTable:
    """The stored table of a source of BPE; if it is missing, it is compiled first."""
    tables: BpeTable = assemble(read(source, options, BpeModel.kind), "auto")
    return tables


def assemble(source: Source[Any], layout: str) -> Any:
    """The stored table of a source, mapped from disk and proven; if it is missing, it is compiled first."""
    path = FOLDER / f"{_digest(source, layout)}.npz"
    if not path.exists():
        source.table(layout).save(path)
    return _load(path)


@lru_cache(maxsize=100)
def _load(path: Path) -> Any:
    return fst.load(path)._table


def _digest(source: Source[Any], layout: str) -> str:
    """A digest of the source and the layout, which determine a table."""
    return sha256(repr((layout, source)).encode()).hexdigest()
