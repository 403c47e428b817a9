"""The trainer of WordLevel vocabularies, whose tokens are whole words, with the same results as `tokenizers`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fst.errors import VocabularyError
from fst.train.counting import counted
from fst.train.result import MIN_FREQUENCY, NO_PAIR, SIZE, Trained
from fst.train.symbols import check_numbers, checked, strings_of


def wordlevel(
    source: Any,
    *,
    vocab_size: int = 30_000,
    min_frequency: int = 0,
    special_tokens: Sequence[str] = (),
    unk_token: str = "<unk>",
    splitter: Any = None,
    normalizer: Any = None,
    column: str | None = None,
    field: str | None = None,
    threads: int | None = None,
    min_count: int = 1,
    errors: str = "strict",
) -> Trained:
    """Train a vocabulary of the most frequent whole words. Among equally frequent words, words with smaller code points are chosen.

    Ids equal the ids of ``tokenizers`` 0.23.3. If a special token is also a word, it gets the id of the word, and the special token's own
    id is not used.

    Args:
        source: documents, files or counted words, see `words`.
        vocab_size: the number of ids.
        min_frequency: words with lower counts are left out.
        special_tokens: the tokens with the first ids; `unk_token` should be one of these tokens.
        unk_token: the token of unknown words.
        splitter, normalizer, column, field, threads, min_count, errors: see `words`.

    Raises:
        VocabularyError: `vocab_size` is less than the number of special tokens; or for a reason listed in `bpe`.
        UnsupportedError, TextError, ReadingError, OSError: for the reasons listed in `bpe`.

    Examples:
        >>> wordlevel(["a rose is a rose"], splitter="whitespace", special_tokens=["<unk>"], vocab_size=3).vocabulary
        {'<unk>': 0, 'a': 1, 'rose': 2}
    """
    check_numbers(vocab_size=vocab_size, min_frequency=min_frequency)
    special = [*checked(special_tokens)]
    if vocab_size < len(special):
        raise VocabularyError(f"vocab_size is {vocab_size:,}; expected at least {len(special):,}, the special tokens; raise it")
    words, pipeline, _ = corpus = counted(source, splitter, locals(), kind="WordLevel")
    strings = strings_of(words, are_bytes=corpus.are_bytes)
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
    ).of(words)
