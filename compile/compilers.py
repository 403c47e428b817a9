"""The models that can be compiled, one line each: how a model is read from a ``tokenizer.json``, and how its source is compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from fst.compile import wordpiece
from fst.compile.sources.mistaken import ONLY
from fst.compile.sources.source import Model, Source
from fst.compile.text.components import field_of, kind_of, mapping
from fst.errors import UnsupportedError, cut
from fst.machines.wordpiece import Tables


class Compiler(NamedTuple):
    """How one kind of model becomes a table.

    Attributes:
        model: reads the ``model`` of a ``tokenizer.json``.
        assemble: compiles a source with such a model, in a layout.
    """

    model: Callable[[Mapping[str, Any]], Model]
    assemble: Callable[[Source[Any], str], Tables]


COMPILERS: Mapping[str, Compiler] = {
    wordpiece.WordPieceModel.kind: Compiler(wordpiece.WordPieceModel.of_json, wordpiece.assemble),
}


def compiler_of(model: Mapping[str, Any]) -> Compiler:
    """The compiler for the model of a ``tokenizer.json``.

    Raises:
        UnsupportedError: no compiler reads its type.
    """
    return _compiler(model.get("type") or _kind_by_fields(model))


def assembled(source: Source[Model], layout: str) -> Tables:
    """The tables of a source."""
    return COMPILERS[source.model.kind].assemble(source, layout)


def model_of(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The model of a ``tokenizer.json``. Older files may omit its type.

    Raises:
        UnsupportedError: no compiler reads its type, or it has the fields of another model.
        ValueError: the document has no model, or the model is not laid out as one.
    """
    model = mapping(field_of(document, "model", "it"), "model")
    if "type" in model and model["type"] is not None:
        _compiler(kind_of(model, "model"))
    elif "merges" in model:
        _compiler("BPE")
    return model


def _compiler(kind: str) -> Compiler:
    if kind not in COMPILERS:
        raise UnsupportedError(f"model {cut(kind)}: {ONLY}")
    return COMPILERS[kind]


def _kind_by_fields(model: Mapping[str, Any]) -> str:
    """The type of a model that omits it, told by its fields as the reference tells it."""
    if "merges" in model:
        return "BPE"
    return "WordPiece" if {"continuing_subword_prefix", "max_input_chars_per_word"} <= model.keys() else "WordLevel"
