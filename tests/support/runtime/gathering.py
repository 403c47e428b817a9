"""Tokenizers with the same small vocabulary and with different options of BERT's normalizer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.kept import wordpiece
from tokenizers import Tokenizer

import fst

BERT = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
TOKENS = (
    *BERT, "a", "##a", "b", "##b", "e", "##e", "é", "##é", "un", "##aff", "##able", "[", "]", "<", ">", "!", "x", "##x", "s", "##s", "mask",
    "i", "##i", "##\u0307", "世", "\ufffd", "##\ufffd", "##\u1b44", "##\u302e",
)  # fmt: skip
ADDED = ("<s>", "<s>x", "</s>", "[MASK]]", "ab!", "世<", "É")
OTHERS = ("한", "##한", "\u1112", "##\u1161", "##\u11ab", "##\u1112", "\U0001f600", "##\U0001f600")  # a syllable and its parts


def made(folder: Path, name: str, **normalizer: Any) -> tuple[fst.Tokenizer, Tokenizer]:
    """Make a tokenizer of this package and one of `tokenizers`, with the same settings of BERT's normalizer."""
    plain = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    tokens = [*TOKENS, *OTHERS]
    document = {
        "added_tokens": [
            {"id": number, "content": token, "special": token in BERT, **plain} for number, token in enumerate([*BERT, *ADDED])
        ],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
            **normalizer,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "decoder": None,
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {token: number for number, token in enumerate(tokens)},
        },
    }
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"version": "1.0", **document}), encoding="utf-8")
    wordpiece(path).save(folder / f"{name}.npz")
    return fst.Tokenizer.load(folder / f"{name}.npz"), Tokenizer.from_file(str(path))


def ids(tokenizer: fst.Tokenizer, text: Any, **options: Any) -> list[int]:
    """Encode a text without special tokens around it."""
    found: list[int] = tokenizer.encode(text, add_special_tokens=False, **options).tolist()
    return found
