"""What the reference does to each character, as ``characters.tsv`` has it: maps, and sets of characters."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from fst.compile.text.maps import Ints, Map
from fst.rows import CODE_POINTS

HANGUL_FIRST = 0xAC00
HANGUL_L, HANGUL_V, HANGUL_T = 0x1100, 0x1161, 0x11A7  # Unicode 3.12: a syllable is a leading consonant, a vowel, maybe a trailing one

Property = list[tuple[int, int, str]]


def those(name: str, value: str | None = None) -> Ints:
    """The code points that have a property, or a value of it, in ascending order.

    >>> [chr(code) for code in those("cjk")[:2]]
    ['㐀', '㐁']
    """
    runs = [np.arange(first, last + 1) for first, last, found in properties()[name] if value in (None, found)]
    return np.concatenate(runs)


@cache
def clean() -> Map:
    """What clean_text does: control characters are dropped, and white space becomes blanks."""
    return Map.constant(those("clean", "drop"), []).then(Map.constant(those("clean", "blank"), [ord(" ")]))


@cache
def spaced() -> Map:
    """What handle_chinese_chars does: blanks around each ideograph."""
    ideographs = those("cjk")
    blanks = np.full(len(ideographs), ord(" "))
    return Map.of(ideographs, np.column_stack([blanks, ideographs, blanks]))


@cache
def lower() -> Map:
    """Lower case."""
    return _spelled("lower")


@cache
def canonical() -> Map:
    """Canonical decomposition, without the ordering that comes after it.

    >>> canonical().apply(np.array([ord("é"), ord("각")])).tolist()
    [[101, 769, -1, -1], [4352, 4449, 4520, -1]]
    """
    syllables = those("canonical", "hangul")
    return _spelled("canonical").then(Map.of(syllables, _parts_of_syllables(syllables)))


@cache
def compatible() -> Map:
    """Compatibility decomposition, likewise."""
    return _spelled("compatible").then(canonical())


@cache
def dropped(name: str) -> Map:
    """The map that drops all characters of a property."""
    return Map.constant(those(name), [])


@cache
def orders() -> NDArray[np.uint8]:
    """uint8[0x110000], the place of each mark in canonical ordering, from 1 on; 0 for everything else."""
    places = np.zeros(CODE_POINTS, np.uint8)
    for first, last, value in properties()["order"]:
        places[first : last + 1] = int(value)
    return places


@cache
def properties() -> dict[str, Property]:
    """The runs of each property: first and last code point, and value."""
    known: dict[str, Property] = {}
    for line in files("fst.compile.text").joinpath("characters.tsv").read_text("ascii").splitlines():
        if not line.startswith("#"):
            name, first, last, value = line.split("\t")
            known.setdefault(name, []).append((int(first, 16), int(last, 16), value))
    return known


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
    index = syllables - HANGUL_FIRST
    trailing = index % 28
    parts = [HANGUL_L + index // 588, HANGUL_V + index % 588 // 28, np.where(trailing, HANGUL_T + trailing, -1)]
    return np.stack(parts, axis=1)
