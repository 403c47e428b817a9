"""A tokenizer.json of byte-level BPE with a normalizer that adds or removes characters, such as Prepend or Strip."""

from __future__ import annotations

from typing import Any

from support.machines.bpe import ENGLISH_MERGES
from support.machines.documents import byte_level

Json = dict[str, Any]
LEFT, RIGHT, BOTH = (
    {"type": "Strip", "strip_left": left, "strip_right": right} for left, right in ((True, False), (False, True), (True, True))
)


def prepend(content: str) -> Json:
    """A normalizer that puts a string before each text."""
    return {"type": "Prepend", "prepend": content}


def document(normalizer: Json, *added: Json, adds_space: bool = False, trims: bool = False) -> Json:
    """A tokenizer.json of byte-level BPE with a normalizer and added tokens."""
    parts = byte_level("", ENGLISH_MERGES)
    last = {"type": "ByteLevel", "add_prefix_space": adds_space, "trim_offsets": trims, "use_regex": True}
    tokens = [{"id": len(parts["model"]["vocab"]) + place, **part} for place, part in enumerate(added)]
    stages = dict.fromkeys(("pre_tokenizer", "post_processor", "decoder"), last)
    return {**parts, **stages, "normalizer": normalizer, "added_tokens": tokens}
