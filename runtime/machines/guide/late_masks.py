"""The masks of states that are numbered as steps find them."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any, Protocol

import numpy as np

from fst.automata.rows import Array
from fst.errors import counted
from fst.machines.guide.arguments import NO_STATE
from fst.machines.guide.vocabulary import WORD_BITS, Vocabulary
from fst.runtime.machines.guide.masks import not_a_state

START, ENDED = 0, 1  # the numbers of the first state, and of the state after the token that ends a text
State = Any  # false after the end, and after tokens that are not allowed


class States(Protocol):
    """States, which are numbers or tuples of numbers. A false value, 0 or an empty tuple, is the state after tokens that are not allowed.

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

    def masks(self, states: Sequence[State]) -> Sequence[Array]:
        """uint32[words] for each state, its mask; with the token that ends a text, where a text may end."""

    def mask_within(self, state: State, left: int, ending: int) -> Array:
        """uint32[words], the mask of a state, without the token that ends a text, and with only the tokens after which the text can be
        completed: `left` tokens are left, of which `ending`, 0 or 1, end the text.

        Raises:
            ValueError: no text is that short.
        """


class LateMasks:
    """The masks of states that get numbers in the order in which they are found. The masks that were used last are kept.

    A mask is never changed after it is made, so threads read kept masks at the same time.

    Args:
        states: the states.
        vocabulary: the vocabulary of the tokenizer.
        kept_bytes: the maximum size in bytes of all masks that are kept; at least one is.
    """

    start, ended = START, ENDED

    def __init__(self, states: States, vocabulary: Vocabulary, kept_bytes: int) -> None:
        self.words = vocabulary.words
        self._states, self._end_id, self._size = states, vocabulary.end_id, vocabulary.size
        self._found: list[Any] = [states.start, None]
        self._numbers = {states.start: START}
        self._most = max(kept_bytes // (4 * self.words), 1)
        self._kept = dict[int, Array]()  # the mask that was used last is the last one
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._found)

    def __str__(self) -> str:
        return f"{self._states.kind}, {counted(len(self), 'state')} so far"

    def advance(self, state: int, ids: Array) -> int:
        """The state after tokens; see `StateMasks.advance`."""
        for number in ids.tolist():
            state = self.step(state, number)
        return state

    def is_final(self, state: int) -> bool:
        """Whether a text may end in a state."""
        return state == ENDED or (state != NO_STATE and self._states.is_final(self._found[state]))

    def step(self, state: int, number: int) -> int:
        """The state after a token; see `StateMasks.step`."""
        if state == NO_STATE or not 0 <= number < self._size:
            return NO_STATE
        if number == self._end_id:
            return ENDED if self.is_final(state) else NO_STATE
        if state == ENDED:
            return NO_STATE
        after = self._states.step(self._found[state], number)
        found = self._numbers.get(after)
        if found is not None:
            return found
        return self._numbered(after) if self._states.is_alive(after) else NO_STATE

    def _numbered(self, state: State) -> int:
        """The number of a state after which a text can end: only such states are numbered."""
        with self._lock:
            if state not in self._numbers:
                self._found.append(state)
                self._numbers[state] = len(self._found) - 1
            return self._numbers[state]

    def copy(self, states: Array, out: Array) -> None:
        """Copy masks; see `StateMasks.copy`."""
        numbers = states.tolist()
        if out.shape[1] > self.words:
            out[:, self.words :] = 0
            out = out[:, : self.words]
        if len(numbers) == 1:
            out[0] = self._mask(numbers[0])
            return
        found = self._masks(numbers)
        for place, state in enumerate(numbers):
            out[place] = found[state]

    def mask(self, state: int) -> Array:
        """A copy of the mask of a state."""
        return self._mask(state).copy()

    def _mask(self, state: int) -> Array:
        """The mask of a state."""
        kept = self._kept
        with self._lock:
            row = kept.pop(state, None)
            if row is not None:
                kept[state] = row  # it is now the one that was used last
                return row
        is_usual = ENDED < state < len(self._found)
        row = self._states.masks([self._found[state]])[0] if is_usual else self._made([state])[state]
        self._keep({state: row})
        return row

    def mask_within(self, state: int, left: int) -> Array:
        """The mask of a state with only the tokens after which a text can be completed; `left`: the number of tokens that are left."""
        if state in (NO_STATE, ENDED):
            return self.mask(state)
        row = self._states.mask_within(self._found[state], left, int(self._end_id is not None))
        if self.is_final(state):
            self._add_end(row)
        return row

    def _masks(self, states: list[int]) -> dict[int, Array]:
        """The masks of states."""
        found: dict[int, Array] = {}
        missing, kept = [], self._kept
        with self._lock:
            for state in states:
                row = kept.pop(state, None)
                if row is None:
                    missing.append(state)
                else:
                    kept[state] = found[state] = row  # it is now the one that was used last
        if missing:
            made = self._made(missing if len(missing) == 1 else [*dict.fromkeys(missing)])
            found.update(made)
            self._keep(made)
        return found

    def _keep(self, made: dict[int, Array]) -> None:
        """Keep new masks, and remove those that were used least recently."""
        kept = self._kept
        with self._lock:
            kept.update(made)
            while len(kept) > self._most:
                del kept[next(iter(kept))]

    def _made(self, states: list[int]) -> dict[int, Array]:
        """New masks of states."""
        count = len(self._found)
        for state in states:
            if not NO_STATE <= state < count:
                raise not_a_state(state, count)
        known = [state for state in states if state not in (NO_STATE, ENDED)]
        found = dict(zip(known, self._states.masks([self._found[state] for state in known]), strict=True))
        if len(known) < len(states):
            found |= {state: np.zeros(self.words, np.uint32) for state in states if state not in found}
            if ENDED in found:
                self._add_end(found[ENDED])
        return found

    def _add_end(self, row: Array) -> None:
        """Add the token that ends a text to a mask."""
        if self._end_id is not None:
            row[self._end_id // WORD_BITS] |= np.uint32(1 << self._end_id % WORD_BITS)
