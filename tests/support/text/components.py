"""Normalizers and pre-tokenizers of a ``tokenizer.json``, and random texts for them."""

from __future__ import annotations

import functools
import itertools
import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

from tokenizers import Tokenizer

Part = dict[str, Any]


def bert(**settings: Any) -> Part:
    """A BertNormalizer with the most common settings, except the given `settings`."""
    usual = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
    return {**usual, **settings}


def replaced(pattern: str, content: str) -> Part:
    """A component that replaces one string by another."""
    return {"type": "Replace", "pattern": {"String": pattern}, "content": content}


NFC, NFD, NFKC, NFKD, NMT, LOWERCASE, STRIP_ACCENTS, BERT = (
    {"type": kind} for kind in ("NFC", "NFD", "NFKC", "NFKD", "Nmt", "Lowercase", "StripAccents", "BertPreTokenizer")
)
STRIP = {"type": "Strip", "strip_left": True, "strip_right": True}
SPLIT = {"type": "WhitespaceSplit"}
WHITESPACE = {"type": "Whitespace"}
ISOLATE = {"type": "Punctuation", "behavior": "Isolated"}
DIGITS = {"type": "Digits", "individual_digits": True}
NORMALIZERS: dict[str, list[Part]] = {
    "none": [],
    "the quick tour's": [NFD, LOWERCASE, STRIP_ACCENTS],
    "cleaned as by sentencepiece": [NMT, NFKC],
    "lower case": [LOWERCASE],
    "lower case first": [LOWERCASE, NFD, STRIP_ACCENTS],
    "lower case last": [NFD, STRIP_ACCENTS, LOWERCASE],
    "decomposed": [NFD],
    "decomposed for compatibility": [NFKD],
    "compatibility without accents": [NFKD, LOWERCASE, STRIP_ACCENTS],
    "composed marks dropped": [STRIP_ACCENTS],
    "composed before BERT's": [NFC, bert()],
    "compatibility before BERT's": [NFKC, bert()],
    "composed, lower case, decomposed": [NFC, LOWERCASE, NFD, STRIP_ACCENTS],
    "composed after decomposed": [NFC, NFKD, NFC, NFD],
    "BERT's twice": [bert(), bert()],
    "BERT's with accents, decomposed": [bert(strip_accents=False), NFD],
    "decomposed and cleaned": [NFD, bert(strip_accents=False, lowercase=False)],
    "cleaned between two orders": [NFD, bert(strip_accents=False), NFKD],
    "quotes replaced": [replaced("’", "'"), replaced("“", '"'), bert()],
    "a letter replaced by marks": [replaced("x", "\u0323\u0301"), bert(strip_accents=True, lowercase=False)],
    "a letter replaced by a letter with an accent": [replaced("x", "é\u0323"), NFD],
    "a letter dropped": [replaced("x", ""), NFD],
    "a mark replaced": [NFD, replaced("\u0301", "'")],
    "a blank added": [replaced("x", " x ")],
    "stripped": [STRIP, LOWERCASE],
}
COMPOSING: dict[str, list[Part]] = {
    "composed": [NFC],
    "composed for compatibility": [NFKC],
    "composed, lower case": [NFKC, LOWERCASE],
    "lower case, composed": [LOWERCASE, NFC],
    "composed again": [NFKC, LOWERCASE, NFKC],
    "composed without accents": [NFD, STRIP_ACCENTS, NFC],
    "composed, some marks dropped": [NFC, STRIP_ACCENTS],
    "composed before BERT's with accents": [NFC, bert(lowercase=False)],
    "composed letters replaced": [NFC, replaced("é", "e")],
    "a letter replaced by parts": [replaced("x", "e\u0301"), NFC],
}
PRE_TOKENIZERS: dict[str, list[Part]] = {
    "none": [],
    "BERT's": [BERT],
    "white space": [SPLIT],
    "white space and punctuation": [SPLIT, ISOLATE],
    "BERT's and digits": [BERT, DIGITS],
    "digits and white space": [DIGITS, SPLIT],
    "punctuation": [{"type": "Punctuation"}],
    "no punctuation": [{"type": "Punctuation", "behavior": "Removed"}],
    "punctuation with what is before": [SPLIT, {"type": "Punctuation", "behavior": "MergedWithPrevious"}],
    "punctuation with what is after": [{"type": "Punctuation", "behavior": "MergedWithNext"}, SPLIT],
    "words": [WHITESPACE],
    "words and numbers": [WHITESPACE, {"type": "Digits", "individual_digits": False}],
    "words and marks of punctuation": [WHITESPACE, {"type": "Punctuation", "behavior": "MergedWithNext"}],
    "numbers": [{"type": "Digits", "individual_digits": False}],
    "runs of punctuation": [SPLIT, {"type": "Punctuation", "behavior": "Contiguous"}],
    "punctuation both ways": [{"type": "Punctuation", "behavior": behavior} for behavior in ("MergedWithNext", "MergedWithPrevious")],
}
TOKENS = ["[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def sequence(parts: Sequence[Part], listed: str) -> Part | None:
    """Components in the format of a tokenizer.json: null, one component, or a Sequence."""
    if len(parts) < 2:
        return parts[0] if parts else None
    return {"type": "Sequence", listed: list(parts)}


def document(normalizer: Sequence[Part], pre_tokenizer: Sequence[Part], tokens: Sequence[str] = TOKENS) -> dict[str, Any]:
    """A tokenizer.json with given normalizers and pre-tokenizers."""
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": 3, "content": "[MASK]", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
        ],
        "normalizer": sequence(normalizer, "normalizers"),
        "pre_tokenizer": sequence(pre_tokenizer, "pretokenizers"),
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {token: number for number, token in enumerate(tokens)},
        },
    }


def words_of(reference: Tokenizer, text: str) -> list[str]:
    """Normalize and split a text without special tokens with `tokenizers`, and return the words."""
    normalizer: Any = reference.normalizer
    pre_tokenizer: Any = reference.pre_tokenizer
    normal = normalizer.normalize_str(text) if normalizer else text
    found = [word for word, _ in pre_tokenizer.pre_tokenize_str(normal)] if pre_tokenizer else [normal]
    return [word for word in found if word]


MIXED = [
    *" .,'’“-_!1½²x2abceoA\u00e9\u0130\u0131\u00df\u03c2\u4e2d\u6587\uf900\u304b\u304c\uac00\uac01\u1100\u1161\u11a8",
    *"\u0301\u0323\u0345\u0308\u1b44\u302e\u3099\U0001e000\U0001d165\u00a0\u200b\ufeff\t\n\u0085\u2028\u0344\u212b\ufb01\u2026\u01d6\u2260",
    *"\ufdfa\u33a8\uff21\uff76\uff9e\u0958\u0915\u093c\u0f73\u0f77\u0e33\u1e9b\u2126\u1f82\U0001d15e\U0001f600\ue000\ufffd\u0000",
]


def mixtures(seed: int, count: int) -> list[str]:
    """Short texts of characters that components treat differently."""
    rng = random.Random(seed)
    return ["".join(rng.choices(MIXED, k=rng.randint(1, 16))) for _ in range(count)]


@functools.cache
def small_vocabulary() -> list[str]:
    """A vocabulary of one character per token, for the characters of `mixtures` and their normalized forms, and some tokens of two
    characters.
    """
    made = set(MIXED) | {char for text in MIXED for char in words_after(text)}
    letters = sorted(made - {" "})
    return [*TOKENS, *letters, *(f"##{char}" for char in letters), "a.", "##..", "ab", "##é", "'s", "##a1"]


def words_after(char: str) -> Iterator[str]:
    """The words that each normalizer makes of a character."""
    for parts in NORMALIZERS.values():
        reference = Tokenizer.from_str(json.dumps(document(parts, [])))
        yield from itertools.chain.from_iterable(words_of(reference, char))
