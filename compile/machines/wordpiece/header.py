"""Build the metadata of a table from a source, and rebuild the text pipeline from metadata."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fst.automata.rows import CODE_POINTS
from fst.compile.layout.transducer import Rows
from fst.compile.text import folding, pre_tokenizers
from fst.compile.text.added_tokens import completed, runs
from fst.compile.text.components import Component
from fst.compile.text.folding import Normalization
from fst.compile.text.normalizer import steps_of
from fst.compile.text.source import Source, TextPipeline
from fst.errors import TableError, reason
from fst.machines.wordpiece.header import Metadata, Normalizer, Suspects
from fst.tables.header import FLAGS, AddedTokens, Automaton, Model, PreTokenizer
from fst.text.alphabet import Alphabet


def metadata_of(kind: str, model: Model, source: Source[Any], alphabet: Alphabet, rows: Rows, normalization: Normalization) -> Metadata:
    """The metadata of a table.

    Args:
        kind: the kind of machine.
        model: the metadata of the source's model.
        source: the source.
        alphabet: the alphabet of the source's text pipeline.
        rows: the rows of the table.
        normalization: the normalization of the source's text pipeline.
    """
    columns = int(rows.columns.max(initial=0)) + 1
    return Metadata(
        automaton=Automaton(kind, rows.layout, len(rows.slots), columns, int(rows.slots[-1])),
        model=model,
        normalizer=normalizer_of(source.text.normalizers, source.added, alphabet),
        pre_tokenizer=_pre_tokenizer(source.text.pre_tokenizers),
        added_tokens=completed(source.added, alphabet, normalization),
        templates=source.templates,
        settings=source.settings,
    )


def normalizer_of(parts: Sequence[Component], added: AddedTokens, alphabet: Alphabet) -> Normalizer:
    """The settings of a single BertNormalizer. For other normalizers, the settings are a summary, and `parts` contains the components."""
    berts = [part for part in parts if part["type"] == "BertNormalizer"]
    is_bert = len(parts) == len(berts) == 1
    return Normalizer(
        **({name: parts[0][name] for name in FLAGS} if is_bert else _summary(parts, berts)),
        parts=None if is_bert else parts or None,
        steps=steps_of(parts) if is_stepwise(added, alphabet) else None,
        suspects=_suspects(alphabet) if is_stepwise(added, alphabet) else None,
    )


def is_stepwise(added: AddedTokens, alphabet: Alphabet) -> bool:
    """Whether some texts must be normalized one component at a time, because the alphabet cannot express their normalization."""
    return bool(added.contextual or alphabet.composition or len(alphabet.placed))


def _suspects(alphabet: Alphabet) -> Suspects:
    """Characters whose occurrence means that a text must be normalized one component at a time."""
    ids, spans = np.zeros((2, CODE_POINTS), np.bool_)
    ids[[*alphabet.composition.suspects] if alphabet.composition else []] = True
    for first, last in alphabet.placed:
        spans[first : last + 1] = True
    return Suspects(runs(ids), runs(spans))


def _summary(parts: Sequence[Component], berts: Sequence[Component]) -> dict[str, bool]:
    """Summarize normalizers in the settings of one BertNormalizer."""
    settings = {name: any(bert[name] for bert in berts) for name in FLAGS}
    settings["lowercase"] |= any(part["type"] == "Lowercase" for part in parts)
    settings["strip_accents"] = any(part["type"] == "StripAccents" or folding.strips(part) for part in parts)
    return settings


def _pre_tokenizer(parts: Sequence[Component]) -> PreTokenizer:
    """The pre-tokenizer in metadata: a name if it is common, otherwise a list of components."""
    name = {(): "none", ("BertPreTokenizer",): "bert"}.get(tuple(part["type"] for part in parts), "other")
    return PreTokenizer(name, parts if name == "other" else None)


def text_pipeline(metadata: Metadata) -> TextPipeline:
    """The text pipeline of a table.

    Raises:
        TableError: the components in the table are malformed.
    """
    return TextPipeline(_normalizers(metadata.normalizer), _pre_tokenizers(metadata.pre_tokenizer))


def _normalizers(normalizer: Normalizer) -> Sequence[Component]:
    if normalizer.parts is None:
        return ({"type": "BertNormalizer", **{name: getattr(normalizer, name) for name in FLAGS}},)
    return _components(folding.components, "normalizers", normalizer.parts)


def _pre_tokenizers(pre_tokenizer: PreTokenizer) -> Sequence[Component]:
    if pre_tokenizer.name == "other":
        return _components(pre_tokenizers.components, "pretokenizers", pre_tokenizer.parts)
    return ({"type": "BertPreTokenizer"},) if pre_tokenizer.name == "bert" else ()


def _components(of: Callable[[Component], Sequence[Component]], inside: str, parts: Any) -> Sequence[Component]:
    """Parse components of a table, which is not trusted."""
    try:
        return of({"type": "Sequence", inside: parts})
    except (KeyError, TypeError, ValueError) as error:
        raise TableError(f"{inside}: {reason(error)}") from None
