"""The tokens of a vocabulary inside strings of JSON, which are found once for all guides: most tokens at a place in a string are decided by
their characters alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import Array
from fst.automata.trie import Ints, spread
from fst.core.jit import Deferred
from fst.machines.guide.item_arguments import ESCAPED, PLAIN, QUOTED
from fst.machines.guide.vocabulary import WORD_BITS, Trie, Vocabulary, trie_of, words_of

CHECKPOINTS = 16

classify = Deferred("fst.runtime.machines.guide.kernels.strings", "classify")


class StringTokens(NamedTuple):
    """The tokens of a vocabulary as parts of strings of JSON.

    Attributes:
        plain: uint32[words + 1], the mask of the tokens of unescaped characters, the last of which may be incomplete.
        within: uint32[CHECKPOINTS, words + 1], the masks of the tokens of n or fewer characters, unescaped or escaped, the last of which
            may be incomplete; row 0: of any number.
        longer: uint32[n], the tokens of ``within[0]`` with at least `CHECKPOINTS` characters, in descending order of their numbers of
            characters; longer_chars: int64[n], these numbers.
        after: the trie of what follows the first quotation mark that ends the string, in the tokens that have one. Its tokens are numbers
            from 1 on; 0 is the empty string, which has no node.
        after_ends: int64[n], the end of the tokens of each number in `quoted`; quoted: uint32[n], their ids; quoted_chars: int64[n], the
            number of characters before the quotation mark.
        others: the trie of the tokens that are not in `plain`.
    """

    plain: Array
    within: Array
    longer: Array
    longer_chars: Array
    after: Trie
    after_ends: Array
    quoted: Array
    quoted_chars: Array
    others: Trie


def string_tokens(vocabulary: Vocabulary) -> StringTokens:
    """The tokens of a vocabulary inside strings; they are found once."""
    return vocabulary.once("string tokens", lambda: _string_tokens(vocabulary))


def _string_tokens(vocabulary: Vocabulary) -> StringTokens:
    (data, ends), size = vocabulary.tokens[:2], vocabulary.size
    kinds, chars, quotes = np.empty(size, np.uint8), np.empty(size, np.int64), np.empty(size, np.int64)
    classify.call(data, ends, kinds, chars, quotes)
    is_within = (kinds == PLAIN) | (kinds == ESCAPED)
    within = [is_within, *(is_within & (chars <= most) for most in range(1, CHECKPOINTS))]
    far = np.flatnonzero(is_within & (chars >= CHECKPOINTS))
    far = far[np.argsort(-chars[far], kind="stable")]
    after, after_ends, quoted = _after_quotes(data, ends, np.flatnonzero(kinds == QUOTED), quotes)
    others = trie_of(data, ends, np.flatnonzero(kinds != PLAIN))
    plain, *rows = (mask_of(vocabulary, is_set) for is_set in (kinds == PLAIN, *within))
    longer = far.astype(np.uint32), chars[far]
    return StringTokens(plain, np.stack(rows), *longer, after, after_ends, quoted, chars[quoted], others)


def _after_quotes(data: Array, ends: Array, quoted: Ints, quotes: Array) -> tuple[Trie, Array, Array]:
    """The fields `after`, `after_ends` and `quoted` of `StringTokens`. `quoted`: the tokens. `quotes`: the place of each token's quotation
    mark.
    """
    begins = np.append(0, ends)[quoted] + quotes[quoted] + 1
    sizes = ends[quoted] - begins
    trie = trie_of(data[spread(begins, sizes)], np.cumsum(sizes))
    firsts = np.where(sizes > 0, np.arange(len(quoted)), -1)  # the first place in `quoted` with each rest; -1: the empty rest
    firsts[trie.twins[:, 0]] = trie.twins[:, 1]
    distinct, numbers = np.unique(np.append(-1, firsts), return_inverse=True)
    numbers, none = numbers[1:], words_of(len(distinct)) * WORD_BITS
    renumbered = np.append(numbers, none)[np.minimum(trie.tokens, len(quoted))].astype(np.uint32)
    after_ends = np.cumsum(np.bincount(numbers, minlength=len(distinct)))
    return trie._replace(tokens=renumbered), after_ends, quoted[np.argsort(numbers, kind="stable")].astype(np.uint32)


def mask_of(vocabulary: Vocabulary, is_set: NDArray[np.bool_]) -> Array:
    """uint32[words + 1], the mask of the tokens for which `is_set` is true."""
    row, bits = np.zeros(vocabulary.words + 1, "<u4"), np.packbits(is_set, bitorder="little")
    row.view(np.uint8)[: len(bits)] = bits
    return row.astype(np.uint32, copy=False)
