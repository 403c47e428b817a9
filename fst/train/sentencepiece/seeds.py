"""The seeds of SentencePiece's Unigram training: the characters, and the substrings of sentences with at least two different next bytes.

SentencePiece sorts the suffixes of all sentences as bytes, with a byte 0 after each sentence. A substring is a seed if the bytes after its
occurrences differ; characters with the same first byte do not make a difference. At a piece that ends the last sentence, SentencePiece
counts the occurrences at the ends of sentences twice.

Pieces do not go beyond a word, so the words are enough, each with one letter that represents the text after the word. A word with both
continuations is there twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.compile.text.sentencepiece import SYMBOL
from fst.compile.train.unigram.lattices import Letters, Seeds, Tree, seeds_with_arcs, tree_of
from fst.core.jit import Deferred
from fst.errors import UnsupportedError
from fst.train.sentencepiece.bpe import RESERVED, kinds_of
from fst.train.sentencepiece.options import Options

MOST_BYTES = 500 << 20  # SentencePiece finds seeds in parts of this size
END, LAST = 0x110000, 0x110001  # the letters that represent the end of a sentence, and the end of the last sentence
DIGITS = [*range(0x30, 0x3A), *range(0xFF10, 0xFF1A)]
ANY, RESETS, NEVER = 0, -1, -2  # kinds of characters for `check_pieces`; greater numbers are scripts

CHECK_PIECES, FIND_BRANCHES = (Deferred("fst.compile.train.unigram.pieces", name) for name in ("check_pieces", "find_branches"))


class Units(NamedTuple):
    """Words with the letter after them. The first units are the words of the estimation, in its order."""

    texts: Sequence[str]
    after: NDArray[np.int64]  # int64[units], ▁, `END` or `LAST`
    weights: NDArray[np.int64]  # int64[units]
    counts: NDArray[np.int64]  # int64[words], the counts of the words of the estimation


def units_of_words(inner: dict[str, int], final: dict[str, int], last: str) -> Units:
    """The units of words, in the order of the estimation: the most frequent word first. `inner`, `final`: the counts of words before other
    words, and at the end of sentences. `last`: the last word of the last sentence.
    """
    counts = {word: inner.get(word, 0) + final.get(word, 0) for word in {**inner, **final}}
    words = sorted(counts, key=lambda word: (-counts[word], word))
    after = [ord(SYMBOL) if word in inner else END for word in words]
    weights = [inner.get(word, final.get(word, 0)) for word in words]
    both = [word for word in words if word in inner and word in final]
    found = Units(
        [*words, *both],
        np.array([*after, *(END for _ in both)], np.int64),
        np.array([*weights, *(final[word] for word in both)], np.int64),
        np.array([counts[word] for word in words], np.int64),
    )
    return _with_last(found, len(words) + both.index(last) if last in inner else words.index(last))


def units_of_sentences(texts: Sequence[str], counts: Sequence[int]) -> Units:
    """The units of whole sentences, in their order."""
    numbers = np.array(counts, np.int64)
    return _with_last(Units(texts, np.full(len(texts), END), numbers, numbers), len(texts) - 1)


def _with_last(units: Units, number: int) -> Units:
    """Mark one occurrence of a unit as the end of the last sentence. `number`: the unit."""
    texts, after, weights, counts = units
    if weights[number] == 1:
        after[number] = LAST
        return units
    weights = weights.copy()
    weights[number] -= 1
    return Units([*texts, texts[number]], np.append(after, LAST), np.append(weights, 1), counts)


def need_size(size: int) -> None:
    """Raise an error if texts of `size` bytes are too large."""
    if size >= MOST_BYTES:
        raise UnsupportedError(
            f"the texts have {size:,} bytes; expected less than {MOST_BYTES:,}, since SentencePiece finds seeds of larger texts in parts; "
            "train on a sample"
        )


def seeds_of(units: Units, options: Options, *, longest: int, most: int) -> tuple[Letters, Seeds]:
    """Find the seeds. `longest`: the maximum number of characters of a piece. `most`: the maximum number of seeds except characters."""
    text, is_inside = _letters_of(units)
    weights = np.repeat(units.weights, np.diff(text.starts))
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(_widths(text.alphabet)[text.letters])])
    need_size(int(np.diff(ends).astype(np.float64) @ weights))  # in int64, large counts would overflow
    tree = tree_of(text, longest)
    counts = _counts(text, tree, units, weights, longest)
    valid = np.empty(len(tree.first), np.bool_)
    kinds, digits = _kinds(text.alphabet, options), np.isin(text.alphabet, DIGITS) & options.split_digits
    rules = options.split_by_whitespace, options.split_by_unicode_script, options.allow_whitespace_only_pieces
    space = int(np.searchsorted(text.alphabet, ord(SYMBOL)))
    CHECK_PIECES.call(text.letters, tree.order, tree.first, tree.depth, kinds, digits, space, *rules, valid)
    nodes = np.flatnonzero(valid & (counts > 1) & (tree.depth > 1))
    places, lengths = tree.order[tree.first[nodes]], tree.depth[nodes]
    scores = counts[nodes].astype(np.float32) * lengths.astype(np.float32)
    chosen = np.lexsort((lengths, tree.first[nodes], ends[places] - ends[places + lengths], -scores))[:most]
    of_letters = np.zeros(len(text.alphabet), np.int64)
    np.add.at(of_letters, text.letters[is_inside], weights[is_inside])
    of_letters[kinds == NEVER] = 0
    known = np.lexsort((np.arange(len(of_letters)), -of_letters))
    known = known[of_letters[known] > 0]
    places_of = np.zeros(len(of_letters), np.int64)
    places_of[text.letters[is_inside]] = np.flatnonzero(is_inside)
    shares = np.concatenate([of_letters[known].astype(np.float32), scores[chosen]]).astype(np.float64)
    found = seeds_with_arcs(text, tree, known, nodes[chosen], shares, places_of[known])
    words = len(units.counts)
    return text, found._replace(lattices=found.lattices._replace(starts=text.starts[: words + 1]))


def _counts(text: Letters, tree: Tree, units: Units, weights: NDArray[np.int64], longest: int) -> NDArray[np.int64]:
    """The count of each node: its occurrences if the bytes after these differ; and once more its occurrences at the ends of sentences, if
    it ends the last sentence. `weights`: int64[places], the weight of each place's unit.
    """
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(weights[tree.order])])
    counts: NDArray[np.int64] = sums[tree.first + tree.counts] - sums[tree.first]
    branches = np.empty(len(tree.first), np.bool_)
    FIND_BRANCHES.call(text.letters, tree.order, tree.first, tree.depth, tree.counts, _first_bytes(text.alphabet), branches)
    counts[~branches] = 0
    last = int(np.flatnonzero(units.after == LAST)[0])
    end = int(text.starts[last + 1]) - 2
    for place in range(max(int(text.starts[last]), end - longest), end):
        node = int(tree.deepest[place])
        while tree.depth[node] > end - place:
            node = int(tree.parent[node])
        if tree.depth[node] == end - place:
            inside = tree.order[tree.first[node] : tree.first[node] + tree.counts[node]]
            at_end = text.alphabet[text.letters[inside + (end - place)]] >= END
            times = int(weights[inside[at_end]].sum())
            counts[node] += times if times > 1 else 0
    return counts


def _letters_of(units: Units) -> tuple[Letters, NDArray[np.bool_]]:
    """The units as letters, and whether each place is inside a word; the other places are after words."""
    lengths = np.array([len(text) for text in units.texts], np.int64)
    points = np.frombuffer("".join(units.texts).encode("utf-32-le"), np.uint32).astype(np.int64)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths + 2)])
    occurs = np.ones(starts[-1], np.bool_)
    occurs[starts[1:] - 1] = occurs[starts[1:] - 2] = False
    whole = np.zeros(len(occurs), np.int64)
    whole[occurs] = points
    whole[starts[1:] - 2] = units.after
    exists = np.zeros(LAST + 1, np.bool_)
    exists[whole] = exists[[0, ord(SYMBOL), ord(RESERVED), END, LAST]] = True
    ranks = np.cumsum(exists, dtype=np.int32) - np.int32(1)
    return Letters(ranks[whole], starts, units.counts.astype(np.float64), np.flatnonzero(exists)), occurs


def _widths(alphabet: NDArray[np.int64]) -> NDArray[np.int64]:
    """The size of each letter in UTF-8 in bytes; 0 for letters that represent no character."""
    return np.where((alphabet == 0) | (alphabet >= END), 0, 1 + (alphabet > 0x7F) + (alphabet > 0x7FF) + (alphabet > 0xFFFF))


def _first_bytes(alphabet: NDArray[np.int64]) -> NDArray[np.int32]:
    """The first byte of each letter in UTF-8; 0 for ends of sentences."""
    return np.array([0 if point >= END else chr(point).encode("utf-8", "surrogatepass")[0] for point in alphabet.tolist()], np.int32)


def _kinds(alphabet: NDArray[np.int64], options: Options) -> NDArray[np.int32]:
    """The kind of each letter, for `check_pieces`."""
    kinds = kinds_of([chr(point) if point < END else RESERVED for point in alphabet.tolist()])
    if not options.split_by_number:
        kinds[np.isin(alphabet, DIGITS)] = RESETS
    kinds[(alphabet == 0) | (alphabet >= END) | (alphabet == ord(RESERVED))] = NEVER
    return kinds
