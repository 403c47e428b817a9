"""The composition fallback: reads texts whose normalisation composes characters or orders marks in several steps, see `fst.composition`.

Nearly all texts need neither. The others are found by their units, and read in plain Python, which is slow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from fst.composition import Composition, Place, Placing
from fst.machines.reading import Symbol
from fst.machines.wordpiece import Tables
from fst.rows import are_fences, are_left
from fst.runtime.fallback import Read, Suspects
from fst.runtime.texts import Ints, Units, units


class CompositionFallback:
    """Reads the texts for which a kernel would find wrong symbols, since it composes nothing, or wrong spans.

    Args:
        tables: the tokenizer's tables.
        composition: composes texts; None if nothing composes.
        placing: finds spans step by step; None if the spans from reading and composing are right.
    """

    is_noted = False

    def __init__(self, tables: Tables, composition: Composition | None, placing: Placing | None = None) -> None:
        self._tables = tables
        self._composition, self._placing = composition, placing
        self._is_left = are_left(tables.classes[0::2])
        self._without_specials = replace(tables, specials=np.full((1, 4), -1, np.int32))
        composing = [(code, code) for code in composition.suspects] if composition else []
        self._composing = Suspects(composing)
        self._suspects = Suspects([*composing, *(placing.suspects if placing else ())])

    def suspected(self, text: Units, starts: Ints, noted: NDArray[np.uint8]) -> NDArray[np.bool_]:  # noqa: ARG002 - of a protocol
        """The texts with suspects, and perhaps a few without."""
        return self._suspects.are_in(text, starts)

    def read(self, texts: Sequence[str]) -> Read:
        """The symbols of texts.

        Special tokens are cut out of the raw text first. The stretches between them are composed; a special token that only appears there
        by composition does not count.
        """
        end = len(self._tables.classes) // 2, (0, 0)
        symbols = [symbol for text in texts for symbol in (*self._symbols(text), end)]
        numbers, places = [number for number, _ in symbols], [first | last << 32 for _, (first, last) in symbols]
        return np.array(numbers, np.uint16), np.array(places, np.uint64)

    def _symbols(self, text: str) -> Iterator[Symbol]:
        # A text that is only read for its spans is not composed, so that its ids do not depend on whether spans are asked for.
        composition = self._composition if self._composing.are_in(units(text), np.array([0, 2 * len(text)]))[0] else None
        start = position = 0
        while position < len(text):
            special = self._tables.special_at(text, position)
            if special is None:
                position += 1
                continue
            yield from self._composed(text, start, position, composition)
            start, number = special
            yield number, (position, start)
            position = start
        yield from self._composed(text, start, len(text), composition)

    def _composed(self, text: str, start: int, end: int, composition: Composition | None) -> Iterator[Symbol]:
        """The symbols of a stretch between special tokens, with their spans in the text."""
        stretch = text[start:end]
        itself = stretch, [(at, at + 1) for at in range(len(stretch))]
        composed, places = composition.apply(stretch) if composition else itself
        read = _without_pairs(self._tables, self._without_specials.read(composed))
        symbols = [(number, (places[first][0], places[last - 1][1])) for number, (first, last) in read]
        left = self._left_places(stretch, sum(bool(self._is_left[number]) for number, _ in symbols))
        for number, own in symbols:
            place = next(left, own) if self._is_left[number] else own
            yield number, (start + place[0], start + place[1])

    def _left_places(self, stretch: str, count: int) -> Iterator[Place]:
        """The spans of the symbols of a stretch that stay in words; none if their number is not `count`, as in a hostile table."""
        places = list(islice(self._placing.places(stretch), count + 1)) if self._placing else []
        return iter(places if len(places) == count else [])


def _without_pairs(tables: Tables, symbols: Iterable[Symbol]) -> list[Symbol]:
    """The symbols without pairs of equal fences side by side, which cancel out."""
    left: list[Symbol] = []
    for number, place in symbols:
        if left and left[-1][0] == number and are_fences(tables.classes[2 * number]):
            left.pop()
        else:
            left.append((number, place))
    return left
