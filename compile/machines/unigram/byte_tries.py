"""Lay out a trie over bytes in the form of `fst.machines.unigram.viterbi`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import BYTE_ROW
from fst.automata.trie import NULL, Ints, Strings, Trie, build
from fst.compile.layout.rows import filled, placed
from fst.machines.unigram.viterbi import ENTRY, HEAD, LEAF


def trie_of(symbols: NDArray[np.uint8], starts: Ints, lengths: Ints, ids: Ints) -> Trie:
    """The trie of some tokens.

    Args:
        symbols: bytes.
        starts, lengths, ids: int64[tokens], where each token lies in `symbols`; none is empty, and no two are equal.
    """
    return build(("",), Strings(symbols.astype(np.int64), starts, lengths), np.zeros(len(starts), np.int64), ids)


def edges_of(trie: Trie) -> tuple[Ints, Ints]:
    """The parent and the byte of each edge. Edge number n leads to node n + 1."""
    parents, letters = np.divmod(trie.edge_keys, len(trie.letters))
    return parents, trie.letters[letters]


def by_rank(trie: Trie) -> Ints:
    """The least id of the tokens that begin with each node. Frequent tokens have low ids."""
    rank = np.full(len(trie), np.iinfo(np.int64).max)
    rank[trie.token != NULL] = trie.token[trie.token != NULL]
    for level in range(int(trie.level[-1]), 0, -1):
        nodes = np.arange(*np.searchsorted(trie.level, [level, level + 1]))
        np.minimum.at(rank, trie.parent[nodes], rank[nodes])
    return rank


def lay_out(starts: Ints, labels: Ints, rank: Ints, depths: Ints) -> tuple[NDArray[np.uint64], Ints]:
    """Place rows, and write the head of each. The root comes first, then the rows of frequent tokens, so that they lie close together.

    Args:
        starts: int64[states + 1], the labels of state s are ``labels[starts[s]:starts[s + 1]]``.
        labels: int64[n], bytes.
        rank: int64[states], low for what is frequent.
        depths: int64[states].

    Returns:
        The entries, and the slot of each state.

    Raises:
        UnsupportedError: the rows take too many slots.
    """
    slots = placed(ENTRY, starts, labels, np.lexsort((rank, np.minimum(np.arange(len(rank)), 1))))
    return filled(ENTRY, slots, BYTE_ROW, ENTRY.pack(HEAD, 0, depths), "the trie of these tokens"), slots


def byte_trie(trie: Trie) -> NDArray[np.uint64]:
    """The entries of a trie."""
    parents, labels = edges_of(trie)
    counts = np.bincount(parents, minlength=len(trie))
    inner = np.flatnonzero((counts > 0) | (np.arange(len(trie)) == 0))
    entries, slots = lay_out(np.append(0, np.cumsum(counts[inner])), labels, by_rank(trie)[inner], trie.level[inner])
    bases = np.full(len(trie), LEAF)
    bases[inner] = slots
    put(entries, bases[parents], labels, bases[trie.edge_children], np.where(trie.token == NULL, 0, trie.token + 1)[trie.edge_children])
    return entries


def put(entries: NDArray[np.uint64], sources: Ints, labels: Ints, targets: Ints, values: Ints) -> None:
    """Write transitions; sources and targets are slots."""
    entries[sources + ENTRY.first + labels] = ENTRY.pack(labels, targets, values)
