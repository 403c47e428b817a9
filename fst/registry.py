"""The registry of machines, one line for each machine; and the loader of tables."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from fst.errors import TableError

MACHINES: dict[str, str] = {  # kind → full name of its table class, which is imported at its first use
    "best-path": "fst.machines.best_path.table.BestPathTable",
    "bpe": "fst.machines.bpe.table.BpeTable",
    "guide": "fst.machines.guide.table.GuideTable",
    "jieba": "fst.machines.segmentation.jieba.JiebaTable",
    "keywords": "fst.machines.keywords.table.KeywordTable",
    "lookup": "fst.machines.lookup.table.LookupTable",
    "maxmatch": "fst.machines.segmentation.maxmatch.MaxMatchTable",
    "mecab": "fst.machines.segmentation.mecab.MecabTable",
    "mecab-wordpiece": "fst.machines.segmentation.pieces.MecabPieceTable",
    "overlapping-keywords": "fst.machines.keywords.overlapping.OverlappingTable",
    "rules": "fst.machines.rules.table.RulesTable",
    "speller": "fst.machines.speller.table.SpellerTable",
    "unigram": "fst.machines.unigram.table.UnigramTable",
    "wordpiece": "fst.machines.wordpiece.table.WordPieceTable",
    "zhfst": "fst.machines.speller.zhfst.table.ZhfstTable",
}


def table_class(kind: str) -> type[Any]:
    """Import the table class of a kind."""
    module, _, name = MACHINES[kind].rpartition(".")
    found: type[Any] = getattr(import_module(module), name)
    return found


def load(path: str | Path | bytes) -> Any:
    """Map a file, prove it complete and safe, and return its table, a `fst.tables.table.Table`; see `fst.load`.

    Args:
        path: the path or the URL of the file, the name of a table in fst-tables, or the bytes of a file.
    """
    from fst.tables import npz, ready
    from fst.tables.table import need_kind

    place: str | Path | None = None
    if isinstance(path, bytes):
        data = npz.copied(path)
    else:
        place = ready.place_of(path)
        data = npz.mapped(place)
    try:
        stored = npz.Stored(data)
        return table_class(need_kind(stored.header, MACHINES)).proven(stored, place)
    except TableError as error:
        remedy = "" if isinstance(error, npz.NewerTableError) else "; compile it again"
        raise TableError(f"{place or 'the bytes of a table'}: {error}{remedy}") from None
