"""A trie of strings of integer symbols, with any number of roots.

Notation of the paper (Song et al., 2021, *Fast WordPiece Tokenization*, arXiv 2012.15524), used here and in `fst.automata.links` and
`fst.automata.transducer`::

    V      the vocabulary            r   the root, node 0, where a word begins
    u, v   nodes                     r♯  the suffix root, the last root, where the rest of a word after a token is matched
    f(v)   failure link (null: -1)   F(v)  failure pops
    δ(u, c)  the child of u on the letter c, or null

With one root, r♯ is r. The methods `name` and `run`, for display and for tests, represent symbols as characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CODE_POINTS

Ints = NDArray[np.int64]
NULL = -1
ROOT = 0


@dataclass(frozen=True, eq=False)
class Strings:
    """Strings of symbols, concatenated.

    Attributes:
        symbols: int64[n], the symbols of all strings, at least 0.
        starts: int64[strings], the position of each string in `symbols`.
        lengths: int64[strings], the number of symbols of each string.
    """

    symbols: Ints
    starts: Ints
    lengths: Ints

    @classmethod
    def of(cls, texts: Sequence[str]) -> Strings:
        """Convert texts to `Strings` whose symbols are code points."""
        symbols = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32).astype(np.int64)
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        return cls(symbols, np.cumsum(lengths) - lengths, lengths)

    def __len__(self) -> int:
        return len(self.lengths)

    def within(self, symbols: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whether each string consists only of symbols from a set, given as a mask."""
        others = np.concatenate([[0], np.cumsum(~symbols[self.symbols])])
        found: NDArray[np.bool_] = others[self.starts + self.lengths] == others[self.starts]
        return found


@dataclass(frozen=True, eq=False)
class Trie:
    """A trie whose nodes are sorted by level, the roots first.

    Attributes:
        roots: the names of the roots, for display.
        letters: int64[labels], the symbol of each label, ascending; label 0 represents all symbols that are on no edge.
        label_of: int32[0x110000], the label of each symbol.
        parent: int64[nodes], -1 for the roots.
        label: int64[nodes], the label of the edge from the parent, 0 for the roots.
        level: int64[nodes], the number of symbols from the node's root to the node.
        token: int64[nodes], the token id of each node in V; -1 for other nodes.
        edge_keys: int64[edges], ``parent * len(letters) + label``, ascending.
        edge_children: int64[edges], the child to which each edge leads.
    """

    roots: tuple[str, ...]
    letters: Ints
    label_of: NDArray[np.int32]
    parent: Ints
    label: Ints
    level: Ints
    token: Ints
    edge_keys: Ints
    edge_children: Ints

    @property
    def suffix_root(self) -> int:
        """The node r♯."""
        return len(self.roots) - 1

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
        """The string of a node, prefixed with the name of its root.

        >>> trie = build(("", "##"), Strings.of(["a", "b"]), np.array([0, 1]), np.array([0, 1]))
        >>> [trie.name(node) for node in range(len(trie))]
        ['', '##', 'a', '##b']
        """
        chars: list[str] = []
        while node >= len(self.roots):
            chars.append(chr(self.letters[self.label[node]]))
            node = int(self.parent[node])
        return self.roots[node] + "".join(reversed(chars))

    def run(self, word: str) -> list[int] | None:
        """The tokens of a word by the definition of MaxMatch: the longest token at each position that is reached; None if no token begins
        at such a position.

        >>> trie = build(("", "##"), Strings.of(["a", "ab", "c"]), np.array([0, 0, 1]), np.array([0, 1, 2]))
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


def build(roots: tuple[str, ...], strings: Strings, root_of: Ints, values: Ints, joint: Sequence[int] = ()) -> Trie:
    """Build the trie of strings below one or more roots.

    Args:
        strings: the strings, not empty; strings below the same root are distinct.
        root_of: int64[strings], the root of each string.
        values: int64[strings], the token id of each string, or -1 for a string that is not in V.
        joint: the string of a node below the first root; this node becomes the last root. No other string begins with `joint`.
    """
    path = np.array(joint[:-1], np.int64)
    if len(path):  # the number of nodes between the first root and the last root
        strings = Strings(
            np.append(strings.symbols, path), np.append(strings.starts, len(strings.symbols)), np.append(strings.lengths, len(path))
        )
        root_of, values = np.append(root_of, ROOT), np.append(values, NULL)
    is_letter = np.zeros(CODE_POINTS, np.bool_)
    is_letter[strings.symbols[spread(strings.starts, strings.lengths)]] = True
    is_letter[np.array(joint[-1:], np.int64)] = True
    letters = np.concatenate([[NULL], np.flatnonzero(is_letter)])
    label_of = np.zeros(CODE_POINTS, np.int32)
    label_of[letters[1:]] = np.arange(1, len(letters))

    edge_keys, level_sizes, token = _levels(len(roots), strings, label_of, len(letters), root_of, values)
    parent, label = np.divmod(edge_keys, len(letters))
    trie = Trie(
        roots=roots,
        letters=letters,
        label_of=label_of,
        parent=np.concatenate([np.full(len(roots), NULL), parent]),
        label=np.concatenate([np.zeros(len(roots), np.int64), label]),
        level=np.repeat(np.arange(len(level_sizes) + 1), [len(roots), *level_sizes]),
        token=token,
        edge_keys=edge_keys,
        edge_children=np.arange(len(roots), len(token)),
    )
    return _joined(trie, joint) if len(joint) else trie


def _levels(
    roots: int, strings: Strings, label_of: NDArray[np.int32], width: int, root_of: Ints, values: Ints
) -> tuple[Ints, list[int], Ints]:
    """The keys of all edges, the number of nodes on each level below the roots, and the token of each node.

    The nodes of a level are the different pairs of parent and label among the strings that reach this level.
    """
    keys: list[Ints] = [np.empty(0, np.int64)]
    tokens = [np.full(roots, NULL)]
    node, starts, lengths, count = root_of, strings.starts, strings.lengths, roots
    while len(node):
        level = len(keys)
        pairs, inverse = np.unique(node * width + label_of[strings.symbols[starts + level - 1]], return_inverse=True)
        keys.append(pairs)
        tokens.append(np.full(len(pairs), NULL))
        ends = lengths == level
        real = ends & (values != NULL)
        tokens[level][inverse[real]] = values[real]
        node, starts, lengths, values = count + inverse[~ends], starts[~ends], lengths[~ends], values[~ends]
        count += len(pairs)
    return np.concatenate(keys), list(map(len, keys[1:])), np.concatenate(tokens)


def _joined(trie: Trie, joint: Sequence[int]) -> Trie:
    """Add the edge that ends the string `joint`; it leads to the last root."""
    node = ROOT
    for symbol in joint[:-1]:
        node = trie.child(node, chr(symbol))
    key = node * len(trie.letters) + int(trie.label_of[joint[-1]])
    place = int(np.searchsorted(trie.edge_keys, key))
    edge_children = np.insert(trie.edge_children, place, trie.suffix_root)
    return replace(trie, edge_keys=np.insert(trie.edge_keys, place, key), edge_children=edge_children)


def spread(starts: Ints, lengths: Ints) -> Ints:
    """The indices of all elements of several slices, concatenated: ``start, start + 1, …`` for each slice."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))
