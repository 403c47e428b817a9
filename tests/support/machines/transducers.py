"""Texts rewritten by a table of the best path, without its public class."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from fst.machines.best_path.table import BestPathTable
from fst.runtime.machines.best_path.running import BestPaths
from fst.runtime.rewriting.rows import Rows


def rows_of(texts: Sequence[str]) -> Rows:
    """Texts as rows in UTF-8."""
    encoded = [text.encode() for text in texts]
    return Rows(np.frombuffer(b"".join(encoded), np.uint8), np.cumsum([0, *map(len, encoded)]))


def rewritten(table: BestPathTable, texts: Sequence[str]) -> list[str]:
    """The new texts by the kernel."""
    runner = BestPaths(table)
    new = runner.run(rows_of(texts), runner.buffers())
    return [new.text[begin:end].tobytes().decode() for begin, end in pairwise(new.starts.tolist())]


def walked(table: BestPathTable, text: str) -> str:
    """The new text by the walk."""
    return "".join(map(chr, table.run(text)))
