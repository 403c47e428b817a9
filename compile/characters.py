"""What normalisation and pre-tokenisation make of each character, composed into one alphabet.

The reference normalises in four passes over the text (clean, isolate CJK, strip accents, lower case) and splits in a fifth. Each is a map
per character, so their composition is one too, apart from the order of combining marks (see `fst.alphabet`).
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from fst.alphabet import ALONE, BLANK, ISOLATED, MAX_SYMBOLS, WORD, Alphabet
from fst.tables import CODE_POINTS

HANGUL_FIRST = 0xAC00
HANGUL_L, HANGUL_V, HANGUL_T = 0x1100, 0x1161, 0x11A7  # Unicode 3.12: a syllable is a leading consonant, a vowel, maybe a trailing one
SPLITS = {"blank": BLANK, "alone": ALONE}

Property = list[tuple[int, int, str]]


def alphabet(
    *,
    clean_text: bool,
    handle_chinese_chars: bool,
    strip_accents: bool,
    lowercase: bool,
    split: bool,
    specials: Mapping[str, int],
) -> Alphabet:
    """The alphabet of the reference's BertNormalizer and, when `split`, BertPreTokenizer."""
    known = _load()
    symbols = np.full((CODE_POINTS, MAX_SYMBOLS), -1, np.int32)
    symbols[:, 0] = np.arange(CODE_POINTS)
    ranks = np.zeros(CODE_POINTS, np.uint8)
    passes = np.zeros(CODE_POINTS, bool)
    if strip_accents:
        _map(symbols, known["strip"])
        for first, last, value in known["rank"]:
            ranks[first : last + 1] = int(value)
        for first, last, _ in known["mark"]:
            passes[first : last + 1] = True
    if lowercase:
        _lower(symbols, known["lower"])
    if handle_chinese_chars:
        for first, last, _ in known["cjk"]:
            _isolate(symbols[first : last + 1], split)
    if clean_text:
        for first, last, value in known["clean"]:
            symbols[first : last + 1] = -1
            if value == "blank":
                symbols[first : last + 1, 0] = ord(" ")
            else:
                passes[first : last + 1] = True
    kinds = np.full(CODE_POINTS, WORD, np.uint8)
    if split:
        for first, last, value in known["split"]:
            kinds[first : last + 1] = SPLITS[value]
    return Alphabet(symbols, kinds, ranks, passes, specials)


def _load() -> dict[str, Property]:
    known: dict[str, Property] = {}
    for line in files("fst.compile").joinpath("characters.tsv").read_text("ascii").splitlines():
        if not line.startswith("#"):
            name, first, last, value = line.split("\t")
            known.setdefault(name, []).append((int(first, 16), int(last, 16), value))
    return known


def _map(symbols: NDArray[np.int32], changes: Property) -> None:
    for first, last, value in changes:
        symbols[first : last + 1] = -1
        if value == "hangul":
            symbols[first : last + 1] = _hangul(np.arange(first, last + 1))
            continue
        for place, code in enumerate(value.split()):
            symbols[first : last + 1, place] = int(code, 16)


def _hangul(syllables: NDArray[np.int64]) -> NDArray[np.int64]:
    index = syllables - HANGUL_FIRST
    trailing = index % 28
    parts = [HANGUL_L + index // 588, HANGUL_V + index % 588 // 28, np.where(trailing, HANGUL_T + trailing, -1)]
    return np.stack(parts, axis=1)


def _lower(symbols: NDArray[np.int32], changes: Property) -> None:
    """Lower each symbol. One character has a lower case of two (U+0130); stripping accents has already taken it apart."""
    lower = np.arange(CODE_POINTS, dtype=np.int32)
    for first, last, value in changes:
        codes = [int(code, 16) for code in value.split()]
        lower[first : last + 1] = codes[0]
        if len(codes) > 1 and symbols[first, 0] == first:
            symbols[first, 1 : len(codes)] = codes[1:]
    symbols[symbols >= 0] = lower[symbols[symbols >= 0]]


def _isolate(symbols: NDArray[np.int32], split: bool) -> None:
    """Put blanks around single symbols: where words are split, that makes each a word of its own."""
    if split:
        symbols[:, 0] += ISOLATED
    else:
        symbols[:, 1] = symbols[:, 0]
        symbols[:, 0] = symbols[:, 2] = ord(" ")
