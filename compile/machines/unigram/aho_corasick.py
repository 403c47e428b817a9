"""Build the trie of tokens, and lay out the automaton of `fst.machines.unigram.aho_corasick`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.links import Nodes, suffixes
from fst.automata.rows import BYTE_ROW
from fst.automata.trie import NULL, ROOT, Ints, Strings, Trie, build
from fst.compile.layout.rows import filled, placed
from fst.core.jit import Deferred
from fst.machines.unigram.aho_corasick import BLOCK, NONE
from fst.machines.unigram.viterbi import ENTRY, HEAD, LABELS, LEAF

fold = Deferred("fst.compile.machines.unigram.kernels", "fold")
SYMBOLS = 256
BUSY = 4  # minimum number of children of a node that may be a default; with 2, 3, 6 or 8, tables of T5 and XLM-R are larger


class Automaton(NamedTuple):
    """The arrays ``steps`` and ``lists`` of `fst.machines.unigram.aho_corasick`."""

    steps: NDArray[np.uint64]
    lists: NDArray[np.int32]


def automaton(trie: Trie) -> Automaton:
    """The automaton of a trie of tokens in UTF-8."""
    parents, labels = edges_of(trie)
    firsts = np.searchsorted(parents, np.arange(len(trie) + 1))
    children = np.diff(firsts)
    nodes = Nodes(trie.parent, np.append(0, labels), trie.level, trie.token, firsts)
    links = suffixes(nodes).links
    tails, capacity = _tails(trie, labels), 4 * len(trie) + LABELS + SYMBOLS
    while True:
        defaults, goes_on, lists = np.zeros((3, len(trie)), np.int64)
        starts, row_labels, targets = np.zeros(len(trie) + 1, np.int64), np.empty(capacity, np.int64), np.empty(capacity, np.int64)
        blocks, seen = np.full(BLOCK * capacity, NONE, np.int32), np.full(SYMBOLS, NULL)
        used, count = fold.call(
            *(firsts, labels, children >= BUSY, trie.token, trie.level, tails, links),
            *(starts, row_labels, targets, defaults, goes_on, lists, blocks, seen),
        )
        if count:
            break
        capacity *= 2
    inner = np.flatnonzero((children > 0) | (np.arange(len(trie)) == ROOT))
    counts = np.diff(starts)[inner]
    steps, slots = lay_out(np.append(0, np.cumsum(counts)), row_labels[:used], by_rank(trie)[inner], trie.level[inner])
    slot_of = np.zeros(len(trie), np.int64)
    slot_of[inner] = slots
    steps[slots] |= slot_of[defaults[inner]].astype(np.uint64)
    to = targets[:used]
    put(steps, np.repeat(slots, counts), row_labels[:used], slot_of[goes_on[to]], lists[to])
    return Automaton(steps, blocks[: BLOCK * count])


def _tails(trie: Trie, labels: Ints) -> Ints:
    """For each node, the number of bytes of the last character on its path; 0 if this character is incomplete."""
    symbols = np.append(0, labels)
    leads, read = symbols.copy(), np.ones(len(trie), np.int64)
    goes_on = symbols & 0xC0 == 0x80
    for level in range(2, int(trie.level[-1]) + 1):
        nodes = np.arange(*np.searchsorted(trie.level, [level, level + 1]))
        nodes = nodes[goes_on[nodes]]
        leads[nodes], read[nodes] = leads[trie.parent[nodes]], read[trie.parent[nodes]] + 1
    sizes = 1 + (leads >= 0xC0) + (leads >= 0xE0) + (leads >= 0xF0)
    tails: Ints = np.where(read == sizes, sizes, 0)
    tails[ROOT] = 0
    return tails


def trie_of(symbols: NDArray[np.uint8], starts: Ints, lengths: Ints, ids: Ints) -> Trie:
    """Build the trie of distinct, non-empty tokens. `symbols`: uint8[n], the bytes of the tokens. `starts`, `lengths`, `ids`:
    int64[tokens], the position of each token in `symbols`, its length, and its id.
    """
    return build(("",), Strings(symbols.astype(np.int64), starts, lengths), np.zeros(len(starts), np.int64), ids)


def edges_of(trie: Trie) -> tuple[Ints, Ints]:
    """The parent and the byte of each edge. Edge number n leads to node n + 1."""
    parents, letters = np.divmod(trie.edge_keys, len(trie.letters))
    return parents, trie.letters[letters]


def by_rank(trie: Trie) -> Ints:
    """For each node, the lowest id of the tokens through the node. Frequent tokens have low ids, so rows are placed in this order."""
    rank = np.full(len(trie), np.iinfo(np.int64).max)
    rank[trie.token != NULL] = trie.token[trie.token != NULL]
    for level in range(int(trie.level[-1]), 0, -1):
        nodes = np.arange(*np.searchsorted(trie.level, [level, level + 1]))
        np.minimum.at(rank, trie.parent[nodes], rank[nodes])
    return rank


def lay_out(starts: Ints, labels: Ints, rank: Ints, depths: Ints) -> tuple[NDArray[np.uint64], Ints]:
    """Place the rows, and write the first entry of each row. The root's row is placed first, then the rows of frequent tokens, so that
    these rows are close together.

    Args:
        starts: int64[states + 1]; the labels of state s are ``labels[starts[s]:starts[s + 1]]``.
        labels: int64[n], bytes.
        rank: int64[states], lower for more frequent states.
        depths: int64[states].

    Returns:
        The entries, and the slot of each state.
    """
    slots = placed(ENTRY, starts, labels, np.lexsort((rank, np.minimum(np.arange(len(rank)), 1))))
    return filled(ENTRY, slots, BYTE_ROW, ENTRY.pack(HEAD, 0, depths), "the trie of these tokens"), slots


def byte_trie(trie: Trie) -> NDArray[np.uint64]:
    """Lay out the trie of tokens as entries."""
    parents, labels = edges_of(trie)
    counts = np.bincount(parents, minlength=len(trie))
    inner = np.flatnonzero((counts > 0) | (np.arange(len(trie)) == 0))
    entries, slots = lay_out(np.append(0, np.cumsum(counts[inner])), labels, by_rank(trie)[inner], trie.level[inner])
    bases = np.full(len(trie), LEAF)
    bases[inner] = slots
    put(entries, bases[parents], labels, bases[trie.edge_children], np.where(trie.token == NULL, 0, trie.token + 1)[trie.edge_children])
    return entries


def put(entries: NDArray[np.uint64], sources: Ints, labels: Ints, targets: Ints, values: Ints) -> None:
    """Write transitions into the entries; sources and targets are slots."""
    entries[sources + ENTRY.first + labels] = ENTRY.pack(labels, targets, values)
