"""Table files for commands."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any

from fst import registry
from fst.errors import UnsupportedError

# What a command takes, by the face of the table.
TAKEN = {
    "Searcher": "one of keywords, from `fst compile --kind keywords`",
    "MecabSegmenter": "one of a dictionary of MeCab, from `fst compile --kind mecab`",
    "Segmenter": "one of a dictionary, from `fst compile --kind maxmatch`, jieba or mecab",
}


def load(path: str) -> Any:
    """The table of a tokenizer.

    Raises:
        UnsupportedError: the file is a table of another machine; the message names it.
        TableError, OSError: as by `fst.registry.load`.
    """
    table = registry.load(path)
    if not table.has_tokens:
        raise UnsupportedError(f"{path} is a table of {table.kind}, and has no tokens: this command takes the table of a tokenizer")
    return table


def load_for(face: str, path: str) -> Any:
    """A table that a face takes, a key of `TAKEN`.

    Raises:
        UnsupportedError: the file is a table of another face; the message names it.
        TableError, OSError: as by `fst.registry.load`.
    """
    table = registry.load(path)
    if face not in [base.__name__ for base in resolve_name(table.face).__mro__]:
        raise UnsupportedError(f"{path} is a table of {table.kind}: this command takes {TAKEN[face]}")
    return table
