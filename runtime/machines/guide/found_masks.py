"""The masks of states that are numbered as steps find them."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from fst.automata.rows import Array
from fst.errors import counted
from fst.machines.guide.arguments import NO_STATE
from fst.machines.guide.scanning import add_bits
from fst.machines.guide.vocabulary import WORD_BITS, Vocabulary
from fst.runtime.machines.guide.masks import MadeMasks

START, ENDED = 0, 1  # the numbers of the first state, and of the state after the token that ends a text
State = tuple[int, ...]


class States(Protocol):
    """States, which are tuples of numbers. The empty tuple is the state after the end, and after tokens that are not allowed.

    Attributes:
        start: the state before the first token.
        kind: a word for these states, for `repr`.
    """

    start: State
    kind: str

    def step(self, state: State, number: int) -> State:
        """The state after a token."""

    def is_alive(self, state: State) -> bool:
        """Whether some text can end after a state, possibly after more tokens."""

    def is_final(self, state: State) -> bool:
        """Whether a text may end in a state."""

    def mask(self, state: State) -> Array:
        """uint32[words], the mask of a state, without the end of the text."""


class FoundMasks(MadeMasks):
    """The masks of states that get numbers in the order in which they are found.

    Args:
        states: the states.
        vocabulary: the vocabulary of the tokenizer.
    """

    start, ended = START, ENDED

    def __init__(self, states: States, vocabulary: Vocabulary) -> None:
        super().__init__(vocabulary.words)
        self._states, self._end_id, self._size = states, vocabulary.end_id, vocabulary.size
        self._found: list[State] = [states.start, ()]
        self._numbers = {states.start: START}

    def __len__(self) -> int:
        return len(self._found)

    def __str__(self) -> str:
        return f"{self._states.kind}, {counted(len(self), 'state')} so far"

    def advance(self, state: int, ids: Array) -> int:
        """The state after tokens; see `StateMasks.advance`."""
        for number in ids.tolist():
            state = self._step(state, number)
        return state

    def is_final(self, state: int) -> bool:
        """Whether a text may end in a state."""
        return state == ENDED or (state != NO_STATE and self._states.is_final(self._found[state]))

    def _step(self, state: int, number: int) -> int:
        """The number of the state after a token; -1 if the token is not allowed."""
        if state == NO_STATE or not 0 <= number < self._size:
            return NO_STATE
        row = self._kept.get(state)
        if row is not None and not row[number // WORD_BITS] >> np.uint32(number % WORD_BITS) & np.uint32(1):
            return NO_STATE
        if number == self._end_id:
            return ENDED if self.is_final(state) else NO_STATE
        after = self._states.step(self._found[state], number)
        if row is None and not self._states.is_alive(after):  # the test of one token takes much less time than a mask
            return NO_STATE
        with self._lock:
            if after not in self._numbers:
                self._numbers[after] = len(self._found)
                self._found.append(after)
            return self._numbers[after]

    def _mask(self, state: int) -> Array:
        row = np.zeros(self.words, np.uint32) if state == ENDED else self._states.mask(self._found[state])
        if self._end_id is not None and self.is_final(state):
            add_bits(row, np.array([self._end_id]))
        return row
