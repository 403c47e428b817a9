"""What a text goes through before it is read, where normalisation composes letters: see `fst.composition`.

Nearly all texts go through nothing. The others are found by their units, and read in slow, plain Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.composition import Composition, Place
from fst.runtime.second import Read
from fst.runtime.texts import Ints, Units
from fst.tables import Tables, Walk, are_fences

Symbol = tuple[int, Place]  # a class, and where it comes from


class Before:
    """Reads the texts that a kernel would read, or locate, as if nothing in them composed.

    Args:
        tables: of a tokenizer.
        composition: `Composition.stored`.
    """

    is_noted = False

    def __init__(self, tables: Tables, composition: Mapping[str, Any]) -> None:
        self._tables = tables
        self._composition = Composition.from_stored(composition)
        self._without_specials = replace(tables, specials=np.full((1, 4), -1, np.int32))
        self._suspects = np.zeros(1 << 16, bool)
        self._suspects[[_first_unit(code) for code in self._composition.suspects]] = True

    def suspected(self, text: Units, starts: Ints, noted: NDArray[np.uint8]) -> NDArray[np.bool_]:  # noqa: ARG002 - of a protocol
        """Those with suspects, and some that only look like it."""
        found = np.flatnonzero(self._suspects[text])
        return np.diff(np.searchsorted(found, starts)) > 0

    def read(self, texts: Sequence[str]) -> Read:
        """The symbols of texts.

        Special tokens are cut out of the raw text; what stands between them is composed, and there are none in it, whatever it looks like.
        """
        end = len(self._tables.classes) // 2, (0, 0)
        symbols = [symbol for text in texts for symbol in (*self._symbols(text), end)]
        numbers, places = [number for number, _ in symbols], [first | last << 32 for _, (first, last) in symbols]
        return np.array(numbers, np.uint16), np.array(places, np.uint64)

    def _symbols(self, text: str) -> Iterator[Symbol]:
        start = position = 0
        cut = Reader(self._tables)
        while position < len(text):
            special = cut.special(text, position)
            if special is None:
                position += 1
                continue
            yield from self._composed(text, start, position)
            start, number = special
            yield number, (position, start)
            position = start
        yield from self._composed(text, start, len(text))

    def _composed(self, text: str, start: int, end: int) -> Iterator[Symbol]:
        """The symbols of a stretch between special tokens."""
        composed, places = self._composition.apply(text[start:end])
        for number, (first, last) in Reader(self._without_specials).read(composed):
            yield number, (start + places[first][0], start + places[last - 1][1])


class Reader(Walk):
    """A walk that keeps the symbols that it reads, and goes nowhere."""

    def read(self, text: str) -> list[Symbol]:
        """The symbols of a text."""
        self._kept: list[Symbol] = []
        position = 0
        while position < len(text):
            position = self._read(text, position)
        return self._kept

    def special(self, text: str, position: int) -> tuple[int, int] | None:
        """The end and the class of the special token at a position."""
        return self._special(text, position)

    def _step_class(self, number: int) -> None:
        if self._kept and self._kept[-1][0] == number and are_fences(self.tables.classes[2 * number]):
            self._kept.pop()
        else:
            self._kept.append((number, self._place))


def _first_unit(code: int) -> int:
    """The first unit of a character in UTF-16."""
    return code if code < 1 << 16 else 0xD800 + (code - (1 << 16) >> 10)
