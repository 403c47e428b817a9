"""Pictures of lexicons."""

from __future__ import annotations

import numpy as np

from fst.automata.dot import need_few
from fst.automata.picture import Arc, Picture, labelled
from fst.errors import UnsupportedError
from fst.machines.speller.zhfst.table import ZhfstTable


def picture_of(table: ZhfstTable, text: str | None) -> Picture:
    """The states of the lexicon have their numbers; an arc has its symbol and its weight. Only the whole lexicon is drawn."""
    if text is not None:
        raise UnsupportedError("a lexicon is not drawn around a text; expected no text; draw the whole lexicon")
    states = len(table.lexicon_finals)
    need_few(states, len(table.lexicon_labels))
    names = {label: symbol for symbol, label in table.symbols().items()}
    starts = table.lexicon_starts.astype(np.int64)
    sources = np.repeat(np.arange(states), starts[1:] - starts[:-1]).tolist()
    rows = zip(sources, *(array.tolist() for array in (table.lexicon_targets, table.lexicon_labels, table.lexicon_weights)), strict=True)
    arcs = [Arc(source, target, labelled(names.get(label, _name(table, label)), [], weight)) for source, target, label, weight in rows]
    return Picture({state: str(state) for state in range(states)}, arcs, [0], np.flatnonzero(np.isfinite(table.lexicon_finals)).tolist())


def _name(table: ZhfstTable, label: int) -> str:
    """The name of a label that is no symbol."""
    return "ε" if label == 0 else "other" if label == table.other else f"flag {label}"
