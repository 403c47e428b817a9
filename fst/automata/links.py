"""Failure links of a trie, and the tokens that a walk emits when it follows a link.

Suppose that the string of a node v = δ(u, c) has been read, and v has no edge for the next symbol. The walk continues at the node f(v), the
failure link of v, and reads no symbol again. The pops F(v) are the tokens that are certain at this time, because no later symbol can change
them. There are three policies:

- `suffixes`: f(v) is the longest proper suffix of v that is a node (Aho and Corasick 1975). This policy has no pops: all tokens that end at
  v are found along the links of v.
- `longest`: the longest token wins (Song et al., 2021, Section 3.6). If v ∈ V, F(v) = [v], and f(v) is the root. Otherwise follow links
  from z = f(u) on, until δ(z, c) exists. Then f(v) = δ(z, c), and F(v) is F(u) followed by the pops of these links. If δ(z, c) exists for
  no z, c is in no token, and f(v) is the root. A node without edges is not a state, so no link leads to it, and its token is popped, too.
- `link`, for words, is like `longest`, but links one level of the trie at a time, and supports tries with a suffix root (Algorithm 2). If v
  ∈ V, f(v) = r♯. If δ(z, c) exists for no z, f(v) = null, because the word has no segmentation.

All outputs of `link` are prefixes of P(v), the pops of all links from v to the last link, which leads to r♯ or null. P(v) = F(v) + P(f(v)).
If the links end in r♯, P(v) is the segmentation of the string of v; if they end in null, there is no segmentation. F(v) is P(u) without
P(z) at its end. So only P and the lengths of prefixes are stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.hashing import longer
from fst.automata.rows import Array
from fst.automata.trie import NULL, ROOT, Ints, Trie, spread
from fst.core.jit import Deferred
from fst.errors import UnsupportedError

link_suffixes, link_longest = (Deferred("fst.automata.kernels.links", name) for name in ("link_suffixes", "link_longest"))
TOKEN, END, NUMBER, BEFORE = POP = range(4)  # columns of pops
LABELS = 1 << 16
UNSEEN = 0  # the number of the token for symbols that begin no other token


class Nodes(NamedTuple):
    """A trie for kernels, whose nodes are sorted by level, the root first, and within a level by parent and label.

    Attributes:
        parents: int[nodes], the parent of each node; `NULL` for the root.
        labels: int[nodes], the label that leads to each node.
        levels: int[nodes], the number of labels from the root to each node.
        tokens: int[nodes], the token that ends at each node, or `NULL`.
        firsts: int64[nodes + 1]; the children of node u are the nodes ``firsts[u] + 1`` to ``firsts[u + 1]``.
    """

    parents: Array
    labels: Array
    levels: Array
    tokens: Array
    firsts: Ints

    @classmethod
    def of(cls, parents: Array, labels: Array, levels: Array, tokens: Array) -> Nodes:
        """The nodes of a trie with one root."""
        return cls(parents, labels, levels, tokens, np.append(0, np.cumsum(np.bincount(parents[1:], minlength=len(parents)))))

    def packed(self) -> Nodes:
        """The nodes in the types that kernels accept; labels are bytes or units of UTF-16."""
        types = np.int32, np.uint16, np.int32, np.int32, np.int64
        return Nodes(*(array.astype(dtype, copy=False) for array, dtype in zip(self, types, strict=True)))

    @property
    def of_root(self) -> Ints:
        """int64[labels], the child of the root on each label, or `NULL`."""
        found = np.full(LABELS, NULL)
        children = np.arange(1, self.firsts[1] + 1)
        found[self.labels[children]] = children
        return found

    @property
    def are_leaves(self) -> NDArray[np.bool_]:
        """bool[nodes], whether each node has no children."""
        found: NDArray[np.bool_] = self.firsts[1:] == self.firsts[:-1]
        return found


class Suffixes(NamedTuple):
    """Links by the policy `suffixes`.

    Attributes:
        links: int32[nodes], f(v) of each node v.
        ends: int32[nodes], the node of the longest token that is a suffix of each node's string;
            `ROOT` if no token is.
    """

    links: NDArray[np.int32]
    ends: NDArray[np.int32]


class Longest(NamedTuple):
    """Links by the policy `longest`.

    Attributes:
        links: int32[nodes], f(v) of each node v.
        lasts: int32[nodes], the row of the last token of F(v); 0 if F(v) is empty.
        pops: int64[n, 4], the tokens of linked lists. A row contains the token; the number of labels from the beginning of the node's
            string to the end of the token; the position of the token in its list, from 1; and the row of the previous token in the list, or
            0. Row 0 is empty.
    """

    links: NDArray[np.int32]
    lasts: NDArray[np.int32]
    pops: Ints


class Rules(NamedTuple):
    """The rules for tokens that represent lists of other tokens.

    Attributes:
        first: the first of the tokens that represent lists; all later tokens represent lists, too.
        lasts: int64[n], the row of the last token of each list.
        pops: int64[n, 4], the tokens of all lists, in the form of `Longest.pops`.
    """

    first: int
    lasts: Ints
    pops: Ints


NO_RULES = Rules(np.iinfo(np.int64).max, np.empty(0, np.int64), np.zeros((1, len(POP)), np.int64))


def suffixes(nodes: Nodes) -> Suffixes:
    """Link the nodes of a trie by the policy `suffixes`, see the module docstring."""
    found = Suffixes(*np.empty((2, len(nodes.parents)), np.int32))
    parents, labels, _, tokens, firsts = nodes.packed()
    link_suffixes.call(parents, labels, tokens, firsts, nodes.of_root, *found)
    return found


def longest(nodes: Nodes, unseen: Array, most: int, excess: str, rules: Rules = NO_RULES, *, with_leaves: bool = False) -> Longest:
    """Link the nodes of a trie by the policy `longest`, see the module docstring.

    Args:
        unseen: for each label that begins no token, the number of labels that the token `UNSEEN` covers, beginning with this label; 0 if
            this token does not exist.
        most: the maximum number of rows of `pops`.
        excess: the message if more rows are needed, with a placeholder for their number.
        rules: tokens that represent lists of other tokens.
        with_leaves: whether `pops` also contains rows for the tokens of nodes without edges.
    """
    packed, (links, lasts) = nodes.packed(), np.empty((2, len(nodes.parents)), np.int32)
    used, capacity = len(rules.pops), len(rules.pops) + 2 * len(nodes.parents)
    while True:
        pops = np.zeros((capacity, len(POP)), np.int64)
        pops[:used] = rules.pops
        count = link_longest.call(*packed, nodes.of_root, unseen, with_leaves, rules.first, rules.lasts, links, lasts, pops, used)
        if count <= capacity:
            return Longest(links, lasts, pops[:count])
        capacity *= 4
        if capacity > most:
            raise UnsupportedError(excess.format(capacity // 4))


class Step(NamedTuple):
    """One step of Algorithm 1: the character read, the transition, and the token ids emitted."""

    position: int
    char: str
    failure: bool
    source: int
    target: int
    pops: list[int]


@dataclass(frozen=True, eq=False)
class Failure:
    """A trie with its failure links f and its pops P.

    Attributes:
        trie: the trie.
        link: int64[nodes], f; -1 is null.
        pops_start: int64[nodes + 1]; P(v) is ``pops[pops_start[v]:pops_start[v + 1]]``.
        pops: int64[n], token ids.
        whole: bool[nodes], whether the string of the node has a segmentation, P(v).
    """

    trie: Trie
    link: Ints
    pops_start: Ints
    pops: Ints
    whole: NDArray[np.bool_]

    def all_pops(self, node: int) -> list[int]:
        """P(v)."""
        return [int(token) for token in self.pops[self.pops_start[node] : self.pops_start[node + 1]]]

    def link_pops(self, node: int) -> list[int]:
        """F(v): the ids emitted on the link from v to f(v)."""
        target = int(self.link[node])
        own = self.all_pops(node)
        return own[: len(own) - len(self.all_pops(target))] if target != NULL else []

    def steps(self, word: str) -> Iterator[Step]:
        """The steps of Algorithm 1 on one word; the last steps are the failure transitions at the end of the word."""
        node = ROOT
        for position, char in enumerate([*word, ""]):
            while not char or self.trie.child(node, char) == NULL:
                if not char and node == self.trie.suffix_root and position:
                    return
                target = int(self.link[node])
                yield Step(position, char, True, node, target, self.link_pops(node))
                if target == NULL:
                    return
                node = target
            target = self.trie.child(node, char)
            yield Step(position, char, False, node, target, [])
            node = target

    def run(self, word: str) -> list[int] | None:
        """The token ids of one word by LinMaxMatch (Algorithm 1); None if the word has no segmentation."""
        if not word:
            return []
        ids: list[int] = []
        for step in self.steps(word):
            if step.target == NULL:
                return None
            ids.extend(step.pops)
        return ids or None  # a special case of Algorithm 1: a symbol was read to reach r♯, and no token was matched


def link(trie: Trie) -> Failure:
    """Link the nodes of a trie by the policy `link`, see the module docstring."""
    size = len(trie)
    links = np.full(size, NULL, np.int64)
    whole = np.zeros(size, bool)
    length = np.zeros(size, np.int64)  # the length of P(v) for each node v
    start = np.zeros(size, np.int64)  # the start of P(v) in `pops` for each node v
    pops = np.empty(max(size, 1024), np.int64)
    used = 0
    for v in _levels(trie):
        u, c, token = trie.parent[v], trie.label[v], trie.token[v]
        z = _follow(trie, links, links[u], c)
        in_vocabulary, linked = token != NULL, z != NULL
        target = np.where(in_vocabulary, trie.suffix_root, np.where(linked, trie.children(z, c), NULL))
        own = np.where(in_vocabulary, 1, np.where(linked, length[u] - length[z], 0))
        rest = np.where(in_vocabulary | ~linked, 0, length[target])

        links[v], length[v], start[v] = target, own + rest, used + np.cumsum(own + rest) - own - rest
        whole[v] = (target != NULL) & (whole[target] | (target == trie.suffix_root))
        grown = used + int((own + rest).sum())
        if grown > len(pops):
            pops = longer(pops, 2 * grown)
        pops[start[v][in_vocabulary]] = token[in_vocabulary]
        copied = ~in_vocabulary & linked
        _copy(pops, start[v][copied], start[u][copied], own[copied])
        _copy(pops, start[v][copied] + own[copied], start[target][copied], rest[copied])
        used = grown
    return Failure(trie, links, np.append(start, used), pops[:used], whole)


def _levels(trie: Trie) -> Iterator[Ints]:
    """The nodes of each level below the roots, in ascending order; links always lead to a lower level."""
    bounds = np.searchsorted(trie.level, np.arange(1, int(trie.level[-1]) + 2))
    for first, last in pairwise(bounds):
        yield np.arange(first, last)


def _follow(trie: Trie, links: Ints, z: Ints, c: Ints) -> Ints:
    """Follow failure links from each z to the first node for which δ(z, c) exists, or to null."""
    z = z.copy()
    while True:
        stuck = np.flatnonzero(z != NULL)
        stuck = stuck[trie.children(z[stuck], c[stuck]) == NULL]
        if not len(stuck):
            return z
        z[stuck] = links[z[stuck]]


def _copy(pops: Ints, to: Ints, source: Ints, lengths: Ints) -> None:
    pops[spread(to, lengths)] = pops[spread(source, lengths)]
