"""Rules for spaces in a part of a text. The rules apply before a splitter cuts the part.

In SentencePiece, a piece at the beginning of a word includes the space before it, written as a *symbol*, mostly ▁. So pipelines for
SentencePiece models replace each space by the symbol. This module does the reverse and replaces the symbol by a space, in texts and in
tokens. Nearly all texts contain spaces and no symbol, so these texts do not change. If the symbol is not a token, spaces become the symbol,
and the model falls back to the bytes of the symbol.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fst.automata.rows import WHITE_SPACE
from fst.text.composition import Place

NEVER, ALWAYS, FIRST = PREFIXES = "never", "always", "first"
SPACE, BREAK = " ", "\n"
KEEPS, JOINS, BREAKS = SEPARATORS = None, "", BREAK


@dataclass(frozen=True)
class Whitespace:
    """The rules for writing spaces.

    Attributes:
        prefix: the words that get a leading space, unless they begin with a space or the symbol: `ALWAYS`: all words; `NEVER`: no word;
            `FIRST`: only a word at the beginning of the raw text.
        symbol: the character that means a space; "" if no character does.
        separator: `KEEPS`: the part is one word. `JOINS`, `BREAKS`: whitespace separates words, and is replaced by the empty string
            (`JOINS`) or by a line break (`BREAKS`).
        keeps_symbol: whether spaces are written as the symbol. If False, the symbol is written as a space.
    """

    prefix: str = NEVER
    symbol: str = ""
    separator: str | None = KEEPS
    keeps_symbol: bool = False

    @property
    def character(self) -> str:
        """The character that is written for a space."""
        return self.symbol if self.keeps_symbol else SPACE

    def stored(self) -> dict[str, Any]:
        """Return the JSON form."""
        return asdict(self)

    @classmethod
    def from_stored(cls, stored: Any) -> Whitespace:
        """Read the rules from their JSON form."""
        if not isinstance(stored, dict) or stored.keys() != cls.__dataclass_fields__.keys():
            raise ValueError(f"blanks have other keys than {', '.join(cls.__dataclass_fields__)}")
        prefix, symbol, separator = stored["prefix"], stored["symbol"], stored["separator"]
        if prefix not in PREFIXES or not isinstance(symbol, str) or len(symbol) > 1 or separator not in SEPARATORS:
            raise ValueError("blanks have an unknown prefix or separator, or a symbol that is not a character")
        if not symbol and (prefix == FIRST or separator != KEEPS):
            raise ValueError("blanks have no symbol, but a prefix or separator that needs one")
        if not isinstance(stored["keeps_symbol"], bool) or (stored["keeps_symbol"] and not symbol):
            raise ValueError("blanks have a flag for their symbol that is not true or false, or no symbol to keep")
        return cls(prefix, symbol, separator, stored["keeps_symbol"])

    def replaced(self, text: str) -> str:
        """Replace spaces and symbols in a text by `character`."""
        return text.replace(SPACE, self.character).replace(self.symbol or SPACE, self.character)

    def written(self, text: str, places: Sequence[Place]) -> tuple[str, list[Place]]:
        """Write the spaces of a part. Return the new text, and the span of each character in the raw text."""
        chars, own = list[str](), list[Place]()
        for begin, end in self._words(text):
            word = self.replaced(text[begin:end])
            before = (self.separator or "") if chars else ""
            if self.prefix == ALWAYS or (self.prefix == FIRST and places[begin][0] == 0):
                before += "" if word.startswith(self.character) else self.character
            chars += before, word
            own += [*(places[begin] for _ in before), *places[begin:end]]
        return "".join(chars), own

    def _words(self, text: str) -> Iterator[tuple[int, int]]:
        """The spans of the words of a part."""
        if self.separator == KEEPS:
            yield 0, len(text)
            return
        begun = 0
        for at, char in enumerate(text + SPACE):
            if char in WHITE_SPACE:
                if begun < at:
                    yield begun, at
                begun = at + 1


NO_WHITESPACE = Whitespace()
