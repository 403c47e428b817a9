"""The transducer of Song et al., 2021, Section 3.6. A transducer has no failure transitions, so it makes exactly one transition per
character.

When Algorithm 1 reads c in state v, it reaches the node δ′(v, c) and emits the ids σ′(v, c):

- *Explicit*: v, or some node z ≠ r♯ on the chain of links from v, has a child on c. δ′ = δ(z, c), σ′ = P(v) without P(z) at its end.
- *Default*: otherwise, if the chain of links ends in r♯. δ′ = δ(r♯, c), or dead; σ′ = P(v), the segmentation of the symbols read so far.
- *Dead*: otherwise, if the chain of links ends in null. The word has no segmentation, whatever symbols follow.

The default target is the same for all v, so only explicit transitions are stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fst.automata.hashing import longer
from fst.automata.links import Failure
from fst.automata.trie import NULL, ROOT, Ints, Trie, spread


@dataclass(frozen=True, eq=False)
class Transducer:
    """Explicit transitions, sorted by state and label. States are the nodes of the trie.

    Attributes:
        failure: links and pops; P(v) contains all outputs.
        row_start: int64[nodes + 1]; the transitions of v are ``row_start[v]:row_start[v + 1]``.
        label: int64[n], the label of each transition.
        target: int64[n], δ′ of each transition.
        emitted: int64[n], the length of σ′, a prefix of P(v).
    """

    failure: Failure
    row_start: Ints
    label: Ints
    target: Ints
    emitted: Ints

    @property
    def trie(self) -> Trie:
        """The trie whose nodes are the states."""
        return self.failure.trie

    @cached_property
    def first(self) -> Ints:
        """int64[labels], δ(r, c): the state after the first symbol of a word; -1 if dead."""
        return self._from(ROOT)

    @cached_property
    def default(self) -> Ints:
        """int64[labels], δ(r♯, c): the target of the default; -1 if dead."""
        return self._from(self.trie.suffix_root)

    def _from(self, root: int) -> Ints:
        labels = np.arange(len(self.trie.letters))
        return self.trie.children(np.full(len(labels), root), labels)

    @cached_property
    def is_entered(self) -> NDArray[np.bool_]:
        """bool[nodes], whether some transition leads to each state: True for all states except the roots, and for r♯ only if r♯ is also the
        node of a string below r.
        """
        entered = np.zeros(len(self.trie), bool)
        entered[self.trie.edge_children] = True
        return entered

    @cached_property
    def _explicit(self) -> dict[tuple[int, int], tuple[int, int]]:
        states = np.repeat(np.arange(len(self.trie)), np.diff(self.row_start))
        keys = zip(states.tolist(), self.label.tolist(), strict=True)
        return dict(zip(keys, zip(self.target.tolist(), self.emitted.tolist(), strict=True), strict=True))

    def step(self, state: int, char: str) -> tuple[int, list[int]]:
        """The target δ′ and the ids σ′ of a transition; the dead state is -1."""
        pops = self.failure.all_pops(state)
        explicit = self._explicit.get((state, int(self.trie.label_of[ord(char)])))
        if explicit:
            return explicit[0], pops[: explicit[1]]
        label = self.trie.label_of[ord(char)]
        if state == ROOT:
            return int(self.first[label]), []
        if self.failure.whole[state]:
            return int(self.default[label]), pops
        return NULL, []

    def run(self, word: str) -> list[int] | None:
        """The token ids of one word; None if it has no segmentation."""
        state, ids = ROOT, []
        for char in word:
            state, emitted = self.step(state, char)
            if state == NULL:
                return None
            ids.extend(emitted)
        if word and not self.failure.whole[state]:
            return None
        return ids + self.failure.all_pops(state)


def inherits(failure: Failure) -> NDArray[np.bool_]:
    """Whether each state inherits the explicit transitions of the state to which its failure link leads. A state never inherits a
    transition on a label for which it has an edge.
    """
    found: NDArray[np.bool_] = (failure.link != NULL) & (failure.link != failure.trie.suffix_root)
    return found


def count_explicit(failure: Failure) -> int:
    """The number of explicit transitions, counted without making the transitions."""
    trie = failure.trie
    sources, labels = np.divmod(trie.edge_keys, len(trie.letters))
    links = np.where(inherits(failure), failure.link, NULL)
    # An edge of v is not counted if v inherits a transition on the same label from a node on the links of v. So find the first node on the
    # links with such a transition.
    at, shared = links[sources], np.zeros(len(sources), bool)
    open_edges = np.flatnonzero(at != NULL)
    while len(open_edges):
        found = trie.children(at[open_edges], labels[open_edges]) != NULL
        shared[open_edges[found]] = True
        open_edges = open_edges[~found]
        at[open_edges] = links[at[open_edges]]
        open_edges = open_edges[at[open_edges] != NULL]
    counts = np.bincount(sources[~shared], minlength=len(trie))
    bounds = np.searchsorted(trie.level, np.arange(int(trie.level[-1]) + 2))
    for first, last in pairwise(bounds):
        nodes = np.arange(first, last)
        nodes = nodes[links[nodes] != NULL]
        counts[nodes] += counts[links[nodes]]
    return int(counts.sum())


def unfolded(failure: Failure) -> Transducer:
    """The edges of the trie as transitions, for tables that contain the failure links."""
    trie = failure.trie
    sources, labels = np.divmod(trie.edge_keys, len(trie.letters))
    row_start = np.searchsorted(sources, np.arange(len(trie) + 1))
    return Transducer(failure, row_start, labels, trie.edge_children, np.zeros(len(labels), np.int64))


def fold(failure: Failure) -> Transducer:
    """Fold the failure links of all states, level by level. The row of v contains the edges of v and the transitions inherited from
    f(v).
    """
    trie = failure.trie
    size = len(trie)
    length = np.diff(failure.pops_start)
    sources, edge_labels = np.divmod(trie.edge_keys, len(trie.letters))
    edge_start = np.searchsorted(sources, np.arange(size + 1))
    has_heritage = inherits(failure)
    links = np.where(has_heritage, failure.link, ROOT)

    row_start, row_length = np.zeros(size, np.int64), np.zeros(size, np.int64)
    label, target, emitted = (np.empty(4 * size, np.int64) for _ in range(3))
    used = 0
    bounds = np.searchsorted(trie.level, np.arange(int(trie.level[-1]) + 2))
    for first, last in pairwise(bounds):
        nodes = np.arange(first, last)
        edges = np.arange(edge_start[first], edge_start[last])
        # v inherits the explicit transitions of f(v), after the pops of its link, except on labels for which v has an edge.
        heritage = np.where(has_heritage[nodes], row_length[links[nodes]], 0)
        taken = spread(row_start[links[nodes]], heritage)
        popped = np.repeat(length[nodes] - length[links[nodes]], heritage)

        state = np.concatenate([sources[edges], np.repeat(nodes, heritage)])
        new_label = np.concatenate([edge_labels[edges], label[taken]])
        new_target = np.concatenate([trie.edge_children[edges], target[taken]])
        new_emitted = np.concatenate([np.zeros(len(edges), np.int64), emitted[taken] + popped])
        # Merge two ascending runs. If two keys are equal, the node's own edge comes first, and only this edge is used.
        key = state * len(trie.letters) + new_label
        order = np.argsort(key, kind="stable")
        order = order[np.diff(key[order], prepend=-1) > 0]
        grown = used + len(order)
        if grown > len(label):
            label, target, emitted = (longer(array, 2 * grown) for array in (label, target, emitted))
        label[used:grown], target[used:grown], emitted[used:grown] = new_label[order], new_target[order], new_emitted[order]
        row_length[nodes] = np.bincount(state[order] - first, minlength=len(nodes))
        row_start[nodes] = used + np.cumsum(row_length[nodes]) - row_length[nodes]
        used = grown
    return Transducer(failure, np.append(row_start, used), label[:used], target[:used], emitted[:used])
