"""The arrays of canonical masks: an automaton over bytes, a last-token automaton, and a text for each state of the first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fst.automata.rows import Array
from fst.core.fields import Fields, Scalar


class Scalars(Fields, dtype=np.int64):
    """The scalars of `Machine`."""

    limit: Scalar  # `LastTokens.limit`, the maximum number of characters of a word
    is_path: Scalar  # 1 if the machine of the last-token automaton is a best path
    start: Scalar  # the state of the machine at the start of a word
    is_exact: Scalar  # 1 if the machine is a best path whose sums, and their differences, are not rounded


class Machine(NamedTuple):
    """An automaton over the bytes of texts, with a last-token automaton.

    Attributes:
        targets: int32[states, 256], the next state of each state for each byte; -1: none.
        finals: uint8[states], 1 for each final state, else 0.
        next_bytes: uint8[states], the first byte of the *shortest text* from each state to a final state; 0 for final states.
        next_classes: int32[states], the class of the first character of this text; -1 if the text is empty, or does not begin with a
            character.
        next_states: int32[states], the state after this character.
        live: int32[states, cuts], 0 if the shortest text cannot be cut in a way that the state of `cuts` allows; else 1 + the number of its
            characters before the next word begins, or before the end.
        characters, cuts, ends, risky, norm_classes, norms, entries, fails, sizes, trie, scores: see `fst.automata.last_tokens.LastTokens`.
        unknown: float64[1], see `fst.automata.last_tokens.LastTokens`.
    """

    targets: Array
    finals: Array
    next_bytes: Array
    next_classes: Array
    next_states: Array
    live: Array
    characters: Array
    cuts: Array
    ends: Array
    risky: Array
    norm_classes: Array
    norms: Array
    entries: Array
    fails: Array
    sizes: Array
    trie: Array
    scores: Array
    scalars: Scalars
    unknown: Array


class Counts(Fields, dtype=np.int64):
    """The used sizes of `Places`."""

    places: Scalar
    numbers: Scalar  # the used length of `Places.numbers`


class Places(NamedTuple):
    """The places that are found so far: rows of walks after whole tokens.

    Attributes:
        hashes: uint64[n]; slots: int32[2ⁿ], 1 + the place in each slot of a table of hashes, or 0.
        ends: int64[n], the end of each place's part of `numbers`.
        numbers: int64[m], for each place the states of the automaton, of the cuts and of the current character; whether a word begins with
            this character; the state of the machine; the number of characters of the word; where the current character begins; and the
            state of the normalizer. A best path has two numbers more for each of its nodes: the node, and its beginning.
        sums: float64[m], in the same place as the numbers: the sum at the beginning of the current character, and the sum of each node.
    """

    counts: Counts
    hashes: Array
    slots: Array
    ends: Array
    numbers: Array
    sums: Array
