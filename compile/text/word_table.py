"""The table of words: a perfect hash table of the words that become a single token, so that most words need one look-up instead of one per
character.

A slot is half a cache line. A word's hash selects a bucket, and the bucket's displacement moves each of the bucket's words to a separate
slot ("hash and displace": Pagh 1999; Belazzougui, Botelho and Dietzfelbinger 2009). Buckets are placed in the order of their most frequent
word, at the first displacement that fits, so that frequent words are close together. A word without a slot is left out, so the transducer
segments it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import MULTIPLIERS, WORD_SYMBOLS
from fst.automata.trie import NULL, ROOT, Ints, Trie
from fst.compile.text.added_tokens import without
from fst.core.jit import Deferred
from fst.tables.words import used

LOAD = 0.75  # the maximum share of slots in use
MAX_WORDS = int(LOAD * (1 << 18))  # maximum number of words, of which the most frequent are kept; 8 MB, more than the size of caches
WORDS_PER_BUCKET = 4  # maximum average number of words per bucket; the numbers of slots and buckets are powers of two
displace = Deferred("fst.compile.layout.displacement", "displace")


WordTable = tuple[NDArray[np.uint64], NDArray[np.uint16]]  # ``words`` and ``displacements``, see `fst.tables.words`


def word_table(trie: Trie, class_of_label: Ints, forbidden: Sequence[tuple[int, ...]]) -> WordTable:
    """Build the table. `trie`: the vocabulary; frequent tokens have low ids. `class_of_label`: int64[labels], the class of each letter of
    the trie. `forbidden`: the classes of contextual tokens; no word of the table may contain one of these strings.
    """
    return _placed(*_whole_words(trie, class_of_label, forbidden))


def renumbered(words: NDArray[np.uint64], classes: Ints, forbidden: Sequence[tuple[int, ...]]) -> WordTable:
    """Convert an existing table to new classes of characters. `words`: the existing table. `classes`: the new class of each old class.
    `forbidden`: as in `word_table`, in new classes.
    """
    known, ids = used(words)
    keys: NDArray[np.uint16] = classes.astype(np.uint16)[known]
    kept = np.flatnonzero(without(keys, forbidden))
    kept = kept[np.argsort(ids[kept], kind="stable")]
    empty = np.zeros((1, WORD_SYMBOLS), np.uint16)
    return _placed(np.concatenate([empty, keys[kept]]).view(np.uint64), np.append(NULL, ids[kept]))


def _placed(keys: NDArray[np.uint64], ids: Ints) -> WordTable:
    return hashed(keys, np.where(ids >= 0, np.uint64(1 << 32) | ids.astype(np.uint64), np.uint64(0)))


def hashed(keys: NDArray[np.uint64], values: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint16]]:
    """Place words in the slots of a perfect hash table. `keys`: uint64[words, 3], the most frequent words first. `values`: uint64[words],
    the contents of each slot after the key. Returns uint64[4 * slots] and uint16[buckets], both sizes powers of two.
    """
    slots = 1 << max(int(np.ceil(np.log2(len(keys) / LOAD))), 1)
    buckets = max(slots // WORDS_PER_BUCKET, 2)
    hashes = (keys * np.array(MULTIPLIERS, np.uint64)).sum(axis=1, dtype=np.uint64)
    shift = 64 - (buckets - 1).bit_length()
    bucket = (hashes >> np.uint64(shift)).astype(np.int64)
    base = (hashes >> np.uint64(shift - (slots - 1).bit_length())).astype(np.int64) & (slots - 1)

    # Group words by bucket; sort the buckets by their first words.
    first = np.full(buckets, len(keys))
    np.minimum.at(first, bucket, np.arange(len(keys)))
    members = np.argsort(first[bucket], kind="stable")
    starts = np.append(np.flatnonzero(np.diff(first[bucket[members]], prepend=-1)), len(keys))
    displacements, slot = np.zeros(buckets, np.int64), np.full(len(keys), -1)
    displace.call(members, starts, bucket, base, displacements, np.zeros(slots, np.bool_), slot)

    words = np.zeros((slots, 4), np.uint64)
    placed = slot >= 0
    words[slot[placed], :3] = keys[placed]
    words[slot[placed], 3] = values[placed]
    return words.ravel(), displacements.astype(np.uint16)


def _whole_words(trie: Trie, class_of_label: Ints, forbidden: Sequence[tuple[int, ...]]) -> tuple[NDArray[np.uint64], Ints]:
    """Keys and ids of the words that become a single token, in the order of ids; the first is the empty word, with id -1."""
    symbols = np.zeros((len(trie), WORD_SYMBOLS), np.uint16)
    begun = np.zeros(len(trie), bool)  # words that are reached from r, but not through r♯
    begun[ROOT] = True
    for level in range(1, min(WORD_SYMBOLS, int(trie.level[-1])) + 1):
        nodes = np.flatnonzero(trie.level == level)
        begun[nodes] = begun[trie.parent[nodes]]
        symbols[nodes] = symbols[trie.parent[nodes]]
        symbols[nodes, level - 1] = class_of_label[trie.label[nodes]]
    begun[[ROOT, trie.suffix_root]] = False
    whole = np.flatnonzero(begun & (trie.token != NULL))
    whole = whole[without(symbols[whole], forbidden)]
    whole = np.append(ROOT, whole[np.argsort(trie.token[whole], kind="stable")])[:MAX_WORDS]
    ids = trie.token[whole]
    ids[0] = NULL
    keys: NDArray[np.uint64] = symbols[whole].view(np.uint64)
    return keys, ids
