"""The arguments of the fallback's kernels for contextual added tokens: the tokens to find, and the symbols to write."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.matcher import Trie
from fst.automata.rows import Array

# The kinds of a code point, as bits. They decide whether a token beside it counts, in order: it is a part of words; its first normalised
# character is one; its last is one; normalisation puts blanks around it; it is white space; only some of its normalised characters are
# parts of words. And the last bit: a token in raw text begins with it.
WORD_PART, BEGINS_WORD, ENDS_WORD, SPACED, WHITE, MIXED, BEGINS_RAW = (1 << kind for kind in range(7))
FLAGS = {"single_word": 1, "lstrip": 2, "rstrip": 4}  # of a token, in `Pattern.tokens`
NO_SOURCE = (1 << 32) - 1


class Pattern(NamedTuple):
    """A set of added tokens to find in one pass.

    Attributes:
        trie: their strings, of code points or of classes; the value of a string is its row in `tokens`.
        tokens: int32[tokens, 2], the class and the `FLAGS` of each.
    """

    trie: Trie
    tokens: NDArray[np.int32]


class Symbols(NamedTuple):
    """Symbols as `fst.runtime.machines.wordpiece.kernels.fallback.read_raw` writes them.

    Attributes:
        classes: uint16[n].
        spans: uint64[n], the span of each symbol in its text, ``first | one past the last << 32``.
        sources: uint32[n], the character of each symbol, as an index into the code points of all texts; `NO_SOURCE` for added tokens and
            ends of texts.
        ordinals: uint8[n], the index of each symbol among the symbols of its character.
    """

    classes: Array
    spans: Array
    sources: Array
    ordinals: Array

    @classmethod
    def empty(cls, count: int) -> Symbols:
        """Allocate room for `count` symbols."""
        return cls(*(np.empty(count, dtype) for dtype in (np.uint16, np.uint64, np.uint32, np.uint8)))

    def at(self, which: Any) -> Symbols:
        """The symbols that an index array, a mask or a slice selects."""
        return Symbols(*(array[which] for array in self))
