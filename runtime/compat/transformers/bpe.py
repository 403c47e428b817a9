"""The backend of `fst.tokenizers` and `fst.hf` for byte-level BPE."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

from fst.core.lazy import Lazy
from fst.pretokens.byte_letters import bytes_of
from fst.pretokens.header import PREFIX_SPACE
from fst.runtime.compat.transformers.backend import Backend
from fst.runtime.compat.transformers.bpe_document import document, merges, shared_parts, vocabulary
from fst.runtime.compat.transformers.document import Json
from fst.runtime.decoder import text_of
from fst.tables.header import ByteLevelDecoder
from fst.text.whitespace import NEVER

VERSION = "#version: 0.2\n"  # the first line of a merges.txt


class BpeBackend(Backend):
    """The backend of tables with byte-level BPE."""

    files: ClassVar = {"vocab_file": "vocab.json", "merges_file": "merges.txt"}
    keeps_spaces = True

    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        """Return the number of tokens, with or without added tokens."""
        return len(self.fst) if with_added_tokens else len(self._own)

    @Lazy
    def _own(self) -> dict[str, int]:
        return vocabulary(self.fst._table)

    def _own_vocab(self) -> dict[str, int]:
        return dict(self._own)

    @property
    def fixed(self) -> Mapping[str, Any]:
        """The setting ``add_prefix_space``: whether a space is added before each text."""
        text = self.fst._metadata.text
        by_normalizer = text.normalizer is not None and text.normalizer.whitespace.prefix != NEVER
        return {"add_prefix_space": by_normalizer or PREFIX_SPACE in (text.pre_tokenizers or ())}

    @property
    def model(self) -> SimpleNamespace:
        """The model."""
        model = self.fst._metadata.model
        return SimpleNamespace(
            continuing_subword_prefix=model.continuing_subword_prefix or None, end_of_word_suffix=model.end_of_word_suffix or None
        )

    def joined(self, tokens: Sequence[str]) -> str:
        """Join tokens into a text."""
        if not isinstance(self.fst._metadata.settings.decoder, ByteLevelDecoder):
            return super().joined(tokens)
        spellings = ((bytes_of(token), token) for token in tokens)
        return text_of(b"".join(token.encode() if content is None else content for content, token in spellings))

    def save_vocabulary(self, folder: Path, prefix: str) -> tuple[str, ...]:
        """Write a ``vocab.json`` and a ``merges.txt``."""
        ids, lines = folder / f"{prefix}vocab.json", folder / f"{prefix}merges.txt"
        tokens = sorted(vocabulary(self.fst._table).items(), key=lambda token: token[1])
        ids.write_text(json.dumps(dict(tokens), ensure_ascii=False, separators=(",", ":")), "utf-8")
        spelled = self.fst._table.metadata.model.letters.spelled
        pairs = (f"{spelled(left)} {spelled(right)}\n" for left, right in merges(self.fst._table))
        lines.write_text(VERSION + "".join(pairs), "utf-8", newline="\n")
        return str(ids), str(lines)

    def document(self) -> Json:
        """Return a ``tokenizer.json`` that compiles to the table."""
        return document(self.fst._table)

    def _shared_parts(self) -> Json:
        return shared_parts(self.fst._table)
