"""Decoding by Python code of `transformers`, as of tokens of fastBPE and subword-nmt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fst.core.json_fields import TEXT, Rule, is_text, stored_as


@dataclass(frozen=True)
class WordsDecoder:
    """A decoder that joins tokens, then replaces a string, and then removes whitespace from both ends, like Python code of `transformers`.

    Attributes:
        joiner: the string between tokens.
        replaced, content: the string to replace in the joined text, and its replacement.
    """

    joiner: str = stored_as(TEXT)
    replaced: str = stored_as(Rule(lambda value: is_text(value) and value != "", "a string that is not empty"))
    content: str = stored_as(TEXT)

    def joined(self, tokens: Iterable[str]) -> str:
        """Join tokens into a text.

        Examples:
            >>> WordsDecoder(" ", "@@ ", "").joined(["un@@", "able", "to"])
            'unable to'
        """
        return self.joiner.join(tokens).replace(self.replaced, self.content).strip()
