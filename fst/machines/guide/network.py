"""The arrays of a recursive transition network: automata over bytes that call each other."""

from __future__ import annotations

from typing import NamedTuple

from fst.automata.rows import Array

RETURN = -2  # instead of the next state: the called automaton ends


class Network(NamedTuple):
    """Automata over bytes that call each other, with common classes of bytes. No automaton calls itself, directly or by other calls.

    Attributes:
        targets: int32[states, classes], the next state of each state for each class of bytes; `RETURN`: the state after the call; a number
            of at least `states`: `states` plus the number of a call; -1: none. In automata that are called, no state leads to a start.
        classes: uint8[256], the class of each byte.
        finals: uint8[states], 1 for each final state of the first automaton, else 0.
        entered: int32[calls], the state of the called automaton after the first byte of its text.
        after: int32[calls], the state after the call; `RETURN` if the calling automaton ends there, too.
    """

    targets: Array
    classes: Array
    finals: Array
    entered: Array
    after: Array
