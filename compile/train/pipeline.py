"""The text pipeline of a vocabulary in training, as components of a ``tokenizer.json``.

One pipeline does three things, so that training and encoding agree: it splits the corpus into words, it becomes a part of the trained
vocabulary, and its digest keeps words apart that were split differently.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from fst.compile.text.components import Component

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}


@dataclass(frozen=True)
class Pipeline:
    """What happens to a text before the model, and to tokens after it. Each part is a component of a ``tokenizer.json``, or None.

    Attributes:
        normalizer, pre_tokenizer: before the model.
        decoder: after it.
    """

    normalizer: Component | None = None
    pre_tokenizer: Component | None = None
    decoder: Component | None = None

    @property
    def are_bytes(self) -> bool:
        """Whether the symbols of words are bytes, by a pre-tokenizer ByteLevel."""
        part = self.pre_tokenizer or {}
        return any(one.get("type") == "ByteLevel" for one in part.get("pretokenizers", [part]))

    @property
    def digest(self) -> str:
        """A digest of the normalizer and the pre-tokenizer."""
        text = json.dumps([self.normalizer, self.pre_tokenizer], sort_keys=True, ensure_ascii=True)
        return sha256(text.encode()).hexdigest()[:16]


SPLITTERS: Mapping[str, Pipeline] = {
    "gpt2": Pipeline(pre_tokenizer=BYTE_LEVEL, decoder={**BYTE_LEVEL, "add_prefix_space": True}),
    "bert": Pipeline(pre_tokenizer={"type": "BertPreTokenizer"}, decoder={"type": "WordPiece", "prefix": "##", "cleanup": True}),
    "metaspace": Pipeline(pre_tokenizer=METASPACE, decoder=METASPACE),
    "whitespace": Pipeline(pre_tokenizer={"type": "WhitespaceSplit"}),
    "none": Pipeline(),
}
