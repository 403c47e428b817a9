"""Last-token automata: the arrays from which a kernel derives, byte by byte, the last token of the encoding of a text.

A text is cut into *words* (pre-tokens), and each word is segmented separately. Three automata read a text:

1. `LastTokens.characters` reads the bytes of a character, and gives its class. `LastTokens.norms` reads the classes of texts that the
   normalizer leaves alone; other texts are not decoded from the tokens of a text.
2. `LastTokens.cuts` reads the class of each character, and whether a word begins there. It accepts a text exactly if the words that it
   reads begin where the tokenizer cuts the text. A cut may depend on later characters, so an automaton that reads both is smaller than an
   automaton that finds the cuts.
3. The machine reads the bytes of a word. Its state gives the last token of the word so far. For BPE and WordPiece, this is an automaton
   with failure links, `LastTokens.entries`; for Unigram, the best path through the trie `LastTokens.trie`.

**Last tokens are enough.** Let x be the beginning of a word with the encoding e(x), and t a token. Then e(xt) is e(x) followed by t if and
only if the last token of e(xt) is t. For BPE, no merge crosses the cut before the last token. For WordPiece, each token before t is the
longest at its position in xt, so also in x. For Unigram, a part of a best path is a best path, and ties depend only on the text before
them. So if a walk checks the last token at the end of each token, all tokens are checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CODE_POINTS, Array, RowFormat

ENTRY = RowFormat(label_bits=8, target_bits=24, value_bits=0, dtype=np.uint32, labels=0xF8, own=0xFF, free=(1 << 32) - 1)
TRIE_ENTRY = RowFormat(label_bits=8, target_bits=28, value_bits=28, dtype=np.uint64, labels=0xF8, own=0xFF, free=0xFE << 56)
NO_TOKEN = ENTRY.max_target  # instead of the last token: the word has no segmentation
NOWHERE = -1
BLOCK = 64  # number of characters that share all bytes but the last


class LastTokens(NamedTuple):
    """A last-token automaton of a tokenizer; see the module docstring.

    Attributes:
        characters: int32[nodes, 256], the automaton over the bytes of a character: the next node; or ``-1 - class`` after the last byte; 0
            for a byte that leads nowhere. Node 0 is the root.
        cuts: int16[states, 2, classes], the next state for the class of a character, in the second row if a word begins with the character;
            -1: none. State 0 is the beginning of a text.
        ends: uint8[states], 1 if a text may end in the state of `cuts`, else 0.
        risky: uint8[classes], 1 if a character of the class is not a token at every position, so that a word with this character may have
            no segmentation.
        norm_classes: int32[classes], the class for `norms` of the characters of each class.
        norms: int16[states, n], an automaton over characters, which reads the texts that the normalizer leaves alone: the next state, or
            -1. State 0 is the beginning of a text. A class that some state does not read is `risky`.
        entries: uint32[slots], the automaton of the machine in the format `ENTRY`; the slot of a state has the id of the last token, or
            `NO_TOKEN`, as its target. Empty for Unigram.
        fails: int32[slots], the failure link of the state in each slot, -1: none; empty if each link leads to the root, which then has a
            transition for every byte.
        limit: the maximum number of characters of a word; 0: no limit.
        sizes: int32[ids], the number of bytes of each token in a word.
        trie: uint64[slots], the trie of Unigram, in the format `TRIE_ENTRY`: the value is 1 + the id of the token; empty otherwise.
        scores: float64[ids], the score of each token.
        unknown: the score of a character that is not a token.
        begins_with_space: whether decoding removes a space from the first token.
    """

    characters: NDArray[np.int32]
    cuts: NDArray[np.int16]
    ends: NDArray[np.uint8]
    risky: NDArray[np.uint8]
    norm_classes: NDArray[np.int32]
    norms: NDArray[np.int16]
    entries: NDArray[np.uint32]
    fails: NDArray[np.int32]
    limit: int
    sizes: NDArray[np.int32]
    trie: NDArray[np.uint64]
    scores: NDArray[np.float64]
    unknown: float
    begins_with_space: bool


def unchanged(classes: int) -> tuple[NDArray[np.int32], NDArray[np.int16]]:
    """The fields `norm_classes` and `norms` if all characters are read."""
    return np.zeros(classes, np.int32), np.zeros((1, 1), np.int16)


def characters_of(classes: NDArray[Any]) -> NDArray[np.int32]:
    r"""The automaton over the bytes of characters, with equal nodes merged.

    Args:
        classes: whole numbers[0x110000], the class of each code point.

    Examples:
        >>> classes = np.zeros(CODE_POINTS, np.uint8)
        >>> classes[ord("é")] = 1
        >>> found = characters_of(classes)
        >>> [int(found[0, byte]) for byte in b"a\x80"], int(found[found[0, 0xC3], 0xA9])
        ([-1, 0], -2)
    """
    lasts, last_of = np.unique(classes.reshape(-1, BLOCK), axis=0, return_inverse=True)
    middles, middle_of = np.unique(last_of.reshape(-1, BLOCK), axis=0, return_inverse=True)
    padded = np.append(middle_of.ravel(), np.zeros(-len(middle_of) % BLOCK, np.int64)).reshape(-1, BLOCK)
    nodes = np.zeros((1 + len(lasts) + len(middles) + len(padded), 256), np.int32)
    first_middle, first_upper = 1 + len(lasts), 1 + len(lasts) + len(middles)
    nodes[0, :0x80] = -1 - classes[:0x80].astype(np.int32)
    nodes[0, 0xC2:0xE0] = 1 + last_of.ravel()[2:32]
    nodes[0, 0xE0:0xF0] = first_middle + middle_of.ravel()[:16]
    nodes[0, 0xF0:0xF5] = first_upper + np.arange(len(padded))
    nodes[1:first_middle, 0x80:0xC0] = -1 - lasts.astype(np.int32)
    nodes[first_middle:first_upper, 0x80:0xC0] = 1 + middles
    nodes[first_upper:, 0x80:0xC0] = first_middle + padded
    return nodes


def classes_by(groups: Sequence[Sequence[str]], rest: int) -> NDArray[np.uint8]:
    """uint8[0x110000], the class of each code point: the number of the group that contains the code point, or `rest` if no group does."""
    classes = np.full(CODE_POINTS, rest, np.uint8)
    for number, chars in enumerate(groups):
        classes[[ord(char) for char in chars]] = number
    return classes


def walked(entries: Array, tokens: Sequence[bytes]) -> NDArray[np.int64]:
    """The id of the last token of each string of bytes, by an automaton whose links lead to its root."""
    ends = np.cumsum([len(token) for token in tokens])
    data, starts = np.frombuffer(b"".join(tokens), np.uint8), ends - [len(token) for token in tokens]
    states = np.zeros(len(tokens), np.int64)
    for place in range(max(map(len, tokens), default=0)):
        left = np.flatnonzero(starts + place < ends)
        byte = data[starts[left] + place].astype(np.int64)
        found = entries[states[left] + ENTRY.first + byte]
        found = np.where(ENTRY.labels_of(found) == byte, found, entries[ENTRY.first + byte])
        states[left] = ENTRY.targets_of(found)
    return ENTRY.targets_of(entries[states])
