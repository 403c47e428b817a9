"""The model of a ``tokenizer.json``. WordPiece is read; any other model is refused by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fst.compile.sources.kinds import ONLY
from fst.compile.text.components import field_of, kind_of, mapping
from fst.errors import UnsupportedError, cut


def model_of(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The model of a ``tokenizer.json``. In older files it may have no type.

    Raises:
        UnsupportedError: its type or its fields are those of another model than WordPiece.
        ValueError: the document has no model, or the model is not laid out as one.
    """
    model = mapping(field_of(document, "model", "it"), "model")
    if "type" in model and model["type"] is not None:
        need_wordpiece(kind_of(model, "model"))
    elif "merges" in model:
        need_wordpiece("BPE")
    return model


def kind_by_fields(model: Mapping[str, Any]) -> str:
    """The kind of a model without a type, as in older files, by its fields, as the reference tells it."""
    if "merges" in model:
        return "BPE"
    return "WordPiece" if {"continuing_subword_prefix", "max_input_chars_per_word"} <= model.keys() else "WordLevel"


def need_wordpiece(kind: str) -> None:
    """Refuse a model of another kind."""
    if kind != "WordPiece":
        raise UnsupportedError(f"model {cut(kind)}: {ONLY}")


def tokens_of(model: Mapping[str, Any]) -> dict[str, int]:
    """The vocabulary of a model."""
    return dict(mapping(field_of(model, "vocab", "model"), "vocab of the model"))
