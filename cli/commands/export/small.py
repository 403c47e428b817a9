"""Small tables with the same ids, for images that are downloaded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fst.compile.machines.bpe.canonical_tokens import without_automaton
from fst.compile.machines.wordpiece.compiler import assemble, source_of
from fst.machines.bpe.table import BpeTable
from fst.machines.unigram.table import UnigramTable
from fst.machines.wordpiece.table import WordPieceTable
from fst.tables.header import LINKED


def small(table: Any) -> Any:
    """A table with the same ids that lacks arrays which only make kernels faster.

    Byte-level BPE has only its list of merges; a longest match, which has none, keeps its automaton. WordPiece has failure links instead of
    the transitions that follow from them. Unigram has only its trie, and no automaton. Other tables are returned as they are.
    """
    if isinstance(table, BpeTable):
        return table if table.metadata.model.longest_match else without_automaton(table)
    if isinstance(table, WordPieceTable):
        return assemble(source_of(table), LINKED)
    return replace(table, steps=table.steps[:0], lists=table.lists[:0]) if isinstance(table, UnigramTable) else table
