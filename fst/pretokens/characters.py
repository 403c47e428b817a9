"""The characters of machines whose symbols are characters, not bytes: which are tokens, and what becomes of the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from fst.automata.matcher import Matcher, trie
from fst.automata.rows import Array

ABSENT = -1  # no token
NOT_FUSED = -2  # no token, nor `ABSENT`
PLACES, UNKNOWN, FUSES, FALLS_BACK = range(4)  # indices into `Alphabet.rules`


class Alphabet(NamedTuple):
    """The characters.

    Attributes:
        characters: the known characters, each as its place and its bytes in UTF-8, and their tokens. The place is the code of its first
            byte (`fst.machines.bpe.affixes`) without the byte, shifted down, as far as affixes tell places apart.
        rules: int32[4]; empty if symbols are bytes. `PLACES`: the bits of places that affixes distinguish. `UNKNOWN`: the ``unk_token``, or
            `ABSENT`. `FUSES`: 1 if a run of unknown characters becomes a single one, else 0. `FALLS_BACK`: 1 if bytes have fallbacks.
    """

    characters: Matcher
    rules: Array


def alphabet(characters: Mapping[tuple[int, bytes], int], rules: Iterable[int]) -> Alphabet:
    """The arrays of an alphabet: the place and the bytes of each known character → its token, and the rules."""
    strings = (((place, *body), token) for (place, body), token in characters.items())
    return Alphabet(trie(strings), np.array([*rules], np.int32))


NO_ALPHABET = alphabet({}, ())  # symbols are bytes
