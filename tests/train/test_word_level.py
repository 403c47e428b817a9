"""The trainer of WordLevel, a model whose tokens are entire words."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

import fst
from fst.counting.words import Words
from fst.train import wordlevel
from fst.train.pipeline import SPLITTERS


def reference_of(words: dict[str, int], **options: Any) -> dict[str, int]:
    """Return the vocabulary that `tokenizers` learns from words without whitespace."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordLevel())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    texts = (word for word, count in words.items() for _ in range(count))
    tokenizer.train_from_iterator(texts, trainers.WordLevelTrainer(show_progress=False, **options))
    vocabulary: dict[str, int] = json.loads(tokenizer.to_str())["model"]["vocab"]
    return dict(sorted(vocabulary.items(), key=lambda item: item[1]))


def test_word_level_equals_tokenizers() -> None:
    """After the special tokens, words have ids in the order of their counts and then of their code points, as in `tokenizers`."""
    random = Random(5)
    for _ in range(60):
        words = {"".join(random.choices("aé汉𝄞", k=random.randint(1, 3))): random.randint(1, 4) for _ in range(random.randint(1, 12))}
        options: dict[str, Any] = {"vocab_size": random.randint(2, 14), "min_frequency": random.randint(0, 3)}
        special = random.choice([[], ["a", "<s>"]])
        result = wordlevel(Words.of_pairs(words.items()), special_tokens=special, **options)
        assert [*result.vocabulary.items()] == [*reference_of(words, special_tokens=special, **options).items()]
        assert all(result.counts[number] == words[word] for word, number in result.vocabulary.items() if word not in special)


@pytest.mark.parametrize(("options", "stopped"), [({}, "no pair"), ({"vocab_size": 1}, "size"), ({"min_frequency": 2}, "min_frequency")])
def test_result_states_what_cut_the_words(options: dict[str, Any], stopped: str) -> None:
    """`stopped` contains the reason why no more words are tokens: the size, `min_frequency`, or the end of the words."""
    assert wordlevel(Words.of_pairs([("a", 2), ("b", 1)]), **options).stopped == stopped


def test_words_of_bytes_are_spelled_with_the_letters_of_byte_level() -> None:
    """In a byte-level pipeline, words are spelled in ByteLevel's letters for bytes."""
    assert [*wordlevel(Words.of_pairs([(b" \xff", 1)]), splitter=SPLITTERS["gpt2"]).vocabulary] == ["Ġÿ"]


def test_special_tokens_must_fit() -> None:
    """A size below the number of special tokens is refused, and the message contains both numbers."""
    with pytest.raises(fst.VocabularyError, match="vocab_size is 1; expected at least 2"):
        wordlevel(Words.of_pairs([]), vocab_size=1, special_tokens=["a", "b"])
