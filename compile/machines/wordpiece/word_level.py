"""WordLevel, in which each word is one token or the unknown token. It is compiled as WordPiece without tokens that continue a word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fst.automata.rows import MAX_WORD
from fst.compile.machines.wordpiece.compiler import WordPieceModel
from fst.compile.text.components import field_of, mapping, only

KIND = "WordLevel"


def of_json(model: Mapping[str, Any]) -> WordPieceModel:
    """Convert the WordLevel model of a ``tokenizer.json`` to a WordPiece model with the same ids.

    Raises:
        UnsupportedError: the model has an unknown field.
        ValueError: the model lacks a field.
    """
    only(model, "model", "type vocab unk_token")
    tokens = dict(mapping(field_of(model, "vocab", "model"), "vocab of the model"))
    prefix = "##"
    while any(token.startswith(prefix) for token in tokens):
        prefix += "#"
    return WordPieceModel(tokens, field_of(model, "unk_token", "model"), prefix, MAX_WORD)


def is_word_level(model: Mapping[str, Any]) -> bool:
    """Whether a WordPiece model is a WordLevel model that `of_json` converted.

    Examples:
        >>> is_word_level({"vocab": {"a": 0}, "continuing_subword_prefix": "##", "max_input_chars_per_word": MAX_WORD})
        True
    """
    has_words = model.get("max_input_chars_per_word") == MAX_WORD
    return has_words and not any(token.startswith(model["continuing_subword_prefix"]) for token in model["vocab"])
