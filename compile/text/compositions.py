"""Composition, and repeated ordering of marks, which classes of characters cannot express; see `fst.text.composition`.

If a pipeline composes letters, or orders marks in several steps, its table contains these steps (`fst.text.normalizer.NormalizerSteps`) and
the *suspects*: the characters that require them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np

from fst.automata.rows import CODE_POINTS
from fst.compile.text.characters import reference
from fst.compile.text.characters.maps import Ints, Map, counts, union
from fst.compile.text.folding import Normalization, decomposition
from fst.errors import UnsupportedError
from fst.text.composition import (
    HANGUL,
    ITSELF,
    LEADING,
    MAX_ROW,
    SYLLABLES,
    TRAILING,
    TRAILING_COUNT,
    VOWEL_COUNT,
    VOWELS,
    Composition,
    Images,
)


def composition(normal: Normalization) -> tuple[Composition, Map]:
    """The composition step of normalizers, and the map of characters that replaces it in texts without suspects.

    In a text without suspects, no image composes with the character before it, so each character can be composed separately. In such a
    text, only the marks must still be ordered.
    """
    name = str(normal.composed)
    whole = normal.before.then(decomposition(name))
    _need_few([whole])
    found = step_of(normal.before, name)
    rows = whole.apply(whole.sources)
    is_one = counts(rows >= 0) <= 1  # nothing to compose, as for most characters
    single = zip(whole.sources[is_one].tolist(), rows[is_one, 0].tolist(), strict=True)
    several = {source: list(map(ord, found.apply(chr(source))[0])) for source in whole.sources[~is_one].tolist()}
    first = Map.to_lists({source: [code] if code >= 0 else [] for source, code in single} | several)
    _need_same_again(first, name)
    return replace(found, suspects=_suspects(first)), first


def seen_in_spans(normal: Normalization, bare: Ints) -> Sequence[Sequence[int]]:
    """Runs of characters whose symbols may get wrong offsets if marks are ordered only once, as in an alphabet. `normal`: the normalizers.
    `bare`: characters that become only marks, without a letter before these marks.
    """
    is_single = len(normal.steps) == 1
    alone = union(bare, _with_marks_of_their_own(*normal.steps[0])) if is_single else bare
    if len(normal.steps) < 2 and not len(alone):
        return []
    _need_few([before.then(decomposition(name)) for before, name in normal.steps])
    steps = [step_of(before, name) for before, name in normal.steps]
    return [[code, code] for code in alone.tolist()] + ([] if is_single else _seen_in_steps(steps))


def _need_few(steps: Sequence[Map]) -> None:
    """Refuse normalizers if an intermediate step maps a character to more characters than the loader accepts."""
    whole = Map.identity()
    for step in steps:
        whole = whole.then(step)
        most = max(int(counts(of.images >= 0).max(initial=0)) for of in (whole, step))
        if most > MAX_ROW // 2:
            raise UnsupportedError(f"normalizers with a step that makes {most} characters of one: a table has room for {MAX_ROW // 2}")


def _with_marks_of_their_own(before: Map, name: str) -> Ints:
    """Characters that become several characters, with marks after the first one, before a normalizer decomposes the result.

    When these marks are ordered, other marks may get their offsets.
    """
    by, orders = decomposition(name), reference.orders()
    marked = np.append(orders > 0, False)  # the last element, which index -1 reads, is not a mark
    marked[by.sources] = counts(orders[by.images] > 0) > 0
    return before.sources[counts(marked[before.images[:, 1:]]) > 0]


def _seen_in_steps(steps: Sequence[Composition]) -> list[list[int]]:
    """Runs of characters for which several steps may give different offsets from a single step."""
    composing = frozenset(map(chr, seconds().tolist() if any(step.pairs for step in steps) else ()))
    singles = {*map(ord, composing), *_orders(), *(code for step in steps for code in step.decompositions)}
    runs = [(code, code) for code in singles] + [(first, last) for step in steps for first, last, *_ in step.first.runs]
    edges = sorted({edge for first, last in runs for edge in (first, last + 1)})  # between these edges, all characters are equivalent
    return [[first, after - 1] for first, after in pairwise(edges) if _is_seen_in_steps(chr(first), steps, composing)]


def _is_seen_in_steps(char: str, steps: Sequence[Composition], composing: frozenset[str]) -> bool:
    """Whether several steps may give a character different offsets from a single step.

    Offsets may differ if the character composes; if its images contain marks; or if it changes after the first step, either as a mark or as
    a letter that becomes a mark or nothing. The first step orders all other marks, and later steps do not change this order. Marks from
    decomposed letters keep the offset of their letter.
    """
    marks, text = _orders(), char
    for number, step in enumerate(steps):
        decomposing = replace(step, first=Images([]), pairs={})
        for other in text:
            images = [decomposing.apply(chr(code))[0] for code in step.first.of(ord(other))]
            begins = images[0][:1] if images else ""
            if begins in composing or any(ord(part) in marks for image in images[1:] for part in image):
                return True
            if number and ord(text[0]) in marks and images != [other]:
                return True
            if number and ord(other) not in marks and (not images or ord(begins) in marks):
                return True
        text, _ = step.apply(text)
    return False


def _need_same_again(first: Map, name: str) -> None:
    """Refuse normalizers that would change text that they have already composed."""
    possible = np.ones(CODE_POINTS, bool)
    possible[first.sources] = False
    possible[first.images[first.images >= 0]] = True
    parts = reference.canonical().apply(reference.those("composed"))
    seen = np.zeros(CODE_POINTS, bool)
    seen[reference.canonical().apply(np.flatnonzero(possible))] = True  # index -1 is U+10FFFF, a noncharacter
    possible[reference.those("composed")[np.where(parts >= 0, seen[parts], True).all(axis=1)]] = True
    again = first.apply(np.flatnonzero(possible))
    if np.any(again[:, 0] != np.flatnonzero(possible)) or np.any(again[:, 1:] >= 0):
        raise UnsupportedError(f"normalizer {name} and those before it change their own result if it is normalised again")


def _suspects(first: Map) -> frozenset[int]:
    """Characters whose image composes with a character that may precede it."""
    second = np.zeros(CODE_POINTS, bool)
    second[seconds()] = True
    found = first.sources[counts(second[first.images] & (first.images >= 0)) > 0]
    unchanged = second.copy()
    unchanged[first.sources] = False
    return frozenset(union(found, np.flatnonzero(unchanged)).tolist())


def step_of(before: Map, name: str) -> Composition:
    """The composition step of a normalizer that follows a map: decomposition, ordering and composition."""
    pairs = _pairs() if name.endswith("C") else {}
    return Composition(images_of(before), _lists(_without_syllables(decomposition(name))), _orders(), pairs, frozenset())


@cache
def firsts() -> Ints:
    """Characters that compose with a character after them. Syllables of Hangul are left out, because decomposition splits them."""
    return union(np.array([first for first, _ in _pairs()]), np.arange(LEADING, LEADING + SYLLABLES // VOWEL_COUNT // TRAILING_COUNT))


@cache
def seconds() -> Ints:
    """Characters that compose with a character before them."""
    jamo = np.arange(VOWELS, VOWELS + VOWEL_COUNT), np.arange(TRAILING + 1, TRAILING + TRAILING_COUNT)
    return union(np.array([second for _, second in _pairs()]), *jamo)


@cache
def _pairs() -> dict[tuple[int, int], int]:
    """Composing pairs other than syllables: for each composed character, the character without the last mark, and this mark."""
    wholes = [code for code in reference.those("composed").tolist() if not 0 <= code - HANGUL < SYLLABLES]
    parts = [tuple(code for code in row if code >= 0) for row in reference.canonical().apply(np.array(wholes)).tolist()]
    by_parts = dict(zip(parts, wholes, strict=True))
    return {(by_parts.get(found[:-1], found[0]), found[-1]): whole for found, whole in by_parts.items()}


@cache
def _orders() -> dict[int, int]:
    orders = reference.orders()
    return {code: int(orders[code]) for code in np.flatnonzero(orders).tolist()}


def _without_syllables(parts: Map) -> Map:
    kept = (parts.sources < HANGUL) | (parts.sources >= HANGUL + SYLLABLES)
    return Map(parts.sources[kept], parts.images[kept])


def _lists(of: Map) -> dict[int, list[int]]:
    rows = zip(of.sources.tolist(), of.images.tolist(), strict=True)
    return {source: [code for code in row if code >= 0] for source, row in rows}


def images_of(of: Map) -> Images:
    """Convert a map to runs of code points."""
    are_characters = (of.sources < 0xD800) | (of.sources >= 0xE000)
    sources, images = of.sources[are_characters], of.images[are_characters]
    images = np.where(images == sources[:, None], ITSELF, images)
    ends = np.append((np.diff(sources) != 1) | np.any(images[1:] != images[:-1], axis=1), True)
    lasts = np.flatnonzero(ends[: len(images)])
    firsts = np.append(0, lasts + 1)[: len(lasts)]
    rows = zip(sources[firsts].tolist(), sources[lasts].tolist(), images[firsts].tolist(), strict=True)
    return Images([[first, last, *(image for image in row if image >= 0)] for first, last, row in rows])
