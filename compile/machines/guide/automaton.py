"""The automaton over bytes from which token masks are made."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class ByteAutomaton:
    """A deterministic automaton over the bytes of UTF-8. State 0 is the start; a final state is reachable from every state.

    Attributes:
        classes: uint8[256], the class of each byte: bytes of one class are read alike in all states.
        by_class: int32[states, classes], the next state of each state for each class; -1: none.
        is_final: bool[states].
    """

    classes: NDArray[np.uint8]
    by_class: NDArray[np.int32]
    is_final: NDArray[np.bool_]

    @cached_property
    def targets(self) -> NDArray[np.int32]:
        """int32[states, 256], the next state of each state for each byte; -1: none."""
        return np.ascontiguousarray(self.by_class[:, self.classes])
