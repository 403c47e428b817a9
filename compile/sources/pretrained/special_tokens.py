"""Read the special tokens of a folder: their names, and the tokens that `transformers` adds to the vocabulary, in the same order.

The order determines the ids of added tokens that are not in the vocabulary. ``tokenizer_config.json`` lists tokens under names, as
``extra_special_tokens``, and as ``added_tokens_decoder``. Without ``added_tokens_decoder``, ``special_tokens_map.json``,
``added_tokens.json`` and ``tokenizer.json`` are also used.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from types import NoneType
from typing import Any

from fst.compile.text.components import field_of, mapping
from fst.errors import UnsupportedError, listed, quoted

Json = Mapping[str, Any]
# The names that exist in all classes, in the order in which their tokens are added.
NAMES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


@dataclass(frozen=True)
class AddedToken:
    """An added token of `transformers`. If `normalized` is None, the opposite of `special` is used."""

    content: str
    single_word: bool = False
    lstrip: bool = False
    rstrip: bool = False
    normalized: bool | None = None
    special: bool = False

    def listed(self) -> dict[str, Any]:
        """The token as an entry in the ``added_tokens`` of a tokenizer.json."""
        return {**asdict(self), "normalized": not self.special if self.normalized is None else self.normalized}


@dataclass(frozen=True)
class SpecialTokens:
    """The special and added tokens of a folder."""

    named: Mapping[str, AddedToken]  # name, such as pad_token → token
    extras: Collection[AddedToken]  # special tokens without a name
    numbered: Mapping[int, AddedToken]  # number → added token; the numbers determine the order
    lists_extras: bool  # whether a setting lists the special tokens without a name; the list may be empty

    def content(self, name: str) -> str:
        """The content of the special token with the given name."""
        if name not in self.named:
            raise ValueError(f"{name} is null, and a tokenizer of this class needs one")
        return self.named[name].content

    def added_to(self, present: Iterable[Json], vocabulary: Mapping[str, int]) -> list[dict[str, Any]]:
        """All added tokens with their ids: first the tokens of a tokenizer.json, then the tokens of this object, even if they are equal."""
        there = [added_token(part) for part in present]
        tokens = [*there, *self._additions({token.content: token.listed() for token in there})]
        ids = dict(vocabulary)
        for token in tokens:
            if token.content:
                ids.setdefault(token.content, len(ids))
        return [{"id": ids.get(token.content, 0), **token.listed()} for token in tokens]

    def added_in_python(self, vocabulary: Mapping[str, int]) -> list[dict[str, Any]]:
        """All added tokens with their ids, in a class that runs in Python: a numbered token has its number; any other token has its id in
        the vocabulary, or follows all tokens. Only tokens with a name and `extras` are special.

        Raises:
            UnsupportedError: a token has two ids, or two tokens have the same id.
        """
        ids = {token.content: number for number, token in sorted(self.numbered.items()) if token.content}
        others = [*self.named.values(), *self.extras]
        tokens = {token.content: token for token in (*others, *self.numbered.values())}
        special, size = {token.content for token in others}, len({**vocabulary, **ids})
        for content in (token.content for token in others):
            if content and content not in ids:
                ids[content] = vocabulary.get(content, size)
                size += content not in vocabulary
        names = {number: content for content, number in vocabulary.items()}
        for content, number in ids.items():
            if vocabulary.get(content, number) != number:
                raise UnsupportedError(f"token {quoted(content)} has the ids {vocabulary[content]} and {number}; expected one id")
            if (other := names.setdefault(number, content)) != content:
                raise UnsupportedError(f"tokens {quoted(other)} and {quoted(content)} have the id {number}; expected an id for each")
        return [{"id": number, **replace(tokens[content], special=content in special).listed()} for content, number in ids.items()]

    def _additions(self, there: Mapping[str, Json]) -> list[AddedToken]:
        """The tokens to add: first the numbered tokens that are missing or have other flags, then the other missing tokens.

        A token that has a name becomes special.
        """
        names = {token.content for token in self.named.values()}
        numbered, others = (
            [replace(token, special=token.special or token.content in names) for token in tokens]
            for tokens in ((self.numbered[number] for number in sorted(self.numbered)), (*self.named.values(), *self.extras))
        )
        known = {*there, *(token.content for token in numbered)}
        additions = [token for token in numbered if there.get(token.content) != token.listed()]
        return additions + [token for token in others if token.content not in known]


def special_tokens(config: Json, older: Json, added: Json, document: Json, defaults: Json, greedy: Collection[str]) -> SpecialTokens:
    """The special tokens of a folder's files; a missing file is an empty mapping.

    Args:
        config: tokenizer_config.json.
        older: special_tokens_map.json.
        added: added_tokens.json.
        document: tokenizer.json.
        defaults: name → token, for names that no file defines.
        greedy: the names of special tokens that include the space before them if a file contains them as strings.
    """
    _need_lists(config)
    _need_lists(older)
    stated, own = _stated(config, older)
    numbered = _numbered(config, added, document, [*(stated.get(name) for name in NAMES), *(stated.get("extra_special_tokens") or ())])
    usual = {name: stated.get(name, defaults.get(name)) for name in NAMES}
    named = {
        **{name: value for name, value in usual.items() if value is not None},
        **{name: value for name, value in stated.items() if _is_own(name) and _is_token(value)},
        **own,
    }
    extras = stated.get("extra_special_tokens", stated.get("additional_special_tokens")) or ()
    return SpecialTokens(
        named={name: _special(value, greedy=name in greedy) for name, value in named.items()},
        extras=[_special(value) for value in extras],
        numbered=numbered,
        lists_extras="extra_special_tokens" in stated,
    )


def _need_lists(file: Json) -> None:
    for name in ("extra_special_tokens", "additional_special_tokens"):
        if not isinstance(file.get(name), list | dict | NoneType):
            raise ValueError(f"{name} is {quoted(file[name])}; it must be a list of tokens")


def _stated(config: Json, older: Json) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings of tokenizer_config.json, overridden by the settings of special_tokens_map.json; and the tokens whose names are not in
    `NAMES`.

    The steps are the same as in `transformers`, because they determine the precedence of settings and the order in which tokens are added.
    """
    stated = dict(config)
    if not stated.get("extra_special_tokens") and "additional_special_tokens" in stated:
        stated["extra_special_tokens"] = stated.pop("additional_special_tokens")
    own = {name: stated.pop(name) for name in config if _is_own(name) and isinstance(stated[name], str)}
    own |= _with_names(stated)
    if "added_tokens_decoder" not in config:
        listed = stated.get("extra_special_tokens") or []
        stated |= {name: _of_older(value) if name != "extra_special_tokens" else value for name, value in older.items()}
        if isinstance(older.get("extra_special_tokens"), list):
            more = map(_of_older, older["extra_special_tokens"])
            stated["extra_special_tokens"] = [*listed, *(token for token in more if token not in listed)]
        own |= _with_names(stated)
    return stated, own


def _numbered(config: Json, added: Json, document: Json, specials: Iterable[Any]) -> dict[int, AddedToken]:
    """The added tokens by number.

    A token of added_tokens.json is special if another file lists it as a special token, except as a mapping in tokenizer_config.json.
    """
    if "added_tokens_decoder" in config:
        numbered = mapping(config["added_tokens_decoder"], "added_tokens_decoder")
        return {_number(number): added_token(part) for number, part in numbered.items()}
    special = {_special(value).content for value in specials if isinstance(value, str | AddedToken)}
    older = {_number(number): AddedToken(name, normalized=name not in special, special=name in special) for name, number in added.items()}
    return older | {field_of(part, "id", "an added token"): added_token(part) for part in document.get("added_tokens") or ()}


def _number(value: Any) -> int:
    """The id of an added token, from a key (a string) or a value (a number)."""
    try:
        if isinstance(value, str) or type(value) is int:
            return int(value)
    except ValueError:
        pass
    raise ValueError(f"an added token has {quoted(value)} for its id; it must be a whole number")


def _with_names(stated: dict[str, Any]) -> dict[str, Any]:
    """If the extra special tokens have names, remove them from the settings and return them."""
    return stated.pop("extra_special_tokens") if isinstance(stated.get("extra_special_tokens"), dict) else {}


def _is_own(name: str) -> bool:
    return name.endswith("_token") and name not in NAMES


def _of_older(value: Any) -> Any:
    """Convert a value of special_tokens_map.json, in which every mapping is a special token."""
    return replace(added_token(value), special=True) if isinstance(value, Mapping) else value


def _is_token(value: Any) -> bool:
    return isinstance(value, str | AddedToken) or (isinstance(value, Mapping) and value.get("__type") == "AddedToken")


def _special(value: Any, *, greedy: bool = False) -> AddedToken:
    """Make a special token from a string or a mapping."""
    if not _is_token(value):
        raise ValueError(f"{quoted(value)} stands for a special token; it is a string, or a mapping of the type AddedToken")
    if isinstance(value, AddedToken):
        return value
    if isinstance(value, str):
        return AddedToken(value, lstrip=greedy, special=True)
    return added_token({name: setting for name, setting in value.items() if name != "__type"})


def added_token(part: Json) -> AddedToken:
    """Make an added token from a mapping."""
    field_of(part, "content", "an added token")
    settings = {name: setting for name, setting in part.items() if name != "id"}
    unknown = sorted(settings.keys() - AddedToken.__dataclass_fields__.keys())
    if unknown:
        raise ValueError(f"an added token has {listed(unknown)}, which added tokens do not have")
    token = AddedToken(**settings)
    flags = [token.single_word, token.lstrip, token.rstrip, token.special, bool(token.normalized)]
    if not isinstance(token.content, str) or not all(isinstance(flag, bool) for flag in (*flags, token.normalized or False)):
        raise ValueError(f"added token {quoted(part)}: its content is a string, and its settings are true or false")
    return token
