"""Build the automaton of `fst.machines.unigram.aho_corasick` from the trie of tokens, and lay it out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.links import Nodes, suffixes
from fst.automata.trie import NULL, ROOT, Ints, Trie
from fst.compile.machines.unigram.byte_tries import by_rank, edges_of, lay_out, put
from fst.core.jit import Deferred
from fst.machines.unigram.aho_corasick import BLOCK, NONE
from fst.machines.unigram.viterbi import LABELS

fold = Deferred("fst.compile.machines.unigram.fold", "fold")
SYMBOLS = 256
BUSY = 4  # children from which on a state is a default: with 2, 3, 6 and 8 the tables of T5 and XLM-R are larger


class Automaton(NamedTuple):
    """``steps`` and ``lists`` of `fst.machines.unigram.aho_corasick`."""

    steps: NDArray[np.uint64]
    lists: NDArray[np.int32]


def automaton(trie: Trie) -> Automaton:
    """The automaton of a trie of tokens in UTF-8.

    Raises:
        UnsupportedError: the rows take too many slots.
    """
    parents, labels = edges_of(trie)
    firsts = np.searchsorted(parents, np.arange(len(trie) + 1))
    children = np.diff(firsts)
    nodes = Nodes(trie.parent, np.append(0, labels), trie.level, trie.token, firsts)
    links = suffixes(nodes).links
    tails, room = _tails(trie, labels), 4 * len(trie) + LABELS + SYMBOLS
    while True:
        defaults, goes_on, lists = np.zeros((3, len(trie)), np.int64)
        starts, row_labels, targets = np.zeros(len(trie) + 1, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
        blocks, seen = np.full(BLOCK * room, NONE, np.int32), np.full(SYMBOLS, NULL)
        used, count = fold.call(
            *(firsts, labels, children >= BUSY, trie.token, trie.level, tails, links),
            *(starts, row_labels, targets, defaults, goes_on, lists, blocks, seen),
        )
        if count:
            break
        room *= 2
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
    """The number of bytes of the last character of each node; 0 where it is not complete."""
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
