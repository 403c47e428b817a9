"""The rule for valid token ids in the metadata of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fst.automata.rows import MAX_OUTPUT
from fst.core.json_fields import Rule, is_text, is_whole


def is_id(value: Any) -> bool:
    """Whether a value can be a token id."""
    return is_whole(value, 0, MAX_OUTPUT)


def are_ids(value: Any) -> bool:
    """Whether a value is a list of possible token ids."""
    return isinstance(value, list) and all(map(is_id, value))


IDS = Rule(are_ids, "a list of token ids", tuple, list)


def are_token_ids(value: Any) -> bool:
    """Whether a value is a mapping of non-empty tokens to possible ids."""
    return isinstance(value, Mapping) and all(content and is_text(content) and is_id(number) for content, number in value.items())


TOKEN_IDS = Rule(are_token_ids, "a mapping of non-empty tokens to ids")
