"""The alphabet of tables whose symbols are characters, not bytes. An alphabet consists of the characters with tokens, and of rules for all
other characters.

The *code* of a byte in a pre-token is ``byte | CONTINUES | ENDS``: `CONTINUES` unless the byte is the first, `ENDS` if it is the last.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from fst.automata.matcher import Matcher, trie
from fst.automata.rows import Array

ABSENT = -1  # no token
CONTINUES, ENDS, CODES = 1 << 8, 1 << 9, 1 << 10  # bits in the code of a byte of a pre-token, and the number of codes
NOT_FUSED = -2  # the value of `fused` if no token represents a run of characters or bytes
PLACES, UNKNOWN, FUSES, FALLS_BACK = range(4)  # indices into `Alphabet.rules`


class Alphabet(NamedTuple):
    """The arrays of an alphabet.

    Attributes:
        characters: the characters with tokens. A key is the character's position and its UTF-8 bytes; its value is the token. The position
            is ``code >> 8`` of the first byte, limited to the bits that affixes distinguish.
        rules: int32[4]; empty if symbols are bytes. `PLACES`: the bits of a position that affixes distinguish. `UNKNOWN`: the
            ``unk_token``, or `ABSENT`. `FUSES`: 1 if a run of unknown characters becomes a single unknown token, else 0. `FALLS_BACK`: 1 if
            bytes have fallback tokens.
    """

    characters: Matcher
    rules: Array


def alphabet(characters: Mapping[tuple[int, bytes], int], rules: Iterable[int]) -> Alphabet:
    """The arrays of an alphabet.

    Args:
        characters: a mapping of the position and the bytes of a character to the character's token.
        rules: the elements of `Alphabet.rules`.
    """
    strings = (((place, *body), token) for (place, body), token in characters.items())
    return Alphabet(trie(strings), np.array([*rules], np.int32))


NO_ALPHABET = alphabet({}, ())  # symbols are bytes
