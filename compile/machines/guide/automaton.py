"""The automaton over bytes from which token masks are made."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class ByteAutomaton(NamedTuple):
    """A deterministic automaton over the bytes of UTF-8. State 0 is the start; a final state is reachable from every state.

    Attributes:
        targets: int32[states, 256], the next state of each state for each byte; -1: none.
        is_final: bool[states].
    """

    targets: NDArray[np.int32]
    is_final: NDArray[np.bool_]
