"""Call a tokenizer of `transformers` and the package's stand-in for it, and compare the results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

TEXTS = [
    "Wolfgang lives in Berlin, and is unaffable.",
    "",
    "The [MASK] sat on the naïve [SEP] mat 世界!",
    " ",
    "Sarah-Jane O'Neil visited New York's museums",
    "one two three four five six seven eight nine ten eleven twelve thirteen",
    "e\u0301\0\u200d ﷺ ½ \U0001f600",
    "x" * 101,
]


def library(name: str) -> Any:
    """Import a library, or skip the test if it is missing."""
    return pytest.importorskip(name, reason=f"{name} is not installed: there is nothing to drop into")


class Two(NamedTuple):
    """A tokenizer of `transformers` and its stand-in, which must return the same results."""

    own: Any
    other: Any

    def same(self, ask: Callable[..., Any], *arguments: Any) -> Any:
        """Call `ask` with both tokenizers, and check that the results are equal, including their types."""
        own, other = ask(self.own, *arguments), ask(self.other, *arguments)
        assert_same(own, other)
        return other

    def set(self, **settings: Any) -> None:
        """Set attributes of both tokenizers."""
        for name, value in settings.items():
            setattr(self.own, name, value)
            setattr(self.other, name, value)


def assert_same(own: Any, other: Any) -> None:
    """Check that two results are equal, including the types of all their parts."""
    assert type(own) is type(other)
    if hasattr(own, "items"):
        assert list(own) == list(other) if hasattr(own, "data") else own.keys() == other.keys()
        for key in own:
            assert_same(own[key], other[key])
    elif isinstance(own, np.ndarray) or type(own).__name__ == "Tensor":
        assert (own.dtype, own.shape) == (other.dtype, other.shape)
        assert_same(own.tolist(), other.tolist())
    elif isinstance(own, list | tuple) and any(isinstance(item, np.ndarray) for item in own):
        assert len(own) == len(other)
        for left, right in zip(own, other, strict=True):
            assert_same(left, right)
    else:
        assert own == other


ATTRIBUTES = (
    *("model_input_names", "model_max_length", "padding_side", "truncation_side", "is_fast", "vocab_size", "clean_up_tokenization_spaces"),
    *("special_tokens_map", "all_special_tokens", "all_special_ids", "extra_special_tokens", "pad_token_type_id", "added_tokens_encoder"),
    *(f"{name}_token{end}" for name in ("bos", "eos", "unk", "sep", "pad", "cls", "mask") for end in ("", "_id")),
    *("max_len_single_sentence", "max_len_sentences_pair", "name_or_path_is_text", "vocab"),
)
CALLS: tuple[Callable[[Any], Any], ...] = (
    lambda tokenizer: tokenizer(TEXTS),
    lambda tokenizer: tokenizer(TEXTS[0]),
    lambda tokenizer: tokenizer(TEXTS[0], TEXTS[4], return_special_tokens_mask=True, return_length=True),
    lambda tokenizer: tokenizer(TEXTS, TEXTS[::-1], truncation="only_second", max_length=44, padding=True, pad_to_multiple_of=4),
    lambda tokenizer: tokenizer(TEXTS, padding="max_length", truncation=True, return_tensors="np", return_offsets_mapping=True),
    lambda tokenizer: tokenizer(TEXTS, padding=True, truncation=True, max_length=8, return_tensors="pt", padding_side="left"),
    lambda tokenizer: tokenizer(TEXTS, truncation=True, max_length=9, stride=2, return_overflowing_tokens=True),
    lambda tokenizer: tokenizer([["Sarah", "O'Neil"], [], ["unaffable"]], is_split_into_words=True, return_attention_mask=False),
    lambda tokenizer: tokenizer(TEXTS[:2], text_target=TEXTS[2:4]),
    lambda tokenizer: tokenizer(text_target=TEXTS, padding=True),
    lambda tokenizer: tokenizer(TEXTS, tokenizer_kwargs={"padding": True, "return_token_type_ids": False}),
    lambda tokenizer: tokenizer([(TEXTS[0], TEXTS[1]), (TEXTS[2], TEXTS[4])], add_special_tokens=False),
    lambda tokenizer: tokenizer.encode(TEXTS[0], max_length=5, truncation=True),
    lambda tokenizer: tokenizer.encode(TEXTS[0], TEXTS[2], return_tensors="pt"),
    lambda tokenizer: tokenizer.tokenize(TEXTS[2]),
    lambda tokenizer: tokenizer.tokenize(TEXTS[2], pair=TEXTS[0], add_special_tokens=True),
    lambda tokenizer: tokenizer(TEXTS, x=1, use_fast=True),
    lambda tokenizer: tokenizer.encode(TEXTS[0], x=1),
    lambda tokenizer: tokenizer.tokenize(TEXTS[0], x=1),
)
TRACES: tuple[Callable[[Any], Any], ...] = (
    lambda encoding: [encoding.tokens(row) for row in range(len(TEXTS))],
    lambda encoding: [encoding.word_ids(row) for row in range(len(TEXTS))],
    lambda encoding: [encoding.sequence_ids(row) for row in range(len(TEXTS))],
    lambda encoding: [encoding.char_to_token(4, char, side) for char in range(12) for side in (0, 1)],
    lambda encoding: [encoding.token_to_chars(0, token) for token in range(1, 9)],
    lambda encoding: [encoding.word_to_tokens(2, word, 1) for word in range(9)],
    lambda encoding: [encoding.word_to_chars(2, word) for word in range(5)],
    lambda encoding: encoding.n_sequences,
    lambda encoding: encoding.is_fast,
    lambda encoding: [one.offsets for one in encoding.encodings],
    lambda encoding: encoding[0].ids,
)
ROWS = ("ids", "type_ids", "tokens", "offsets", "attention_mask", "special_tokens_mask", "word_ids", "sequence_ids", "n_sequences")
CHANGES: tuple[Callable[[Any], Any], ...] = (
    lambda _: None,
    lambda row: row.pad(12, direction="left", pad_id=7, pad_type_id=1, pad_token="x"),
    lambda row: row.pad(11),
    lambda row: row.truncate(3, stride=1),
    lambda row: row.truncate(4, direction="left"),
    lambda row: row.truncate(5, 2, "left"),
    lambda row: row.truncate(2),
    lambda row: row.truncate(0),
    lambda row: [other.pad(20) for other in row.overflowing],
)


def known(row: Any) -> list[Any]:
    """All members of a row, except its overflowing rows."""
    found = [getattr(row, name) for name in ROWS]
    found += [row.token_to_sequence(token) for token in range(len(row))]
    return found + [[row.char_to_token(place, text), row.word_to_tokens(place, text)] for place in range(9) for text in (0, 1)]
