"""Functions for `datasets.map`, in a module that other processes can import, too."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import fst


def functions(one: fst.Tokenizer) -> dict[str, Callable[[list[str]], Any]]:
    """Functions from a batch of rows to new columns; each function refers to the tokenizer in its closure."""
    return {
        "itself": one,
        "partial": functools.partial(one, truncation=True, max_length=5),
        "closure": lambda texts: {"input_ids": [one.encode(text) for text in texts]},
        "method": functools.partial(_columns, one.encode_batch),
    }


def _columns(encode: Callable[[list[str]], fst.Batch], texts: list[str]) -> dict[str, Any]:
    return {"input_ids": list(encode(texts))}
