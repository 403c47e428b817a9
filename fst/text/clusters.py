"""Extended grapheme clusters: characters that stay together (Unicode Standard Annex 29).

The classes of two neighbours determine whether they stay together. Two rules also depend on earlier characters. A consonant stays with an
earlier consonant if there are only marks between them, of which at least one is a linker. A pictograph stays with an earlier pictograph if
there are only marks and a joiner between them.

The rule for pairs of regional indicators is left out, because it makes no difference for charsmaps: a cluster with two regional indicators
has more than `SHORT` bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CODE_POINTS
from fst.text.composition import HANGUL, SYLLABLES, TRAILING_COUNT

NAMES = (
    *("other", "return", "feed", "control", "prepend", "consonant", "pictograph"),
    *("extend", "linker", "nonjoiner", "joiner", "spacing", "L", "V", "T", "LV", "LVT"),
)
CLASSES = range(len(NAMES))
OTHER, RETURN, FEED, CONTROL, PREPEND, CONSONANT, PICTOGRAPH, EXTEND, LINKER, NONJOINER, JOINER, SPACING, L, V, T, LV, LVT = CLASSES
SYLLABLE = len(NAMES)  # in `Runs`, a syllable, whose class is `LV` or `LVT`
CONTROLS = RETURN, FEED, CONTROL
MARKS = EXTEND, LINKER, NONJOINER, JOINER, SPACING
IN_CONJUNCTS = EXTEND, LINKER, JOINER  # the classes allowed between two consonants, with at least one linker
EXTENDS = EXTEND, LINKER, NONJOINER  # the classes allowed between a pictograph and a joiner
PARTS = {L: (L, V, LV, LVT), LV: (V, T), V: (V, T), LVT: (T,), T: (T,)}  # for Hangul: class → the next classes that stay together with it

# the rules for pairs of classes; the last two also depend on the text before the pair
APART, TOGETHER, IN_CONJUNCT, IN_PICTOGRAPH = range(4)

Runs = Sequence[Sequence[int]]  # each run is three numbers: the first and the last code point of characters with one class, and this class


def of_pair(first: int, second: int) -> int:
    """The rule for the classes of two neighbours."""
    if (first, second) == (RETURN, FEED):
        return TOGETHER
    if first in CONTROLS or second in CONTROLS:
        return APART
    if second in MARKS or first == PREPEND or second in PARTS.get(first, ()):
        return TOGETHER
    if second == CONSONANT and first in IN_CONJUNCTS:
        return IN_CONJUNCT
    return IN_PICTOGRAPH if (first, second) == (JOINER, PICTOGRAPH) else APART


PAIRS = np.array([[of_pair(first, second) for second in CLASSES] for first in CLASSES], np.uint8)


def classes_of(runs: Runs) -> NDArray[np.uint8]:
    """uint8[0x110000], the class of each code point."""
    classes = np.zeros(CODE_POINTS, np.uint8)
    for first, last, kind in runs:
        classes[first : last + 1] = kind
    syllables = np.arange(HANGUL, HANGUL + SYLLABLES)
    kinds = np.where((syllables - HANGUL) % TRAILING_COUNT == 0, LV, LVT).astype(np.uint8)
    classes[syllables] = np.where(classes[syllables] == SYLLABLE, kinds, classes[syllables])
    return classes


def clusters(text: str, classes: NDArray[np.uint8]) -> Iterator[str]:
    """The clusters of a text."""
    kinds, begin = [int(classes[ord(char)]) for char in text], 0
    for at in range(1, len(text)):
        if not is_together(kinds, at):
            yield text[begin:at]
            begin = at
    if text:
        yield text[begin:]


def is_together(kinds: Sequence[int], at: int) -> bool:
    """Whether a character stays together with the previous character; `kinds` are the classes of all characters."""
    found = of_pair(kinds[at - 1], kinds[at])
    if found == IN_CONJUNCT:
        begin = _before(kinds, at, IN_CONJUNCTS)
        return LINKER in kinds[begin:at] and kinds[:begin][-1:] == [CONSONANT]
    if found == IN_PICTOGRAPH:
        return kinds[: _before(kinds, at - 1, EXTENDS)][-1:] == [PICTOGRAPH]
    return found == TOGETHER


def _before(kinds: Sequence[int], at: int, skipped: Sequence[int]) -> int:
    """The start of the run of characters with classes in `skipped` that ends at a position."""
    while at and kinds[at - 1] in skipped:
        at -= 1
    return at
