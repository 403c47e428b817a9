"""Pending text of jieba: an unfinished block, see `fst.runtime.front_end.Pending`."""

from __future__ import annotations

from fst.automata.rows import Array
from fst.machines.segmentation.jieba import LETTER
from fst.machines.segmentation.unit_trie import KIND_SHIFT
from fst.runtime.rows.texts import UNIT_TYPES, units_or_none

UTF_16 = UNIT_TYPES["utf-16"]


class PendingBlock:
    """A test for an unfinished block of jieba.

    Args:
        numbers: `fst.machines.segmentation.jieba.Arguments.units`.
    """

    def __init__(self, numbers: Array) -> None:
        self._is_inside = numbers >> KIND_SHIFT >= LETTER

    def begins(self, text: str) -> bool:
        """Whether all characters of the text belong to blocks."""
        return self.go_on(text)

    def go_on(self, text: str) -> bool:
        """Whether the block continues to the end of `text`."""
        data = units_or_none(text, UTF_16)
        return data is not None and bool(self._is_inside[data].all())
