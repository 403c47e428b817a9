"""Token masks that allow only the tokens that the tokenizer itself would give."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from fst.automata.rows import Array
from fst.machines.guide.arguments import NO_STATE
from fst.machines.guide.canonical_states import CanonicalStates, State
from fst.runtime.decoder import row_of
from fst.runtime.machines.guide.rows import MadeRows
from fst.runtime.machines.guide.token_masks import Guide

START, ENDED = 0, 1  # the numbers of the first state, and of the state after the token that ends a text


class CanonicalRows(MadeRows):
    """The masks of canonical states, which get numbers in the order in which they are found.

    Args:
        states: the states.
        end_id: the id of the token that ends a text; None if there is none.
    """

    def __init__(self, states: CanonicalStates, end_id: int | None) -> None:
        super().__init__(states.words)
        self._states, self._end_id = states, end_id
        self._found: list[State] = [states.start, ()]
        self._numbers = {states.start: START}

    def __len__(self) -> int:
        return len(self._found)

    def step(self, number: int, token: int) -> int:
        """The number of the state after a token; -1 if it is not allowed."""
        if number == NO_STATE or not self.is_allowed(number, token):
            return NO_STATE
        if token == self._end_id:
            return ENDED
        after = self._states.step(self._found[number], token)
        with self._lock:
            if after not in self._numbers:
                self._numbers[after] = len(self._found)
                self._found.append(after)
            return self._numbers[after]

    def is_allowed(self, number: int, token: int) -> bool:
        """Whether a token is allowed in a state. One token takes much less time than a mask."""
        row = self._kept.get(number)
        if row is not None:
            return 0 <= token < 32 * self.words and bool(row[token // 32] >> np.uint32(token % 32) & np.uint32(1))
        if token == self._end_id:
            return self.is_final(number)
        return number != ENDED and self._states.is_alive(self._states.step(self._found[number], token))

    def is_final(self, number: int) -> bool:
        """Whether a text may end in a state."""
        return number == ENDED or (number != NO_STATE and self._states.is_final(self._found[number]))

    def _row(self, state: int) -> Array:
        row = np.zeros(self.words, np.uint32) if state == ENDED else self._states.row(self._found[state])
        if self._end_id is not None and self.is_final(state):
            row[self._end_id // 32] |= np.uint32(1) << np.uint32(self._end_id % 32)
        return row


class CanonicalGuide(Guide):
    """A guide with `canonical`; see `Guide`."""

    _rows: CanonicalRows

    def __init__(self, table: Any, **given: Any) -> None:
        from fst.bridge.guide import canonical

        machine, vocabulary = canonical(table, **{name: value for name, value in given.items() if name != "canonical"})
        self._table, self._source, self._tokens = None, (table, given), vocabulary.tokens
        states = CanonicalStates(machine, vocabulary)
        states.need_text()
        self._rows = CanonicalRows(states, vocabulary.end_id)

    def __repr__(self) -> str:
        return f"<fst.Guide, canonical, {len(self._rows):,} states so far, {self.size:,} ids>"

    @property
    def start(self) -> int:
        """The state before the first token."""
        return START

    @property
    def _ended(self) -> int:
        return ENDED

    @property
    def _count(self) -> int:
        return len(self._rows)

    def advance(self, state: int, ids: Iterable[int]) -> int:
        """The state after several tokens; see `Guide.advance`."""
        self._need_state(state)
        for number in row_of(ids):
            state = self._rows.step(state, number)
        return state

    def is_final(self, state: int) -> bool:
        """Whether a text may end in a state; see `Guide.is_final`."""
        self._need_state(state)
        return self._rows.is_final(state)
