"""The masks of a guide, from a table or made late."""

from __future__ import annotations

from threading import Lock, local
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fst.automata.rows import Array
from fst.core.jit import Deferred
from fst.errors import TableError, counted
from fst.machines.guide.arguments import AFTER_STATES, ENDED, FIRST, NO_STATE, WRONG, Automaton, Masks, Tokens, Work
from fst.machines.guide.scanning import scanned_mask, working
from fst.machines.guide.vocabulary import Vocabulary

if TYPE_CHECKING:
    from fst.machines.guide.table import GuideTable

MAX_KEPT_BYTES = 1 << 26  # the largest size of the masks that are kept
DONE = -1
NONE = np.empty(0, np.uint32)
NO_MASKS = Masks(NONE, NONE, np.empty(0, np.int64), NONE, np.empty((0, 1), np.uint32))

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

    def is_final(self, state: int) -> bool:
        """Whether a text may end in a state."""


class ByteSteps:
    """The steps from state to state of an automaton over bytes.

    Args:
        automaton: the automaton.
        tokens: the bytes of the tokens.
        masks: the arrays of a table; empty arrays if masks are made late.
    """

    def __init__(self, automaton: Automaton, tokens: Tokens, masks: Masks) -> None:
        self._automaton, self._tokens, self._masks, self._states = automaton, tokens, masks, len(automaton.finals)

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

    def advance(self, state: int, ids: Array) -> int:
        """The state after tokens; see `StateMasks.advance`."""
        after = int(follow.call(self._automaton, self._tokens, self._masks, state, ids))
        if after == WRONG:
            raise TableError("a mask of the table allows a token whose bytes the automaton does not read; compile the table again")
        return after

    def is_final(self, state: int) -> bool:
        """Whether a text may end in a state."""
        if state == NO_STATE or state == self.ended:
            return state != NO_STATE
        return bool(self._automaton.finals[0 if state == self._states + FIRST else state])


class StoredMasks(ByteSteps):
    """The masks of a table.

    Args:
        table: the table.
    """

    def __init__(self, table: GuideTable) -> None:
        super().__init__(table.automaton(), table.tokens(), table.masks())
        self.words = int(self._masks.rows.shape[1])

    def copy(self, states: Array, out: Array) -> None:
        """Copy masks; see `StateMasks.copy`."""
        wrong = copy_masks.call(states, self._masks, out)
        if wrong != DONE:
            raise not_a_state(int(states[wrong]), len(self._masks.mask_of))


class MadeMasks:
    """Masks, each of which is made at its first use. The latest are kept, up to `MAX_KEPT_BYTES`.

    A mask is never changed after it is made, so threads read kept masks without a lock. A subclass defines ``len()``, the number of states,
    and `_mask`, which makes the mask of a state.

    Args:
        words: the number of 32-bit words of a mask.
    """

    def __init__(self, words: int) -> None:
        self.words, self._most = words, max(MAX_KEPT_BYTES // (4 * words), 1)
        self._kept = dict[int, Array]()
        self._lock = Lock()

    def __len__(self) -> int:
        raise NotImplementedError

    def _mask(self, state: int) -> Array:
        raise NotImplementedError

    def copy(self, states: Array, out: Array) -> None:
        """Copy masks; see `StateMasks.copy`."""
        out[:, self.words :] = 0
        for place, state in enumerate(states.tolist()):
            row = self._kept.get(state)
            out[place, : self.words] = self._made(state) if row is None else row

    def _made(self, state: int) -> Array:
        if not NO_STATE <= state < len(self):
            raise not_a_state(state, len(self))
        row = np.zeros(self.words, np.uint32) if state == NO_STATE else self._mask(state)
        with self._lock:
            if len(self._kept) >= self._most:
                self._kept = {}
            self._kept[state] = row
        return row


class LateMasks(ByteSteps, MadeMasks):
    """The masks of an automaton.

    Args:
        automaton: the automaton.
        vocabulary: the vocabulary of the tokenizer.
    """

    def __init__(self, automaton: Automaton, vocabulary: Vocabulary) -> None:
        ByteSteps.__init__(self, automaton, vocabulary.tokens, NO_MASKS)
        MadeMasks.__init__(self, vocabulary.words)
        self._vocabulary, self._local = vocabulary, local()

    def _work(self) -> Work:
        """The working arrays of this thread."""
        if not hasattr(self._local, "work"):
            self._local.work = working(self._automaton, self._vocabulary.trie, self.words)
        work: Work = self._local.work
        return work

    def _mask(self, state: int) -> Array:
        return scanned_mask(self._automaton, self._vocabulary, state, self._work())


def not_a_state(state: Any, count: int) -> ValueError:
    """The error for a number that is not a state."""
    return ValueError(f"a state is {state}; expected {NO_STATE} to {count - 1}, from `start` or `step`")
