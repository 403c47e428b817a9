"""WordPiece vocabularies in every format, and comparisons with the reference tokenizers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tokenizers import Tokenizer

import fst

BERT = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
TOKENS = (
    *BERT, "un", "##aff", "##able", "a", "##b", "b", "é", "##é", ".", "!", ",", "'", "n", "##'", "世", "##", "#", "[", "]", "x", "##x",
    "do", "not", "don", "it", "##s", "s",
)  # fmt: skip
TEXTS = (
    "unaffable a.b un [MASK] é Ab [CLS]aé世ab x",
    "it's do not, un! ## #a [x] x##x [mask] [UNK]",
    "<x> unaffable<x>y <y>x<x>x Ab<y> <x",
    "",
)


def same_ids(tokenizer: fst.Tokenizer, reference: Tokenizer, texts: Sequence[str] = TEXTS) -> None:
    """Check that texts get the same ids as from the reference, with and without special tokens around them."""
    for text in texts:
        for around in (False, True):
            expected = reference.encode(text, add_special_tokens=around).ids
            assert tokenizer.encode(text, add_special_tokens=around).tolist() == expected, text


def same_names(tokenizer: fst.Tokenizer, reference: Tokenizer) -> None:
    """Check that the size and the names of a vocabulary match the reference."""
    tokens = reference.get_vocab(with_added_tokens=True)
    assert tokenizer.vocab_size == len(tokens)
    assert {token: tokenizer.token_to_id(token) for token in tokens} == tokens
    highest = max(tokens.values())
    names = [reference.id_to_token(number) for number in range(highest + 3)]
    assert [tokenizer.id_to_token(number) for number in range(highest + 3)] == names
    assert tokenizer.token_to_id("not a token") is None
    assert tokenizer.id_to_token(-1) is None


Document = dict[str, Any]
PLAIN_ADDED = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)


def added(number: int, content: str, special: bool = True) -> Document:
    """An added token of a tokenizer.json."""
    return {"id": number, "content": content, "special": special, **PLAIN_ADDED}


def template(single: str, ids: Mapping[str, Sequence[int]]) -> Document:
    """A TemplateProcessing from a list of special tokens, in which $ is the position of the text."""
    pieces = [
        {"Sequence": {"id": "A", "type_id": 0}} if name == "$" else {"SpecialToken": {"id": name, "type_id": 0}} for name in single.split()
    ]
    pair = [*pieces, {"Sequence": {"id": "B", "type_id": 1}}]
    special = {name: {"id": name, "ids": list(numbers), "tokens": [name] * len(numbers)} for name, numbers in ids.items()}
    return {"type": "TemplateProcessing", "single": pieces, "pair": pair, "special_tokens": special}


FRAME = {"[CLS]": [2], "[SEP]": [3]}


def document(tokens: Sequence[str] | Mapping[str, int] = TOKENS, model: Mapping[str, Any] | None = None, **parts: Any) -> Document:
    """A tokenizer.json with the given `parts` in place of its own."""
    vocabulary = dict(tokens) if isinstance(tokens, Mapping) else {token: number for number, token in enumerate(tokens)}
    options = {"unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [added(number, token) for number, token in enumerate(BERT)],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": template("[CLS] $ [SEP]", FRAME),
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", **options, "vocab": vocabulary, **(model or {})},
        **parts,
    }


def without(part: Document, *names: str) -> Document:
    """Remove keys from a document."""
    return {name: value for name, value in part.items() if name not in names}


Read = Callable[..., fst.Tokenizer]
X, Y, Z = "<x>", "<y>", "<x>x"
