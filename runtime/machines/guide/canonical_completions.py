"""Canonical masks with a budget of tokens: how many tokens are needed from each place to the end of a text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fst.automata.rows import Array
from fst.core.jit import Deferred
from fst.machines.guide.canonical_states import PLACE, PLACE_BITS, CanonicalStates, Exploration, State
from fst.machines.guide.scanning import add_bits
from fst.machines.guide.vocabulary import WORD_BITS
from fst.runtime.machines.guide.completions import need_tokens

UNKNOWN = -2  # instead of the number of tokens from a place: not counted yet

count_tokens = Deferred("fst.runtime.machines.guide.kernels.canonical_ends", "count_tokens")


class CanonicalCompletions(CanonicalStates):
    """The states of canonical masks, whose texts can be completed within a number of tokens. Arguments are those of `CanonicalStates`."""

    _needed = np.empty(0, np.int64)

    def masks(self, states: Sequence[State]) -> list[Array]:
        """See `fst.runtime.machines.guide.late_masks.States.masks`."""
        found, end_id = [*map(self.mask, states)], self._vocabulary.end_id
        for state, row in zip(states, found, strict=True):
            if end_id is not None and self.is_final(state):
                add_bits(row, np.array([end_id]))
        return found

    def mask_within(self, state: State, left: int, ending: int) -> Array:
        """See `fst.runtime.machines.guide.late_masks.States.mask_within`.

        Raises:
            UnsupportedError: the search for a text visits too many states.
        """
        tokens, needed = self._allowed(state)
        least = 0 if self.is_final(state) else 1 + int(needed.min())
        need_tokens(ending + least, left)
        row = np.zeros(self._vocabulary.words, np.uint32)
        add_bits(row, tokens[needed + 1 + ending <= left])
        return row

    def _allowed(self, state: State) -> tuple[Array, Array]:
        """int64[n], int64[n], the tokens of the mask of a state, and for each of them the number of tokens after it."""
        mask, keys = self.mask(state), self.steps(state)
        tokens, places = keys >> PLACE_BITS, keys & PLACE
        is_allowed = (mask[tokens // WORD_BITS] >> (tokens % WORD_BITS).astype(np.uint32) & np.uint32(1)).astype(np.bool_)
        tokens, places = tokens[is_allowed], places[is_allowed]
        counts = self._counts(places)
        distinct, firsts = np.unique(tokens, return_index=True)
        needed = np.minimum.reduceat(np.where(counts < 0, np.iinfo(np.int64).max, counts), firsts)
        ends = np.append(firsts[1:], len(tokens))
        for at in np.flatnonzero(needed == np.iinfo(np.int64).max).tolist():
            needed[at] = self._searched(tuple(places[firsts[at] : ends[at]].tolist()))
        return distinct, needed

    def _counts(self, places: Array) -> Array:
        """int64[n], the number of tokens from each place to the end of a text that is found without a search; -1: none is found."""
        with self._lock:
            known = self._needed
            if len(known) < self._places.counts.places:
                known = np.append(known, np.full(len(self._places.ends) - len(known), UNKNOWN))
            missing = np.unique(places[known[places] == UNKNOWN])
            found = np.empty(len(missing), np.int64)
            count_tokens.call(self._machine, self._work(), self._places, missing, found)
            known[missing] = found
            self._needed = known
        return known[places]

    def _searched(self, start: State) -> int:
        """The number of tokens from a state to the end of a text, by a search for the first state with a count that is not -1."""
        found = Exploration(self, start)
        for number, state in found.searched("the shortest text"):
            counts = self._counts(np.array(state))
            if (counts >= 0).any():
                return len(found.path(number)) - 1 + int(counts[counts >= 0].min())
            if self.is_alive(state):
                found.steps(number)
        raise AssertionError("a token without a later text is allowed")
