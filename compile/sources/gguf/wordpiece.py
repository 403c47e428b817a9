"""WordPiece as llama.cpp runs it, the kind bert: the longest tokens of ▁ and a word, whose first token begins with ▁.

A word may contain ▁ itself, so each token that begins with ▁ is also a token that continues a word.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fst.automata.rows import MAX_WORD
from fst.compile.sources.gguf.metadata import SPECIAL, Document, Vocabulary, added, template
from fst.compile.text.characters import llama_cpp
from fst.compile.text.sentencepiece import SYMBOL
from fst.errors import UnsupportedError, quoted
from fst.tables.header import LLAMA_CPP_BERT

PREFIX = "##"


def document(of: Vocabulary) -> Document:
    """The ``tokenizer.json`` of a vocabulary of the kind bert, with the normalizer of llama.cpp.

    Raises:
        UnsupportedError: a token is not supported; the message contains its name.
    """
    lowercase = of.flag("normalizer.lowercase", True)
    normalizer = {
        "type": LLAMA_CPP_BERT,
        "lowercase": lowercase,
        "strip_accents": of.flag("normalizer.strip_accents", lowercase),
    }
    names = [_name(of, number) for number in range(len(of.tokens))]
    _need_no_words(of, normalizer)
    vocabulary = dict(_inside(of)) | {name: number for number, name in enumerate(names)}
    if len({*names}) < len(names):
        twice = next(name for number, name in enumerate(names) if vocabulary[name] != number)
        raise UnsupportedError(f"two tokens have the name {quoted(twice)}, with and without {quoted(SYMBOL)} before it")
    model = {
        "type": "WordPiece",
        "vocab": vocabulary,
        "unk_token": names[of.id("unknown", 100)],
        "continuing_subword_prefix": PREFIX,
        "max_input_chars_per_word": MAX_WORD,
    }
    return {
        "version": "1.0",
        "added_tokens": added(of),
        "normalizer": normalizer,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": template(of, [of.id("bos", 101)], [of.id("seperator", 102)]),  # llama.cpp spells the key like this
        "decoder": {"type": "WordPiece", "prefix": PREFIX, "cleanup": True},
        "model": model,
    }


def _name(of: Vocabulary, number: int) -> str:
    """The name of a token in WordPiece. Special tokens, and tokens such as ``[unused1]``, keep their names, because no word has them."""
    token = of.tokens[number]
    if token == SYMBOL:
        raise UnsupportedError(f"token {quoted(SYMBOL)}: llama.cpp finds it before words that begin with no other token, such as 'x'")
    if of.types[number] in SPECIAL or (token[0] == "[" and token[-1] == "]"):
        return token
    return token.removeprefix(SYMBOL) if token.startswith(SYMBOL) else PREFIX + token


def _inside(of: Vocabulary) -> Iterator[tuple[str, int]]:
    """The tokens that begin with ▁, as tokens that continue a word."""
    return ((PREFIX + token, number) for number, token in enumerate(of.tokens) if token.startswith(SYMBOL))


def _need_no_words(of: Vocabulary, normalizer: Document) -> None:
    """Refuse special tokens that may be a part of ▁ and a normalized word, because llama.cpp finds them there, and single characters."""
    by = llama_cpp.bert(normalizer["lowercase"], normalizer["strip_accents"])
    for token, kind in zip(of.tokens, of.types, strict=True):
        codes = np.array([*map(ord, token)])
        if kind in SPECIAL and (token[0] == SYMBOL or len(token) == 1 or np.array_equal(by.apply(codes)[:, 0], codes)):
            example = token[1:] if token[0] == SYMBOL else "a" + token.upper()
            raise UnsupportedError(f"special token {quoted(token)} may be a part of a word, as in {quoted(example)}")
