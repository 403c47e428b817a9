"""Pre-tokenizers that split a text as SentencePiece does."""

from __future__ import annotations

from typing import Any

from support.text.normalizers import to

Json = dict[str, Any]
WHITESPACE = {"type": "WhitespaceSplit"}
TO_SYMBOL = to("▁", " ")


def spaced(scheme: str = "always", split: bool = True, replacement: str = "▁") -> Json:
    """A pre-tokenizer Metaspace in the format of a tokenizer.json."""
    return {"type": "Metaspace", "replacement": replacement, "prepend_scheme": scheme, "split": split}


def cut_by(*parts: Json) -> Json:
    """A sequence of pre-tokenizers."""
    return {"type": "Sequence", "pretokenizers": [*parts]}
