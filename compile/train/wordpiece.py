"""The trainer of WordPiece: by frequency, as `tokenizers` has it, or by score, as the course of Hugging Face teaches it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from fst.compile.train.bpe import trained
from fst.compile.train.control import Control
from fst.compile.train.pipeline import Pipeline
from fst.compile.train.result import Trained
from fst.compile.train.score import by_score
from fst.compile.train.symbols import Alphabet
from fst.counted_words import Words
from fst.errors import UnsupportedError, quoted

FREQUENCY, SCORE = "frequency", "score"
MAX_CHARACTERS = 100  # of a word; longer ones are unknown


def wordpiece(
    words: Words,
    *,
    vocab_size: int = 30_000,
    criterion: str = FREQUENCY,
    min_frequency: int = 0,
    special_tokens: Sequence[str] = (),
    initial_alphabet: Collection[str] | None = None,
    limit_alphabet: int | None = None,
    continuing_subword_prefix: str = "##",
    end_of_word_suffix: str = "",
    unk_token: str = "[UNK]",
    pipeline: Pipeline | None = None,
    control: Control | None = None,
    order: Sequence[str] = (),
) -> Trained:
    """Learn a vocabulary of WordPiece: merge a pair of neighbours again and again.

    Args:
        words: with their counts.
        vocab_size: the number of tokens.
        criterion: "frequency": the most frequent pair is merged, as by `fst.compile.train.bpe.bpe`. "score": the pair whose count divided
            by the counts of its parts is the greatest, see `fst.compile.train.score.by_score`.
        min_frequency: pairs rarer than this are not merged.
        special_tokens: they get the first ids. One of a single character is this character.
        initial_alphabet: characters that get ids even if no word has them.
        limit_alphabet: the most characters; rarer ones are deleted from the words. None: no limit.
        continuing_subword_prefix: before symbols that do not begin a word. Those that no special token is get their ids after the
            characters, by code point; `tokenizers` orders them at random.
        end_of_word_suffix: after the last symbol of a word.
        unk_token: the token of unknown words.
        pipeline: how texts were split into words.
        control: progress, deadline and checkpoint.
        order: the order of symbols with a prefix or a suffix; others follow by code point.

    Raises:
        VocabularyError: `vocab_size` is less than the number of special tokens and characters; words or options are not as expected.
        UnsupportedError: the criterion is unknown.
    """
    if criterion not in (FREQUENCY, SCORE):
        raise UnsupportedError(f"criterion is {quoted(criterion)}; expected {FREQUENCY!r} or {SCORE!r}")
    alphabet = Alphabet(
        special_tokens, initial_alphabet, limit_alphabet, continuing_subword_prefix, end_of_word_suffix, byte_tokens=False, order=order
    )
    model = {
        "unk_token": unk_token,
        "continuing_subword_prefix": continuing_subword_prefix,
        "max_input_chars_per_word": MAX_CHARACTERS,
    }
    if criterion == SCORE:
        return by_score(words, alphabet, vocab_size, min_frequency, model, pipeline, control or Control())
    return replace(trained("WordPiece", words, alphabet, vocab_size, min_frequency, None, model, pipeline, control), merges=())
