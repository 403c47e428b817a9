"""The characters of machines whose symbols are characters, not bytes: known characters, their tokens, rules for others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from fst.automata.matcher import Matcher, trie
from fst.automata.rows import Array

ABSENT = -1  # no token
NOT_FUSED = -2  # not an id, and different from `ABSENT`
PLACES, UNKNOWN, FUSES, FALLS_BACK = range(4)  # indices into `Alphabet.rules`


class Alphabet(NamedTuple):
    """The characters.

    Attributes:
        characters: the known characters, each as its position and its UTF-8 bytes, and their tokens. The position is the code of the first
            byte (`fst.machines.bpe.affixes`) without the byte, shifted down, limited to the bits that affixes distinguish.
        rules: int32[4]; empty if symbols are bytes. `PLACES`: the bits of positions that affixes distinguish. `UNKNOWN`: the ``unk_token``,
            or `ABSENT`. `FUSES`: 1 if a run of unknown characters becomes a single one, else 0. `FALLS_BACK`: 1 if bytes have fallbacks.
    """

    characters: Matcher
    rules: Array


def alphabet(characters: Mapping[tuple[int, bytes], int], rules: Iterable[int]) -> Alphabet:
    """The arrays of an alphabet.

    Args:
        characters: the position and the bytes of each known character → its token.
        rules: as in `Alphabet`.
    """
    strings = (((place, *body), token) for (place, body), token in characters.items())
    return Alphabet(trie(strings), np.array([*rules], np.int32))


NO_ALPHABET = alphabet({}, ())  # symbols are bytes
