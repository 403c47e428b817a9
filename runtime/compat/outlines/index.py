"""`Index` and `Guide` with the methods of the classes of these names in ``outlines-core``, over the token masks of a `fst.Guide`."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from fst.errors import quoted
from fst.machines.guide.arguments import NO_STATE
from fst.runtime.machines.guide.guide import Guide as Masks

BYTES_OF_WORD = 4


class Index:
    """The tokens that are allowed in each state, with the methods of ``outlines_core.Index``. Numbers of states differ.

    Args:
        regex: a regular expression, which a text matches as a whole.
        tokenizer: a tokenizer in any form that `fst.Tokenizer` takes, in place of a ``Vocabulary``.
        end_id, canonical: as in `fst.Guide`.

    Raises:
        UnsupportedError: as from `fst.Guide`.
        ValueError: no token ends texts.

    Examples:
        >>> import fst
        >>> from fst.compile import wordpiece
        >>> index = Index("12*", fst.Tokenizer(wordpiece(["[UNK]", "[SEP]", "1", "2", "##2"])))
        >>> state = index.get_next_state(index.get_initial_state(), 2)
        >>> index.get_allowed_tokens(state), index.is_final_state(state)
        ([1, 4], True)
    """

    def __init__(self, regex: str, tokenizer: Any, *, end_id: int | None = None, canonical: bool = False) -> None:
        self.masks = Masks(tokenizer, regex=regex, end_id=end_id, canonical=canonical)
        if self.masks.end_id is None:
            raise ValueError("no token ends texts; pass the id of one as end_id")

    def __repr__(self) -> str:
        return f"Index({self.masks!r})"

    def get_initial_state(self) -> int:
        """The state before the first token."""
        return self.masks.start

    def get_allowed_tokens(self, state: int) -> list[int] | None:
        """The ids that are allowed in a state; None if it is not a state."""
        try:
            found = self.masks.allowed(state).tolist()
        except ValueError:
            return None
        return found or None

    def get_next_state(self, state: int, token_id: int) -> int | None:
        """The state after a token; None if the token is not allowed, or ends the text."""
        if token_id == self.masks.end_id or not 0 <= token_id < self.masks.size:
            return None
        try:
            after = self.masks.step(state, token_id)
        except ValueError:
            return None
        return None if after == NO_STATE else after

    def is_final_state(self, state: int) -> bool:
        """Whether a text may end in a state."""
        return self.masks.is_final(state)

    def get_final_states(self) -> set[int]:
        """The states in which a text may end, found by a walk over all states."""
        return {state for state in self.get_transitions() if self.is_final_state(state)}

    def get_transitions(self) -> dict[int, dict[int, int]]:
        """The state after each token that is allowed in each state, found by a walk over all states. A token that ends texts leads back to
        its state.
        """
        found: dict[int, dict[int, int]] = {}
        queue = [self.get_initial_state()]
        for state in queue:  # the loop appends to `queue`
            if state in found:
                continue
            allowed = self.get_allowed_tokens(state) or []
            after = {token: self.get_next_state(state, token) for token in allowed}
            found[state] = {token: state if target is None else target for token, target in after.items()}
            queue += found[state].values()
        return found


class Guide:
    """A text that is being written, with the methods of ``outlines_core.Guide``.

    Args:
        index: an `Index`, which texts may share.
        max_rollback: the maximum number of tokens that `rollback_state` can take back.

    Examples:
        >>> import fst
        >>> from fst.compile import wordpiece
        >>> guide = Guide(Index("12*", fst.Tokenizer(wordpiece(["[UNK]", "[SEP]", "1", "2", "##2"]))))
        >>> guide.advance(2), guide.is_finished()
        ([1, 4], True)
    """

    def __init__(self, index: Index, max_rollback: int = 32) -> None:
        self._index, self._most = index, max_rollback
        self._states = [index.get_initial_state()]

    def __repr__(self) -> str:
        return f"Guide(state={self.get_state()}, {self._index!r})"

    def get_state(self) -> int:
        """The current state."""
        return self._states[-1]

    def get_tokens(self) -> list[int]:
        """The ids that are allowed next."""
        return self._index.get_allowed_tokens(self.get_state()) or []

    def get_allowed_rollback(self) -> int:
        """The number of tokens that `rollback_state` can take back."""
        return len(self._states) - 1

    def advance(self, token_id: int, return_tokens: bool | None = None) -> list[int] | None:
        """Go on to the state after a token.

        Args:
            token_id: the id of the token.
            return_tokens: False: return None.

        Returns:
            The ids that are allowed after the token.

        Raises:
            ValueError: the token is not allowed, or ends texts.
        """
        after = self._index.get_next_state(self.get_state(), token_id)
        if after is None:
            raise ValueError(f"No next state found for the current state: {self.get_state()} with token ID: {token_id}")
        self._states = [*self._states, after][-1 - self._most :]
        return None if return_tokens is False else self.get_tokens()

    def rollback_state(self, n: int) -> None:
        """Take back the last tokens.

        Raises:
            ValueError: fewer tokens are kept.
        """
        if not 0 <= n <= self.get_allowed_rollback():
            raise ValueError(f"Cannot roll back {quoted(n)} step(s): only {self.get_allowed_rollback()} states stored")
        self._states = self._states[: len(self._states) - n]

    def accepts_tokens(self, sequence: Sequence[int]) -> bool:
        """Whether tokens are allowed one after another, from the current state."""
        state: int | None = self.get_state()
        for token in sequence:
            state = None if state is None else self._index.get_next_state(state, token)
        return state is not None

    def is_finished(self) -> bool:
        """Whether the text may end in the current state."""
        return self._index.is_final_state(self.get_state())

    def write_mask_into(self, data_ptr: int, numel: int, element_size: int) -> None:
        """Write the mask of the current state into memory.

        Args:
            data_ptr: the address, such as ``tensor.data_ptr()`` or ``array.ctypes.data``.
            numel: the number of elements.
            element_size: the number of bytes of an element, 4.

        Raises:
            ValueError: the size is not 4, or there are too few elements.
        """
        words = self._index.masks.words
        if element_size != BYTES_OF_WORD or numel < words or data_ptr % BYTES_OF_WORD:
            found = f"there are {numel} elements of {element_size} bytes"
            raise ValueError(f"{found}; expected at least {words} of {BYTES_OF_WORD} bytes, at a multiple of {BYTES_OF_WORD}")
        memory = np.ctypeslib.as_array(ctypes.cast(data_ptr, ctypes.POINTER(ctypes.c_uint32)), (1, numel))
        self._index.masks.masks([self.get_state()], out=memory)

    def reset(self) -> None:
        """Go back to the state before the first token."""
        self._states = [self._index.get_initial_state()]
