"""Composition: letters and the marks after them become one character. It looks at neighbours, so that it is no part of a table's classes.

Most texts are composed already, and most of what composition could find is a mark after a letter. So characters are told apart beforehand:
a text without *suspects* is composed as soon as its marks are in order, which the classes see to. All others go through `Composition.apply`
before they are read. It is slow, plain Python.

The algorithm is that of The Unicode Standard, 3.11: decompose, order, compose. Where normalizers do so several times, or only in part, the
places of characters are those of one step after the other: `Placing`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice, repeat
from operator import itemgetter
from typing import Any

Place = tuple[int, int]

HANGUL = 0xAC00  # The Unicode Standard, 3.12: a syllable is a leading consonant, a vowel, and perhaps a trailing consonant
LEADING, VOWELS, TRAILING = 0x1100, 0x1161, 0x11A7
VOWEL_COUNT, TRAILING_COUNT, SYLLABLES = 21, 28, 11172

ITSELF = 0x110000  # no code point
MOST = 64  # numbers in a row, but for suspects; and characters that a text becomes for each that it has, whatever a table says
MOST_STEPS = 100  # as many as a sequence of normalizers may have


@dataclass(frozen=True)
class Images:
    """What characters become, each by itself; all others stay as they are.

    Attributes:
        runs: first and last code point of characters that become the same, then what that is, `ITSELF` standing for each of them;
            ascending.
    """

    runs: Sequence[Sequence[int]]

    def of(self, code: int) -> Sequence[int]:
        """What a character becomes."""
        found = bisect_right(self.runs, code, key=itemgetter(0))
        for _, last, *images in self.runs[found - 1 : found]:
            if code <= last:
                return [code if image == ITSELF else image for image in images]
        return (code,)

    @classmethod
    def from_stored(cls, stored: Any, name: str) -> Images:
        """Runs, or something from a stranger."""
        runs = _rows(stored, name, ITSELF)
        if any(not 2 <= len(run) <= MOST for run in runs):
            raise ValueError("a character becomes too much, or is none")
        return cls(runs)


@dataclass(frozen=True)
class Composition:
    """What becomes of a text between its first normalizer and the one that composes it, or orders its marks.

    Attributes:
        first: what each character becomes before the text is decomposed.
        decompositions: of characters other than syllables, in full.
        orders: of each mark, its place in canonical ordering, from 1 on.
        pairs: of two characters that compose, what they compose. If there are none, nothing composes, nor do syllables.
        suspects: characters that may let a text change beyond the order of its marks.
    """

    first: Images
    decompositions: Mapping[int, Sequence[int]]
    orders: Mapping[int, int]
    pairs: Mapping[tuple[int, int], int]
    suspects: frozenset[int]

    def stored(self) -> dict[str, Any]:
        """The same as JSON has it: rows of numbers."""
        return {
            "first": self.first.runs,
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
        decompositions, orders, pairs, suspects = (_rows(stored, name) for name in ("decompositions", "orders", "pairs", "suspects"))
        if any(not 1 <= len(row) <= MOST for row in decompositions):
            raise ValueError("a character has too many parts")
        if any(len(row) != 2 for row in orders) or any(len(row) != 3 for row in pairs) or len(suspects) != 1:
            raise ValueError("a row has not as many numbers as it should")
        return cls(
            Images.from_stored(stored, "first"),
            {code: parts for code, *parts in decompositions},
            dict(map(tuple, orders)),  # type: ignore[arg-type]
            {(first, second): whole for first, second, whole in pairs},
            frozenset(suspects[0]),
        )

    def apply(self, text: str, most: int | None = None) -> tuple[str, list[Place]]:
        """The composed text, and for each of its characters where it comes from: the first character and one past the last.

        What is composed of several characters is said to come from the first of them, as the reference says it. A text becomes no more
        characters than `most`.
        """
        most = MOST * len(text) if most is None else most
        images = {char: self.first.of(ord(char)) for char in set(text)}
        mapped = list(islice(((code, (at, at + 1)) for at, char in enumerate(text) for code in images[char]), most))
        parts = self._in_order(islice(self._decomposed(code for code, _ in mapped), most))
        composed = self._composed(parts) if self.pairs else list(parts)
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


@dataclass(frozen=True)
class Placing:
    """Where what is left of a text comes from: each step takes the places along that the one before it has left.

    Attributes:
        steps: the normalizers that decompose a text, each with what characters become before it.
        names: of each step, what the normalizer is called. Those of one name differ in `first` alone.
        last: what characters become after the last step, of which nobody needs to know anything but how many of them are left in words.
        suspects: first and last code points of characters by which a text may have other places than those of a single step.
    """

    steps: Sequence[Composition]
    names: Sequence[str]
    last: Images
    suspects: Sequence[Sequence[int]]

    def stored(self) -> dict[str, Any]:
        """The same as JSON has it; what all steps of a name have is there once."""
        named = list(zip(self.names, self.steps, strict=True))
        return {
            "kinds": {name: replace(step, first=Images([])).stored() for name, step in named},
            "steps": [{"name": name, "first": step.first.runs} for name, step in named],
            "last": self.last.runs,
            "suspects": self.suspects,
        }

    @classmethod
    def from_stored(cls, stored: Any) -> Placing:
        """What `stored` gave, or something from a stranger.

        Raises:
            ValueError: it is nothing that `stored` gives.
        """
        last, suspects = Images.from_stored(stored, "last"), _rows(stored, "suspects")
        kinds, steps = stored.get("kinds"), stored.get("steps")
        if not isinstance(kinds, dict) or not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
            raise ValueError("steps are not mappings")
        names = [step.get("name") for step in steps]
        if len(steps) > MOST_STEPS or not all(isinstance(name, str) and name in kinds for name in names):
            raise ValueError("steps are too many, or of no kind")
        if any(len(run) != 2 for run in suspects):
            raise ValueError("a run has not as many numbers as it should")
        known = {name: Composition.from_stored(kind) for name, kind in kinds.items()}
        firsts = [Images.from_stored(step, "first") for step in steps]
        return cls([replace(known[name], first=first) for name, first in zip(names, firsts, strict=True)], names, last, suspects)

    def places(self, text: str) -> Iterator[Place]:
        """Of each symbol that is left in words, the first character that it comes from and one past the last."""
        places, most = [(at, at + 1) for at in range(len(text))], MOST * len(text)
        for step in self.steps:
            text, own = step.apply(text, most)
            places = [(places[first][0], places[last - 1][1]) for first, last in own]
        for char, place in zip(text, places, strict=True):
            yield from repeat(place, len(self.last.of(ord(char))))


def _rows(stored: Any, name: str, highest: int = 0x10FFFF) -> list[list[int]]:
    """Rows of scalar values, or what could be some."""
    rows = stored[name] if isinstance(stored, dict) and name in stored else None
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise ValueError(f"{name} are not rows of numbers")
    if not all(type(code) is int and 0 <= code <= highest and not 0xD800 <= code < 0xE000 for row in rows for code in row):
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
            yield places[max(following - 1, 0)]  # the first one, if a table has it that marks stand before all letters
            continue
        yield places[following]
        following += 1 - more
