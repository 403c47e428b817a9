"""The metadata that tables of all models have: what their source says beside the model, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, TypeVar

from fst.alphabet import Alphabet
from fst.compile.rows import Rows
from fst.compile.sources.source import FLAGS, Model, Settings, Source, TextPipeline
from fst.compile.sources.templates import Template, Templates
from fst.compile.text import normalizers, pre_tokenizers
from fst.compile.text.added_tokens import AddedTokens, ContextualToken, context, spelled
from fst.compile.text.components import Component
from fst.compile.text.normalizers import Normalization
from fst.errors import TableError, reason
from fst.machines.wordpiece import LATE_FLAGS

AnyModel = TypeVar("AnyModel", bound=Model)


def about(source: Source[Model], alphabet: Alphabet, rows: Rows, normalization: Normalization) -> dict[str, Any]:
    """The metadata of a table, without its model's."""
    added = source.added
    return {
        "layout": rows.layout,
        "states": len(rows.slots),
        "columns": int(rows.columns.max(initial=0)) + 1,
        "dead": int(rows.slots[-1]),
        "single": _pieces(source.templates.single),
        "pair": _pieces(source.templates.pair),
        "skipped": sorted(added.ids[token] for token in added.skipped),
        "specials": dict(added.specials),
        "late": {
            content: {**asdict(token), "decoded": spelled(normalization, content, token)} for content, token in added.contextual.items()
        },
        "context": context(alphabet, added.contextual),
        **_normalizer(source.text.normalizers),
        **_pre_tokenizer(source.text.pre_tokenizers),
        **vars(source.settings),
        "composition": alphabet.composition and alphabet.composition.stored(),
        "placing": alphabet.placing and alphabet.placing.stored(),
    }


def _normalizer(parts: Sequence[Component]) -> dict[str, Any]:
    """The settings of one BertNormalizer, or of none; for other normalizers a summary in these settings, and the components."""
    berts = [part for part in parts if part["type"] == "BertNormalizer"]
    if len(parts) == len(berts) == 1:
        return {**{name: parts[0][name] for name in FLAGS}, "normalizer_parts": None}
    settings = {name: any(bert[name] for bert in berts) for name in FLAGS}
    settings["lowercase"] |= any(part["type"] == "Lowercase" for part in parts)
    settings["strip_accents"] = any(part["type"] == "StripAccents" or normalizers.strips(part) for part in parts)
    return {**settings, "normalizer_parts": parts or None}


def _pre_tokenizer(parts: Sequence[Component]) -> dict[str, Any]:
    """The name of usual pre-tokenizers; for others the components."""
    name = {(): "none", ("BertPreTokenizer",): "bert"}.get(tuple(part["type"] for part in parts), "other")
    return {"pre_tokenizer": name, "pre_tokenizer_parts": parts if name == "other" else None}


def source_of(model: AnyModel, stored: Mapping[str, Any]) -> Source[AnyModel]:
    """The source of a table.

    Args:
        model: the model, read from the table.
        stored: the table's metadata.

    Raises:
        TableError: its components are not sound.
    """
    return Source(
        model=model,
        text=TextPipeline(_normalizers_of(stored), _pre_tokenizers_of(stored)),
        added=_added_of(stored),
        templates=Templates(_template(stored["single"]), _template(stored["pair"])),
        settings=Settings(**{name: stored[name] for name in Settings.__dataclass_fields__}),
    )


def _normalizers_of(stored: Mapping[str, Any]) -> Sequence[Component]:
    if stored["normalizer_parts"] is None:
        return ({"type": "BertNormalizer", **{name: stored[name] for name in FLAGS}},)
    return _components(normalizers.components, "normalizers", stored["normalizer_parts"])


def _pre_tokenizers_of(stored: Mapping[str, Any]) -> Sequence[Component]:
    if stored["pre_tokenizer"] == "other":
        return _components(pre_tokenizers.components, "pretokenizers", stored["pre_tokenizer_parts"])
    return ({"type": "BertPreTokenizer"},) if stored["pre_tokenizer"] == "bert" else ()


def _components(of: Callable[[Component], Sequence[Component]], inside: str, parts: Any) -> Sequence[Component]:
    """Components from a table, which may come from strangers."""
    try:
        return of({"type": "Sequence", inside: parts})
    except (KeyError, TypeError, ValueError) as error:
        raise TableError(f"not a sound table: {inside} are not what they should be: {reason(error)}") from None


def _added_of(stored: Mapping[str, Any]) -> AddedTokens:
    contextual = {
        content: ContextualToken(**{name: token[name] for name in ("id", *LATE_FLAGS)}) for content, token in stored["late"].items()
    }
    added = AddedTokens(stored["specials"], contextual, frozenset())
    return replace(added, skipped=frozenset(token for token, number in added.ids.items() if number in stored["skipped"]))


def _pieces(template: Template) -> list[list[Any]]:
    """A template for JSON."""
    return [[content if isinstance(content, str) else list(content), type_id] for content, type_id in template]


def _template(pieces: list[list[Any]]) -> Template:
    return tuple((content if isinstance(content, str) else tuple(content), type_id) for content, type_id in pieces)
