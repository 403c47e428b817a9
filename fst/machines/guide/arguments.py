"""The arguments of the kernels of token masks."""

from __future__ import annotations

from typing import NamedTuple

from fst.automata.rows import Array

NO_STATE = -1  # the state after a token that is not allowed; its mask is empty
# Added to the number of states: the start of a text if its first token writes other bytes than later ones; the state after its end.
AFTER_STATES = FIRST, ENDED = range(2)


class Automaton(NamedTuple):
    """An automaton over bytes, whose bytes are in classes.

    Attributes:
        targets: int32[states, classes], the next state of each state for each class of bytes; -1: none.
        classes: uint8[256], the class of each byte.
        finals: uint8[states], 1 for each final state, else 0.
    """

    targets: Array
    classes: Array
    finals: Array


class Tokens(NamedTuple):
    """The bytes of tokens.

    Attributes:
        token_bytes: uint8[n], the bytes of all tokens at any position but the first, concatenated.
        token_ends: int64[ids], the end of each token; empty for numbers that are no ids, and for tokens that write no text.
        first_bytes, first_ends: the same for tokens at the first position; empty arrays if there is no difference.
        end_id: int64[1], the id of the token that ends a text; -1 if there is none.
        keeps_first: bool[1], whether the token after a first token that writes nothing is again a first token.
    """

    token_bytes: Array
    token_ends: Array
    first_bytes: Array
    first_ends: Array
    end_id: Array
    keeps_first: Array


class Masks(NamedTuple):
    """The masks of a table, see `fst.machines.guide.table.GuideTable`; in a guide that makes masks late, all arrays are empty."""

    mask_of: Array
    bases: Array
    flip_ends: Array
    flips: Array
    rows: Array
