"""Lay out a trie of words over UTF-16 units as entries; see `fst.machines.segmentation.unit_trie`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.links import Nodes
from fst.automata.trie import NULL, Ints, Strings, Trie, build
from fst.compile.layout.rows import filled, placed
from fst.machines.segmentation.unit_trie import ENTRY, KIND_SHIFT, LEAF, UNITS


class UnitTrie(NamedTuple):
    """A trie of words, laid out as entries."""

    labels: NDArray[np.uint32]  # uint32[65536], the label of each unit
    entries: NDArray[np.uint64]  # uint64[slots]
    slots: Ints  # int64[words], the slot of the entry for each word's last unit
    longest: int  # the number of units of the longest word
    trie: Trie  # the trie; its tokens are the indices of words
    values: Ints  # int64[words], the value of each word
    states: Ints  # int64[nodes], the state of each node, or `LEAF`

    @property
    def nodes(self) -> Nodes:
        """The nodes of the trie, with UTF-16 units as labels and the words' values as tokens."""
        trie = self.trie
        tokens = np.where(trie.token == NULL, NULL, self.values[trie.token])
        return Nodes.of(trie.parent, trie.letters[trie.label], trie.level, tokens)

    def units(self, kinds: NDArray[Any]) -> NDArray[np.uint32]:
        """The array ``units`` of a table: the label and the kind of each UTF-16 unit."""
        return self.labels | kinds.astype(np.uint32) << np.uint32(KIND_SHIFT)


def unit_trie(words: Sequence[str], values: Ints) -> UnitTrie:
    """Build and lay out the trie of distinct, non-empty strings. `values`: int64[words]; 0 for a string that is not a word."""
    encoded = [word.encode("utf-16-le", "surrogatepass") for word in words]  # words that are read backward have reversed surrogate pairs
    lengths = np.fromiter(map(len, encoded), np.int64, len(words)) // 2
    symbols = np.frombuffer(b"".join(encoded), "<u2").astype(np.int64)
    places = np.arange(len(words))
    trie = build(("",), Strings(symbols, np.cumsum(lengths) - lengths, lengths), np.zeros(len(words), np.int64), places)
    parents, letters = np.divmod(trie.edge_keys, len(trie.letters))
    labels_of = _by_frequency(letters, len(trie.letters))
    labels = labels_of[letters]
    starts = np.searchsorted(parents, np.arange(len(trie) + 1))
    inner = np.flatnonzero(starts[1:] > starts[:-1])
    bases = np.full(len(trie), LEAF)
    order = np.lexsort((-np.diff(starts)[inner], np.minimum(trie.level[inner], 2)))
    slots = placed(ENTRY, np.append(starts[inner], len(labels)), labels, order, len(trie.letters))
    entries = filled(ENTRY, slots, len(trie.letters), ENTRY.free, "the trie of these words")
    bases[inner] = slots
    edges = bases[parents] + labels
    children = trie.edge_children
    word = trie.token[children]
    entries[edges] = ENTRY.pack(labels, bases[children], np.where(word == NULL, 0, values[word]))
    ends = np.empty(len(words), np.int64)
    ends[word[word != NULL]] = edges[word != NULL]
    unit_labels = np.zeros(UNITS, np.uint32)
    unit_labels[trie.letters[1:]] = labels_of[1:]
    return UnitTrie(unit_labels, entries, ends, int(lengths.max()), trie, values, bases)


def _by_frequency(letters: Ints, count: int) -> Ints:
    """Number letters from 1 by decreasing number of edges, so that frequent entries are close together. Letter 0 is unused."""
    found = np.bincount(letters, minlength=count)
    labels = np.zeros(count, np.int64)
    labels[1 + np.argsort(-found[1:], kind="stable")] = np.arange(1, count)
    return labels
