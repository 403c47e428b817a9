"""Make the mask of a state."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from fst.automata.rows import Array
from fst.core.jit import Deferred
from fst.errors import UnsupportedError
from fst.machines.guide.arguments import ENDED, FIRST, Automaton, Work, work_of
from fst.machines.guide.vocabulary import WORD_BITS, Trie, Vocabulary

scan_row = Deferred("fst.machines.guide.kernels.scan", "scan_row")


class Stepping(Protocol):
    """The masks of states, and steps between states, as in `fst.Guide`."""

    @property
    def start(self) -> int:
        """The state before the first token."""

    def mask(self, state: int) -> Array:
        """The mask of a state: uint32[words]."""

    def step(self, state: int, number: int) -> int:
        """The state after a token."""

    def is_final(self, state: int) -> bool:
        """Whether a text may end in a state."""


def scanned_mask(automaton: Automaton, vocabulary: Vocabulary, state: int, work: Work) -> Array:
    """uint32[words], the mask of a state, or of `FIRST` or `ENDED`, the two states after the automaton's states.

    Args:
        automaton, vocabulary: the automaton, and the vocabulary of the tokenizer.
        state: the state.
        work: the result of `working` for this automaton and this vocabulary.
    """
    states, end_id = len(automaton.finals), vocabulary.end_id
    row = np.zeros(vocabulary.words + 1, np.uint32)
    if state == states + FIRST:
        scan_row.call(automaton, vocabulary.first, 0, working(automaton, vocabulary.first, vocabulary.words), row)
        add_bits(row, vocabulary.silent)
    elif state < states:
        scan_row.call(automaton, vocabulary.trie, state, work, row)
    if end_id is not None and (state == states + ENDED or automaton.finals[0 if state == states + FIRST else state]):
        add_bits(row, np.array([end_id]))
    return row[:-1]


def need_start(guide: Stepping, vocabulary: Vocabulary) -> None:
    """Raise an error if no token begins a text. Tokens that write nothing at the first position are allowed there, but begin no text.

    Args:
        guide: the masks of the texts.
        vocabulary: the vocabulary of the tokenizer.

    Raises:
        UnsupportedError: no text is empty, and no token writes the first bytes of a text.
    """
    start, silent = guide.start, vocabulary.silent
    if guide.is_final(start) or np.bitwise_count(guide.mask(start)).sum() > len(silent):
        return
    after = guide.step(start, int(silent[0])) if len(silent) else start
    if after == start or not guide.mask(after).any():
        raise UnsupportedError("no token begins a text of the pattern or the schema; expected a vocabulary with their characters")


def working(automaton: Automaton, trie: Trie, words: int) -> Work:
    """New working arrays for scans of a trie in one thread."""
    return work_of(automaton, words, trie.longest)


def add_bits(row: Array, ids: Array) -> None:
    """Add ids to a mask."""
    np.bitwise_or.at(row, ids // WORD_BITS, np.left_shift(np.uint32(1), (ids % WORD_BITS).astype(np.uint32)))
