"""Long and hostile texts get the same ids as in `tokenizers`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.runtime.gathering import ADDED, BERT, TOKENS, ids, made
from support.tiers import examples, thinned
from tokenizers import Tokenizer

import fst

# In these texts, U+0301 is an accent that is stripped; U+1B44 and U+302E are not stripped, and adjacent ones are put in this order.
MEGABYTE = 1 << 20
LONG: dict[str, tuple[str, list[int]]] = {
    "one word": ("a" * 10 * MEGABYTE, [1]),
    "one word of what no token has": ("q" * 10 * MEGABYTE, [1]),
    "marks that vanish": ("\u0301" * 5 * MEGABYTE, []),
    "a letter and marks that vanish": ("a" + "\u0301" * 5 * MEGABYTE, [5]),
    "marks that stay, in disorder": ("\u302e\u1b44" * (5 * MEGABYTE // 3), [1]),
    "beginnings of special tokens": ("[" * 10 * MEGABYTE, [TOKENS.index("[")] * 10 * MEGABYTE),
    "special tokens": ("[MASK]" * 2 * MEGABYTE, [4] * 2 * MEGABYTE),
    "special tokens but for their end": ("[MASK" * 2 * MEGABYTE, [TOKENS.index("["), TOKENS.index("mask")] * 2 * MEGABYTE),
    "blanks": (" " * 10 * MEGABYTE, []),
    "control characters": ("\0" * 10 * MEGABYTE, []),
    "words of one character": ("世" * 3 * MEGABYTE, [TOKENS.index("世")] * 3 * MEGABYTE),
    "syllables that are three characters": ("한" * 3 * MEGABYTE, [1]),
}


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    ("text", "expected", "kind"),
    thinned([pytest.param(*case, kind, id=f"{name}-{kind.__name__}") for name, case in LONG.items() for kind in (str, bytes)], 8),
)
def test_ten_megabytes_are_encoded(text: str, expected: list[int], kind: type, tokenizer: fst.Tokenizer) -> None:
    """A text of ten megabytes is encoded into the expected ids."""
    found = tokenizer.encode(text if kind is str else text.encode(), add_special_tokens=False)
    assert np.array_equal(found, np.array(expected, np.int32))


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    ("char", "counted", "normalizer"),
    [
        pytest.param("a", 1, {}, id="letters"),
        pytest.param("A", 1, {}, id="letters that are lower-cased"),
        pytest.param("é", 1, {}, id="letters that lose their accents"),
        pytest.param("e\u0301a", 2, {}, id="letters with accents of their own"),
        pytest.param("é", 1, {"strip_accents": False}, id="letters that keep their accents"),
        pytest.param("한", 3, {}, id="syllables that are taken apart"),
        pytest.param("한", 1, {"lowercase": False}, id="syllables that are not"),
        pytest.param("\u0130", 1, {}, id="U+0130 that loses its dot"),
        pytest.param("\u0130", 2, {"strip_accents": False}, id="U+0130 that keeps it"),
        pytest.param("a\0\u200d\ufffd", 1, {}, id="letters among characters that are dropped"),
        pytest.param("\U0001f600", 1, {}, id="characters of two surrogates"),
        pytest.param("a\u302e\u1b44", 3, {}, id="marks that stay"),
    ],
)
def test_limit_counts_normalised_characters(char: str, counted: int, normalizer: dict[str, Any], folder: Path) -> None:
    """The limit of 100 characters per word counts characters after normalization, and a longer word is one unknown token."""
    tokenizer, reference = made(folder, "limit", **normalizer)
    most = 100 // counted
    for times in (1, most - 1, most, most + 1, most + 2):
        word = reference.encode(char * times, add_special_tokens=False).ids
        assert 1 not in word if times <= most else word == [1]
        for text in (char * times, f"b {char * times}!", f"[MASK]{char * times}<s>"):
            expected = reference.encode(text, add_special_tokens=False).ids
            assert ids(tokenizer, text) == ids(tokenizer, text.encode()) == expected


SPECIAL_TEXTS = (
    "[MASK]", "[MASK] ", " [MASK]", "[mask]", "[Mask]", "[MASK", "MASK]", "[ MASK]", "[[MASK]]", "[MASK]]", "[MASK]]]", "[MASK][MASK]",
    "[MASK]][MASK]", "[MA[MASK]SK]", "un[MASK]affable", "a[CLS]b[SEP]", "[CLS] a [SEP]", "[UNK]", "[PAD][PAD]", "<s>", "<s>x", "<s>xx",
    "<s><s>x<s>", "<<s>>", "<s", "s>", "<s>\u0301x", "<\u0301s>", "</s><s>x</s>", "ab!", "ab!!", "AB!", "aab!b", "ab !", "世<", "世<s>",
    "世<s>x", "世 <s>", "É", "é", "E\u0301", "aÉb", "ÉÉ", "[MASK]\u0301", "\u0301[MASK]", "\u302e\u1b44[MASK]\u302e\u1b44", "\0[MASK]\0",
    "[MASK\0]", "\u00a0[MASK]\u3000",
)  # fmt: skip


@pytest.mark.parametrize("text", SPECIAL_TEXTS, ids=ascii)
def test_special_token_is_found_as_the_reference_finds_it(text: str, uncased: tuple[fst.Tokenizer, Tokenizer]) -> None:
    """Special tokens are found in raw text by their exact characters, the longest at the leftmost position, as in `tokenizers`."""
    tokenizer, reference = uncased
    for around in (False, True):
        expected = reference.encode(text, add_special_tokens=around).ids
        assert tokenizer.encode(text, add_special_tokens=around).tolist() == expected
        assert tokenizer.encode(text.encode(), add_special_tokens=around).tolist() == expected


@examples(400)
@given(text=st.lists(st.sampled_from([*BERT, *ADDED, *"[]<>sx!Éé世ab ", "MASK", "\u0301", "\u302e", "\u1b44"]), max_size=12).map("".join))
def test_any_special_tokens_are_found_as_the_reference_finds_them(text: str, uncased: tuple[fst.Tokenizer, Tokenizer]) -> None:
    """Any mixture of special tokens, parts of them and other characters gets the same ids as in `tokenizers`."""
    tokenizer, reference = uncased
    assert ids(tokenizer, text) == ids(tokenizer, text.encode()) == reference.encode(text, add_special_tokens=False).ids
