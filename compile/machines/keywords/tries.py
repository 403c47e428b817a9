"""The trie of keywords. A node takes few bytes of memory, because there are nearly as many nodes as bytes in all keywords."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fst.automata.links import Nodes
from fst.automata.trie import NULL

BYTE_BITS = 8


def trie_of(numbers: Mapping[bytes, int]) -> Nodes:
    """Build the trie of distinct, non-empty keywords; its tokens are the numbers of the keywords.

    The nodes of a level are the distinct pairs (parent, byte) of the keywords that reach this level.
    """
    data, lengths = np.frombuffer(b"".join(numbers), np.uint8), np.fromiter(map(len, numbers), np.int32, len(numbers))
    at, values = np.cumsum(lengths, dtype=np.int64) - lengths, np.fromiter(numbers.values(), np.int32, len(numbers))
    node, first = np.zeros(len(numbers), np.int64), 1
    parents, labels, tokens = [np.full(1, NULL, np.int32)], [np.zeros(1, np.uint8)], [np.full(1, NULL, np.int32)]
    while len(node):
        pairs, place = np.unique(node << BYTE_BITS | data[at], return_inverse=True)
        parents.append((pairs >> BYTE_BITS).astype(np.int32))
        labels.append(pairs.astype(np.uint8))
        tokens.append(np.full(len(pairs), NULL, np.int32))
        is_end = lengths == len(parents) - 1
        tokens[-1][place[is_end]] = values[is_end]
        goes_on = ~is_end
        node, at, lengths, values = first + place[goes_on], at[goes_on] + 1, lengths[goes_on], values[goes_on]
        first += len(pairs)
    levels = np.repeat(np.arange(len(parents), dtype=np.int32), [*map(len, parents)])
    return Nodes.of(np.concatenate(parents), np.concatenate(labels), levels, np.concatenate(tokens))
