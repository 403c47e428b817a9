"""The spaces after which a text may be cut without an effect on its WordPiece ids."""

from __future__ import annotations

import numpy as np

from fst.automata.rows import WHITESPACE
from fst.machines.wordpiece.table import WordPieceTable
from fst.runtime.safe_cuts import CANDIDATES


def spaces(tables: WordPieceTable) -> str:
    """Return the characters after which any text may be cut: an empty str if words of the tables do not end at spaces."""
    codes = np.array(list(map(ord, CANDIDATES)))
    are_whitespace = tables.classes[2 * tables.classes_of(codes).astype(np.int64)] == WHITESPACE
    in_specials = (codes[:, None] == tables.specials[1:, 0]).any(axis=1)
    return "".join(map(chr, codes[are_whitespace & ~in_specials]))
