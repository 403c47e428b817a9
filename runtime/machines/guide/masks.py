"""The masks of a guide, from a table or made late."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fst.automata.rows import Array
from fst.core.jit import Deferred
from fst.errors import TableError, counted
from fst.machines.guide.arguments import AFTER_STATES, ENDED, FIRST, NO_STATE, WRONG

if TYPE_CHECKING:
    from fst.machines.guide.table import GuideTable

DONE = -1
KERNELS = "fst.runtime.machines.guide.kernels.masks"

copy_masks, follow = (Deferred(KERNELS, name) for name in ("copy_masks", "follow"))


class StateMasks(Protocol):
    """The masks of all states, and the steps between them.

    Attributes:
        words: the number of 32-bit words of a mask.
    """

    words: int

    @property
    def start(self) -> int:
        """The state before the first token."""

    @property
    def ended(self) -> int:
        """The state after the token that ends a text."""

    def __len__(self) -> int:
        """The number of states."""

    def copy(self, states: Array, out: Array) -> None:
        """Copy the masks of states, int64[n], to ``out``, uint32[n, at least words]."""

    def advance(self, state: int, ids: Array) -> int:
        """The state after tokens, int64[n]; -1 if one of the tokens is not allowed.

        Raises:
            TableError: a mask allows a token whose bytes the automaton does not read.
        """

    def step(self, state: int, number: int) -> int:
        """The state after a token; -1 if it is not allowed. Errors are those of `advance`."""

    def mask(self, state: int) -> Array:
        """A copy of the mask of a state: uint32[words]."""

    def is_final(self, state: int) -> bool:
        """Whether a text may end in a state."""


class StoredMasks:
    """The masks of a table.

    Args:
        table: the table.
    """

    def __init__(self, table: GuideTable) -> None:
        self._automaton, self._tokens, self._masks = table.automaton(), table.tokens(), table.masks()
        self._states, self.words = len(self._automaton.finals), int(self._masks.rows.shape[1])

    def __len__(self) -> int:
        return self._states + len(AFTER_STATES)

    def __str__(self) -> str:
        return counted(self._states, "state")

    @property
    def start(self) -> int:
        """The state before the first token."""
        return self._states + FIRST if len(self._tokens.first_ends) else 0

    @property
    def ended(self) -> int:
        """The state after the token that ends a text."""
        return self._states + ENDED

    def copy(self, states: Array, out: Array) -> None:
        """Copy masks; see `StateMasks.copy`."""
        wrong = copy_masks.call(states, self._masks, out)
        if wrong != DONE:
            raise not_a_state(int(states[wrong]), len(self))

    def mask(self, state: int) -> Array:
        """A copy of the mask of a state."""
        row: Array = np.empty(self.words, np.uint32)
        self.copy(np.array([state]), row[None])
        return row

    def advance(self, state: int, ids: Array) -> int:
        """The state after tokens; see `StateMasks.advance`."""
        after = int(follow.call(self._automaton, self._tokens, self._masks, state, ids))
        if after == WRONG:
            raise TableError("a mask of the table allows a token whose bytes the automaton does not read; compile the table again")
        return after

    def step(self, state: int, number: int) -> int:
        """The state after a token; see `StateMasks.step`."""
        return self.advance(state, np.array([number]))

    def is_final(self, state: int) -> bool:
        """Whether a text may end in a state."""
        if state == NO_STATE or state == self.ended:
            return state != NO_STATE
        return bool(self._automaton.finals[0 if state == self._states + FIRST else state])


def not_a_state(state: Any, count: int) -> ValueError:
    """The error for a number that is not a state."""
    return ValueError(f"a state is {state}; expected {NO_STATE} to {count - 1}, from `start` or `step`")
