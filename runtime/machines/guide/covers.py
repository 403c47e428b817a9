"""The canonical sequences of tokens that cover a text: those of the masks of all texts, along the bytes of one text.

A search walks from the beginning of the text, token by token. After each token, a scan of the part of the trie below the unread bytes gives
the last tokens, and a scan of the path of these bytes gives the tokens with which the walk may go on. A walk along tokens that are not
those of the text ends after one step, as no token follows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.machines.guide.canonical import Machine
from fst.machines.guide.canonical_states import PLACE, PLACE_BITS, CanonicalStates, State
from fst.machines.guide.vocabulary import Vocabulary, ids_of

MOST_PLACES = 1 << 16  # places that are kept between searches


class CoverSearch:
    """A search for the sequences of tokens that cover a text. Threads can share it.

    Args:
        machine: the arrays of canonical masks whose language are all texts.
        vocabulary: the vocabulary of the tokenizer.

    Attributes:
        begins_with_space: whether decoding removes a space from the first token.
    """

    def __init__(self, machine: Machine, vocabulary: Vocabulary) -> None:
        self._machine, self._vocabulary = machine, vocabulary
        self._states = CanonicalStates(machine, vocabulary)
        self.begins_with_space = bool(machine.scalars.start)

    def content(self, number: int) -> bytes:
        """The bytes of a token."""
        return self._vocabulary.content(number)

    def covering(self, data: bytes) -> Iterator[tuple[list[int], NDArray[np.int32]]]:
        """Yield the sequences of tokens that cover a text.

        Args:
            data: the bytes of the text, in UTF-8.

        Yields:
            The tokens before the last one; int32[n], the tokens that may be the last one, in ascending order.
        """
        if self._states.places > MOST_PLACES:
            self._states = CanonicalStates(self._machine, self._vocabulary)
        states, longest = self._states, self._vocabulary.trie.longest
        stack: list[tuple[Any, int, State]] = [((), 0, states.start)]  # the last token and those before it, nested; the bytes read; a state
        while stack:
            path, at, state = stack.pop()
            rest = data[at : at + longest + 1]
            if len(rest) <= longest and len(last := ids_of(states.mask(state, rest)).astype(np.int32)):
                yield _unnested(path), last
            after: dict[int, list[int]] = {}
            for key in states.steps(state, rest[:-1]).tolist() if len(rest) > 1 else ():
                after.setdefault(key >> PLACE_BITS, []).append(key & PLACE)
            stack += [((path, token), at + len(self.content(token)), tuple(places)) for token, places in after.items()]


def _unnested(path: Any) -> list[int]:
    """The tokens of a nested path."""
    found = []
    while path:
        path, token = path
        found.append(token)
    return found[::-1]
