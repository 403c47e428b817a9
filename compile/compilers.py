"""The kinds of models that can be compiled. For each kind, functions read the model and the text pipeline and compile them into a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pkgutil import resolve_name
from typing import Any, NamedTuple

from fst.compile.pretokens import metaspace, splits
from fst.compile.text import folding, pre_tokenizers
from fst.compile.text.components import Component, field_of, flat, kind_of, mapping
from fst.compile.text.source import Model, Source, TextPipeline
from fst.errors import UnsupportedError, cut
from fst.tables.header import BYTE_LEVEL, Decoder
from fst.tables.table import Table

Text = Callable[[Component | None, Component | None], TextPipeline]

STOPPED = "stopped"  # the field of a model that marks a vocabulary whose training a deadline ended
ONLY = "only WordPiece, WordLevel, BPE and Unigram vocabularies, such as BERT's, GPT-2's and T5's, can be compiled"


class Compiler(NamedTuple):
    """The functions that turn one kind of model into a table.

    Attributes:
        kind: the type of the model in a ``tokenizer.json``.
        function: the name of the public function that compiles models of this kind.
        text: a function that reads the ``normalizer`` and the ``pre_tokenizer`` of a ``tokenizer.json``.
        model: a function that reads the ``model`` of a ``tokenizer.json``, given the text pipeline.
        decoder: the type of ``decoder`` that tables of this kind support.
        assemble: a function that compiles a source of this kind into a table with a given layout.
    """

    kind: str
    function: str
    text: Text
    model: Callable[[Mapping[str, Any], TextPipeline], Model]
    decoder: str
    assemble: Callable[[Source[Any], str], Table]


def _words(normalizer: Component | None, pre_tokenizer: Component | None) -> TextPipeline:
    return TextPipeline(folding.components(normalizer), pre_tokenizers.components(pre_tokenizer))


def _late(name: str) -> Callable[..., Any]:
    """The function with a full dotted name, whose module is imported at its first call: training with a kept splitter compiles nothing."""
    return lambda *arguments: resolve_name(name)(*arguments)


def _alone(read: Callable[[Mapping[str, Any]], Model]) -> Callable[[Mapping[str, Any], TextPipeline], Model]:
    """Convert a reader of models that needs no text pipeline into a function of model and text pipeline."""
    return lambda model, _: read(model)


def _characters(normalizer: Component | None, pre_tokenizer: Component | None) -> TextPipeline:
    return TextPipeline(*metaspace.with_prefix(folding.components(normalizer, folding.WITH_PREPEND), metaspace.components(pre_tokenizer)))


def _pieces(normalizer: Component | None, pre_tokenizer: Component | None) -> TextPipeline:
    known = {**splits.KNOWN, **metaspace.KNOWN}
    kinds = [part["type"] for part in flat(pre_tokenizer, "pre_tokenizer", "pretokenizers", known)]
    if splits.BYTES["type"] not in kinds:
        return _characters(normalizer, pre_tokenizer)
    return TextPipeline(folding.components(normalizer, folding.WITH_PREPEND), splits.components(pre_tokenizer))


_wordpiece = _late("fst.compile.machines.wordpiece.compiler.assemble")
_wordpiece_of = _alone(_late("fst.compile.machines.wordpiece.compiler.WordPieceModel.of_json"))
_word_level_of = _alone(_late("fst.compile.machines.wordpiece.word_level.of_json"))
_bpe = _late("fst.compile.machines.bpe.compiler.assemble")
_bpe_of = _late("fst.compile.machines.bpe.compiler.model_of_json")
_unigram = _late("fst.compile.machines.unigram.compiler.assemble")
_unigram_of = _alone(_late("fst.compile.machines.unigram.compiler.UnigramModel.of_json"))
_ALL = (
    Compiler("WordPiece", "wordpiece", _words, _wordpiece_of, Decoder.kind, _wordpiece),
    Compiler("WordLevel", "tokenizer", _words, _word_level_of, Decoder.kind, _wordpiece),
    Compiler("BPE", "bpe", _pieces, _bpe_of, BYTE_LEVEL.kind, _bpe),
    Compiler("Unigram", "tokenizer", _characters, _unigram_of, BYTE_LEVEL.kind, _unigram),
)
COMPILERS: Mapping[str, Compiler] = {compiler.kind: compiler for compiler in _ALL}


def compiler_of(model: Mapping[str, Any]) -> Compiler:
    """The compiler for the model of a ``tokenizer.json``.

    Raises:
        UnsupportedError: no compiler reads models of this type.
    """
    return _compiler(model.get("type") or _kind_by_fields(model))


def assembled(source: Source[Model], layout: str) -> Table:
    """Compile a source into a table."""
    return COMPILERS[source.model.kind].assemble(source, layout)


def need_kind(found: str, wanted: str | None) -> None:
    """Refuse a model of a kind other than `wanted`; None: accept any kind.

    Raises:
        UnsupportedError: the kind is different.
    """
    if wanted not in (None, found):
        takes, other = COMPILERS[wanted].function, COMPILERS[found].function
        raise UnsupportedError(f"model {found}: fst.compile.{takes} takes only {wanted}; take fst.compile.{other}")


def model_of(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The model of a ``tokenizer.json``, without the mark of a vocabulary whose training a deadline ended. In older files, the model has no
    type.

    Raises:
        UnsupportedError: no compiler reads models of this type.
        ValueError: the document has no model, or the model is malformed.
    """
    model = mapping(field_of(document, "model", "it"), "model")
    if "type" in model and model["type"] is not None:
        _compiler(kind_of(model, "model"))
    return {name: value for name, value in model.items() if name != STOPPED}


def _compiler(kind: str) -> Compiler:
    if kind not in COMPILERS:
        raise UnsupportedError(f"model {cut(kind)}: {ONLY}")
    return COMPILERS[kind]


def _kind_by_fields(model: Mapping[str, Any]) -> str:
    """The type of a model that does not state it, derived from the model's fields as in `tokenizers`."""
    if "merges" in model:
        return "BPE"
    if isinstance(model.get("vocab"), list):
        return "Unigram"
    return "WordPiece" if {"continuing_subword_prefix", "max_input_chars_per_word"} <= model.keys() else "WordLevel"
