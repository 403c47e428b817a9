"""Lay out a trie over bytes in the form of `fst.unigram`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fst.compile.byte_rows import placed
from fst.errors import UnsupportedError
from fst.trie import NULL, Ints, Strings, build
from fst.unigram import FREE, HEAD, LEAF, MAX_SLOTS, ROW, TARGET_SHIFT, VALUE_SHIFT


def byte_trie(symbols: NDArray[np.uint8], starts: Ints, lengths: Ints, ids: Ints) -> NDArray[np.uint64]:
    """The trie of some tokens.

    Args:
        symbols: bytes.
        starts, lengths, ids: int64[tokens], where each token lies in `symbols`; none is empty, and no two are equal. Frequent tokens have
            low ids.

    Raises:
        UnsupportedError: the tokens take too many slots.
    """
    trie = build(("",), Strings(symbols.astype(np.int64), starts, lengths), np.zeros(len(starts), np.int64), ids)
    parents, letters = np.divmod(trie.edge_keys, len(trie.letters))
    labels, children = trie.letters[letters], trie.edge_children
    counts = np.bincount(parents, minlength=len(trie))
    inner = np.flatnonzero((counts > 0) | (np.arange(len(trie)) == 0))
    # The nodes of frequent tokens, and those near the root, are placed first, so that they lie close together.
    rank = np.full(len(trie), np.iinfo(np.int64).max)
    rank[trie.token != NULL] = trie.token[trie.token != NULL]
    for level in range(int(trie.level[-1]), 0, -1):
        nodes = np.flatnonzero(trie.level == level)
        np.minimum.at(rank, trie.parent[nodes], rank[nodes])
    order = np.lexsort((rank[inner], np.minimum(trie.level[inner], 1)))
    bases = np.full(len(trie), LEAF)
    bases[inner] = placed(np.append(0, np.cumsum(counts[inner])), labels, order)
    size = int(bases.max()) + ROW
    if size > MAX_SLOTS:
        raise UnsupportedError(f"the trie of these tokens takes {size:,} slots: a table has room for {MAX_SLOTS:,}")
    entries = np.full(size, FREE, np.uint64)
    entries[bases[inner]] = HEAD | trie.level[inner].astype(np.uint64) << np.uint64(VALUE_SHIFT)
    values = np.where(trie.token[children] == NULL, 0, trie.token[children] + 1).astype(np.uint64)
    targets = bases[children].astype(np.uint64)
    entries[bases[parents] + 1 + labels] = labels.astype(np.uint64) | targets << np.uint64(TARGET_SHIFT) | values << np.uint64(VALUE_SHIFT)
    return entries
