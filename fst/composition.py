"""Composition: letters and the marks after them become one character. It looks at neighbours, so that it is no part of a table's classes.

Most texts are composed already, and most of what composition could find is a mark after a letter. So characters are told apart beforehand:
a text without *suspects* is composed as soon as its marks are in order, which the classes see to. All others go through `Composition.apply`
before they are read. It is slow, plain Python.

The algorithm is that of The Unicode Standard, 3.11: decompose, order, compose.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

Place = tuple[int, int]

HANGUL = 0xAC00  # The Unicode Standard, 3.12: a syllable is a leading consonant, a vowel, and perhaps a trailing consonant
LEADING, VOWELS, TRAILING = 0x1100, 0x1161, 0x11A7
VOWEL_COUNT, TRAILING_COUNT, SYLLABLES = 21, 28, 11172


NAMES = ("first", "decompositions", "orders", "pairs", "suspects")
MOST = 64  # numbers in a row, but for suspects


@dataclass(frozen=True)
class Composition:
    """What becomes of a text between its first normalizer and the one that composes it.

    Attributes:
        first: what each character becomes before the text is decomposed.
        decompositions: of characters other than syllables, in full.
        orders: of each mark, its place in canonical ordering, from 1 on.
        pairs: of two characters that compose, what they compose.
        suspects: characters that may let a text change beyond the order of its marks.
    """

    first: Mapping[int, Sequence[int]]
    decompositions: Mapping[int, Sequence[int]]
    orders: Mapping[int, int]
    pairs: Mapping[tuple[int, int], int]
    suspects: frozenset[int]

    def stored(self) -> dict[str, list[list[int]]]:
        """The same as JSON has it: rows of numbers."""
        return {
            "first": [[code, *images] for code, images in self.first.items()],
            "decompositions": [[code, *parts] for code, parts in self.decompositions.items()],
            "orders": [[code, order] for code, order in self.orders.items()],
            "pairs": [[*pair, whole] for pair, whole in self.pairs.items()],
            "suspects": [sorted(self.suspects)],
        }

    @classmethod
    def from_stored(cls, stored: Any) -> Composition:
        """What `stored` gave, or something from a stranger.

        Raises:
            ValueError: it is nothing that `stored` gives.
        """
        first, decompositions, orders, pairs, suspects = (_rows(stored, name) for name in NAMES)
        if any(not 1 <= len(row) <= MOST for row in (*first, *decompositions)):
            raise ValueError("a character becomes too much, or is none")
        if any(len(row) != 2 for row in orders) or any(len(row) != 3 for row in pairs) or len(suspects) != 1:
            raise ValueError("a row has not as many numbers as it should")
        return cls(
            {code: images for code, *images in first},
            {code: parts for code, *parts in decompositions},
            dict(map(tuple, orders)),  # type: ignore[arg-type]
            {(first, second): whole for first, second, whole in pairs},
            frozenset(suspects[0]),
        )

    def apply(self, text: str) -> tuple[str, list[Place]]:
        """The composed text, and for each of its characters where it comes from: the first character and one past the last.

        What is composed of several characters is said to come from the first of them, as the reference says it.
        """
        mapped = [(code, (at, at + 1)) for at, char in enumerate(text) for code in self.first.get(ord(char), (ord(char),))]
        composed = self._composed(self._in_order(self._decomposed(code for code, _ in mapped)))
        return "".join(chr(code) for code, _ in composed), list(_places(composed, [place for _, place in mapped]))

    def _decomposed(self, codes: Iterable[int]) -> Iterator[tuple[int, int]]:
        """The parts of characters, each with how many characters there are more of now: the first of each stands for the character."""
        for code in codes:
            parts = _syllable(code) if 0 <= code - HANGUL < SYLLABLES else self.decompositions.get(code, (code,))
            for index, part in enumerate(parts):
                yield part, int(index > 0)

    def _in_order(self, parts: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        for _, run in groupby(parts, lambda part: part[0] in self.orders):
            yield from sorted(run, key=lambda part: self.orders.get(part[0], 0))

    def _composed(self, parts: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        composed: list[tuple[int, int]] = []
        starter, last = -1, 0  # where the letter is that others may be composed with; the place in order of what came after it
        for code, more in parts:
            order = self.orders.get(code, 0)
            blocked = starter < 0 or (last >= order and starter + 1 < len(composed))
            whole = None if blocked else self._pair(composed[starter][0], code)
            if whole is not None:
                composed[starter] = whole, composed[starter][1] + more - 1
                continue
            if not order:
                starter = len(composed)
            composed.append((code, more))
            last = order
        return composed

    def _pair(self, first: int, second: int) -> int | None:
        leading, vowel, trailing = first - LEADING, second - VOWELS, second - TRAILING
        if 0 <= leading * VOWEL_COUNT * TRAILING_COUNT < SYLLABLES and 0 <= vowel < VOWEL_COUNT:
            return HANGUL + (leading * VOWEL_COUNT + vowel) * TRAILING_COUNT
        if 0 <= first - HANGUL < SYLLABLES and not (first - HANGUL) % TRAILING_COUNT and 0 < trailing < TRAILING_COUNT:
            return first + trailing
        return self.pairs.get((first, second))


def _rows(stored: Any, name: str) -> list[list[int]]:
    """Rows of scalar values, or what could be some."""
    rows = stored[name] if isinstance(stored, dict) and name in stored else None
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise ValueError(f"{name} are not rows of numbers")
    if not all(type(code) is int and 0 <= code < 0x110000 and not 0xD800 <= code < 0xE000 for row in rows for code in row):
        raise ValueError(f"{name} are not rows of characters")
    return rows


def _syllable(code: int) -> tuple[int, ...]:
    index, trailing = divmod(code - HANGUL, TRAILING_COUNT)
    parts = LEADING + index // VOWEL_COUNT, VOWELS + index % VOWEL_COUNT
    return (*parts, TRAILING + trailing) if trailing else parts


def _places(composed: Sequence[tuple[int, int]], places: Sequence[Place]) -> Iterator[Place]:
    """Where characters come from, by how many they replace: those that stand for one take the next place, others that of the one before."""
    following = 0
    for _, more in composed:
        if more > 0:
            yield places[following - 1]
            continue
        yield places[following]
        following += 1 - more
