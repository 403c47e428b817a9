"""The trie of keywords, in few bytes for each node: there is one for nearly every byte of the keywords."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.trie import NULL, Ints

BYTE_BITS = 8


class KeywordTrie(NamedTuple):
    """The nodes of a trie in order of their level, the root first, and within a level by parent and byte.

    Attributes:
        parents: int32[nodes], the node above each one; `NULL` for the root.
        bytes_read: uint8[nodes], the byte that leads to each node; 0 for the root.
        levels: int32[nodes], the bytes that lead there from the root.
        tokens: int32[nodes], the number of the keyword that ends there, or `NULL`.
    """

    parents: NDArray[np.int32]
    bytes_read: NDArray[np.uint8]
    levels: NDArray[np.int32]
    tokens: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.parents)

    @property
    def starts(self) -> Ints:
        """int64[nodes + 1], where the children of each node begin among all nodes but the root, and where the last ones end."""
        counts = np.bincount(self.parents[1:], minlength=len(self))
        return np.concatenate([[0], np.cumsum(counts)])


def trie_of(numbers: Mapping[bytes, int]) -> KeywordTrie:
    """The trie of different keywords, none of them empty, by their numbers.

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
