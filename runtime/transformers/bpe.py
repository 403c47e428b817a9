"""The backend of `fst.hf` for byte-level BPE."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

from fst.machines.bpe_metadata import PREFIX_SPACE
from fst.machines.byte_letters import bytes_of, spelled
from fst.metadata import ByteLevelDecoder
from fst.runtime.decoding import text_of
from fst.runtime.transformers.backend import Backend, Json
from fst.runtime.transformers.bpe_document import document, merges, vocabulary

VERSION = "#version: 0.2\n"  # the first line of a merges.txt


class BpeBackend(Backend):
    """The backend of byte-level BPE tables."""

    files: ClassVar = {"vocab_file": "vocab.json", "merges_file": "merges.txt"}
    keeps_blanks = True

    @property
    def fixed(self) -> Mapping[str, Any]:
        """``add_prefix_space``: whether texts get a leading blank."""
        return {"add_prefix_space": PREFIX_SPACE in (self.fst._metadata.text.pre_tokenizers or ())}

    @property
    def model(self) -> SimpleNamespace:
        """The model."""
        return SimpleNamespace(continuing_subword_prefix=None)

    @property
    def decoder(self) -> Any:
        """The decoder of ``tokenizers``."""
        from tokenizers.decoders import ByteLevel

        return ByteLevel() if self._joins_bytes else None

    def joined(self, tokens: Sequence[str]) -> str:
        """The text of tokens."""
        if not self._joins_bytes:
            return " ".join(tokens)
        spellings = ((bytes_of(token), token) for token in tokens)
        return text_of(b"".join(token.encode() if content is None else content for content, token in spellings))

    @property
    def _joins_bytes(self) -> bool:
        return isinstance(self.fst._metadata.settings.decoder, ByteLevelDecoder)

    def save_vocabulary(self, folder: Path, prefix: str) -> tuple[str, ...]:
        """Write a ``vocab.json`` and a ``merges.txt``."""
        ids, lines = folder / f"{prefix}vocab.json", folder / f"{prefix}merges.txt"
        tokens = sorted(vocabulary(self.fst._table).items(), key=lambda token: token[1])
        ids.write_text(json.dumps(dict(tokens), ensure_ascii=False, separators=(",", ":")), "utf-8")
        pairs = (f"{spelled(left)} {spelled(right)}\n" for left, right in merges(self.fst._table))
        lines.write_text(VERSION + "".join(pairs), "utf-8", newline="\n")
        return str(ids), str(lines)

    def document(self) -> Json:
        """A ``tokenizer.json`` that compiles to the table."""
        return document(self.fst._table)
