"""The machines that this version knows, one line each, and the loader, which asks a file for its kind."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from fst.errors import TableError
from fst.tables import npz
from fst.tables.table import need_kind

MACHINES: dict[str, str] = {  # kind → the class of its tables, imported when a file has the kind
    "bpe": "fst.machines.bpe.table.BpeTable",
    "jieba": "fst.machines.segmentation.jieba.JiebaTable",
    "keywords": "fst.machines.keywords.table.KeywordTable",
    "maxmatch": "fst.machines.segmentation.maxmatch.MaxMatchTable",
    "mecab": "fst.machines.segmentation.mecab.MecabTable",
    "overlapping-keywords": "fst.machines.keywords.overlapping.OverlappingTable",
    "unigram": "fst.machines.unigram.table.UnigramTable",
    "wordpiece": "fst.machines.wordpiece.table.WordPieceTable",
}


def table_class(kind: str) -> type[Any]:
    """Import the class of the tables of a kind."""
    module, _, name = MACHINES[kind].rpartition(".")
    found: type[Any] = getattr(import_module(module), name)
    return found


def load(path: str | Path) -> Any:
    """Map a file, prove it whole and safe, and return its table, a `fst.tables.table.Table`; see `fst.load`.

    Raises:
        TableError: it is not a table file, or of an unknown kind or version, or damaged, or not safe to run.
        OSError: it cannot be read.
    """
    data = npz.mapped(path)
    try:
        stored = npz.Stored(data)
        return table_class(need_kind(stored.about, MACHINES)).proven(stored)
    except TableError as error:
        raise TableError(f"{path}: {error}; compile it again") from None
