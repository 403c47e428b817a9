"""The canonical sequences of tokens that cover a text.

A search walks from the beginning of the text, token by token, through the states of canonical masks whose pattern allows every text. After
each token, one scan finds the tokens that begin with all unread bytes: the last token is one of these. Another scan finds the tokens with
which the unread bytes begin: the walk continues with each of them. After a token that does not belong to the encoding, no token is found,
so few walks continue.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.machines.guide.canonical import Machine
from fst.machines.guide.canonical_states import PLACE, PLACE_BITS, CanonicalStates, State
from fst.machines.guide.vocabulary import Vocabulary, ids_of

MOST_PLACES = 1 << 16  # maximum number of places that are kept between searches, see `CanonicalStates`


class CoverSearch:
    """A search for the sequences of tokens that cover a text. Threads can share it.

    Args:
        machine: the arrays of canonical masks whose pattern allows every text.
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
        stack: list[tuple[Any, int, State]] = [((), 0, states.start)]  # tokens as nested pairs, the bytes read, a state
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
    """The tokens of a path ``(((), first), second)``."""
    found = []
    while path:
        path, token = path
        found.append(token)
    return found[::-1]
