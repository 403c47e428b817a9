"""The trie of a vocabulary, with the paper's two roots.

Letters of the paper (Song et al. 2021, *Fast WordPiece Tokenization*, arXiv 2012.15524), used here and in the two files after this one::

    V      the vocabulary            ♯   the suffix indicator ("##")
    r      the root                  r♯  the suffix root: where the rest of a word is matched against the tokens that begin with ♯
    u, v   nodes                     δ(u, c)  the child of u on the letter c, or null
    f(v)   failure link (null: -1)   F(v)  failure pops

The paper has one trie in which r♯ is the node of the string ♯. That is right as long as no beginning of ♯ is itself a token: the same node
then serves for a word that really begins with the characters of ♯. Otherwise, and where ♯ has characters that no word can have, the
suffix tokens get a trie of their own, so that "what was read is ♯" and "something was matched, go on" are different states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fst.rows import CODE_POINTS

Ints = NDArray[np.int64]
NULL = -1
ROOT = 0


@dataclass(frozen=True, eq=False)
class Trie:
    """Nodes in order of their level, 0 being r.

    Attributes:
        letters: int64[labels], the character of each label, ascending; label 0 stands for all characters that no edge has.
        label_of: int32[0x110000], the label of each character.
        suffix_root: the node r♯ (0 when ♯ is empty).
        parent: int64[nodes], -1 for the roots.
        label: int64[nodes], the label of the edge from the parent, 0 for the roots.
        level: int64[nodes], characters read since the root, r or r♯, that the node was reached from.
        token: int64[nodes], token id of a node in V, else -1.
        edge_keys: int64[edges], ``parent * len(letters) + label``, ascending.
        edge_children: int64[edges].
    """

    letters: Ints
    label_of: NDArray[np.int32]
    indicator: str
    suffix_root: int
    parent: Ints
    label: Ints
    level: Ints
    token: Ints
    edge_keys: Ints
    edge_children: Ints

    def __len__(self) -> int:
        return len(self.parent)

    def children(self, nodes: Ints, labels: Ints) -> Ints:
        """δ for arrays: the child of each node on each label, or -1."""
        if not len(self.edge_keys):
            return np.full(len(nodes), NULL)
        keys = nodes * len(self.letters) + labels
        places = np.minimum(np.searchsorted(self.edge_keys, keys), len(self.edge_keys) - 1)
        return np.where(self.edge_keys[places] == keys, self.edge_children[places], NULL)

    def child(self, node: int, char: str) -> int:
        """δ(u, c), or -1."""
        return self._edges.get((node, int(self.label_of[ord(char)])), NULL)

    @cached_property
    def _edges(self) -> dict[tuple[int, int], int]:
        sources, labels = np.divmod(self.edge_keys, len(self.letters))
        return dict(zip(zip(sources.tolist(), labels.tolist(), strict=True), self.edge_children.tolist(), strict=True))

    def name(self, node: int) -> str:
        """The string of a node, with ♯ before it below the suffix root.

        >>> trie = build(["a", "##b"], [0, 1], "##", np.ones(CODE_POINTS, bool), 100)
        >>> [trie.name(node) for node in range(len(trie))]
        ['', '##', '#', 'a', '##b']
        """
        chars: list[str] = []
        while node not in (ROOT, self.suffix_root):
            chars.append(chr(self.letters[self.label[node]]))
            node = int(self.parent[node])
        return (self.indicator if node else "") + "".join(reversed(chars))

    def run(self, word: str) -> list[int] | None:
        """MaxMatch by its definition: from each place the longest token, or None where there is none.

        >>> trie = build(["a", "ab", "##c"], [0, 1, 2], "##", np.ones(CODE_POINTS, bool), 100)
        >>> trie.run("abc"), trie.run("abb")
        ([1, 2], None)
        """
        ids: list[int] = []
        start = 0
        while start < len(word):
            node, found, end = (ROOT if start == 0 else self.suffix_root), NULL, start
            for position in range(start, len(word)):
                node = self.child(node, word[position])
                if node == NULL:
                    break
                if self.token[node] != NULL:
                    found, end = int(self.token[node]), position + 1
            if found == NULL:
                return None
            ids.append(found)
            start = end
        return ids


def build(
    tokens: Sequence[str], ids: Sequence[int], indicator: str, readable: NDArray[np.bool_], max_length: int
) -> Trie:
    """The trie of a vocabulary; tokens that no word can match are left out.

    Args:
        tokens: V, without repetitions.
        ids: the id of each token.
        indicator: ♯.
        readable: bool[0x110000], the characters that words are made of.
        max_length: characters in the longest word that is looked up at all.
    """
    glued = _may_glue(tokens, indicator, readable)
    words = [(t, i) for t, i in zip(tokens, ids, strict=True) if t and not (glued and t.startswith(indicator))]
    suffixes = [(t[len(indicator) :], i) for t, i in zip(tokens, ids, strict=True) if t.startswith(indicator)]
    path = [(indicator[:-1], NULL)] if glued and indicator else []  # the nodes between r and r♯
    suffix_root = 1 if indicator else ROOT

    strings, numbers = zip(*(words + suffixes + path), strict=True) if words or suffixes or path else ((), ())
    roots = np.zeros(len(strings), np.int64)
    roots[len(words) : len(words) + len(suffixes)] = suffix_root
    codes = np.frombuffer("".join(strings).encode("utf-32-le"), np.uint32).astype(np.int64)
    lengths = np.fromiter(map(len, strings), np.int64, len(strings))
    starts = np.cumsum(lengths) - lengths
    unread = np.concatenate([[0], np.cumsum(~readable[codes])])
    keep = (unread[starts + lengths] == unread[starts]) & (lengths <= max_length) & (lengths > 0)
    starts, lengths, roots, tokens_of = starts[keep], lengths[keep], roots[keep], np.array(numbers, np.int64)[keep]

    letters = np.unique(codes[spread(starts, lengths)])
    if glued and indicator:
        letters = np.union1d(letters, [ord(indicator[-1])])
    letters = np.concatenate([[NULL], letters])
    label_of = np.zeros(CODE_POINTS, np.int32)
    label_of[letters[1:]] = np.arange(1, len(letters))
    labels = label_of[codes].astype(np.int64)

    # One level of both tries at a time: the nodes of a level are the different (parent, label) pairs of the strings that reach it.
    roots_in_use = suffix_root + 1
    keys: list[Ints] = []
    level_sizes: list[int] = []
    node, count, level = roots.copy(), roots_in_use, 0
    token = np.full(roots_in_use + len(codes), NULL, np.int64)
    while len(node):
        pairs, inverse = np.unique(node * len(letters) + labels[starts + level], return_inverse=True)
        node = count + inverse
        keys.append(pairs)
        level_sizes.append(len(pairs))
        count += len(pairs)
        level += 1
        ends = lengths == level
        real = ends & (tokens_of != NULL)
        token[node[real]] = tokens_of[real]
        node, starts, lengths, tokens_of = node[~ends], starts[~ends], lengths[~ends], tokens_of[~ends]

    edge_keys = np.concatenate([np.empty(0, np.int64), *keys])
    parent, label = (np.concatenate([np.full(roots_in_use, fill), part]) for fill, part in
                     zip((NULL, 0), np.divmod(edge_keys, len(letters)), strict=True))
    trie = Trie(
        letters=letters,
        label_of=label_of,
        indicator=indicator,
        suffix_root=suffix_root,
        parent=parent,
        label=label,
        level=np.repeat(np.arange(len(level_sizes) + 1), [roots_in_use, *level_sizes]),
        token=token[:count],
        edge_keys=edge_keys,
        edge_children=np.arange(roots_in_use, count),
    )
    return _glue(trie) if glued and indicator else trie


def _may_glue(tokens: Sequence[str], indicator: str, readable: NDArray[np.bool_]) -> bool:
    """Whether r♯ can be the node of the string ♯ (see the top of this file)."""
    beginnings = {indicator[:end] for end in range(1, len(indicator) + 1)}
    return beginnings.isdisjoint(tokens) and all(readable[ord(char)] for char in indicator)


def _glue(trie: Trie) -> Trie:
    """The trie with an edge from the node of ♯ without its last character to r♯."""
    node = ROOT
    for char in trie.indicator[:-1]:
        node = trie.child(node, char)
    key = node * len(trie.letters) + int(trie.label_of[ord(trie.indicator[-1])])
    place = int(np.searchsorted(trie.edge_keys, key))
    changed = {
        "edge_keys": np.insert(trie.edge_keys, place, key),
        "edge_children": np.insert(trie.edge_children, place, trie.suffix_root),
    }
    return Trie(**{name: value for name, value in vars(trie).items() if not name.startswith("_")} | changed)


def spread(starts: Ints, lengths: Ints) -> Ints:
    """The indices of all elements of slices of one array: ``start, start + 1, …`` of each."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))


def longer(array: Ints, length: int) -> Ints:
    """An array that begins as another does; what follows is not set, and takes no memory until it is."""
    grown = np.empty(length, array.dtype)
    grown[: len(array)] = array
    return grown
