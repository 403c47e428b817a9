"""Training of a tokenizer like a base tokenizer on other texts: the options of the trainer, and the components that the result keeps.

Neither a ``tokenizer.json`` nor a table contains the options of a trainer. `Recipe.options` contains the options that follow from the base
model; all other options have the defaults of the trainer, as in ``train_new_from_iterator`` of transformers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fst.compile.machines.wordpiece.model import WORD_LEVEL, is_word_level
from fst.compile.sources.kinds import kind_and_model, model_of
from fst.compile.sources.pretrained.special_tokens import added_token
from fst.errors import UnsupportedError, VocabularyError, listed, quoted, reason
from fst.train.base_tokenizers import parts_of
from fst.train.bpe_trainer import bpe
from fst.train.pipeline import SUPERBPE, Pipeline
from fst.train.renumbering import renamed, renumbered
from fst.train.result import FIELDS, PLAIN, Trained
from fst.train.settings import renumbered as of_other_ids
from fst.train.unigram_trainer import unigram
from fst.train.wordlevel_trainer import wordlevel
from fst.train.wordpiece_trainer import wordpiece

OF_ROUNDS = ("progress", "checkpoint", "deadline")  # arguments that only trainers with several rounds have
TRAINERS: Mapping[str, Callable[..., Trained]] = {"BPE": bpe, "WordPiece": wordpiece, "Unigram": unigram, "WordLevel": wordlevel}
AFFIXES = ("continuing_subword_prefix", "end_of_word_suffix")
TAKEN: Mapping[str, Sequence[str]] = {  # fields of a model whose names are also arguments of the trainer
    "BPE": AFFIXES,
    "WordPiece": ("continuing_subword_prefix", "unk_token"),
    "WordLevel": ("unk_token",),
}
UNKNOWN = "unk_id"  # a field of the Unigram model that the trainer sets

Json = Mapping[str, Any]


def like(
    old: Any,
    texts: Any,
    vocab_size: int | None = None,
    *,
    new_special_tokens: Iterable[Any] = (),
    special_tokens_map: Mapping[str, str] | None = None,
    **options: Any,
) -> Trained:
    """Train a new vocabulary on other texts, and combine it with all other parts of a base tokenizer, like ``train_new_from_iterator`` of
    ``transformers``.

    The new tokenizer has the kind of model, normalizer, pre-tokenizer, decoder, post-processor, settings and added tokens of the base
    tokenizer, with the flags and roles of the added tokens. Special tokens get the first ids; other added tokens follow the vocabulary. The
    post-processor, nested or not, contains the new ids of the same tokens.

    Tables and files do not record how a vocabulary was trained, so the trainer gets the following arguments, which `options` override:

    - BPE: the same `continuing_subword_prefix` and `end_of_word_suffix`; if the model is byte-level, all bytes are in the alphabet. If the
      base tokenizer has ``byte_fallback``, the new vocabulary still has no tokens such as ``<0x0A>``, as in ``transformers``; pass
      ``byte_fallback=True`` to add them.
    - WordPiece: the same `unk_token` and `continuing_subword_prefix`; merges are chosen by frequency.
    - WordLevel: the same `unk_token`.
    - Unigram: the same `unk_token`; all added tokens become special.
    - All other arguments have the trainer's defaults: `min_frequency` 0, no `limit_alphabet`, no `max_token_length`; for Unigram
      `shrinking_factor` 0.75, `max_piece_length` 16, `n_sub_iterations` 2.

    Args:
        old: the base tokenizer: a live tokenizer of ``tokenizers`` or ``transformers``; an `fst.Tokenizer`; a table or the path of a table;
            a trained vocabulary; or a folder, a ``tokenizer.json`` or another source for `fst.compile.tokenizer`.
        texts: documents, files or counted words, see `words`. Texts are split as in the base tokenizer, but added tokens in them are
            treated as text.
        vocab_size: the number of tokens, excluding added tokens that are not special; None: the same as in the base vocabulary.
        new_special_tokens: further special tokens: strings, or objects or mappings with ``content`` and the flags of an added token.
        special_tokens_map: a mapping of old names of special tokens to new names.
        options: arguments of `words`, such as `column` and `threads`, but not `splitter` and `normalizer`; and arguments of the trainer,
            such as `min_frequency` and `progress`. WordLevel is trained in one step and ignores `progress`, `checkpoint` and `deadline`.

    Raises:
        VocabularyError: as in the trainer; or the post-processor contains a token that is not special; or `special_tokens_map` contains a
            name that is not a special token.
        UnsupportedError: the base tokenizer has a part that is not supported, or no ``tokenizer.json`` can express the base tokenizer; it
            has superwords, see `extend`; or a splitter or a normalizer is given.
        TypeError: `old` is not a tokenizer.
        TextError, ReadingError, OSError: for the reasons listed in `words`.

    Examples:
        >>> from fst.compile import wordpiece as compiled
        >>> old = compiled(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "un", "##able"])
        >>> new = like(old, ["Hug hugs pug."], vocab_size=16)
        >>> [*new.vocabulary][:9], new.tokenizer().tokenize("Hugs!")
        (['[PAD]', '[UNK]', '[CLS]', '[SEP]', '.', 'g', 'h', 'p', 's'], ['hug', '##s', '[UNK]'])
    """
    for name in ("splitter", "normalizer"):
        if name in options:
            raise UnsupportedError(f"{name} is given; expected none, because the base tokenizer splits the texts; leave it out")
    base = parts_of(old)
    recipe = recipe_of(base.document, base.settings, new_special_tokens, special_tokens_map)
    rule = getattr(getattr(old, "pipeline", None), "rule", None)
    recipe = recipe if rule is None else replace(recipe, pipeline=old.pipeline)  # a tokenizer.json cannot express the rule
    _need_one_phase(recipe)
    train = TRAINERS[recipe.kind]
    size = recipe.size if vocab_size is None else vocab_size
    if train is wordlevel:
        options = {name: value for name, value in options.items() if name not in OF_ROUNDS}
    trained = train(texts, splitter=recipe.pipeline, vocab_size=size, **{**recipe.options, **options})
    return replace(recipe.completed(trained, options), config=base.config)


def _need_one_phase(recipe: Recipe) -> None:
    """Raise an error for superwords: their splitter is that of the second phase, and no file has that of the first."""
    splitter = recipe.pipeline.pre_tokenizer or {}
    if any(step.get("pattern") == {"Regex": SUPERBPE} for step in splitter.get("pretokenizers", [splitter])):
        raise UnsupportedError(
            "the base tokenizer has superwords, which SuperBPE trains in two phases; expected a vocabulary of one phase; train subwords by "
            "fst.train.bpe with the splitter of the first phase, and superwords by fst.train.extend(…, splitter='superbpe')"
        )


@dataclass(frozen=True)
class Recipe:
    """The recipe for a vocabulary like a base vocabulary.

    Attributes:
        kind: the type of the model.
        size: the number of tokens of the base vocabulary, without `others`.
        pipeline: the pipeline of the base tokenizer.
        options: arguments of the trainer.
        model: fields that are copied from the base model into the new model.
        others: added tokens that are not special; they follow the vocabulary.
        flags, further, settings: as in `fst.train.result.Trained`.
    """

    kind: str
    size: int
    pipeline: Pipeline
    options: Json
    model: Json
    others: Sequence[str]
    flags: Mapping[str, Mapping[str, bool]]
    further: Json
    settings: Json

    def completed(self, trained: Trained, options: Collection[str] = ()) -> Trained:
        """Complete a result of the trainer with the fields and components of the base tokenizer. `trained`: the result. `options`: the
        names of the recipe's arguments that the caller replaced; for these arguments, the values in the model come from the trainer, not
        from the recipe.
        """
        given = {name: value for name, value in trained.model.items() if name in options}
        ids = dict(trained.vocabulary)
        size = 1 + max(ids.values(), default=-1)
        outside = [token for token in self.others if token not in ids]
        ids |= {token: size + place for place, token in enumerate(outside)}
        padding = self.further["padding"]
        further = {**self.further, "padding": padding if padding and padding["pad_token"] in ids else None}
        renumbered(further["post_processor"], ids)
        return replace(
            trained,
            vocabulary=ids,
            counts=np.concatenate([trained.counts, np.zeros(len(outside), np.int64)]),
            special_tokens=sorted({*trained.special_tokens, *self.others}, key=ids.__getitem__),
            pipeline=self.pipeline,
            model={**trained.model, **self.model, **given},
            flags=self.flags,
            further=further,
            settings=self.settings,
            outside=outside,
        )


def recipe_of(document: Json, settings: Json, new_special_tokens: Iterable[Any] = (), names: Mapping[str, str] | None = None) -> Recipe:
    """The recipe for a vocabulary like the one in a ``tokenizer.json``.

    Args:
        document: the value of the ``tokenizer.json``.
        settings: settings outside the ``tokenizer.json``, with the names in `fst.tables.header.Settings`.
        new_special_tokens: further special tokens, after the existing ones: str, or objects or mappings as in a ``tokenizer.json``.
        names: old name → new name of special tokens.

    Examples:
        >>> model = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "vocab": {"[UNK]": 0, "a": 1}}
        >>> special = {"content": "[UNK]", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
        >>> recipe_of({"model": model, "added_tokens": [{"id": 0, **special}]}, {}, ["[NEW]"]).options["special_tokens"]
        ['[UNK]', '[NEW]']
    """
    if isinstance(new_special_tokens, str) or not isinstance(new_special_tokens, Iterable):
        raise VocabularyError(f"new_special_tokens is {quoted(new_special_tokens)}; expected a list; put the token into a list")
    if not isinstance(names, Mapping | None):
        raise VocabularyError(f"special_tokens_map is {quoted(names)}; expected a mapping of old names to new ones")
    try:
        _need_known(names or {}, document)
        return _recipe(document, settings, new_special_tokens, lambda token: (names or {}).get(token, token))
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise VocabularyError(f"the base vocabulary is not laid out as a tokenizer.json: {reason(error)}") from None


def _need_known(names: Iterable[str], document: Json) -> None:
    """Raise an error if a token to rename is neither an added token nor the unknown token."""
    known = [token["content"] for token in document.get("added_tokens") or ()]
    unknown = next((name for name in names if name not in (*known, model_of(document).get("unk_token"))), None)
    if unknown is not None:
        raise VocabularyError(f"special_tokens_map has the name {quoted(unknown)}; expected names of added tokens: {listed(known)}")


def _recipe(document: Json, settings: Json, new_special_tokens: Iterable[Any], name: Callable[[str], str]) -> Recipe:
    (stated, model), added = kind_and_model(document), document.get("added_tokens") or []
    kind = WORD_LEVEL if is_word_level(model) else stated.name
    fields = {field: name(value) if field == "unk_token" and value is not None else value for field, value in model.items()}
    unknown = _unknown(model, kind, name)
    tokens = [{**token, "content": name(token["content"]), "special": kind == "Unigram" or token["special"]} for token in added]
    new = [_stated(token) for token in new_special_tokens]
    specials, others = ([token["content"] for token in [*tokens, *new] if token["special"] is wanted] for wanted in (True, False))
    taken = {field: fields[field] for field in TAKEN.get(kind, ()) if fields.get(field)}
    return Recipe(
        kind=kind,
        size=len({*_tokens(model), *specials} - {*others}),
        pipeline=Pipeline.of_document(document),
        options={**taken, **unknown, "special_tokens": [*dict.fromkeys(specials)]},
        model={field: value for field, value in fields.items() if field in FIELDS[kind] and field != UNKNOWN},
        others=[*dict.fromkeys(token for token in others if token not in specials)],
        flags={token["content"]: flags for token in [*tokens, *new] if (flags := {flag: token[flag] for flag in PLAIN}) != PLAIN},
        further={
            "truncation": document.get("truncation"),
            "padding": renamed(document.get("padding"), name),
            "post_processor": renamed(document.get("post_processor"), name),
        },
        settings=_settings(settings, new, name),
    )


def _unknown(model: Json, kind: str, name: Callable[[str], str]) -> dict[str, str]:
    """The argument `unk_token` of the Unigram trainer, as a mapping; empty for other models."""
    if kind != "Unigram" or model.get(UNKNOWN) is None:
        return {}
    return {"unk_token": name(model["vocab"][model[UNKNOWN]][0])}


def _tokens(model: Json) -> Iterable[str]:
    """The tokens of a model, by whose number the size of the base vocabulary is computed."""
    tokens = model["vocab"]
    return tokens if isinstance(tokens, Mapping) else (token for token, _ in tokens)


def _stated(token: Any) -> dict[str, Any]:
    """A new special token in the form of a ``tokenizer.json``."""
    if isinstance(token, str):
        return {"content": token, **PLAIN}
    found = token if isinstance(token, Mapping) else {field: getattr(token, field) for field in ("content", *PLAIN)}
    return added_token({**found, "special": True}).listed()


def _settings(settings: Json, new: Sequence[Json], name: Callable[[str], str]) -> Json:
    """The settings with renamed tokens and new special tokens."""
    found = of_other_ids(settings)
    if "named_tokens" in found:
        found["named_tokens"] = {role: name(token) for role, token in found["named_tokens"].items()}
    if "extra_special_tokens" in found:
        found["extra_special_tokens"] = [*map(name, found["extra_special_tokens"]), *(token["content"] for token in new)]
    return found
