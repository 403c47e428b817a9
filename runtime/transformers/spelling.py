"""The names of tokens that depend on the text, as in ``tokenizers``: added tokens that take white space, and unknown ones of Unigram.

The slow walk of `fst.rewriting` finds them. It reads only texts with such tokens, when their names are asked for.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import NamedTuple

from fst.blanks import BLANK, BREAK, BREAKS
from fst.machines.unigram_metadata import UnigramModel
from fst.metadata import Metadata
from fst.rewriting import NOTHING, Rewriting


class Parts(NamedTuple):
    """What names of a text are taken from.

    Attributes:
        begins, unknown: the characters that are in no token, and where each comes from in the raw text.
        added: begin, end, id and text of each added token.
    """

    begins: list[int]
    unknown: list[str]
    added: list[tuple[int, int, int, str]]


class Speller:
    """Names the tokens of one tokenizer that depend on the text.

    Args:
        metadata: the metadata of its table.
        ids: token → id.

    Attributes:
        ids: the ids of such tokens.
    """

    def __init__(self, metadata: Metadata, ids: Mapping[str, int]) -> None:
        rewriting: Rewriting | None = getattr(getattr(metadata, "text", None), "rewriting", None)
        contextual, model = metadata.added_tokens.contextual.values(), metadata.model
        self._rewriting, self._added = rewriting or NOTHING, metadata.added_tokens
        self._symbol = self._rewriting.blanks.symbol
        stripping = [token.id for token in contextual if (token.lstrip or token.rstrip) and (rewriting or not token.normalized)]
        self._unknown = model.unk_id if isinstance(model, UnigramModel) else None
        self._known = {token.replace(self._symbol, BLANK) if self._symbol else token for token in ids if len(token) == 1}
        if self._rewriting.blanks.separator == BREAKS:
            self._known.add(BREAK)
        self.ids = [*stripping, *([] if self._unknown is None else [self._unknown])]

    def parts(self, text: str) -> Parts:
        """The parts of a text."""
        found = Parts([], [], [])
        for stretch in self._rewriting.stretches(text, self._added):
            if stretch.token is not None:
                found.added.append((stretch.places[0][0], stretch.places[-1][1], stretch.token, stretch.text))
                continue
            for char, (begin, _) in zip(stretch.text, stretch.places, strict=True):
                if char not in self._known:
                    found.begins.append(begin)
                    found.unknown.append(self._symbol if char == BLANK and self._symbol else char)
        return found

    def name(self, parts: Parts, number: int, begin: int, end: int) -> str | None:
        """The name of a token with an id and a span; None if it is that of the id."""
        if number != self._unknown:
            return next((text for first, last, token, text in parts.added if token == number and first <= begin and end <= last), None)
        return "".join(parts.unknown[bisect_left(parts.begins, begin) : bisect_left(parts.begins, end)]) or None
