"""Find the code of a byte in a pre-token; for BPE whose merges begin with characters, find the end and the token of a character in
UTF-8.
"""

from __future__ import annotations

import numpy as np

from fst.automata.kernels.matcher import child_of
from fst.automata.matcher import ENDING
from fst.core.jit import inlined, part
from fst.pretokens.characters import ABSENT as NO_TOKEN
from fst.pretokens.characters import CONTINUES, ENDS, FALLS_BACK, PLACES
from fst.runtime.kernels.constants import ROOT, U0, U1, U2, U3, U4

ABSENT = np.int32(NO_TOKEN)
NOT_FIRST, LAST = np.uint64(CONTINUES), np.uint64(ENDS)
TWO, THREE, FOUR = np.uint8(0xC0), np.uint8(0xE0), np.uint8(0xF0)  # the lowest first byte of characters with 2, 3 and 4 bytes


@inlined
def code_of(text, start, at, end):
    """The code of the byte at the position `at` of the pre-token from `start` to `end`, see `fst.pretokens.characters`."""
    return np.uint64(text[at]) | (NOT_FIRST if at > start else U0) | (LAST if at + U1 == end else U0)


@inlined
def length_of(byte):
    """Return the number of bytes of a character, from its first byte."""
    return U1 if byte < TWO else U2 if byte < THREE else U3 if byte < FOUR else U4


@part
def next_character(text, start, at, end, alphabet):
    """Look up the character at the position `at` of the pre-token from `start` to `end`.

    Returns:
        The token of the character, or `ABSENT`; and the position after the character.
    """
    after = min(at + length_of(text[at]), end)
    place = np.uint64(at > start) | np.uint64(after == end) << U1
    node = child_of(ROOT, place & np.uint64(alphabet.rules[PLACES]), alphabet.characters.edges)
    for index in range(at, after):
        node = child_of(node, np.uint64(text[index]), alphabet.characters.edges) if node else ROOT
    token = alphabet.characters.nodes[node, ENDING] if node else ABSENT
    return token, after


@part
def falls_back(text, at, after, rules, atoms):
    """Whether each byte of an unknown character has a fallback, the token of this byte."""
    falls = rules[FALLS_BACK] > 0
    for index in range(at, after):
        falls = falls and atoms[text[index]] != ABSENT
    return falls
