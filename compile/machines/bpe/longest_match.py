"""Build the automaton of a greedy longest match: from left to right, the longest token at each position, as in RWKV's World tokenizer.

The automaton has the form that `fst.machines.bpe.automaton` describes, because the last token after each byte determines all tokens here,
too. Let x be a text with the tokens t₁ … tₖ. The text without tₖ has the tokens t₁ … tₖ₋₁: tokens that begin at the same positions and end
inside the shorter text are tokens of x, so none of them is longer. Notation, in addition to `fst.automata.trie`:

- A state is a node u of the trie. The bytes before u became tokens for certain; no byte after u can change them.
- last(u): u itself if u is a token; otherwise last(f(u)).
- f(u): the state after the longest token that u begins with is certain, and the rest of u is read again from the root; the root if u is a
  token. For a child v of u on the byte c, f(v) = δ′(f(u), c) unless v is a token, because u and v begin with the same longest token.
- δ′(u, c): the child of u on c or, if there is none, δ′(f(u), c). The root has a child for each byte, since each byte is a token.

These are the failure links of LinMaxMatch (Song et al. 2021, *Fast WordPiece Tokenization*) without their pops, which the walk from right
to left finds. Rows contain the transitions of u, f(u), f(f(u)), … up to the root, whose transitions are the default.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from fst.automata.trie import NULL, ROOT, Ints, Strings, Trie, build, spread
from fst.compile.machines.bpe.canonical_tokens import Spelled
from fst.compile.machines.bpe.item_sets import MAX_SLOTS, States
from fst.errors import UnsupportedError

BYTE_BITS = 8


def states_of(tokens: Spelled) -> States:
    """Build the states of a greedy longest match over distinct tokens, which include all bytes that texts may contain.

    Raises:
        UnsupportedError: the states have more transitions than a table has room for.
    """
    strings = Strings(tokens.symbols.astype(np.int64), tokens.starts, tokens.lengths)
    trie = build(("",), strings, np.zeros(len(strings), np.int64), np.arange(len(strings)))
    links = links_of(trie)
    starts, labels, targets = _transitions(trie, links)
    last, depths, begins, ends = (array.astype(np.int32) for array in (_last(trie, links), trie.level, starts, targets))
    return States(last, depths, begins, labels.astype(np.uint8), ends)


def links_of(trie: Trie) -> Ints:
    """f(u) for each node u; the root for the root."""
    links = np.zeros(len(trie), np.int64)
    for first, end in _levels(trie):
        nodes = np.flatnonzero(trie.token[first:end] == NULL) + first
        labels, states = trie.label[nodes], links[trie.parent[nodes]]
        while len(nodes):
            found = trie.children(states, labels)
            links[nodes] = found
            left = found == NULL
            nodes, labels, states = nodes[left], labels[left], links[states[left]]
    return links


def _levels(trie: Trie) -> Iterator[tuple[int, int]]:
    """The first node of each level below the root, and the first node after the level."""
    return pairwise(np.searchsorted(trie.level, np.arange(1, int(trie.level[-1]) + 2)).tolist())


def _last(trie: Trie, links: Ints) -> Ints:
    """int64[nodes], last(u) as the position of a token; -1 for the root."""
    last = trie.token.copy()
    for first, end in _levels(trie):
        last[first:end] = np.where(last[first:end] == NULL, last[links[first:end]], last[first:end])  # f(u) is at a lower level than u
    return last


def _transitions(trie: Trie, links: Ints) -> tuple[Ints, Ints, Ints]:
    """The fields `starts`, `labels` and `targets` of `States`."""
    firsts = np.searchsorted(trie.parent, np.arange(len(trie) + 1))  # children follow each other, because nodes are sorted by parent
    nodes = sources = np.arange(len(trie))
    keys, targets, size = list[Ints](), list[Ints](), 0
    while len(nodes):
        counts = firsts[sources + 1] - firsts[sources]
        size += int(counts.sum())
        if size > MAX_SLOTS:
            raise UnsupportedError(f"the automaton of these tokens has more than {MAX_SLOTS:,} transitions: a table has no room")
        children = spread(firsts[sources], counts)
        keys.append(np.repeat(nodes, counts) << BYTE_BITS | trie.letters[trie.label[children]])
        targets.append(children)
        sources = links[sources]
        nodes, sources = nodes[sources != ROOT], sources[sources != ROOT]
    found, places = np.unique(np.concatenate(keys), return_index=True)  # of equal keys, the first: that of the longest state
    states, labels = found >> BYTE_BITS, found & (1 << BYTE_BITS) - 1
    return np.searchsorted(states, np.arange(len(trie) + 1)), labels, np.concatenate(targets)[places]
