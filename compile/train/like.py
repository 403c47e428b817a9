"""Train a vocabulary like an old one: the settings that a trainer gets, and the parts of the old tokenizer that the new one keeps.

A ``tokenizer.json`` and a table state no settings of a trainer. `Recipe.options` are those that follow from the old model; for all others
the defaults of the trainer apply, as in ``train_new_from_iterator`` of transformers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fst.compile.compilers import compiler_of, model_of
from fst.compile.sources.special_tokens import added_token
from fst.compile.train.pipeline import Pipeline
from fst.compile.train.renumbering import renamed, renumbered
from fst.compile.train.result import FIELDS, PLAIN, Trained
from fst.errors import VocabularyError, reason

AFFIXES = ("continuing_subword_prefix", "end_of_word_suffix")
# The fields of a model that its trainer takes; the others stay as they are.
TAKEN: Mapping[str, Sequence[str]] = {"BPE": AFFIXES, "WordPiece": ("continuing_subword_prefix", "unk_token"), "WordLevel": ("unk_token",)}
OF_TRAINER = ("vocab", "merges", "type", "unk_id")

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Recipe:
    """How to train a vocabulary like an old one.

    Attributes:
        kind: the type of the model.
        size: the number of tokens of the old vocabulary, with its added tokens.
        pipeline: how texts are split.
        options: arguments of the trainer.
        model: fields of the model that the trainer does not set.
        flags, further, settings: as in `fst.compile.train.result.Trained`.
    """

    kind: str
    size: int
    pipeline: Pipeline
    options: Json
    model: Json
    flags: Mapping[str, Mapping[str, bool]]
    further: Json
    settings: Json

    def completed(self, trained: Trained) -> Trained:
        """A result of the trainer with the parts that are kept.

        Raises:
            VocabularyError: the post-processor has a token that is no special token.
        """
        renumbered(self.further["post_processor"], trained.vocabulary)
        padding = self.further["padding"]
        further = {**self.further, "padding": padding if padding and padding["pad_token"] in trained.vocabulary else None}
        model = {**trained.model, **self.model}
        return replace(trained, pipeline=self.pipeline, model=model, flags=self.flags, further=further, settings=self.settings)


def recipe_of(document: Json, settings: Json, new_special_tokens: Iterable[Any] = (), names: Mapping[str, str] | None = None) -> Recipe:
    """The recipe for a vocabulary like that of a ``tokenizer.json``.

    Args:
        document: the value of the ``tokenizer.json``.
        settings: settings that it does not state, named as in `fst.metadata.Settings`.
        new_special_tokens: more special tokens, after the old ones: str, or objects or mappings as in a ``tokenizer.json``.
        names: new names of special tokens, by the old ones.

    Raises:
        VocabularyError: the document is not laid out as a tokenizer.json.
        UnsupportedError: it has a model that is not supported.

    Example:
        >>> model = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "vocab": {"[UNK]": 0, "a": 1}}
        >>> special = {"content": "[UNK]", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
        >>> recipe_of({"model": model, "added_tokens": [{"id": 0, **special}]}, {}, ["[NEW]"]).options["special_tokens"]
        ['[UNK]', '[NEW]']
    """
    try:
        return _recipe(document, settings, new_special_tokens, lambda token: (names or {}).get(token, token))
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise VocabularyError(f"the old vocabulary is not laid out as a tokenizer.json: {reason(error)}") from None


def _recipe(document: Json, settings: Json, new_special_tokens: Iterable[Any], name: Callable[[str], str]) -> Recipe:
    model, added = model_of(document), document.get("added_tokens") or []
    kind = compiler_of(model).kind
    fields = {field: name(value) if field == "unk_token" and value is not None else value for field, value in model.items()}
    unknown = _unknown(model, kind, name)
    tokens = [{**token, "content": name(token["content"])} for token in added if kind == "Unigram" or token["special"]]
    specials = [*tokens, *(_stated(token) for token in new_special_tokens)]
    taken = {field: fields[field] for field in TAKEN.get(kind, ()) if fields.get(field) is not None}
    return Recipe(
        kind=kind,
        size=_size(model, added),
        pipeline=Pipeline(*(document.get(part) for part in ("normalizer", "pre_tokenizer", "decoder"))),
        options={**taken, **unknown, "special_tokens": list(dict.fromkeys(token["content"] for token in specials))},
        model={field: value for field, value in fields.items() if field in FIELDS[kind] and field not in (*OF_TRAINER, *taken)},
        flags={token["content"]: flags for token in specials if (flags := _flags(token)) != PLAIN},
        further={
            "truncation": document.get("truncation"),
            "padding": renamed(document.get("padding"), name),
            "post_processor": renamed(document.get("post_processor"), name),
        },
        settings=_settings(settings, specials[len(tokens) :], name),
    )


def _unknown(model: Json, kind: str, name: Callable[[str], str]) -> dict[str, str]:
    """The unknown token of Unigram, as its trainer takes it."""
    if kind != "Unigram" or model.get("unk_id") is None:
        return {}
    return {"unk_token": name(model["vocab"][model["unk_id"]][0])}


def _size(model: Json, added: Sequence[Json]) -> int:
    tokens = model["vocab"]
    return len({*(tokens if isinstance(tokens, Mapping) else (token for token, _ in tokens)), *(token["content"] for token in added)})


def _stated(token: Any) -> dict[str, Any]:
    """A new special token in the form of a ``tokenizer.json``."""
    if isinstance(token, str):
        return {"content": token, **PLAIN}
    found = token if isinstance(token, Mapping) else {field: getattr(token, field) for field in ("content", *PLAIN)}
    return added_token({**found, "special": True}).listed()


def _flags(token: Json) -> dict[str, bool]:
    """The flags of a special token. The reference makes all tokens special that its trainer gets."""
    return {**{flag: token[flag] for flag in PLAIN}, "special": True}


def _settings(settings: Json, new: Sequence[Json], name: Callable[[str], str]) -> Json:
    """The settings with new names of tokens."""
    found = dict(settings)
    if "named_tokens" in found:
        found["named_tokens"] = {role: name(token) for role, token in found["named_tokens"].items()}
    if "extra_special_tokens" in found:
        found["extra_special_tokens"] = [*map(name, found["extra_special_tokens"]), *(token["content"] for token in new)]
    return found
