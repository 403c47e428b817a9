"""Replace tokens in the post-processor and the padding of a ``tokenizer.json``, both of which list tokens with their ids."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fst.compile.text.components import Component
from fst.errors import VocabularyError, quoted

PAIRS = ("cls", "sep")  # members of BertProcessing and RobertaProcessing: pairs of a token and its id

Change = Callable[[str, int], tuple[str, int]]


def renumbered(part: Component | None, ids: Mapping[str, int]) -> dict[str, Any] | None:
    """Replace the ids of tokens in a post-processor (nested or not) or in the padding by the ids in another vocabulary.

    Args:
        part: the component, or None.
        ids: token → id.

    Examples:
        >>> renumbered({"type": "BertProcessing", "sep": ["[SEP]", 102], "cls": ["[CLS]", 101]}, {"[SEP]": 1, "[CLS]": 0})
        {'type': 'BertProcessing', 'sep': ['[SEP]', 1], 'cls': ['[CLS]', 0]}
    """
    return None if part is None else _changed(part, lambda token, _: (token, _id(token, ids)))


def renamed(part: Component | None, name: Callable[[str], str]) -> dict[str, Any] | None:
    """Rename tokens in a post-processor or in the padding; ids do not change."""
    return None if part is None else _changed(part, lambda token, number: (name(token), number))


def _changed(part: Component, change: Change) -> dict[str, Any]:
    found = dict(part)
    if "processors" in found:
        found["processors"] = [_changed(one, change) for one in found["processors"]]
    if "special_tokens" in found:
        found["special_tokens"] = {key: _special(token, change) for key, token in found["special_tokens"].items()}
    for pair in PAIRS:
        if pair in found:
            found[pair] = [*change(*found[pair])]
    if "pad_token" in found:
        found["pad_token"], found["pad_id"] = change(found["pad_token"], found["pad_id"])
    return found


def _special(part: Component, change: Change) -> dict[str, Any]:
    """Rename the tokens of an entry in TemplateProcessing's ``special_tokens``; the entry's key stays, because templates refer to it."""
    both = [change(token, number) for token, number in zip(part["tokens"], part["ids"], strict=True)]
    return {**part, "ids": [number for _, number in both], "tokens": [token for token, _ in both]}


def _id(token: str, ids: Mapping[str, int]) -> int:
    if token not in ids:
        raise VocabularyError(f"the post-processor or the padding contains {quoted(token)}, which is not a token; make it a special token")
    return ids[token]
