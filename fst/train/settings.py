"""The settings of a trained vocabulary in the files of ``transformers``: ``tokenizer_config.json`` and ``chat_template.jinja``.

The files contain the settings that ``fst.hf`` gives to the table, and all other members of the base tokenizer's ``tokenizer_config.json``
that are still true of the new vocabulary.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from fst.compile.sources.inputs import CONFIG, TEMPLATE
from fst.compile.sources.kinds import model_of
from fst.compile.sources.pretrained.chat_templates import DEFAULT, by_name
from fst.compile.sources.pretrained.conventions import model_input_names, named_tokens
from fst.compile.sources.templates import BARE, of_post_processor
from fst.core.json_fields import is_text
from fst.errors import UnsupportedError, VocabularyError, listed, quoted
from fst.tables.header import RULES

Json = Mapping[str, Any]

FILES = (CONFIG, TEMPLATE)
PLAIN_CLASS = "PreTrainedTokenizerFast"  # the class of `transformers` that uses a tokenizer.json without changes
# Classes of `transformers` that ignore parts of a tokenizer.json: the merges, or the ids in the post-processor.
FIXED = ("EsmcTokenizer", "HerbertTokenizer")
AS_THEY_ARE = ("model_max_length", "model_input_names", "padding_side", "truncation_side", "clean_up_tokenization_spaces")
EXTRAS = "additional_special_tokens"  # the name that all versions of `transformers` read
# Members of a tokenizer_config.json that are not true of a new vocabulary, or that `files_of` writes in another form.
GONE = ("added_tokens_decoder", "chat_template", "extra_special_tokens", EXTRAS, "name_or_path", "files_loaded")
ROLE, FILE_NAME = "_token", "_file"  # endings of the names of special tokens and of files


def files_of(document: Json, settings: Json, config: Json) -> dict[str, bytes]:
    """The files with the settings, by name. `document`: the value of the ``tokenizer.json``. `settings`: the settings with the names in
    `fst.tables.header.Settings`; usual settings replace missing settings. `config`: the ``tokenizer_config.json`` of the base tokenizer;
    empty without a base tokenizer.
    """
    found = {**usual(document), **settings}
    templates = found.get("chat_templates") or {}
    named = found["named_tokens"]
    members = {name: value for name, value in config.items() if _holds(name, value)}
    members |= {name: found[name] for name in AS_THEY_ARE if found.get(name) is not None}
    members |= {name: token for name, token in named.items() if token is not None}
    made = found.get("tokenizer_class")
    name = str(config.get("tokenizer_class") or (made.name if made else PLAIN_CLASS))
    members["tokenizer_class"] = PLAIN_CLASS if name.removesuffix("Fast") in FIXED else name
    if found.get("extra_special_tokens"):
        members[EXTRAS] = [*found["extra_special_tokens"]]
    if templates and [*templates] != [DEFAULT]:
        members["chat_template"] = [{"name": name, "template": text} for name, text in templates.items()]
    text = json.dumps(members, ensure_ascii=False, indent=2, sort_keys=True) + "\n"
    return {CONFIG: text.encode(), **({TEMPLATE: templates[DEFAULT].encode()} if [*templates] == [DEFAULT] else {})}


def _holds(name: str, value: Any) -> bool:
    """Whether a member of the base ``tokenizer_config.json`` is copied; special tokens that are not null are in the settings instead."""
    return name not in GONE and not name.endswith(FILE_NAME) and (value is None or not _is_role(name, value))


def _is_role(name: str, value: Any) -> bool:
    return name.endswith(ROLE) and not isinstance(value, bool)


def usual(document: Json) -> dict[str, Any]:
    """The settings that result from a ``tokenizer.json``: the roles of special tokens with usual spellings, and the model's inputs."""
    model, specials = model_of(document), {token["content"] for token in document["added_tokens"]}
    unknown = model.get("unk_token")
    if model.get("unk_id") is not None:
        unknown = model["vocab"][model["unk_id"]][0]
    pair = BARE.pair
    with suppress(UnsupportedError):
        pair = of_post_processor(document["post_processor"]).pair
    return {
        "named_tokens": named_tokens(specials, unknown, document["padding"]),
        "model_input_names": model_input_names(pair, model["type"]),
    }


def checked(given: Json, tokens: Json) -> Iterator[tuple[str, Any]]:
    """Check settings that a user names, and return them with the names in `fst.tables.header.Settings`. `given`: the settings: roles such
    as ``eos_token``, ``chat_template``, ``extra_special_tokens``, and the names in `AS_THEY_ARE`. `tokens`: token → id.
    """
    for name, value in given.items():
        if _is_role(name, value):
            _need_token(name, value, tokens)
        elif name == "chat_template":
            yield "chat_templates", by_name(value)
        elif name not in (*AS_THEY_ARE, "extra_special_tokens"):
            known = ["eos_token", "pad_token", "chat_template", "extra_special_tokens", *AS_THEY_ARE]
            raise VocabularyError(f"the setting {quoted(name)} is unknown; expected roles of tokens and others: {listed(known)}")
        elif not RULES[name].holds(value):
            raise VocabularyError(f"{name} is {quoted(value)}; expected {RULES[name].expected}")
        else:
            for token in value if name == "extra_special_tokens" else ():
                _need_token(name, token, tokens)
            yield name, value
    roles = {name: value for name, value in given.items() if _is_role(name, value)}
    if roles:
        yield "named_tokens", roles


def _need_token(name: str, token: Any, tokens: Json) -> None:
    if token is not None and (not is_text(token) or token not in tokens):
        raise VocabularyError(f"{name} is {quoted(token)}, which is not a token; expected a special token; add it to special_tokens")


def renumbered(settings: Json) -> dict[str, Any]:
    """The settings for a vocabulary with other ids, without a class whose attributes contain numbers, because these may be old ids."""
    made = settings.get("tokenizer_class")
    holds = made is None or not _has_numbers(made.attributes)
    return {name: value for name, value in settings.items() if holds or name != "tokenizer_class"}


def _has_numbers(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_has_numbers, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_has_numbers, value))
    return type(value) is int
