"""WordLevel: a word is one token, or the unknown token. That is WordPiece without tokens that continue a word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fst.automata.rows import MAX_WORD
from fst.compile.machines.wordpiece.compiler import WordPieceModel
from fst.compile.text.components import field_of, mapping, only

KIND = "WordLevel"


def of_json(model: Mapping[str, Any]) -> WordPieceModel:
    """The model of a ``tokenizer.json``, as one of WordPiece with the same ids.

    Raises:
        UnsupportedError: it has a field that is not known.
        ValueError: it lacks a field.
    """
    only(model, "model", "type vocab unk_token")
    tokens = dict(mapping(field_of(model, "vocab", "model"), "vocab of the model"))
    prefix = "##"
    while any(token.startswith(prefix) for token in tokens):
        prefix += "#"
    return WordPieceModel(tokens, field_of(model, "unk_token", "model"), prefix, MAX_WORD)


def is_word_level(model: Mapping[str, Any]) -> bool:
    """Whether a model of WordPiece is a WordLevel model converted by `of_json`.

    Examples:
        >>> is_word_level({"vocab": {"a": 0}, "continuing_subword_prefix": "##", "max_input_chars_per_word": MAX_WORD})
        True
    """
    has_words = model.get("max_input_chars_per_word") == MAX_WORD
    return has_words and not any(token.startswith(model["continuing_subword_prefix"]) for token in model["vocab"])
