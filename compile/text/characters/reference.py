"""The maps and the sets of characters that `tokenizers` uses, read from ``characters.tsv``."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CODE_POINTS
from fst.compile.text.characters.maps import Ints, Map
from fst.text.composition import HANGUL, LEADING, TRAILING, TRAILING_COUNT, VOWEL_COUNT, VOWELS

Property = list[tuple[int, int, str]]


def those(name: str, value: str | None = None) -> Ints:
    """The code points with a property, or with one value of the property, in ascending order.

    >>> [chr(code) for code in those("cjk")[:2]]
    ['㐀', '㐁']
    """
    runs = [np.arange(first, last + 1) for first, last, found in properties()[name] if value in (None, found)]
    return np.concatenate(runs)


@cache
def clean() -> Map:
    """The map of clean_text, which drops control characters and turns whitespace into spaces."""
    return _cleaned("clean")


@cache
def nmt() -> Map:
    """The map of Nmt, which drops some control characters and turns some characters into spaces."""
    return _cleaned("nmt")


@cache
def spaced() -> Map:
    """The map of handle_chinese_chars, which adds spaces around each ideograph."""
    ideographs = those("cjk")
    whitespace = np.full(len(ideographs), ord(" "))
    return Map.of(ideographs, np.column_stack([whitespace, ideographs, whitespace]))


@cache
def lower() -> Map:
    """The map of Lowercase."""
    return _spelled("lower")


@cache
def canonical() -> Map:
    """The map of canonical decomposition, without the ordering that follows it.

    >>> canonical().apply(np.array([ord("é"), ord("각")])).tolist()
    [[101, 769, -1, -1], [4352, 4449, 4520, -1]]
    """
    syllables = those("canonical", "hangul")
    return _spelled("canonical").then(Map.of(syllables, _parts_of_syllables(syllables)))


@cache
def compatible() -> Map:
    """The map of compatibility decomposition, without the ordering that follows it."""
    return _spelled("compatible").then(canonical())


@cache
def dropped(name: str) -> Map:
    """The map that drops all characters with a property."""
    return Map.constant(those(name), [])


@cache
def orders() -> NDArray[np.uint8]:
    """uint8[0x110000], the rank by which canonical ordering sorts each mark, from 1; 0 for all other characters."""
    places = np.zeros(CODE_POINTS, np.uint8)
    for first, last, value in properties()["order"]:
        places[first : last + 1] = int(value)
    return places


@cache
def properties(name: str = "characters.tsv") -> dict[str, Property]:
    """The runs of each property in a file of this folder, each with its first and last code point and its value."""
    known: dict[str, Property] = {}
    for line in files("fst.compile.text.characters").joinpath(name).read_text("ascii").splitlines():
        if not line.startswith("#"):
            kind, first, last, value = line.split("\t")
            known.setdefault(kind, []).append((int(first, 16), int(last, 16), value))
    return known


def _cleaned(name: str) -> Map:
    """The map of a property with the values `drop` and `blank`."""
    return Map.constant(those(name, "drop"), []).then(Map.constant(those(name, "blank"), [ord(" ")]))


def _spelled(name: str) -> Map:
    """The map of a property whose values are code points."""
    changes = {
        code: [int(image, 16) for image in value.split()]
        for first, last, value in properties()[name]
        if value != "hangul"
        for code in range(first, last + 1)
    }
    return Map.to_lists(changes)


def _parts_of_syllables(syllables: Ints) -> Ints:
    index, trailing = np.divmod(syllables - HANGUL, TRAILING_COUNT)
    leading, vowel = np.divmod(index, VOWEL_COUNT)
    parts = [LEADING + leading, VOWELS + vowel, np.where(trailing, TRAILING + trailing, -1)]
    return np.stack(parts, axis=1)
