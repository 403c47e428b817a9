"""Tables that are compiled once per test run, and kept on disk for all tests and all workers of the run.

`wordpiece` and `assemble` take the arguments of `fst.compile.wordpiece`. Tests of the compiler itself import the original.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import fst
from fst.compile.sources import vocabulary as vocabularies
from fst.compile.sources.vocabulary import Vocabulary
from fst.compile.wordpiece import assemble as compiled
from fst.machines.wordpiece import Tables

FOLDER = Path()  # conftest.py sets it


def wordpiece(source: str | Path | Sequence[str], *, layout: str = "auto", **options: Any) -> Tables:
    """The tables of a source of tokens: read anew, compiled unless they are kept."""
    return assemble(vocabularies.read(source, options), layout)


def assemble(vocabulary: Vocabulary, layout: str) -> Tables:
    """The tables of a vocabulary, mapped from disk and proven."""
    path = FOLDER / f"{_digest(vocabulary, layout)}.npz"
    if not path.exists():
        compiled(vocabulary, layout).save(path)
    return _load(path)


@lru_cache(maxsize=100)
def _load(path: Path) -> Tables:
    return fst.load(path)._tables


def _digest(vocabulary: Vocabulary, layout: str) -> str:
    """A digest of all that tables follow from. Sets are sorted: their order differs between processes."""
    values = [getattr(vocabulary, field.name) for field in fields(vocabulary)]
    return sha256(repr((layout, [sorted(value) if isinstance(value, frozenset) else value for value in values])).encode()).hexdigest()
