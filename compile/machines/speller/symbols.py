"""The symbols of a dictionary: its characters, and the same letters in another case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import Array
from fst.automata.trie import Strings
from fst.compile.patterns.code_points import members
from fst.compile.patterns.properties import named
from fst.compile.sources.transducers.hunspell.casing import Casing
from fst.errors import UnsupportedError
from fst.machines.speller.layout import LETTER, MAX_SYMBOLS, PAGE_BITS, SIGNS

ALWAYS = {*"0123456789", *SIGNS.values()}  # characters with a meaning of their own


class Symbols:
    """The symbols of characters.

    Args:
        texts: strings that contain all characters of the dictionary.
        casing: the case of letters.

    Attributes:
        units: the UTF-16 units of the characters, in the order of their symbols, from symbol 1.
        lower, upper: uint16[symbols], the symbols in the other case.
    """

    def __init__(self, texts: Iterable[str], casing: Casing) -> None:
        chars, pairs = ALWAYS.union(*texts), [pair for cased in (casing.lower, casing.upper) for pair in cased.items()]
        while more := {char for pair in pairs if not chars.isdisjoint(pair) for char in pair} - chars:
            chars |= more
        units = {*np.frombuffer("".join(chars).encode("utf-16-le"), "<u2").tolist()}
        self.units = sorted(units)
        if len(self.units) + 1 >= MAX_SYMBOLS:
            raise UnsupportedError(f"the dictionary has {len(self.units):,} different characters; expected fewer than {MAX_SYMBOLS - 1:,}")
        self._numbers = {unit: number for number, unit in enumerate(self.units, 1)}
        self.lower, self.upper = (self._in_case(cased) for cased in (casing.lower, casing.upper))

    def __len__(self) -> int:
        return len(self.units) + 1

    def __getitem__(self, char: str) -> int:
        return self._numbers[ord(char)]

    def of(self, text: str) -> Sequence[int]:
        """The symbols of a text."""
        return [*map(self._numbers.__getitem__, map(ord, text) if text.isascii() else memoryview(text.encode("utf-16-le")).cast("H"))]

    @property
    def has_pairs(self) -> bool:
        """Whether characters after U+FFFF, which are pairs of units, have symbols."""
        return any(0xD800 <= unit < 0xE000 for unit in self.units)

    def known(self, chars: Iterable[str]) -> list[int]:
        """The symbols of characters, without those that have none."""
        return [self._numbers[unit] for unit in map(ord, chars) if unit in self._numbers]

    def strings(self, texts: Sequence[str]) -> Strings:
        """The symbols of many texts, in which units may be separate characters."""
        numbers = np.zeros(1 << 16, np.int64)
        numbers[self.units] = np.arange(1, len(self))
        found = numbers[np.frombuffer("".join(texts).encode("utf-16-le", "surrogatepass"), "<u2")]
        sizes = (len(text) + sum(char > "\uffff" for char in text) if max(text, default="") > "\uffff" else len(text) for text in texts)
        lengths = np.fromiter(sizes, np.int64, len(texts))
        return Strings(found, np.cumsum(lengths) - lengths, lengths)

    def _in_case(self, cased: dict[str, str]) -> NDArray[np.uint16]:
        found = [0, *(self._numbers[ord(cased.get(chr(unit), chr(unit)))] for unit in self.units)]
        return np.array(found, np.uint16)

    def pages(self, word_characters: str) -> tuple[Array, Array]:
        """The arrays ``pages`` and ``blocks`` of a table. `word_characters`: characters of words that are not letters."""
        found = _letters().copy()
        found[[ord(char) for char in word_characters if ord(char) < len(found)]] = LETTER
        found[self.units] |= np.arange(1, len(self), dtype=np.uint16)
        blocks, pages = np.unique(found.reshape(-1, 1 << PAGE_BITS), axis=0, return_inverse=True)
        return pages.ravel().astype(np.uint16), blocks.ravel().astype(np.uint16)


@lru_cache(1)
def _letters() -> NDArray[np.uint16]:
    """For each UTF-16 unit, `LETTER` if it is a letter."""
    found = np.zeros(1 << 16, np.uint16)
    letters = members(named("L"))
    found[letters[letters < len(found)]] = LETTER
    return found
