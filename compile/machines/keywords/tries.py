"""The trie of keywords, with few bytes a node, since there are nearly as many nodes as bytes of keywords."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.trie import NULL, Ints

BYTE_BITS = 8


class KeywordTrie(NamedTuple):
    """The nodes of a trie in order of their level, the root first, and within a level by parent and byte.

    Attributes:
        parents: int32[nodes], the node above each one; `NULL` for the root.
        bytes_read: uint8[nodes], the byte that leads to each node; 0 for the root.
        levels: int32[nodes], the number of bytes from the root to each node.
        tokens: int32[nodes], the number of the keyword that ends at each node, or `NULL`.
    """

    parents: NDArray[np.int32]
    bytes_read: NDArray[np.uint8]
    levels: NDArray[np.int32]
    tokens: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.parents)

    @property
    def starts(self) -> Ints:
        """int64[nodes + 1], the index of the first child of each node among all nodes but the root; then the number of these."""
        counts = np.bincount(self.parents[1:], minlength=len(self))
        return np.concatenate([[0], np.cumsum(counts)])


def trie_of(numbers: Mapping[bytes, int]) -> KeywordTrie:
    """The trie of different keywords that are not empty, from their numbers.

    The nodes of a level are the different pairs of parent and byte among the keywords that reach it.
    """
    data, lengths = np.frombuffer(b"".join(numbers), np.uint8), np.fromiter(map(len, numbers), np.int32, len(numbers))
    at, values = np.cumsum(lengths, dtype=np.int64) - lengths, np.fromiter(numbers.values(), np.int32, len(numbers))
    node, first = np.zeros(len(numbers), np.int64), 1
    parents, bytes_read, tokens = [np.full(1, NULL, np.int32)], [np.zeros(1, np.uint8)], [np.full(1, NULL, np.int32)]
    while len(node):
        pairs, place = np.unique(node << BYTE_BITS | data[at], return_inverse=True)
        parents.append((pairs >> BYTE_BITS).astype(np.int32))
        bytes_read.append(pairs.astype(np.uint8))
        tokens.append(np.full(len(pairs), NULL, np.int32))
        is_end = lengths == len(parents) - 1
        tokens[-1][place[is_end]] = values[is_end]
        goes_on = ~is_end
        node, at, lengths, values = first + place[goes_on], at[goes_on] + 1, lengths[goes_on], values[goes_on]
        first += len(pairs)
    levels = np.repeat(np.arange(len(parents), dtype=np.int32), [*map(len, parents)])
    return KeywordTrie(np.concatenate(parents), np.concatenate(bytes_read), levels, np.concatenate(tokens))
