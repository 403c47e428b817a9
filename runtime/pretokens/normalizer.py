"""Normalization of texts before a machine splits them. An unfinished pre-token at the end of a text is stored for the next call."""

from __future__ import annotations

from typing import Any

from fst.runtime.front_end import TextBuffers
from fst.runtime.pretokens.pending import OpenPretoken
from fst.runtime.rows.texts import Units
from fst.runtime.text.normalizer import TextNormalizer
from fst.tables.header import AddedTokens
from fst.text.normalizer import Normalizer


class PretokenNormalizer(TextNormalizer):
    """A front end that normalizes texts for a `fst.pretokens.table.PretokenTable`; the arguments are as in `TextNormalizer`."""

    def __init__(self, arguments: Any, by: Normalizer, added: AddedTokens, trimming: bool | None) -> None:
        super().__init__(arguments, by, added, trimming)
        self._shared = arguments.shared

    def goes_on(self, text: Units, buffers: TextBuffers) -> bool:
        """Whether the first pre-token of a normalized text continues to the end of the text."""
        if buffers.unfinished is None:
            buffers.unfinished = OpenPretoken(self._shared)
        if buffers.unfinished.goes_on_in(text):
            return True
        buffers.unfinished = None
        return False
