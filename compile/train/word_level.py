"""The trainer of WordLevel vocabularies, whose tokens are whole words, with the same results as `tokenizers`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fst.compile.train.pipeline import Pipeline, need_no_rule
from fst.compile.train.result import MIN_FREQUENCY, NO_PAIR, SIZE, Trained
from fst.compile.train.symbols import check_numbers, checked, strings_of
from fst.counting.words import Words
from fst.errors import VocabularyError


def word_level(
    words: Words,
    *,
    vocab_size: int = 30_000,
    min_frequency: int = 0,
    special_tokens: Sequence[str] = (),
    unk_token: str = "<unk>",
    pipeline: Pipeline | None = None,
) -> Trained:
    """Take the most frequent words as tokens; equally frequent words are ordered by code points.

    If a special token is also a word, it gets the id of the word, and its original id is unused.

    Args:
        words: the words with their counts.
        vocab_size, min_frequency, special_tokens, unk_token: as in `fst.train.wordlevel`.
        pipeline: the pipeline that split texts into the words; None: the pipeline is unknown, and words are text.

    Raises:
        VocabularyError: `vocab_size` is less than the number of special tokens, or a word of text is not UTF-8.
        UnsupportedError: a rule of SentencePiece made the words.
    """
    need_no_rule("WordLevel", pipeline)
    check_numbers(vocab_size=vocab_size, min_frequency=min_frequency)
    special = [*checked(special_tokens)]
    if vocab_size < len(special):
        raise VocabularyError(f"vocab_size is {vocab_size:,}; expected at least {len(special):,}, the special tokens; raise it")
    strings = strings_of(words, pipeline)
    ranked = sorted(zip((-words.counts).tolist(), strings, strict=True))
    frequent = [(string, -count) for count, string in ranked if -count >= min_frequency]
    taken = [*((token, 0) for token in special), *frequent][:vocab_size]
    ids = {token: number for number, (token, _) in enumerate(taken)}
    left_out = SIZE if len(taken) < len(special) + len(frequent) or len(taken) == vocab_size else NO_PAIR
    return Trained(
        kind="WordLevel",
        vocabulary=dict(sorted(ids.items(), key=lambda item: item[1])),
        counts=np.array([count for _, count in taken], np.int64),
        stopped=MIN_FREQUENCY if left_out == NO_PAIR and len(frequent) < len(ranked) else left_out,
        special_tokens=[*dict.fromkeys(special)],
        pipeline=pipeline,
        model={"unk_token": unk_token},
        min_count=words.min_count,
    )
