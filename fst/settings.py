"""What a vocabulary's source says beside what ids follow from: kept in tables and shown; nothing applies it unasked.

The compiler refuses a source whose settings break these rules, and the loader a table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

SIDES = ("right", "left")
MAX_MODEL_LENGTH = 10**9  # what is longer is how other programs write that there is no limit
_SIZE, _NUMBER = (1 << 64) - 1, (1 << 32) - 1  # the reference's largest


class Rule(NamedTuple):
    """Whether a value is one that a setting may have, and what those are."""

    holds: Callable[[Any], bool]
    said: str


def _whole(value: Any, lowest: int, highest: int) -> bool:
    return type(value) is int and lowest <= value <= highest


def is_text(value: Any) -> bool:
    """Whether a value is a string that can be written as UTF-8."""
    return isinstance(value, str) and (value.isascii() or not any("\ud800" <= char <= "\udfff" for char in value))


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_text, value))


def _decoder(value: Any) -> bool:
    return value is None or (
        isinstance(value, Mapping) and value.keys() == {"prefix", "cleanup"} and is_text(value["prefix"]) and type(value["cleanup"]) is bool
    )


def _truncation(value: Any) -> bool:
    return value is None or (
        isinstance(value, Mapping)
        and value.get("direction", "Right") in ("Left", "Right")
        and value.get("strategy") in ("LongestFirst", "OnlyFirst", "OnlySecond")
        and all(_whole(value.get(name), 0, _SIZE) for name in ("max_length", "stride"))
    )


def _padding(value: Any) -> bool:
    return value is None or (
        isinstance(value, Mapping)
        and value.get("direction") in ("Left", "Right")
        and _strategy(value.get("strategy"))
        and (value.get("pad_to_multiple_of") is None or _whole(value["pad_to_multiple_of"], 0, _SIZE))
        and all(_whole(value.get(name), 0, _NUMBER) for name in ("pad_id", "pad_type_id"))
        and is_text(value.get("pad_token"))
    )


def _strategy(value: Any) -> bool:
    fixed = isinstance(value, Mapping) and value.keys() == {"Fixed"} and _whole(value["Fixed"], 0, _SIZE)
    return fixed or value == "BatchLongest"


def _named(value: Any) -> bool:
    return isinstance(value, Mapping) and all(is_text(name) and is_text(token) for name, token in value.items())


RULES: Mapping[str, Rule] = {
    "decoder": Rule(_decoder, "null, or a mapping with a prefix, which is a string, and cleanup, which is true or false"),
    "truncation": Rule(_truncation, "null, or a mapping with direction, max_length, strategy and stride, as the reference has it"),
    "padding": Rule(_padding, "null, or a mapping with direction, strategy, pad_id, pad_type_id and pad_token, as the reference has it"),
    "named_tokens": Rule(_named, "a mapping of names such as pad_token to tokens"),
    "extra_special_tokens": Rule(_texts, "a list of tokens"),
    "model_max_length": Rule(
        lambda value: value is None or _whole(value, 1, MAX_MODEL_LENGTH), f"null or a whole number from 1 to {MAX_MODEL_LENGTH}"
    ),
    "model_input_names": Rule(_texts, "a list of strings"),
    "padding_side": Rule(lambda value: value in SIDES, "'right' or 'left'"),
    "truncation_side": Rule(lambda value: value in SIDES, "'right' or 'left'"),
    "clean_up_tokenization_spaces": Rule(lambda value: isinstance(value, bool), "true or false"),
}
