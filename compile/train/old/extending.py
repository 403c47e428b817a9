"""Extend a vocabulary: the old tokens keep their ids and merges, and new tokens are merged from old tokens."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from fst.compile.train.control import Control, digest_of
from fst.compile.train.merges.merging import WORD_END
from fst.compile.train.merges.run import merged_in_either_way
from fst.compile.train.old.vocabulary import OldVocabulary
from fst.compile.train.result import NO_PAIR, SIZE, Trained
from fst.compile.train.symbols import Symbols, check_numbers
from fst.counting.words import Words
from fst.errors import UnsupportedError
from fst.pretokens.token_letters import byte_of

Ints = NDArray[np.int64]


def extend(old: OldVocabulary, words: Words, ids: NDArray[np.int32], splits: Ints, add: int, control: Control) -> Trained:
    """Add tokens to a vocabulary; see `fst.train.extend`.

    Args:
        old: the vocabulary.
        words: the words with their counts.
        ids, splits: the ids of all words, encoded with the old vocabulary, and the bounds of each word in `ids`.
        add: the number of new tokens.
        control: progress, deadline and checkpoint.

    Raises:
        UnsupportedError: the vocabulary is Unigram.
        VocabularyError: `add` is negative, or is not a whole number.
    """
    check_numbers(add=add)
    if old.kind == "Unigram":
        raise UnsupportedError("the vocabulary is Unigram, whose scores would change with new tokens; expected BPE, WordPiece or WordLevel")
    if old.kind == "WordLevel":
        return _with_words(old, words, ids, splits, add)
    found = merged_in_either_way(
        lambda: _symbols(old, words, ids, splits),
        prefix=old.prefix,
        vocab_size=old.size + add,
        min_frequency=0,
        max_token_length=None,
        control=control,
        digest=digest_of(words, {"trainer": "extend", "old": old.digest, "add": add}),
    )
    names = found.names
    new = {names[number]: number for number in range(old.size, len(names))}
    merges = [(names[left], names[right]) for left, right in found.merges] if old.kind == "BPE" else []
    return old.trained(old.tokens | new, found.counts, found.stopped, merges=[*old.merges, *merges], min_count=words.min_count)


def _symbols(old: OldVocabulary, words: Words, ids: NDArray[np.int32], splits: Ints) -> Symbols:
    """The words spelled in old ids, for the trainer.

    The unknown token and byte-fallback tokens are never merged, so words are split around them.
    """
    names = [f"\0{number}" for number in range(old.size)]  # placeholders for ids without a token; no merge makes them
    for token, number in old.tokens.items():
        names[number] = token
    apart = [number for token, number in old.of_model.items() if byte_of(token) is not None or number == old.unknown]
    sizes = np.diff(splits)
    of_word = np.repeat(np.arange(len(words)), sizes)
    starts = np.concatenate([[True], of_word[1:] != of_word[:-1]])[: len(ids)]
    is_apart = np.isin(ids, apart)
    starts[1:] |= is_apart[1:] | is_apart[:-1]
    part = np.cumsum(starts) - 1  # for each id, the number of its part of the split words
    cells = np.full(len(ids) + (int(part[-1]) + 1 if len(ids) else 0) + 1, WORD_END, np.int32)
    at = np.arange(1, len(ids) + 1) + part
    cells[at] = ids
    numbers = np.zeros(len(cells), np.int32)
    numbers[at] = part
    weights = words.counts[of_word[starts]]
    counts = np.zeros(old.size, np.int64)
    np.add.at(counts, ids, words.counts[of_word])
    return Symbols(names=names, counts=counts, cells=cells, words=numbers, counts_of_words=weights, is_careful=False, known=[])


def _with_words(old: OldVocabulary, words: Words, ids: NDArray[np.int32], splits: Ints, add: int) -> Trained:
    """The vocabulary with the most frequent words that are not yet tokens, in the order of WordLevel's trainer."""
    unknown = Counter({word.decode(): int(count) for word, count in zip(words, words.counts, strict=True)})
    for token in old.tokens:
        unknown.pop(token, None)
    new = sorted(unknown.items(), key=lambda item: (-item[1], item[0]))[:add]
    counts = np.zeros(old.size, np.int64)
    np.add.at(counts, ids, np.repeat(words.counts, np.diff(splits)))
    return old.trained(
        old.tokens | {word: old.size + place for place, (word, _) in enumerate(new)},
        np.concatenate([counts, np.array([count for _, count in new], np.int64)]),
        SIZE if len(new) == add else NO_PAIR,
        min_count=words.min_count,
    )
