"""The tokens of a vocabulary inside strings of JSON, which are found once for all guides: most tokens at a place in a string are decided by
their characters alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import Array
from fst.core.jit import Deferred
from fst.machines.guide.scanning import add_bits
from fst.machines.guide.vocabulary import Trie, Vocabulary, roots_of, trie_of

OUTSIDE, PLAIN, ESCAPED, QUOTED = range(4)  # kinds of tokens, see `fst.runtime.machines.guide.kernels.strings.classify`
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
    if __name__ not in vocabulary.kept:
        vocabulary.kept[__name__] = _string_tokens(vocabulary)
    found: StringTokens = vocabulary.kept[__name__]
    return found


def _string_tokens(vocabulary: Vocabulary) -> StringTokens:
    tokens, size = vocabulary.tokens, vocabulary.size
    kinds, chars, quotes = np.empty(size, np.uint8), np.empty(size, np.int64), np.empty(size, np.int64)
    classify.call(tokens.token_bytes, tokens.token_ends, kinds, chars, quotes)
    is_within = (kinds == PLAIN) | (kinds == ESCAPED)
    within = [_mask(vocabulary, is_within)] + [_mask(vocabulary, is_within & (chars <= most)) for most in range(1, CHECKPOINTS)]
    far = np.flatnonzero(is_within & (chars >= CHECKPOINTS))
    far = far[np.argsort(-chars[far], kind="stable")]
    after, after_ends, quoted = _after_quotes(vocabulary, np.flatnonzero(kinds == QUOTED), quotes)
    others = part_of(vocabulary.trie, kinds != PLAIN)
    plain, longer = _mask(vocabulary, kinds == PLAIN), (far.astype(np.uint32), chars[far])
    return StringTokens(plain, np.stack(within), *longer, after, after_ends, quoted, chars[quoted], others)


def _after_quotes(vocabulary: Vocabulary, quoted: NDArray[np.int64], quotes: Array) -> tuple[Trie, Array, Array]:
    """The fields `after`, `after_ends` and `quoted` of `StringTokens`. `quoted`: the tokens. `quotes`: the place of each token's quotation
    mark.
    """
    by_rest: dict[bytes, list[int]] = {b"": []}
    for number in quoted.tolist():
        by_rest.setdefault(vocabulary.content(number)[quotes[number] + 1 :], []).append(number)
    ends = np.cumsum([len(ids) for ids in by_rest.values()])
    return trie_of([*by_rest]), ends, np.array([number for ids in by_rest.values() for number in ids], np.uint32)


def _mask(vocabulary: Vocabulary, is_set: NDArray[np.bool_]) -> Array:
    """uint32[words + 1], the mask of the tokens in the trie for which `is_set` is true."""
    row = np.zeros(vocabulary.words + 1, np.uint32)
    add_bits(row, np.flatnonzero(is_set))
    return row


def part_of(trie: Trie, is_kept: NDArray[np.bool_]) -> Trie:
    """The part of a trie with the tokens for which `is_kept` is true.

    Examples:
        >>> part_of(trie_of([b"a", b"ab", b"b"]), np.array([False, True, True])).labels & 0xFF
        array([97, 98, 98], dtype=uint32)
    """
    none = len(is_kept)
    kept = np.append(is_kept, False)[np.minimum(trie.tokens, none)]
    before = np.append(0, np.cumsum(kept))  # tokens that are kept before each node
    has_kept = before[trie.skips] > before[:-1]
    numbers = np.append(0, np.cumsum(has_kept))
    nodes = np.flatnonzero(has_kept)
    tokens = np.where(kept[nodes], trie.tokens[nodes], -(-none // 32) * 32).astype(np.uint32)
    labels = trie.labels[nodes]
    fields = trie._replace(labels=labels, roots=roots_of(labels), skips=numbers[trie.skips[nodes]].astype(np.uint32), tokens=tokens)
    return fields._replace(longest_below=trie.longest_below[nodes], groups_below=trie.groups_below[nodes])
