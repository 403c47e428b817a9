"""The trainer of WordPiece: by frequency, with the same results as `tokenizers`, or by score, as in Hugging Face's course."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fst.compile.train.merges.merging import WORD_END
from fst.compile.train.scores.state import Merger, State, widened
from fst.errors import UnsupportedError, VocabularyError, quoted
from fst.train import result
from fst.train.bpe_trainer import by_frequency
from fst.train.control import Control
from fst.train.counting import Corpus, counted
from fst.train.merges import need_size
from fst.train.result import Trained
from fst.train.symbols import Alphabet, Symbols, by_occurrence, check_numbers, initial_characters, symbols_of

FREQUENT = 10  # with a smaller min_frequency, mainly rare strings are merged
POOR = (
    "by score, the rarest pairs merge first, and vocabularies are poor; expected 10 or more; with 8,000 tokens, English has 2.81 tokens "
    "per word with min_frequency=0, 1.81 with 10, 1.27 with 50, and 1.14 by frequency"
)
FREQUENCY, SCORE = "frequency", "score"
MAX_CHARACTERS = 100  # the encoder replaces longer words by the unknown token


def by_score(corpus: Corpus, alphabet: Alphabet, vocab_size: int, min_frequency: int, model: Mapping[str, Any]) -> Trained:
    """Learn a vocabulary of WordPiece by score.

    The score of a pair is its count divided by the product of the counts of its two tokens. All words are counted, and the quotient is
    rounded once, as in Python's division of integers. Among pairs with equal scores, the pair that occurs first is merged; words are in the
    order of first occurrence. The ids are in this order: special tokens; characters in words, with and without prefix, sorted as strings;
    merged tokens. If the string of a merge already has an id, no new id is created. A token at the beginning of a word and a token inside
    words are different tokens, even if a word begins with the prefix.
    """
    words, pipeline, control = corpus
    if min_frequency < FREQUENT:
        warnings.warn(f"min_frequency is {min_frequency}: {POOR}", stacklevel=3)  # the warning is for the caller of `fst.train.wordpiece`
    symbols = symbols_of(words, alphabet, are_bytes=corpus.are_bytes)
    symbols = by_occurrence(_sorted(symbols, alphabet, are_bytes=corpus.are_bytes), words.first)
    need_size(vocab_size, len(symbols.names))
    options = {"alphabet": alphabet.options, "size": vocab_size, "least": min_frequency, "bytes": corpus.are_bytes}
    digest = control.digest_of(words, {"trainer": "score", **options})
    names, counts, stopped = _learned(symbols, alphabet.prefix, vocab_size, max(min_frequency, 1), control, digest)
    return Trained(
        kind="WordPiece",
        vocabulary={name: number for number, name in enumerate(names)},
        counts=np.array(counts, np.int64),
        stopped=stopped,
        special_tokens=[*dict.fromkeys(alphabet.special_tokens)],
        pipeline=pipeline,
        model=model,
        min_count=words.min_count,
    ).of(words)


def _sorted(symbols: Symbols, alphabet: Alphabet, *, are_bytes: bool) -> Symbols:
    """The symbols that occur in words or in the initial alphabet, sorted as strings after the special tokens."""
    specials, initial = {*alphabet.special_tokens}, initial_characters(alphabet, are_bytes)
    ids = {name: number for number, name in enumerate(symbols.names)}
    others = sorted(name for name, number in ids.items() if name not in specials and (symbols.counts[number] or name in initial))
    names = [*(name for name in symbols.names if name in specials), *others]
    old = np.array([ids[name] for name in names], np.int64)
    table = np.full(len(ids) + 1, WORD_END, np.int32)  # the last element has index -1, so it is the value for `WORD_END`
    table[old] = np.arange(len(names))
    return replace(symbols, names=names, counts=symbols.counts[old], cells=table[symbols.cells])


def _learned(symbols: Symbols, prefix: str, vocab_size: int, least: int, control: Control, digest: str) -> tuple[list[str], list[int], str]:
    """The tokens in the order of ids, the count of each token directly after its merge, and the reason for the end of training."""
    atoms, missing = len(symbols.names), vocab_size - len(symbols.names)
    state = State(symbols.cells, np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(1, np.int64))
    while True:
        state = widened(state, min(missing, len(symbols.cells)))  # a run has fewer merges than cells
        merger = Merger(symbols.cells, symbols.words, symbols.counts_of_words, atoms, least)
        state, finished = control.run(state, merger.advance, total=vocab_size - atoms, digest=digest, prove=merger.prove)
        counts = dict(zip(symbols.names, symbols.counts.tolist(), strict=True))
        for name, count in zip(_names(symbols, state, prefix)[atoms:], state.counts.tolist(), strict=False):
            counts[name] = counts.get(name, 0) + count
        missing = vocab_size - len(counts)  # a merge into a string that already had an id added no token
        if missing < 0:
            raise VocabularyError("merges of the checkpoint are more than vocab_size; the file is damaged; remove it and start again")
        if not finished or not missing or state.made[0] < len(state.lefts):
            return [*counts], [*counts.values()], _reason(finished, missing, merger)


def _reason(finished: bool, missing: int, merger: Merger) -> str:
    if not finished:
        return result.DEADLINE
    if not missing:
        return result.SIZE
    return result.MIN_FREQUENCY if merger.has_pairs else result.NO_PAIR


def _names(symbols: Symbols, state: State, prefix: str) -> list[str]:
    names, made = [*symbols.names], int(state.made[0])
    for left, right in zip(state.lefts[:made].tolist(), state.rights[:made].tolist(), strict=True):
        names.append(names[left] + names[right].removeprefix(prefix))
    return names


def wordpiece(
    source: Any,
    *,
    vocab_size: int = 30_000,
    criterion: str = "frequency",
    min_frequency: int = 0,
    special_tokens: Sequence[str] = (),
    initial_alphabet: Collection[str] | None = None,
    limit_alphabet: int | None = None,
    continuing_subword_prefix: str = "##",
    end_of_word_suffix: str = "",
    unk_token: str = "[UNK]",
    splitter: Any = None,
    normalizer: Any = None,
    column: str | None = None,
    field: str | None = None,
    threads: int | None = None,
    min_count: int = 1,
    errors: str = "strict",
    progress: Callable[[int, int], None] | None = None,
    checkpoint: str | Path | None = None,
    deadline: float | None = None,
) -> Trained:
    """Train a vocabulary of WordPiece.

    With the criterion "frequency", the result equals the result of ``tokenizers`` 0.23.3, except for the ids of single characters with the
    prefix. In ``tokenizers``, these ids are in random order; here they follow the ids of all other characters, in the order of code points.

    Args:
        source: documents, files or counted words, see `words`.
        vocab_size: the number of tokens at which training stops.
        criterion: "frequency": merge the most frequent pair of neighbouring tokens. "score": merge the pair with the highest score, as in
            the course of Hugging Face; the score is the count of the pair divided by the product of the counts of its parts. With "score",
            texts have more tokens per word.
        min_frequency: pairs rarer than this are not merged. With the criterion "score", a value below 10 gives poor vocabularies and a
            UserWarning.
        special_tokens: the tokens with the first ids; `unk_token` should be one of these tokens.
        initial_alphabet: characters that get ids even if no word contains them.
        limit_alphabet: the maximum number of characters. Less frequent characters are deleted from the words. None: no limit.
        continuing_subword_prefix: the prefix of tokens that do not begin a word.
        end_of_word_suffix: the suffix of tokens that end a word.
        unk_token: the token of unknown words.
        splitter, normalizer, column, field, threads, min_count, errors: see `words`.
        progress, checkpoint, deadline: see `bpe`.

    Raises:
        VocabularyError, UnsupportedError, TextError, ReadingError, OSError: for the reasons listed in `bpe`.

    Examples:
        >>> [*wordpiece({"hug": 10, "pug": 5, "hugs": 5}, vocab_size=9).vocabulary]
        ['g', 'h', 'p', 's', 'u', '##g', '##s', '##u', '##ug']
    """
    if criterion not in (FREQUENCY, SCORE):
        raise UnsupportedError(f"criterion is {quoted(criterion)}; expected {FREQUENCY!r} or {SCORE!r}")
    check_numbers(vocab_size=vocab_size, min_frequency=min_frequency)
    alphabet = Alphabet(special_tokens, initial_alphabet, limit_alphabet, continuing_subword_prefix, end_of_word_suffix)
    model = {
        "unk_token": unk_token,
        "continuing_subword_prefix": continuing_subword_prefix,
        "max_input_chars_per_word": MAX_CHARACTERS,
    }
    corpus = counted(source, splitter, locals(), kind="WordPiece")
    corpus = corpus.decoded_by({"type": "WordPiece", "prefix": continuing_subword_prefix, "cleanup": True})
    if criterion == SCORE:
        return by_score(corpus, alphabet, vocab_size, min_frequency, model)
    return replace(by_frequency("WordPiece", corpus, alphabet, vocab_size, min_frequency, None, model), merges=())
