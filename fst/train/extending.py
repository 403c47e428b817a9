"""Extend a vocabulary: the existing tokens keep their ids and merges, and new tokens are merged from existing tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.bridge.from_live import compiled
from fst.compile.train.merges.merging import WORD_END
from fst.counting.words import Words
from fst.errors import UnsupportedError
from fst.pretokens.byte_letters import LETTERS
from fst.pretokens.token_letters import byte_of
from fst.train.base_tokenizers import base_vocabulary, config_of, segmented
from fst.train.base_vocabulary import BaseVocabulary
from fst.train.control import Control
from fst.train.counting import Corpus, counted, pipeline_for
from fst.train.merges import merged_in_either_way
from fst.train.result import NO_PAIR, SIZE, Trained
from fst.train.symbols import Symbols, check_numbers

ASKER = "fst.train.extend"
SPACE, COLON = (LETTERS[ord(character)] for character in " :")  # letters of ByteLevel

Ints = NDArray[np.int64]


def extend(
    old: Any,
    words: Any,
    add: int,
    *,
    splitter: Any = None,
    max_words: int | None = None,
    column: str | None = None,
    field: str | None = None,
    threads: int | None = None,
    min_count: int = 1,
    errors: str = "strict",
    progress: Callable[[int, int], None] | None = None,
    checkpoint: str | Path | None = None,
    deadline: float | None = None,
) -> Trained:
    """Add tokens to the vocabulary of a tokenizer. Existing tokens keep their ids, so the rows of embeddings keep their positions.

    New tokens get the ids after the largest old id, in the order in which they are learned. The way of learning depends on the model:

    - BPE: new merges follow the existing merges. A text has the same tokens as before, except that some neighbours become one new token.
    - WordPiece: the most frequent pairs of neighbouring tokens are merged. WordPiece chooses the longest token at each position, so a new
      token can also change the tokens of the rest of a word.
    - WordLevel: the most frequent words that are not tokens yet are added.

    With a `splitter` whose words are longer than those of the base tokenizer, BPE learns superwords: tokens that contain several words.
    This is the second phase of SuperBPE (arXiv 2503.13423); the first phase is `bpe`.

    Args:
        old: the base tokenizer: a live tokenizer of ``tokenizers`` or ``transformers``; an `fst.Tokenizer`; a table or the path of a table;
            a trained vocabulary; or a folder, a ``tokenizer.json`` or another source for `fst.compile.tokenizer`.
            For an encoding of ``tiktoken``, an equivalent splitter of ``tokenizers`` replaces the encoding's pattern.
        words: texts, files or counted words, see `words`; they are split as in the base tokenizer.
        add: the number of new tokens. Fewer tokens are added if there are no more pairs to merge, or no more new words.
        splitter: the new splitter of texts, for BPE, see `words`; "superbpe": that of the second phase in the scripts of SuperBPE's
            authors. Words are segmented by the old merges alone, so these may also cross the cuts of the old splitter. None: the splitter
            of the base tokenizer.
        max_words: the maximum number of words in a new token, for BPE over bytes. Spaces separate the words. With a maximum, no new token
            contains a space after a colon. SuperBPE's authors use 4. None: any new tokens.
        column, field, threads, min_count, errors: see `words`.
        progress, checkpoint, deadline: see `bpe`.

    Returns:
        The vocabulary. Counts of existing tokens are from before the first new token is made; the count of a new token is from when it is
        made.

    Raises:
        UnsupportedError: the vocabulary is Unigram, for which no library defines the scores of new tokens; or no ``tokenizer.json`` can
            express it, for example a ``.model`` of SentencePiece; or the model cannot have another splitter, or `max_words`.
        VocabularyError: the base vocabulary cannot be compiled, counted words were split by a different pipeline, or `add` is negative.
        TextError, ReadingError, OSError: for the reasons listed in `words`.

    Examples:
        >>> from fst.compile import wordpiece
        >>> old = wordpiece(["[UNK]", "h", "##u", "##g"])
        >>> new = extend(old, {"hug": 3, "hu": 1}, add=2)
        >>> new.vocabulary
        {'[UNK]': 0, 'h': 1, '##u': 2, '##g': 3, 'hu': 4, 'hug': 5}
        >>> from fst.train import bpe
        >>> texts = ["by the way", "by the sea"]
        >>> extend(bpe(texts, splitter="gpt2", vocab_size=260), texts, add=1, splitter="superbpe").merges[-1]
        ('by', 'Ġthe')
    """
    control = Control(progress, deadline, checkpoint)
    vocabulary = split_by(base_vocabulary(compiled(old, ASKER), ASKER), splitter)
    _check(vocabulary, add, max_words)
    corpus = counted(words, vocabulary.pipeline, locals(), control=control)
    batch = segmented(vocabulary, corpus.words)
    trained = _extended(vocabulary, corpus, batch.ids, batch.row_splits, add, max_words).of(corpus.words)
    return replace(trained, config=config_of(old))


def _extended(base: BaseVocabulary, corpus: Corpus, ids: NDArray[np.int32], splits: Ints, add: int, max_words: int | None) -> Trained:
    """Add tokens to a vocabulary.

    Args:
        base: the vocabulary.
        corpus: the words.
        ids, splits: the ids of all words, encoded with the base vocabulary, and the bounds of each word in `ids`.
        add: the number of new tokens.
        max_words: see `extend`.
    """
    words = corpus.words
    if base.kind == "WordLevel":
        return _with_words(base, words, ids, splits, add)
    options = {"trainer": "extend", "old": base.digest, "add": add, **({} if max_words is None else {"words": max_words})}
    found = merged_in_either_way(
        lambda: _symbols(base, words, ids, splits),
        prefix=base.prefix,
        vocab_size=base.size + add,
        min_frequency=0,
        max_token_length=None,
        control=corpus.control,
        digest=corpus.control.digest_of(words, options),
        is_allowed=None if max_words is None else lambda token: is_superword(token, max_words),
    )
    names = found.names
    new = {names[number]: number for number in range(base.size, len(names))}
    merges = found.merges if base.kind == "BPE" else []
    return base.trained(base.tokens | new, found.counts, found.stopped, merges=[*base.merges, *merges], min_count=words.min_count)


def _check(base: BaseVocabulary, add: int, max_words: int | None) -> None:
    """Raise an error for an argument that the vocabulary excludes, before texts are read."""
    check_numbers(add=add, max_words=0 if max_words is None else max_words)
    if max_words is not None and not (base.kind == "BPE" and base.pipeline.are_bytes):
        raise UnsupportedError(f"max_words is {max_words}, but the vocabulary is not BPE over bytes; leave it out")
    if base.kind == "Unigram":
        raise UnsupportedError(
            "the vocabulary is Unigram, and no rule of tokenizers or sentencepiece gives new tokens their scores; "
            "expected BPE, WordPiece or WordLevel; train a new vocabulary with fst.train.like"
        )


def split_by(base: BaseVocabulary, splitter: Any) -> BaseVocabulary:
    """The vocabulary with another splitter; its normalizer, its decoder and its added tokens stay. `splitter`: see `extend`."""
    found = pipeline_for(splitter)
    if found is None:
        return base
    if base.kind != "BPE" or found.rule is not None or found.are_bytes != base.pipeline.are_bytes:
        raise UnsupportedError(
            f"splitter is given for {base.kind}; expected BPE, and a splitter into bytes or characters like the old one; leave it out"
        )
    return replace(base, document={**base.document, "pre_tokenizer": found.pre_tokenizer})


def is_superword(token: str, most: int) -> bool:
    """Whether SuperBPE may make a token: of at most `most` words, and without a space after a colon. `token`: in letters of ByteLevel."""
    return COLON + SPACE not in token and sum(map(bool, token.split(SPACE))) <= most


def _symbols(base: BaseVocabulary, words: Words, ids: NDArray[np.int32], splits: Ints) -> Symbols:
    """The words spelled in base ids, for the trainer.

    The unknown token and byte-fallback tokens are never merged, so words are split around them.
    """
    names = [f"\0{number}" for number in range(base.size)]  # placeholders for ids without a token; no merge makes them
    for token, number in base.tokens.items():
        names[number] = token
    apart = [number for token, number in base.of_model.items() if byte_of(token) is not None or number == base.unknown]
    sizes = np.diff(splits)
    of_word = np.repeat(np.arange(len(words)), sizes)
    starts = np.concatenate([[True], of_word[1:] != of_word[:-1]])[: len(ids)]
    is_apart = np.isin(ids, apart)
    starts[1:] |= is_apart[1:] | is_apart[:-1]
    part = np.cumsum(starts) - 1  # for each id, the number of the part of a split word that contains the id
    cells = np.full(len(ids) + (int(part[-1]) + 1 if len(ids) else 0) + 1, WORD_END, np.int32)
    at = np.arange(1, len(ids) + 1) + part
    cells[at] = ids
    numbers = np.zeros(len(cells), np.int32)
    numbers[at] = part
    weights = words.counts[of_word[starts]]
    counts = np.zeros(base.size, np.int64)
    np.add.at(counts, ids, words.counts[of_word])
    return Symbols(names=names, counts=counts, cells=cells, words=numbers, counts_of_words=weights, is_careful=False, known=[])


def _with_words(base: BaseVocabulary, words: Words, ids: NDArray[np.int32], splits: Ints, add: int) -> Trained:
    """The vocabulary with the most frequent words that are not yet tokens, in the order of WordLevel's trainer."""
    unknown = Counter({word.decode(): int(count) for word, count in zip(words, words.counts, strict=True)})
    for token in base.tokens:
        unknown.pop(token, None)
    new = sorted(unknown.items(), key=lambda item: (-item[1], item[0]))[:add]
    counts = np.zeros(base.size, np.int64)
    np.add.at(counts, ids, np.repeat(words.counts, np.diff(splits)))
    return base.trained(
        base.tokens | {word: base.size + place for place, (word, _) in enumerate(new)},
        np.concatenate([counts, np.array([count for _, count in new], np.int64)]),
        SIZE if len(new) == add else NO_PAIR,
        min_count=words.min_count,
    )
