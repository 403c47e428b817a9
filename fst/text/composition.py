"""Composition: a letter and the marks after it become one character. Composition depends on adjacent characters, so classes of characters
cannot express it.

Most texts are composed already. *Suspects* are the characters that composition could change. In a text without suspects, only marks must be
sorted, which WordPiece's kernels do. Every other text is rewritten by the kernels of `fst.runtime.text.kernels.composition`;
`Composition.apply` is their specification.

The algorithm follows The Unicode Standard, 3.11: decompose, order, compose. If normalizers compose several times, each composition is a
step, see `fst.text.normalizer.NormalizerSteps`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.automata.matcher import NO_NODE, hashed_edges
from fst.automata.rows import CODE_POINTS, Array

Place = tuple[int, int]  # a span: the index of the first character, and the index after the last character

HANGUL = 0xAC00  # The Unicode Standard, 3.12: a syllable is a leading consonant, a vowel, and optionally a trailing consonant
LEADING, VOWELS, TRAILING = 0x1100, 0x1161, 0x11A7
VOWEL_COUNT, TRAILING_COUNT, SYLLABLES = 21, 28, 11172

ITSELF = CODE_POINTS  # in an image, instead of the mapped character; this number is one past the last code point
MAX_ROW = 64  # maximum length of a stored row, except for suspects; also the largest factor by which a text may become longer
NO_ASCII = 0xFF
FIRST_PART = 1 << 21  # the bit above a code point, set for the first part of a character


@dataclass(frozen=True)
class Images:
    """A mapping of each character to its image, which is zero or more characters. Characters outside all runs map to themselves.

    Attributes:
        runs: ascending rows: the first and the last code point of characters with one image, then this image. `ITSELF` in an image means
            the mapped character.
    """

    runs: Sequence[Sequence[int]]

    def of(self, code: int) -> Sequence[int]:
        """The image of a character."""
        found = bisect_right(self.runs, code, key=itemgetter(0))
        for _, last, *images in self.runs[found - 1 : found]:
            if code <= last:
                return [code if image == ITSELF else image for image in images]
        return (code,)

    @classmethod
    def from_stored(cls, stored: Any, name: str) -> Images:
        """Read the mapping from its JSON form, which contains the runs."""
        runs = _rows(stored, name, ITSELF)
        if any(not 2 <= len(run) <= MAX_ROW for run in runs):
            raise ValueError(f"a run in {name!r} has fewer than 2 or more than {MAX_ROW} numbers")
        return cls(runs)


@dataclass(frozen=True)
class Composition:
    """All normalizers up to the normalizer that composes a text or orders its marks, merged into a single step.

    Attributes:
        first: the mapping that is applied before decomposition.
        decompositions: the full decomposition of each character that decomposes, except Hangul syllables.
        orders: the rank of each mark in canonical ordering, at least 1.
        pairs: the composite of each pair of characters that composes. Without pairs, nothing composes, not even Hangul syllables.
        suspects: the characters that may cause a change of a text in more than the order of its marks.
    """

    first: Images
    decompositions: Mapping[int, Sequence[int]]
    orders: Mapping[int, int]
    pairs: Mapping[tuple[int, int], int]
    suspects: frozenset[int]

    def stored(self) -> dict[str, Any]:
        """Return the JSON form: rows of numbers."""
        return {
            "first": self.first.runs,
            "decompositions": [[code, *parts] for code, parts in self.decompositions.items()],
            "orders": [[code, order] for code, order in self.orders.items()],
            "pairs": [[*pair, whole] for pair, whole in self.pairs.items()],
            "suspects": [sorted(self.suspects)],
        }

    @classmethod
    def from_stored(cls, stored: Any) -> Composition:
        """Read the composition from its JSON form."""
        decompositions, orders, pairs, suspects = (_rows(stored, name) for name in ("decompositions", "orders", "pairs", "suspects"))
        if any(not 1 <= len(row) <= MAX_ROW for row in decompositions):
            raise ValueError(f"a decomposition has more than {MAX_ROW} numbers, or none")
        if any(len(row) != 2 for row in orders) or any(len(row) != 3 for row in pairs):
            raise ValueError("a row of 'orders' has other than 2 numbers, or one of 'pairs' other than 3")
        if len(suspects) != 1:
            raise ValueError(f"'suspects' has {len(suspects)} rows; expected 1")
        return cls(
            Images.from_stored(stored, "first"),
            {code: parts for code, *parts in decompositions},
            dict(map(tuple, orders)),  # type: ignore[arg-type]
            {(first, second): whole for first, second, whole in pairs},
            frozenset(suspects[0]),
        )

    def apply(self, text: str, most: int | None = None) -> tuple[str, list[Place]]:
        """Compose a text. `text`: a stretch between special tokens. `most`: the maximum number of characters in the result. Returns the
        composed text, and the span of each character. As in the reference, a composite has the span of its first part.
        """
        most = MAX_ROW * len(text) if most is None else most
        images = {char: self.first.of(ord(char)) for char in set(text)}
        mapped = list(islice(((code, (at, at + 1)) for at, char in enumerate(text) for code in images[char]), most))
        parts = self._in_order(islice(self._decomposed(code for code, _ in mapped), most))
        composed = self._composed(parts) if self.pairs else list(parts)
        return "".join(chr(code) for code, _ in composed), list(_places(composed, [place for _, place in mapped]))

    def _decomposed(self, codes: Iterable[int]) -> Iterator[tuple[int, int]]:
        """The parts of characters, and the number of characters that each part adds: 0 for a first part, 1 for other parts."""
        for code in codes:
            parts = _syllable(code) if 0 <= code - HANGUL < SYLLABLES else self.decompositions.get(code, (code,))
            for index, part in enumerate(parts):
                yield part, int(index > 0)

    def _in_order(self, parts: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        for _, run in groupby(parts, lambda part: part[0] in self.orders):
            yield from sorted(run, key=lambda part: self.orders.get(part[0], 0))

    def _composed(self, parts: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        composed: list[tuple[int, int]] = []
        starter, last = -1, 0  # the index of the letter with which marks compose; the rank of the previous character
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


NOT_COMPOSED = Composition(Images([]), {}, {}, {}, frozenset())


def _rows(stored: Any, name: str, highest: int = CODE_POINTS - 1) -> list[list[int]]:
    """Return the rows that the JSON form contains under a name, after a check."""
    rows = stored[name] if isinstance(stored, dict) and name in stored else None
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise ValueError(f"{name!r} is not a list of rows")
    if not all(type(code) is int and 0 <= code <= highest and not 0xD800 <= code < 0xE000 for row in rows for code in row):
        raise ValueError(f"{name!r} holds values that are not code points of characters")
    return rows


def _syllable(code: int) -> tuple[int, ...]:
    index, trailing = divmod(code - HANGUL, TRAILING_COUNT)
    parts = LEADING + index // VOWEL_COUNT, VOWELS + index % VOWEL_COUNT
    return (*parts, TRAILING + trailing) if trailing else parts


def _places(composed: Sequence[tuple[int, int]], places: Sequence[Place]) -> Iterator[Place]:
    """The spans of composed characters: a replacing character has the next span, an added character the span of the character before it."""
    following = 0
    for _, more in composed:
        if more > 0:
            yield places[max(following - 1, 0)]  # `max` guards against a hostile table with marks before all letters
            continue
        yield places[following]
        following += 1 - more


def lists_of(images: Images, decompositions: Mapping[int, Sequence[int]]) -> tuple[Array, Array, Array]:
    """Combine a mapping of characters and the decomposition after it, in three fields of `NormalizerArguments`."""
    numbers, lists = np.zeros(CODE_POINTS, np.uint16), list[list[int]]([[]])
    known: dict[tuple[int, ...], int] = {}

    def number_of(parts: Sequence[int]) -> int:
        listed = [part | FIRST_PART * (not index) for code in parts for index, part in enumerate(_parts(code, decompositions))]
        number = known.setdefault(tuple(listed), len(lists))
        if number == len(lists):
            lists.append(listed)
        return number

    for code in decompositions:
        numbers[code] = number_of([code])
    for first, last, *image in images.runs:
        numbers[first : last + 1] = number_of(image)
        if ITSELF in image:
            for code in [code for code in decompositions if first <= code <= last]:
                numbers[code] = number_of([code if part == ITSELF else part for part in image])
    flat = [part for listed in lists for part in listed]
    return numbers, np.cumsum([len(listed) for listed in lists], dtype=np.uint32), np.array(flat, np.uint32)


def ascii_of(last: Images, composition: Composition) -> NDArray[np.uint8]:
    """The ASCII character that each ASCII character becomes. If characters compose, the result is `NO_ASCII` for all characters."""
    images = [last.of(code) for code in range(128)]
    is_alone = [
        not composition.pairs
        and code not in composition.decompositions
        and code not in composition.orders
        and tuple(composition.first.of(code)) == (code,)
        and len(image) == 1
        and image[0] < 128
        for code, image in enumerate(images)
    ]
    return np.array([image[0] if alone else NO_ASCII for alone, image in zip(is_alone, images, strict=True)], np.uint8)


def _parts(code: int, decompositions: Mapping[int, Sequence[int]]) -> Sequence[int]:
    return decompositions.get(code, (code,))


def ranks_of(composition: Composition) -> NDArray[np.uint8]:
    """The rank of each code point in canonical ordering; 0 for characters that are not marks."""
    ranks = np.zeros(CODE_POINTS, np.uint8)
    ranks[[*composition.orders]] = [*composition.orders.values()]
    return ranks


def joining_of(composition: Composition) -> NDArray[np.bool_]:
    """bool[0x110000], the characters that may affect the text before them: their parts begin with a mark or with the second part of a
    composite, or there are no parts.
    """
    numbers, list_ends, lists = lists_of(composition.first, composition.decompositions)
    joining, starts = ranks_of(composition) > 0, np.arange(CODE_POINTS)
    if composition.pairs:
        joining[[second for _, second in composition.pairs]] = True
        joining[VOWELS : VOWELS + VOWEL_COUNT] = joining[TRAILING : TRAILING + TRAILING_COUNT] = True
    changed = np.flatnonzero(numbers)
    begins, ends = list_ends[numbers[changed] - 1], list_ends[numbers[changed]]
    parts = np.append(lists, 0)[begins] & ~np.uint32(FIRST_PART)
    starts[changed] = np.where(parts == ITSELF, changed, parts)
    found = joining[starts]
    found[changed[begins == ends]] = True
    return found


def pairs_of(composition: Composition) -> NDArray[np.uint32]:
    """The composite of two characters, in the form of `fst.automata.matcher.Matcher.edges`."""
    firsts, seconds = np.array([(0, 0), *composition.pairs], np.int64).T
    edges = hashed_edges(firsts, seconds)
    filled = edges[:, 0] != NO_NODE
    edges[filled, 2] = np.array([0, *composition.pairs.values()])[edges[filled, 2]]
    return edges
