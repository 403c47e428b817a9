"""The token names that depend on the text, as in ``tokenizers``: the names of added tokens that include whitespace of the text, and the
names of Unigram's unknown tokens.

The slow walk of `fst.text.normalizer` computes these names at their first use, and reads only texts with such tokens.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fst.text.normalizer import EDGE, NOTHING, Normalizer
from fst.text.whitespace import BREAK, BREAKS, SPACE


@dataclass
class Parts:
    """The parts of a text that become names of the text's tokens. The methods must be called in the order of the tokens.

    Attributes:
        begins, unknown: for each character that no token of the vocabulary matches, its position in the raw text; and the character.
        runs: for each of these characters, the number of the run of consecutive characters that contains it.
        added: the start, the end, the id and the text of each added token found.
        named: the number of the run that was the name of the last unknown token.
    """

    begins: list[int]
    unknown: list[str]
    runs: list[int]
    added: list[tuple[int, int, int, str]]
    named: int = -1

    def unknown_name(self, start: int, end: int) -> str | None:
        """Return the name of the next unknown token, which has this span. A character may be normalized to several runs, each of which is a
        token.
        """
        found = slice(bisect_left(self.begins, start), bisect_left(self.begins, end))
        runs = self.runs[found]
        if not runs:
            return None
        self.named = next((run for run in runs if run > self.named), runs[-1])
        return "".join(char for char, run in zip(self.unknown[found], runs, strict=True) if run == self.named)

    def added_name(self, number: int, start: int, end: int) -> str | None:
        """Return the text of the added token with an id and a span. The span may be a part of the token's span in `added`."""
        around = [(last - first, text) for first, last, token, text in self.added if token == number and first <= start and end <= last]
        return min(around)[1] if around else None


class TokenNames:
    """A finder of a tokenizer's token names that depend on the text.

    Attributes:
        ids: the ids of tokens whose names depend on the text.
    """

    def __init__(self, metadata: Any, ids: Mapping[str, int]) -> None:
        normalizer: Normalizer | None = getattr(getattr(metadata, "text", None), "normalizer", None)
        contextual, model = metadata.added_tokens.contextual.values(), metadata.model
        self._normalizer, self._added = normalizer or NOTHING, metadata.added_tokens
        self._symbol = self._normalizer.whitespace.symbol
        stripping = [token.id for token in contextual if (token.lstrip or token.rstrip) and (normalizer or not token.normalized)]
        self._unknown = model.unk_id if getattr(model, "unknown_is_text", False) else None
        self._known = {token.replace(self._symbol, SPACE) if self._symbol else token for token in ids if len(token) == 1}
        self._known |= {EDGE, BREAK} if self._normalizer.whitespace.separator == BREAKS else {EDGE}
        self.ids = [*stripping, *([] if self._unknown is None else [self._unknown])]

    def parts(self, text: str) -> Parts:
        """Find the parts of a text that become names."""
        found, run = Parts([], [], [], []), 0
        for stretch in self._normalizer.stretches(text, self._added):
            run += 1
            if stretch.token is not None:
                found.added.append((stretch.places[0][0], stretch.places[-1][1], stretch.token, stretch.text))
                continue
            for char, (start, _) in zip(stretch.text, stretch.places, strict=True):
                if char in self._known:
                    run += 1
                    continue
                found.begins.append(start)
                found.runs.append(run)
                found.unknown.append(self._symbol if char == SPACE and self._symbol else char)
        return found

    def name(self, parts: Parts, number: int, start: int, end: int) -> str | None:
        """Return the name of the next token, which has an id and a span; None if the vocabulary's name for this id applies."""
        return parts.unknown_name(start, end) if number == self._unknown else parts.added_name(number, start, end)
