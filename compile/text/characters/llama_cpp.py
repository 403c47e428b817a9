"""The characters of llama.cpp, whose categories are those of Unicode 15.1, and the normalizer of its vocabularies of the kind bert.

Source: ``src/llama-vocab.cpp`` and ``src/unicode.cpp`` of llama.cpp.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CODE_POINTS
from fst.compile.patterns import properties
from fst.compile.patterns.code_points import members, of_runs
from fst.compile.text.characters import reference
from fst.compile.text.characters.maps import Ints, Map, closed_up

# The characters of Unicode 16 that are unassigned in Unicode 15.1.
ADDED = """
897 1B4E-1B4F 1B7F 1C89-1C8A 2427-2429 31E4-31E5 A7CB-A7CD A7DA-A7DC 105C0-105F3 10D40-10D65 10D69-10D85 10D8E-10D8F 10EC2-10EC4 10EFC
11380-11389 1138B 1138E 11390-113B5 113B7-113C0 113C2 113C5 113C7-113CA 113CC-113D5 113D7-113D8 113E1-113E2 116D0-116E3 11BC0-11BE1
11BF0-11BF9 11F5A 13460-143FA 16100-16139 16D40-16D79 18CFF 1CC00-1CCF9 1CD00-1CEB3 1E5D0-1E5FA 1E5FF 1F8B2-1F8BB 1F8C0-1F8C1 1FA89
1FA8F 1FABE 1FAC6 1FADC 1FADF 1FAE9 1FBCB-1FBEF
"""
# Ideographs, each a word. The gap from 2B820 to 2B91F is one of llama.cpp.
IDEOGRAPHS = "3400-4DBF 4E00-9FFF F900-FAFF 20000-2A6DF 2A700-2B73F 2B740-2B81F 2B920-2CEAF 2F800-2FA1F"
REPLACEMENT = 0xFFFD


@cache
def added() -> Ints:
    """The characters that are unassigned in Unicode 15.1."""
    return _codes(ADDED)


@cache
def bert(lowercase: bool, strip_accents: bool) -> Map:
    """The map of the normalizer: whitespace becomes a space, and a space is added on both sides of punctuation and ideographs.

    With `strip_accents`, a character becomes the first character of its decomposition, and all marks are dropped. Lower case is one
    character, too.

    >>> [*map(chr, bert(True, True).apply(np.array([ord("É")]))[0, :1])]
    ['e']
    """
    codes = np.arange(CODE_POINTS)
    base = _first(reference.canonical()) if strip_accents else codes
    image = (_first(reference.lower(), "Cn") if lowercase else codes)[base]
    white, alone, dropped = _has("White_Space"), _has("P"), _has("Cc", "Cf", "Co", *(["M"] if strip_accents else []))
    alone[_codes(IDEOGRAPHS)] = True
    alone[:0x7F] |= _has("S")[:0x7F]
    dropped[[0, REPLACEMENT]] = True
    white, alone, dropped = white[base], alone[base], dropped[base]
    changed = np.flatnonzero(white | alone | dropped | (image != codes))
    space = np.where(alone & ~white, ord(" "), -1)
    image = np.select([white, dropped], [ord(" "), -1], image)
    return Map.of(changed, *closed_up(np.stack([space, image, space], axis=1)[changed]))


def _codes(runs: str) -> Ints:
    edges = [(int(first, 16), int(last or first, 16)) for first, _, last in (each.partition("-") for each in runs.split())]
    return members(of_runs(edges))


def _first(of: Map, *but: str) -> Ints:
    """int64[0x110000], the first character of each image; characters of Unicode 16, and of the categories `but`, do not change."""
    found = np.arange(CODE_POINTS)
    found[of.sources] = of.images[:, 0]
    kept = np.concatenate([added(), *(members(properties.named(name)) for name in but)])
    found[kept] = kept
    return found


def _has(*names: str) -> NDArray[np.bool_]:
    """bool[0x110000], whether each character has one of the properties."""
    found = np.zeros(CODE_POINTS, np.bool_)
    for name in names:
        found[members(properties.named(name))] = True
    found[added()] = False
    return found
