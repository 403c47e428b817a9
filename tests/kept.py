"""Tables that are compiled once per test run, and kept on disk for all tests and all workers of the run.

`wordpiece` and `assemble` take the arguments of `fst.compile.wordpiece`, and `bpe` takes a file and the options of `fst.compile.bpe`. Tests
of the compiler itself import the original.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import fst
from fst.compile import bpe as compiled_bpe
from fst.compile.sources.read import read
from fst.compile.sources.source import Source
from fst.compile.wordpiece import WordPieceModel
from fst.compile.wordpiece import assemble as compiled
from fst.machines.bpe import BpeTables
from fst.machines.wordpiece import Tables

FOLDER = Path()  # conftest.py sets it


def wordpiece(source: str | Path | Sequence[str], *, layout: str = "auto", **options: Any) -> Tables:
    """The tables of a source of tokens: read anew, compiled unless they are kept."""
    return assemble(read(source, options, WordPieceModel.kind), layout)


def bpe(source: Path, **options: Any) -> BpeTables:
    """The table of a file of a byte-level BPE vocabulary: compiled unless it is kept."""
    digest = sha256(source.read_bytes())
    digest.update(repr((source.name, options)).encode())
    path = FOLDER / f"{digest.hexdigest()}.npz"
    if not path.exists():
        compiled_bpe(source, **options).save(path)
    table: BpeTables = _load(path)
    return table


def assemble(source: Source[WordPieceModel], layout: str) -> Tables:
    """The tables of a source, mapped from disk and proven."""
    path = FOLDER / f"{_digest(source, layout)}.npz"
    if not path.exists():
        compiled(source, layout).save(path)
    tables: Tables = _load(path)
    return tables


@lru_cache(maxsize=100)
def _load(path: Path) -> Any:
    return fst.load(path)._table


def _digest(source: Source[WordPieceModel], layout: str) -> str:
    """A digest of all that tables follow from."""
    return sha256(repr((layout, source)).encode()).hexdigest()
