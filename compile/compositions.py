"""What a table needs where composed letters are seen: the characters that may compose, and what becomes of all others on their own."""

from __future__ import annotations

from functools import cache

import numpy as np

from fst.compile import characters
from fst.compile.maps import Map, union
from fst.compile.normalizers import Normalization
from fst.composition import HANGUL, SYLLABLES, TRAILING, TRAILING_COUNT, VOWEL_COUNT, VOWELS, Composition
from fst.errors import UnsupportedError
from fst.tables import CODE_POINTS


def composition(normal: Normalization) -> tuple[Composition, Map]:
    """The composition that normalizers leave, and what becomes of each character in a text without suspects.

    A character of such a text becomes, composed, what it would become if it stood alone: nothing in what any other becomes composes with
    what is before it. Then only the order of marks is left.

    Raises:
        UnsupportedError: a text would not stay as it is if it were normalised once more, which is how a table reads it.
    """
    parts = characters.compatible() if normal.compatible else characters.canonical()
    whole = normal.before.then(parts)
    found = Composition(_lists(normal.before), _lists(_without_syllables(parts)), _orders(), _pairs(), frozenset())
    images = {source: list(map(ord, found.apply(chr(source))[0])) for source in whole.sources.tolist()}
    first = Map.to_lists(images)
    _need_same_again(first, str(normal.composed))
    return Composition(found.first, found.decompositions, found.orders, found.pairs, _suspects(first)), first


def _need_same_again(first: Map, name: str) -> None:
    """Show that what composed text consists of becomes itself."""
    possible = np.ones(CODE_POINTS, bool)
    possible[first.sources] = False
    possible[first.images[first.images >= 0]] = True
    parts = characters.canonical().apply(characters.those("composed"))
    seen = np.zeros(CODE_POINTS, bool)
    seen[characters.canonical().apply(np.flatnonzero(possible))] = True  # -1 is a noncharacter
    possible[characters.those("composed")[np.where(parts >= 0, seen[parts], True).all(axis=1)]] = True
    again = first.apply(np.flatnonzero(possible))
    if np.any(again[:, 0] != np.flatnonzero(possible)) or np.any(again[:, 1:] >= 0):
        raise UnsupportedError(f"normalizer {name} after a normalizer that changes what it has changed")


def _suspects(first: Map) -> frozenset[int]:
    """Characters that become something that composes with what may stand before it."""
    second = np.zeros(CODE_POINTS, bool)
    second[[second for _, second in _pairs()]] = True
    second[VOWELS : VOWELS + VOWEL_COUNT] = second[TRAILING + 1 : TRAILING + TRAILING_COUNT] = True
    found = first.sources[(second[first.images] & (first.images >= 0)).any(axis=1)]
    unchanged = second.copy()
    unchanged[first.sources] = False
    return frozenset(union(found, np.flatnonzero(unchanged)).tolist())


@cache
def _pairs() -> dict[tuple[int, int], int]:
    """What composes, other than syllables: of each composed character, its last mark, and all before it as one character."""
    wholes = [code for code in characters.those("composed").tolist() if not 0 <= code - HANGUL < SYLLABLES]
    parts = [tuple(code for code in row if code >= 0) for row in characters.canonical().apply(np.array(wholes)).tolist()]
    by_parts = dict(zip(parts, wholes, strict=True))
    return {(by_parts.get(found[:-1], found[0]), found[-1]): whole for found, whole in by_parts.items()}


@cache
def _orders() -> dict[int, int]:
    orders = characters.orders()
    return {code: int(orders[code]) for code in np.flatnonzero(orders).tolist()}


def _without_syllables(parts: Map) -> Map:
    kept = (parts.sources < HANGUL) | (parts.sources >= HANGUL + SYLLABLES)
    return Map(parts.sources[kept], parts.images[kept])


def _lists(of: Map) -> dict[int, list[int]]:
    rows = zip(of.sources.tolist(), of.images.tolist(), strict=True)
    return {source: [code for code in row if code >= 0] for source, row in rows}
