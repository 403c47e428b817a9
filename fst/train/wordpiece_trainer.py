"""The trainer of WordPiece: by frequency, with the same results as `tokenizers`, or by score, as in Hugging Face's course."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from fst.errors import UnsupportedError, quoted
from fst.train.bpe_trainer import by_frequency
from fst.train.counting import counted
from fst.train.result import Trained
from fst.train.score_trainer import by_score
from fst.train.symbols import Alphabet, check_numbers

FREQUENCY, SCORE = "frequency", "score"
MAX_CHARACTERS = 100  # the encoder replaces longer words by the unknown token


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
            the course of Hugging Face; the score is the count of the pair divided by the product of the counts of its parts. Texts then
            have more tokens per word.
        min_frequency: pairs rarer than this are not merged. With the criterion "score", a value below 10 gives poor vocabularies and a
            UserWarning.
        special_tokens: the tokens with the first ids; `unk_token` should be one of them.
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
