"""The machines that this version knows, one line each, and the loader, which asks a file for its kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fst.errors import TableError
from fst.machines.bpe.table import BpeTables
from fst.machines.keywords.overlapping import OverlappingTables
from fst.machines.keywords.table import KeywordTables
from fst.machines.segmentation.jieba import JiebaTables
from fst.machines.segmentation.maxmatch import MaxMatchTables
from fst.machines.segmentation.mecab import MecabTables
from fst.machines.unigram.table import UnigramTables
from fst.machines.wordpiece.table import Tables
from fst.tables import npz
from fst.tables.table import need_kind

MACHINES: dict[str, type[Any]] = {
    "bpe": BpeTables,
    "jieba": JiebaTables,
    "keywords": KeywordTables,
    "maxmatch": MaxMatchTables,
    "mecab": MecabTables,
    "overlapping-keywords": OverlappingTables,
    "unigram": UnigramTables,
    "wordpiece": Tables,
}


def load(path: str | Path) -> Any:
    """Map a file, prove it whole and safe, and return its table, a `fst.tables.table.Table`; see `fst.load`.

    Raises:
        TableError: it is not a table file, or of an unknown kind or version, or damaged, or not safe to run.
        OSError: it cannot be read.
    """
    data = npz.mapped(path)
    try:
        stored = npz.Stored(data)
        return MACHINES[need_kind(stored.about, MACHINES)].proven(stored)
    except TableError as error:
        raise TableError(f"{path}: {error}; compile it again") from None
