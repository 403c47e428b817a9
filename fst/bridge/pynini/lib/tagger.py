"""Tags around strings in a text. The module ``pynini.lib.tagger``."""

from __future__ import annotations

from fst.bridge.pynini.lib import rewrite
from fst.bridge.pynini.lib.pynutil import insert
from fst.bridge.pynini.machine import FstLike
from fst.bridge.pynini.operations import cdrewrite


class Error(Exception):
    """A tag is not in the alphabet."""


class Tagger:
    """Writes ``<tag>`` and ``</tag>`` around each string of an acceptor.

    Args:
        tag_label: the name of the tag.
        matcher: the acceptor of the strings, possibly with weights.
        sigma_star: the acceptor of all texts.
    """

    LTAG_TEMPLATE = "<{}>"
    RTAG_TEMPLATE = "</{}>"

    def __init__(self, tag_label: str, matcher: FstLike, sigma_star: FstLike) -> None:
        tagged = insert(self.LTAG_TEMPLATE.format(tag_label)) + matcher + insert(self.RTAG_TEMPLATE.format(tag_label))
        self._tagger = cdrewrite(tagged, "", "", sigma_star).optimize()

    def tag(self, string: FstLike) -> str:
        """The text with tags.

        Raises:
            rewrite.Error: the text has a character that is not in the alphabet, or several taggings have the same weight.
        """
        return rewrite.one_top_rewrite(string, self._tagger)
