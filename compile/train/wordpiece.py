"""The trainer of WordPiece: by frequency, with the same results as `tokenizers`, or by score, as in Hugging Face's course."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from fst.compile.train.bpe import trained
from fst.compile.train.control import Control
from fst.compile.train.pipeline import Pipeline, need_no_rule
from fst.compile.train.result import Trained
from fst.compile.train.scores.trainer import by_score
from fst.compile.train.symbols import Alphabet
from fst.counting.words import Words
from fst.errors import UnsupportedError, quoted

FREQUENCY, SCORE = "frequency", "score"
MAX_CHARACTERS = 100  # the encoder replaces longer words by the unknown token


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
    """Learn a vocabulary of WordPiece: repeatedly merge a pair of adjacent tokens.

    Args:
        words: the words with their counts.
        criterion: "frequency", see `fst.compile.train.bpe.trained`, or "score", see `fst.compile.train.scores.trainer.by_score`.
        vocab_size, min_frequency, special_tokens, initial_alphabet, limit_alphabet, continuing_subword_prefix, end_of_word_suffix,
            unk_token: as in `fst.train.wordpiece`.
        pipeline: the pipeline that split texts into the words; None: the pipeline is unknown, and words are text. If the pipeline has no
            decoder, the trainer adds the decoder of WordPiece.
        control: progress, deadline and checkpoint.
        order: symbols with a prefix or a suffix that get their ids first, in this order; all other symbols follow by code point. With the
            criterion "score", symbols are sorted, and this argument has no effect.

    Raises:
        VocabularyError: `vocab_size` is less than the number of special tokens and characters, or words or options are invalid.
        UnsupportedError: the criterion is unknown, or a rule of SentencePiece made the words.
    """
    need_no_rule("WordPiece", pipeline)
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
    if pipeline is not None:
        pipeline = pipeline.decoded_by({"type": "WordPiece", "prefix": continuing_subword_prefix, "cleanup": True})
    if criterion == SCORE:
        return by_score(words, alphabet, vocab_size, min_frequency, model, pipeline, control or Control())
    return replace(trained("WordPiece", words, alphabet, vocab_size, min_frequency, None, model, pipeline, control), merges=())
