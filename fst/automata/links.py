"""Failure links and pops (the paper's Algorithm 2), one level of the trie at a time.

The string of a node v = δ(u, c) has been read but not matched. When no edge leads on from v:

- v ∈ V: the whole string is a token. f(v) = r♯, F(v) = [v].
- Otherwise walk from z = f(u) along failure links until δ(z, c) exists: f(v) = δ(z, c), and F(v) is F(u) followed by the pops of the
  links walked.
- If no such z exists, f(v) = null: the word has no segmentation.

All these outputs are prefixes of one list. Let P(v) be the pops of all links from v up to the last, which leads to r♯ or null. Then F(v) is
P(u) without the P(z) at its end, P(v) = F(v) + P(f(v)), and the string of v has a segmentation, P(v), if and only if the links end in r♯.
Only P and lengths are stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from fst.automata.trie import NULL, ROOT, Ints, Trie, longer, spread


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
    """A trie with f and P.

    Attributes:
        trie: the trie.
        link: int64[nodes], f; -1 is null.
        pops_start: int64[nodes + 1], P(v) is ``pops[pops_start[v]:pops_start[v + 1]]``.
        pops: int64[n], token ids.
        whole: bool[nodes], whether the string of the node has a segmentation, which then is P(v).
    """

    trie: Trie
    link: Ints
    pops_start: Ints
    pops: Ints
    whole: np.typing.NDArray[np.bool_]

    def all_pops(self, node: int) -> list[int]:
        """P(v)."""
        return [int(token) for token in self.pops[self.pops_start[node] : self.pops_start[node + 1]]]

    def link_pops(self, node: int) -> list[int]:
        """F(v): the ids emitted from v to f(v)."""
        target = int(self.link[node])
        own = self.all_pops(node)
        return own[: len(own) - len(self.all_pops(target))] if target != NULL else []

    def steps(self, word: str) -> Iterator[Step]:
        """The steps of Algorithm 1 on one word; the last ones are the failure transitions at its end."""
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
        """LinMaxMatch (Algorithm 1) on one word: its token ids, or None where it has no segmentation."""
        if not word:
            return []
        ids: list[int] = []
        for step in self.steps(word):
            if step.target == NULL:
                return None
            ids.extend(step.pops)
        return ids or None  # the case that Algorithm 1 treats apart: r♯ was reached by reading, and nothing was matched


def link(trie: Trie) -> Failure:
    """Compute f and P for all nodes of a trie."""
    size = len(trie)
    links = np.full(size, NULL, np.int64)
    whole = np.zeros(size, bool)
    length = np.zeros(size, np.int64)  # of P
    start = np.zeros(size, np.int64)  # of P in `pops`
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
    """The nodes of each level below the roots, in ascending order: links always lead to a lower level."""
    bounds = np.searchsorted(trie.level, np.arange(1, int(trie.level[-1]) + 2))
    for first, last in pairwise(bounds):
        yield np.arange(first, last)


def _follow(trie: Trie, links: Ints, z: Ints, c: Ints) -> Ints:
    """Follow failure links from each z until δ(z, c) exists, or to null."""
    z = z.copy()
    while True:
        stuck = np.flatnonzero(z != NULL)
        stuck = stuck[trie.children(z[stuck], c[stuck]) == NULL]
        if not len(stuck):
            return z
        z[stuck] = links[z[stuck]]


def _copy(pops: Ints, to: Ints, source: Ints, lengths: Ints) -> None:
    pops[spread(to, lengths)] = pops[spread(source, lengths)]
