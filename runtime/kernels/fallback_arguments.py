"""How the kernels of contextual added tokens are called: what they look for, and the symbols that they write."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.matching import Trie
from fst.rows import Array

# What a code point is to a token beside it, as bits: a part of words; its first, or its last, normalised character is one; normalisation
# puts blanks around it; white space; only some of its normalised characters are parts of words; a token begins with it in raw text.
WORD_PART, BEGINS_WORD, ENDS_WORD, SPACED, WHITE, MIXED, BEGINS_RAW = (1 << kind for kind in range(7))
FLAGS = {"single_word": 1, "lstrip": 2, "rstrip": 4}  # of a token, in `Pattern.tokens`
NO_SOURCE = (1 << 32) - 1


class Pattern(NamedTuple):
    """Added tokens that are looked for together.

    Attributes:
        trie: their strings, of code points or of classes; a value is a row of `tokens`.
        tokens: int32[tokens, 2], the class and the flags of each.
    """

    trie: Trie
    tokens: NDArray[np.int32]


class Symbols(NamedTuple):
    """Symbols as `fst.runtime.kernels.fallback.read_raw` writes them.

    Attributes:
        classes: uint16[n].
        spans: uint64[n], the characters of its text that each comes from, ``first | one past the last << 32``.
        sources: uint32[n], the character, counted through all texts, that it is made of; `NO_SOURCE` for added tokens and ends of texts.
        ordinals: uint8[n], how many symbols of that character stand before it.
    """

    classes: Array
    spans: Array
    sources: Array
    ordinals: Array

    @classmethod
    def empty(cls, count: int) -> Symbols:
        """Room for so many symbols."""
        return cls(*(np.empty(count, dtype) for dtype in (np.uint16, np.uint64, np.uint32, np.uint8)))

    def at(self, which: Any) -> Symbols:
        """Some of the symbols."""
        return Symbols(*(array[which] for array in self))
