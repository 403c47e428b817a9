"""The backend of `fst.tokenizers` and `fst.hf` for WordPiece."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

from fst.errors import UnsupportedError
from fst.runtime.compat.transformers.backend import Backend
from fst.runtime.compat.transformers.document import Json, document, shared_parts

BERT = {"do_lower_case": "lowercase", "tokenize_chinese_chars": "handle_chinese_chars", "strip_accents": "strip_accents"}


class WordPieceBackend(Backend):
    """The backend of WordPiece tables."""

    files: ClassVar = {"vocab_file": "vocab.txt", "tokenizer_file": "tokenizer.json"}
    keeps_spaces = False

    @property
    def fixed(self) -> Mapping[str, Any]:
        """The settings of BERT's normalizer."""
        normalizer = self.fst._metadata.normalizer
        return {name: getattr(normalizer, kept) for name, kept in BERT.items()} if normalizer.parts is None else {}

    @property
    def model(self) -> SimpleNamespace:
        """The model."""
        return SimpleNamespace(continuing_subword_prefix=self.fst._metadata.model.continuing_subword_prefix)

    def save_vocabulary(self, folder: Path, prefix: str) -> tuple[str, ...]:
        """Write a ``vocab.txt``."""
        tokens = list(self.fst.get_vocab().items())[: self.get_vocab_size(with_added_tokens=False)]
        if [number for _, number in tokens] != list(range(len(tokens))) or any("\n" in token for token, _ in tokens):
            raise UnsupportedError(
                "save_vocabulary: lines of a vocab.txt cannot represent these ids; save_pretrained writes a tokenizer.json"
            )
        written = folder / f"{prefix}vocab.txt"
        written.write_text("".join(f"{token}\n" for token, _ in tokens), "utf-8", newline="\n")
        return (str(written),)

    def document(self) -> Json:
        """Return a ``tokenizer.json`` that compiles to the table."""
        return document(self.fst._table)

    def _shared_parts(self) -> Json:
        return shared_parts(self.fst._table)
