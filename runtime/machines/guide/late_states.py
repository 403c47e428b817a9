"""The states of late guides, which are the numbers of sets of items (`fst.runtime.machines.guide.walker`)."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import numpy as np

from fst.automata.rows import Array
from fst.core.threads import in_threads, thread_count
from fst.machines.guide.item_arguments import DEAD
from fst.machines.guide.part_store import PartStore
from fst.machines.guide.parts import Texts
from fst.machines.guide.scanning import add_bits
from fst.machines.guide.vocabulary import Vocabulary
from fst.runtime.machines.guide.completions import ENDLESS, Completions, need_tokens
from fst.runtime.machines.guide.walker import Walker

ROOT = 0  # the part that reads whole texts
START = -1  # the state before the first token, if tokens have other bytes at the start of a text
MIN_SHARE = 4  # minimum number of masks for each thread
PATIENCE, MIN_SECONDS = 1e-4, 2e-3  # seconds that masks take before threads share the others, and that these must take at least


class LateStates:
    """The states of a guide.

    Args:
        texts: the parts.
        vocabulary: the vocabulary of the tokenizer.
    """

    kind = "items"

    def __init__(self, texts: Texts, vocabulary: Vocabulary) -> None:
        self._store, self._vocabulary = PartStore(texts), vocabulary
        self._walker, self._idle = Walker(self._store, vocabulary), list[Copies]()
        self._first, self._tokens = self._walker.first(ROOT), vocabulary.tokens[:2]
        self._completions = Completions(self._store, self._walker, vocabulary)
        self.start = START if len(vocabulary.tokens.first_ends) else self._first

    def is_alive(self, state: int) -> bool:
        """Whether a text can end after a state, possibly after more tokens: parts have no dead positions."""
        return state != DEAD

    def is_final(self, state: int) -> bool:
        """Whether a text may end in a state."""
        return self._walker.is_final(self._first if state == START else state)

    def step(self, state: int, number: int) -> int:
        """The state after a token; `DEAD` if the token is not allowed."""
        if state != START:
            return self._walker.after_token(state, number, *self._tokens)
        tokens = self._vocabulary.tokens
        if not self._vocabulary.content(number):
            return DEAD
        if not self._vocabulary.content(number, is_first=True):
            return START if tokens.keeps_first[0] else self._first
        return self._walker.after_token(self._first, number, tokens.first_bytes, tokens.first_ends)

    def mask(self, state: int) -> Array:
        """uint32[words], the mask of a state; with the token that ends a text, if a text may end there."""
        if state != START:
            return self._walker.mask(state)
        row = self._walker.mask(self._first, is_first=True)
        add_bits(row, self._vocabulary.silent)
        return row

    def mask_within(self, state: int, left: int, ending: int) -> Array:
        """See `fst.runtime.machines.guide.late_masks.States.mask_within`."""
        is_first = state == START
        trie, number = (self._vocabulary.first, self._first) if is_first else (self._vocabulary.trie, state)
        found = self._walker.sets_after(number, trie, self._vocabulary.size)
        if is_first:
            found[self._vocabulary.silent] = number
        sets, places = np.unique(found, return_inverse=True)
        with self._walker.lock:  # completions are not made by two threads at once
            needed = np.array([self._completions.tokens(each) if each else ENDLESS for each in sets.tolist()])
        need_tokens(ending + (0 if self._walker.is_final(number) else 1 + int(needed.min())), left)
        row = np.zeros(self._vocabulary.words, np.uint32)
        add_bits(row, np.flatnonzero(needed[places] + ending < left))
        return row

    def masks(self, states: Sequence[int]) -> list[Array]:
        """The masks of states, on several threads if they take long."""
        count = min(thread_count(), len(states) // MIN_SHARE) if len(states) >= 2 * MIN_SHARE else 1
        if count < 2:
            return [*map(self.mask, states)]
        found, begun = list[Array](), perf_counter()
        for place, state in enumerate(states):
            found.append(self.mask(state))
            spent, left = perf_counter() - begun, len(states) - place - 1
            if spent > PATIENCE and spent / (place + 1) * left > MIN_SECONDS:
                return found + in_threads(self._mask_by_copies, states[place + 1 :], count)
        return found

    def _mask_by_copies(self, state: int) -> Array:
        """The mask of a state; several threads may call this method at a time."""
        if state == START:
            return self.mask(state)
        copies = self._take()
        mask = copies.walker.mask(copies.number(state))
        self._idle.append(copies)
        return mask

    def _take(self) -> Copies:
        """Take the copies of a thread, or make them."""
        try:
            return self._idle.pop()
        except IndexError:
            return Copies(self._walker, Walker(self._store, self._vocabulary))


class Copies:
    """A walker whose sets are copied from another walker, so that another thread can change it.

    Args:
        source: the other walker.
        walker: a new walker with the same parts.
    """

    def __init__(self, source: Walker, walker: Walker) -> None:
        self._source, self.walker, self._numbers = source, walker, np.empty(0, np.int32)

    def number(self, number: int) -> int:
        """The number in `walker` of the copy of a set of the source, which is made if necessary."""
        pool = self._source.pool
        if len(self._numbers) < pool.room:
            self._numbers = np.append(self._numbers, np.full(pool.room - len(self._numbers), -1, np.int32))
        return self.walker.copied(number, pool, self._numbers)
