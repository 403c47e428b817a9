"""The backend of `fst.tokenizers` and `fst.hf` for Unigram."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from fst.core.json_numbers import spelled_as
from fst.errors import UnsupportedError
from fst.runtime.compat.transformers.backend import Backend
from fst.runtime.compat.transformers.bpe_document import shared_parts
from fst.runtime.compat.transformers.document import Json
from fst.text.whitespace import NEVER


class UnigramBackend(Backend):
    """The backend of Unigram tables."""

    files: ClassVar = {}
    keeps_spaces = False

    @property
    def fixed(self) -> Mapping[str, Any]:
        """The setting ``add_prefix_space``: whether a space is added before each text."""
        by = self.fst._metadata.text.normalizer
        return {"add_prefix_space": by is not None and by.whitespace.prefix != NEVER}

    def document(self) -> Json:
        """Return a ``tokenizer.json`` that compiles to the table."""
        table, model = self.fst._table, self.fst._metadata.model
        if table.has_text_scope:
            raise UnsupportedError("a table that sums scores as sentencepiece does has no tokenizer.json: tokenizers would give other ids")
        scores = map(spelled_as, table.scores.tolist())
        return {
            **self._shared_parts(),
            "model": {
                "type": "Unigram",
                "unk_id": model.unk_id,
                "byte_fallback": model.byte_fallback,
                "vocab": [[*row] for row in zip(table.tokens, scores, strict=False)],
            },
        }

    def _shared_parts(self) -> Json:
        return shared_parts(self.fst._table)
