"""The case of letters in a table, and conversions of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from fst.machines.speller.layout import PAGE_BITS, SYMBOL

LOWER, INITIAL, UPPER, MIXED, MIXED_INITIAL = range(5)  # kinds of words: no capitals, one at the beginning, only capitals, others
Conversions = Mapping[str, Sequence[str]]


class Letters:
    """The case of letters: that of the dictionary, or of Unicode for letters that the dictionary does not have.

    Args:
        table: a table of a dictionary.

    Attributes:
        texts: for each symbol of the table, its character.
        strings: the strings of the table.
    """

    def __init__(self, table: Any) -> None:
        units = table.blocks.astype(np.int64).reshape(-1, 1 << PAGE_BITS)[table.pages].ravel() & SYMBOL
        self.texts = [""] * len(table.lower)
        for unit in np.flatnonzero(units).tolist():
            self.texts[units[unit]] = chr(unit)
        chars = [self.texts[symbol] for symbol in table.strings.tolist()]
        self.strings = ["".join(chars[start:end]) for start, end in pairwise(table.string_ends.tolist())]
        self._lower, self._upper = (
            {self.texts[at]: self.texts[other] for at, other in enumerate(case.tolist()) if at} for case in (table.lower, table.upper)
        )
        self._is_turkic = bool(table.named_options.is_turkic)

    def _in_case(self, text: str, known: Mapping[str, str], other: Any) -> str:
        return "".join([known[char] if char in known else (changed if len(changed := other(char)) == 1 else char) for char in text])

    def lowered(self, text: str) -> str:
        """A text in lower case."""
        return self._in_case(text, self._lower, str.lower)

    def raised(self, text: str) -> str:
        """A text in upper case."""
        return self._in_case(text, self._upper, str.upper)

    def capitalized(self, text: str) -> str:
        """A text with its first letter in upper case."""
        return self.raised(text[:1]) + text[1:]

    def capital(self, letter: str) -> str:
        """The capital of a letter; in Turkic languages, without their rules for "i"."""
        return "I" if self._is_turkic and letter in "iı" else self.raised(letter)

    def kind(self, text: str) -> int:
        """The kind of a word by its capitals."""
        lower, upper = self.lowered(text), self.raised(text)
        capitals = [char != other for char, other in zip(text, lower, strict=True)]
        if not any(capitals):
            return LOWER
        if sum(capitals) == 1 and capitals[0]:
            return INITIAL
        if sum(capitals) + sum(one == other for one, other in zip(lower, upper, strict=True)) == len(text):
            return UPPER
        return MIXED_INITIAL if capitals[0] else MIXED


def converted(word: str, conversions: Conversions) -> str:
    """A word after conversions (ICONV, OCONV): at each place, the longest string is replaced."""
    if not conversions:
        return word
    found, place = list[str](), 0
    while place < len(word):
        ends = range(len(word), place, -1)
        string = next((word[place:end] for end in ends if word[place:end] in conversions), "")
        output = _output(conversions[string], place == 0, place + len(string) == len(word)) if string else ""
        found.append(output or word[place])
        place += len(string) if output else 1
    return "".join(found)


def _output(replacements: Sequence[str], is_first: bool, is_last: bool) -> str:
    """The replacement of a string at the beginning, inside or at the end of a word."""
    inside, at_start, at_end, entire = replacements
    if is_first and is_last:
        return entire or at_end or at_start or inside
    return (at_start if is_first else at_end if is_last else "") or inside
