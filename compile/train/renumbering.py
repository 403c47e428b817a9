"""Ids inside the parts of a ``tokenizer.json``: they follow from the names of the tokens beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fst.compile.text.components import Component
from fst.errors import VocabularyError, quoted

PAIRS = ("cls", "sep")  # members of BertProcessing and RobertaProcessing: a token and its id

Name = Callable[[str], str]


def renumbered(part: Component | None, ids: Mapping[str, int], name: Name = str) -> dict[str, Any] | None:
    """A post-processor, also a nested one, or the padding, with the ids of a vocabulary.

    Args:
        part: the component; None if there is none.
        ids: token → id.
        name: the new name of a token.

    Raises:
        VocabularyError: the vocabulary lacks a token of the component.

    Example:
        >>> renumbered({"type": "BertProcessing", "sep": ["[SEP]", 102], "cls": ["[CLS]", 101]}, {"[SEP]": 1, "[CLS]": 0})
        {'type': 'BertProcessing', 'sep': ['[SEP]', 1], 'cls': ['[CLS]', 0]}
    """
    if part is None:
        return None
    found = dict(part)
    if "processors" in found:
        found["processors"] = [renumbered(one, ids, name) for one in found["processors"]]
    if "special_tokens" in found:
        found["special_tokens"] = {key: _special(token, ids, name) for key, token in found["special_tokens"].items()}
    for pair in found.keys() & PAIRS:
        token = name(found[pair][0])
        found[pair] = [token, _id(token, ids)]
    if "pad_token" in found:
        token = name(found["pad_token"])
        found |= {"pad_token": token, "pad_id": _id(token, ids)}
    return found


def _special(part: Component, ids: Mapping[str, int], name: Name) -> dict[str, Any]:
    """A special token of TemplateProcessing. Its key stays: the templates refer to it."""
    tokens = [*map(name, part["tokens"])]
    return {**part, "ids": [_id(token, ids) for token in tokens], "tokens": tokens}


def _id(token: str, ids: Mapping[str, int]) -> int:
    if token not in ids:
        raise VocabularyError(f"the post-processor or the padding has {quoted(token)}, which is no token; make it a special token")
    return ids[token]
