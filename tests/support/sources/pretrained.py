"""Make folders of pretrained models, and compare their compiled tokenizers with those of `transformers`."""

from __future__ import annotations

from typing import Any

from support.sources.folders import Files

import fst

BERT = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
TOKENS = (
    *BERT, "a", "##b", "B", "A", "é", "e", "世", "##界", "世界", "!", "<s>", "</s>", "<pad>", "<mask>", "<x>", "[x]", "##z", "z", "q",
)  # fmt: skip
TEXTS = (
    "ab Ab É 世界! [MASK] <mask> a",
    "a<x>b z1 z0 <img> y1 [x] q <pad> <m> zed",
    "a [PAD] b <s> ab </s> <foo> A<bar>",
    "",
)
LINES = "\n".join(TOKENS) + "\n"
Json = dict[str, Any]


def added(content: str, **flags: bool) -> Json:
    """An added token in the format of added_tokens_decoder."""
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True, **flags}
    return {"content": content, **flags}


def typed(content: str, **flags: bool) -> Json:
    """An added token in the format of a named special token."""
    return {"__type": "AddedToken", **added(content, **flags)}


def document(**parts: Any) -> Json:
    """A tokenizer.json with the given `parts` in place of its own."""
    special = {name: {"id": name, "ids": [number], "tokens": [name]} for name, number in (("[CLS]", 2), ("[SEP]", 3))}
    text, cls, sep = ({"Sequence": {"id": "A", "type_id": 0}}, *({"SpecialToken": {"id": name, "type_id": 0}} for name in special))
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": number, **added(token)} for number, token in enumerate(BERT)],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [cls, text, sep],
            "pair": [cls, text, sep, {"Sequence": {"id": "B", "type_id": 1}}, {"SpecialToken": {"id": "[SEP]", "type_id": 1}}],
            "special_tokens": special,
        },
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {token: number for number, token in enumerate(TOKENS)},
        },
        **parts,
    }


def bare(files: Files = {}, /, **config: Any) -> Json:  # noqa: B006
    """The files of a folder without a tokenizer.json."""
    return {"vocab.txt": LINES, "tokenizer_config.json": {"tokenizer_class": "BertTokenizer", **config}, **files}


def full(files: Files = {}, /, **config: Any) -> Json:  # noqa: B006
    """The files of a folder with a tokenizer.json, from which `transformers` rebuilds BERT's tokenizer."""
    return {"tokenizer.json": document(), **bare(files, **config)}


def same_ids(tokenizer: fst.Tokenizer, reference: Any) -> None:
    """Check that ids, including those around texts and pairs, and decoded texts match `transformers`."""
    pair = tokenizer.header["pair"]
    backend = reference.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    for text in TEXTS:
        ids = backend.encode(text, add_special_tokens=False).ids
        assert tokenizer.encode(text, add_special_tokens=False).tolist() == ids, text
        assert tokenizer.encode(text).tolist() == backend.encode(text).ids, text
        both = backend.encode(text, TEXTS[0])
        parts = {"A": ids, "B": tokenizer.encode(TEXTS[0], add_special_tokens=False).tolist()}
        expected = [(number, kind) for content, kind in pair for number in (parts[content] if isinstance(content, str) else content)]
        assert list(zip(both.ids, both.type_ids, strict=True)) == expected
        for skip in (False, True):
            assert tokenizer.decode(ids, skip_special_tokens=skip) == backend.decode(ids, skip_special_tokens=skip)
    vocabulary = reference.get_vocab()
    assert {token: tokenizer.token_to_id(token) for token in vocabulary} == vocabulary
    assert tokenizer.vocab_size == len(vocabulary)


CASED = {**document()["normalizer"], "lowercase": False}
