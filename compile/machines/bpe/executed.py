"""The merges that tables without an automaton need."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fst.automata.rows import Array
from fst.compile.machines.bpe.canonical import Merges, canonical
from fst.machines.bpe.table import BpeTable


def without_automaton(table: BpeTable) -> BpeTable:
    """The table with its list of merges alone, which is shorter if its symbols are bytes: see `executed_merges`."""
    merges = executed_merges(table) if table.has_automaton and table.metadata.model.letters.are_bytes else table.merges
    return replace(table, entries=table.entries[:0], depths=table.depths[:0], merges=merges)


def executed_merges(table: BpeTable) -> Array:
    """The merges that BPE executes without dropout, in their order: the last merge of each canonical token
    (`fst.compile.machines.bpe.canonical`). Of a vocabulary with ranks alone, the list of all merges is more than twice as long.

    Args:
        table: a table with an automaton, whose symbols are bytes.

    Returns:
        int32[n, 3], rows of `merges`.
    """
    known = table.metadata.model.model_tokens
    tokens = dict(zip(table.contents[:known], table.token_ids[:known].tolist(), strict=True))
    name_of = {number: token for token, number in tokens.items()}
    found = canonical(Merges(tokens, [(name_of[left], name_of[right]) for left, right, _ in table.merges.tolist()]))
    executed: Array = table.merges[np.sort(found.rank[found.made])]
    return executed
