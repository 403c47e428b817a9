"""Make the mask of a state."""

from __future__ import annotations

from typing import Any

import numpy as np

from fst.automata.rows import Array
from fst.core.jit import Deferred
from fst.machines.guide.arguments import ENDED, FIRST, Automaton
from fst.machines.guide.vocabulary import WORD_BITS, Trie, Vocabulary

scan_row = Deferred("fst.machines.guide.kernels.scan", "scan_row")


def row_of(automaton: Automaton, vocabulary: Vocabulary, state: int) -> Array:
    """uint32[words], the mask of a state, or of one of the two states after those of the automaton."""
    states, end_id = len(automaton.finals), vocabulary.end_id
    row = np.zeros(vocabulary.words + 1, np.uint32)
    if state == states + FIRST:
        _scan(automaton, vocabulary.first, 0, row)
        np.bitwise_or.at(row, vocabulary.silent // WORD_BITS, _bits(vocabulary.silent))
    elif state < states:
        _scan(automaton, vocabulary.trie, state, row)
    if end_id is not None and (state == states + ENDED or automaton.finals[0 if state == states + FIRST else state]):
        row[end_id // WORD_BITS] |= _bits(end_id)
    return row[:-1]


def _scan(automaton: Automaton, trie: Trie, state: int, row: Array) -> None:
    scan_row.call(automaton, trie, state, np.empty(int(trie.longest[0]) + 1, np.int32), row)


def _bits(numbers: Any) -> Any:
    """The bit of each id in its word."""
    return np.left_shift(np.uint32(1), np.asarray(numbers % WORD_BITS, np.uint32))
