"""The arguments of ``fst.Tokenizer.__call__`` that do not change the type of its result, for type checkers."""

from __future__ import annotations

from enum import Enum
from typing import TypedDict


class CallArguments(TypedDict, total=False):
    """Keyword arguments of `fst.Tokenizer.__call__`, whose docstring describes them."""

    add_special_tokens: bool
    padding: bool | str | Enum
    truncation: bool | str | Enum | None
    max_length: int | None
    stride: int
    pad_to_multiple_of: int | None
    padding_side: str | None
    truncation_side: str | None
    return_token_type_ids: bool | None
    return_attention_mask: bool | None
    return_special_tokens_mask: bool
    return_offsets_mapping: bool
    return_length: bool
    threads: int | None
