"""Data of Unigram training: the words as letters, the seeds (candidate pieces), and the lattices of the words.

A letter is the rank of a character among the characters of the words, from 1; 0 ends a word. A place is an index into `Letters.letters`,
which contains all words. The lattice of a word has an arc for each occurrence of a piece in the word.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.core.jit import Deferred
from fst.counting.words import Words
from fst.errors import VocabularyError

UNKNOWN = 0  # the seed of the unknown piece, for characters that are not pieces
MAX_LETTERS = (1 << 31) - 2
KEY_BITS = 63
CODE_POINTS = 0x110000

PACK_LETTERS, MEASURE_PREFIXES, GROW_TREE, COUNT_ARCS, LIST_ARCS, KEEP_ARCS = (
    Deferred("fst.compile.train.unigram.seeds", name)
    for name in ("pack_letters", "measure_prefixes", "grow_tree", "count_arcs", "list_arcs", "keep_arcs")
)
TAKE_LOG_SHARES = Deferred("fst.compile.train.unigram.steps", "take_log_shares")


class Letters(NamedTuple):
    """The words as letters."""

    letters: NDArray[np.int32]  # int32[places], the letters of each word, with a 0 after each word. A character U+0000 in a word is also 0.
    starts: NDArray[np.int64]  # int64[words + 1], the first place of each word
    counts: NDArray[np.float64]  # float64[words]
    alphabet: NDArray[np.int64]  # int64[letters + 1], the code point of each letter; 0 for letter 0

    @property
    def longest(self) -> int:
        """The number of letters in the longest word."""
        return int(np.diff(self.starts).max()) - 1

    @property
    def weights(self) -> NDArray[np.float64]:
        """The number of occurrences of each letter in the text. Letter 0 is counted only where it represents U+0000, not at the end of a
        word.
        """
        counts = np.repeat(self.counts, np.diff(self.starts))
        weights: NDArray[Any] = np.bincount(self.letters, counts, len(self.alphabet))
        weights[0] -= self.counts.sum()
        return weights

    def find(self, string: str) -> NDArray[np.int64]:
        """The places where a string, which must not contain U+0000, occurs in the words."""
        code_points = [*map(ord, string)]
        ranks = np.searchsorted(self.alphabet, code_points)
        if not np.array_equal(self.alphabet[np.minimum(ranks, len(self.alphabet) - 1)], code_points):
            return np.empty(0, np.int64)
        occurs = np.ones(max(len(self.letters) - len(ranks), 0), np.bool_)
        for index, rank in enumerate(ranks):
            occurs &= self.letters[index : index + len(occurs)] == rank
        return np.flatnonzero(occurs)

    def spelled(self, places: NDArray[np.int64], lengths: NDArray[np.int32]) -> list[str]:
        """The strings of `lengths` letters that begin at `places`. Letters that represent no character are not in these strings."""
        whole = np.minimum(self.alphabet, CODE_POINTS - 1)[self.letters].astype(np.uint32).tobytes().decode("utf-32-le")
        return [whole[place : place + length] for place, length in zip(places.tolist(), lengths.tolist(), strict=True)]


class Tree(NamedTuple):
    """The tree of the common prefixes of suffixes; see `fst.compile.train.unigram.seeds`.

    Attributes:
        order: int64[suffixes], the places of the suffixes, sorted.
        first, depth, counts, parent: int32[nodes], for each node: the index in `order` of its first suffix, the number of its letters, the
            number of its suffixes, and its parent.
        deepest: int32[places], the deepest node above the suffix that begins at each place.
    """

    order: NDArray[np.int64]
    first: NDArray[np.int32]
    depth: NDArray[np.int32]
    counts: NDArray[np.int32]
    parent: NDArray[np.int32]
    deepest: NDArray[np.int32]


class Seeds(NamedTuple):
    """The pieces before the first round: the unknown piece (seed 0), then characters by frequency, then other substrings by score."""

    places: NDArray[np.int64]  # int64[seeds], for each seed, a place where it occurs
    lengths: NDArray[np.int32]  # int32[seeds], the number of letters of each seed
    scores: NDArray[np.float64]  # float64[seeds], the logarithm of each seed's share in the total weight of all seeds; NaN for seed 0
    letters: NDArray[np.int32]  # int32[letters + 1], the seed of each letter; 0 for letter 0
    lattices: Lattices  # the arcs of all seeds


class Lattices(NamedTuple):
    """The words, and the arcs that begin at each place, in ascending length. An arc of the unknown piece (one letter) is last.

    Attributes:
        starts, counts: as in `Letters`.
        first: int64[places + 1], the first arc of each place.
        seeds, sizes: int32[arcs], uint16[arcs], the piece of each arc, and its number of letters.
    """

    starts: NDArray[np.int64]
    counts: NDArray[np.float64]
    first: NDArray[np.int64]
    seeds: NDArray[np.int32]
    sizes: NDArray[np.uint16]

    def keep(self, pieces: NDArray[np.int32], seeds: int) -> Lattices:
        """Remove the arcs of seeds that are no longer pieces. The arrays are changed in place, so the old lattices become invalid.
        `pieces`: the seeds that are pieces, including seed 0. `seeds`: the number of all seeds.
        """
        lives = np.zeros(seeds, np.bool_)
        lives[pieces] = True
        lives[UNKNOWN] = False
        arcs = KEEP_ARCS.call(self.first, self.seeds, self.sizes, lives)
        return self._replace(seeds=self.seeds[:arcs], sizes=self.sizes[:arcs])


class Sums(NamedTuple):
    """Scratch for best paths, with an element for each place of a word.

    Attributes:
        best, second: float64, the greatest and the second greatest sum of scores on a path to the place.
        arcs: int64, the last arc of the best path.
        path: int32, the seeds on a path, from last to first.
    """

    best: NDArray[Any]
    second: NDArray[Any]
    arcs: NDArray[Any]
    path: NDArray[Any]

    @classmethod
    def of(cls, longest: int, number: Any = np.float64) -> Sums:
        """Scratch for words of at most `longest` letters. `number`: the type of sums."""
        kinds: list[Any] = [number, number, np.int64, np.int32]
        return cls(*(np.empty(longest + 1, kind) for kind in kinds))


class Nodes(NamedTuple):
    """Scratch for the nodes of a string; see `fst.compile.train.unigram.ties`.

    Attributes:
        begin, seed, score: int64, int64, float64, the place, the seed and the score of each node.
        total, before: float64, int64, the greatest sum of scores on a path to each node, and the previous node on this path.
        later: int64, the next node with the same end.
        head, tail: int64, the first and the last node that ends at each place.
    """

    begin: NDArray[Any]
    seed: NDArray[Any]
    score: NDArray[Any]
    total: NDArray[Any]
    before: NDArray[Any]
    later: NDArray[Any]
    head: NDArray[Any]
    tail: NDArray[Any]

    @classmethod
    def of(cls, nodes: int, number: Any = np.float64) -> Nodes:
        """Scratch for `nodes` nodes. A string has more nodes than letters. `number`: the type of sums."""
        kinds: list[Any] = [np.int64, np.int64, number, number, np.int64, np.int64, np.int64, np.int64]
        return cls(*(np.empty(nodes, kind) for kind in kinds))


class Paths(NamedTuple):
    """Scratch for the partial paths of a string, which are extended from its end backwards; see `fst.compile.train.unigram.ties`.

    Attributes:
        node, after: int64, the first node of each path, and the index of the rest of the path.
        total, hope: float64, the sum of scores of each path, and the sum of the best complete path that ends with this path.
        heap: int64, the paths as a heap, ordered by `hope`.
        few: int64, the best paths, which remain when the heap is too large.
    """

    node: NDArray[Any]
    after: NDArray[Any]
    total: NDArray[Any]
    hope: NDArray[Any]
    heap: NDArray[Any]
    few: NDArray[Any]

    @classmethod
    def of(cls, paths: int, number: Any = np.float64) -> Paths:
        """Scratch for `paths` paths. `number`: the type of sums."""
        kinds: list[Any] = [np.int64, np.int64, number, number, np.int64, np.int64]
        return cls(*(np.empty(paths, kind) for kind in kinds))


def letters_of(words: Words, code_points: NDArray[np.int32], ends: NDArray[np.int64]) -> Letters:
    """Convert words to letters. `code_points`: the characters of all words. `ends`: the end of each word in `code_points`."""
    chars = np.concatenate([np.zeros(1, np.int64), ends])
    places = len(code_points) + len(words)
    if not code_points.any():
        raise VocabularyError("the words have no characters; expected at least one; check the texts and the splitter")
    if places > MAX_LETTERS:
        raise VocabularyError(f"the words have {places:,} characters; expected at most {MAX_LETTERS:,}; set min_count")
    words.need_sums(np.diff(chars), "characters")
    occurs = np.zeros(CODE_POINTS, np.bool_)
    occurs[code_points] = occurs[0] = True
    ranks = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
    letters = np.zeros(places, np.int32)
    starts = chars + np.arange(len(chars))
    letters[np.arange(len(code_points)) + np.repeat(np.arange(len(words)), np.diff(chars))] = ranks[code_points]
    return Letters(letters, starts, words.counts.astype(np.float64), np.flatnonzero(occurs))


def tree_of(text: Letters, longest: int) -> Tree:
    """The tree of the common prefixes of suffixes, of at most `longest` letters."""
    order = _sorted_suffixes(text.letters, longest + 1, len(text.alphabet) - 1)
    shared = np.empty(len(order), np.int32)
    MEASURE_PREFIXES.call(text.letters, order, longest + 1, shared)
    first, depth, count, parent = (np.zeros(len(order) + 1, np.int32) for _ in range(4))
    deepest = np.zeros(len(text.letters), np.int32)
    nodes = GROW_TREE.call(shared, order, longest, first, depth, count, parent, deepest, np.empty(longest + 2, np.int32))
    return Tree(order, first[:nodes], depth[:nodes], count[:nodes], parent[:nodes], deepest)


def seeds_of(text: Letters, *, longest: int, most: int) -> Seeds:
    """Find the seeds: all characters, and all substrings that are followed by at least two different letters or word ends. `text`: the
    words. `longest`: the maximum number of letters of a substring. `most`: the maximum number of seeds, unless there are more characters.
    """
    tree = tree_of(text, longest)
    weights = text.weights
    known = np.lexsort((-np.arange(1, len(weights)), -weights[1:])) + 1
    chosen = _ranked_nodes(tree.first, tree.depth, tree.counts, max(most - len(known), 1))
    scores = np.concatenate([weights[known], (tree.counts[chosen].astype(np.int64) * tree.depth[chosen]).astype(np.float64)])
    return seeds_with_arcs(text, tree, known, chosen, scores, _occurrences(text)[known])


def seeds_with_arcs(
    text: Letters, tree: Tree, known: NDArray[np.int64], nodes: NDArray[np.int64], weights: NDArray[np.float64], places: NDArray[np.int64]
) -> Seeds:
    """The seeds with their logarithms of shares, and their occurrences in the words. `known`: the letters that are seeds. `nodes`: the
    nodes of the tree that are seeds. `weights`: float64[seeds], positive; changed. `places`: for each letter of `known`, a place.
    """
    TAKE_LOG_SHARES.call(weights)
    places = np.concatenate([places, tree.order[tree.first[nodes]]])
    letter_seeds, node_seeds = np.zeros(len(text.alphabet), np.int32), np.zeros(len(tree.first), np.int32)
    letter_seeds[known] = np.arange(1, len(known) + 1)
    node_seeds[nodes] = np.arange(len(known) + 1, len(places) + 1)
    arcs = np.zeros(len(text.letters) + 1, np.int64)
    COUNT_ARCS.call(text.starts, tree.deepest, tree.parent, node_seeds, arcs)
    seeds, sizes = np.empty(arcs[-1], np.int32), np.empty(arcs[-1], np.uint16)
    LIST_ARCS.call(text.letters, letter_seeds, tree.deepest, tree.parent, tree.depth, node_seeds, arcs, seeds, sizes)
    return Seeds(
        np.concatenate([np.zeros(1, np.int64), places]),
        np.concatenate([np.ones(1 + len(known), np.int32), tree.depth[nodes]]),
        np.concatenate([np.full(1, np.nan), weights]),
        letter_seeds,
        Lattices(text.starts, text.counts, arcs, seeds, sizes),
    )


def _sorted_suffixes(letters: NDArray[np.int32], width: int, greatest: int) -> NDArray[np.int64]:
    """The places of all letters except 0, sorted by the first `width` letters of the suffix that begins at each place.

    The first sort compares as many letters as fit in one number; each further sort doubles the number of compared letters. Suffixes that
    are shorter than the compared letters keep their positions.
    """
    bits = greatest.bit_length()
    known = min(KEY_BITS // bits, width)
    packed = np.empty(len(letters), np.int64)
    PACK_LETTERS.call(letters, bits, known, packed)
    places = np.flatnonzero(letters)
    keys = packed[places]
    order = np.argsort(keys)
    places, keys = places[order], keys[order]
    differs = np.append(True, keys[1:] != keys[:-1])
    is_open = packed & (1 << bits) - 1 > 0  # whether the suffix consists of at least `known` letters
    while known < width:
        ranks = np.zeros(len(letters), np.int64)
        ranks[places] = np.cumsum(differs)
        unsure = np.flatnonzero(is_open[places])
        opened = places[unsure]
        keys = ranks[opened] << 32 | ranks[opened + known]
        order = np.argsort(keys)
        places[unsure], keys = opened[order], keys[order]
        differs[unsure[1:]] |= keys[1:] != keys[:-1]
        is_open[opened] = is_open[opened + known]
        known *= 2
    return places


def _ranked_nodes(first: NDArray[np.int32], depth: NDArray[np.int32], count: NDArray[np.int32], most: int) -> NDArray[np.int64]:
    """The nodes of at least two letters, sorted by occurrences × letters, then by string, both in descending order."""
    found = np.flatnonzero(depth > 1)
    scores = count[found].astype(np.int64) * depth[found]
    strings = first[found].astype(np.int64) << 16 | depth[found]
    by_string = np.argsort(-strings)
    return found[by_string[np.argsort(-scores[by_string], kind="stable")]][:most]


def _occurrences(text: Letters) -> NDArray[np.int64]:
    """For each letter, a place where the letter occurs."""
    places = np.zeros(len(text.alphabet), np.int64)
    places[text.letters] = np.arange(len(text.letters))
    return places
