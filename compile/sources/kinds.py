"""The kinds of models in a ``tokenizer.json``, and how the JSON of each kind is read. Compilers are not imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pkgutil import resolve_name
from typing import Any, NamedTuple

from fst.compile.pretokens import metaspace, sequences, splits
from fst.compile.text import folding, pre_tokenizers
from fst.compile.text.components import Component, field_of, flat, kind_of, mapping
from fst.compile.text.source import Model, TextPipeline
from fst.errors import UnsupportedError, cut
from fst.tables.header import BYTE_LEVEL, Decoder

STOPPED = "stopped"  # the field of a model that marks a vocabulary whose training ended at a deadline
ONLY = "only WordPiece, WordLevel, BPE and Unigram vocabularies, such as BERT's, GPT-2's and T5's, can be compiled"


class Kind(NamedTuple):
    """The properties of one kind of model, and the functions that read it."""

    name: str  # the type of the model in a ``tokenizer.json``
    function: str  # the name of the public function that compiles models of this kind
    decoder: str  # the type of ``decoder`` that tables of this kind support
    text: Callable[[Component | None, Component | None], TextPipeline]  # a function that reads the ``normalizer`` and the ``pre_tokenizer``
    model: str  # the full name of a function that reads the ``model``
    needs_text: bool = False  # whether this function also takes the text pipeline

    def read(self, model: Mapping[str, Any], text: TextPipeline) -> Model:
        """Read the ``model`` of a ``tokenizer.json``, given the text pipeline."""
        found: Model = resolve_name(self.model)(model, *([text] if self.needs_text else []))
        return found


def _words(normalizer: Component | None, pre_tokenizer: Component | None) -> TextPipeline:
    parts = pre_tokenizers.components(pre_tokenizer)
    return TextPipeline(folding.components(normalizer, folding.WITH_PREPEND), parts, sequences.of_words(parts))


def _characters(normalizer: Component | None, pre_tokenizer: Component | None) -> TextPipeline:
    return TextPipeline(*metaspace.with_prefix(folding.components(normalizer, folding.WITH_PREPEND), metaspace.components(pre_tokenizer)))


def _bytes_or_characters(normalizer: Component | None, pre_tokenizer: Component | None) -> TextPipeline:
    known = {**splits.KNOWN, **metaspace.KNOWN}
    kinds = [part["type"] for part in flat(pre_tokenizer, "pre_tokenizer", "pretokenizers", known)]
    if splits.BYTES["type"] not in kinds:
        return _characters(normalizer, pre_tokenizer)
    return TextPipeline(folding.components(normalizer, folding.WITH_PREPEND), splits.components(pre_tokenizer))


WORDPIECE = Kind("WordPiece", "wordpiece", Decoder.kind, _words, "fst.compile.machines.wordpiece.model:WordPieceModel.of_json")
WORD_LEVEL = Kind("WordLevel", "tokenizer", Decoder.kind, _words, "fst.compile.machines.wordpiece.model:word_level_model")
BPE = Kind("BPE", "bpe", BYTE_LEVEL.kind, _bytes_or_characters, "fst.compile.machines.bpe.model:model_of_json", needs_text=True)
UNIGRAM = Kind("Unigram", "tokenizer", BYTE_LEVEL.kind, _characters, "fst.compile.machines.unigram.model:UnigramModel.of_json")
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in (WORDPIECE, WORD_LEVEL, BPE, UNIGRAM)}


def need_kind(found: str, wanted: str | None) -> None:
    """Refuse a model of a kind other than `wanted`; None: accept any kind."""
    if wanted not in (None, found):
        takes, other = KINDS[wanted].function, KINDS[found].function
        raise UnsupportedError(f"model {found}: fst.compile.{takes} takes only {wanted}; take fst.compile.{other}")


def kind_and_model(document: Mapping[str, Any]) -> tuple[Kind, Mapping[str, Any]]:
    """The kind of model in a ``tokenizer.json``, and the model without the field that marks the end of training at a deadline."""
    model = mapping(field_of(document, "model", "it"), "model")
    is_stated = model.get("type") is not None  # in older files, the model has no type
    name = kind_of(model, "model") if is_stated else _kind_by_fields(model)
    if name not in KINDS:
        raise UnsupportedError(f"model {cut(name)}: {ONLY}")
    return KINDS[name], {name: value for name, value in model.items() if name != STOPPED}


def model_of(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The model in a ``tokenizer.json``, see `kind_and_model`."""
    return kind_and_model(document)[1]


def _kind_by_fields(model: Mapping[str, Any]) -> str:
    """The type of a model without a field for it, derived from the model's other fields as in `tokenizers`."""
    if "merges" in model:
        return "BPE"
    if isinstance(model.get("vocab"), list):
        return "Unigram"
    return "WordPiece" if {"continuing_subword_prefix", "max_input_chars_per_word"} <= model.keys() else "WordLevel"
