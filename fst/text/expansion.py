"""Upper bounds on the number of UTF-8 output bytes per input byte when characters change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from fst.text.composition import HANGUL, ITSELF, SYLLABLES, Composition, Images

RATIOS = 840  # a common multiple of 1 to 8, the possible byte lengths of one or two characters
OF_SYLLABLE = 3  # the bound for a Hangul syllable, which has at most three parts; each part has as many bytes as the syllable


def of_images(images: Images) -> Fraction:
    """The bound for a mapping of characters. Of a run of characters, the first has the fewest bytes, and so decides the bound."""
    return _most(([first], [first if part == ITSELF else part for part in image]) for first, _, *image in images.runs)


def of_composition(composition: Composition) -> Fraction:
    """The bound for a composition, which consists of a mapping, the decomposition (Hangul syllables last), and the composites."""
    parts = composition.decompositions.values()
    makes_syllables = any(HANGUL <= part < HANGUL + SYLLABLES for part in chain.from_iterable(parts))
    decomposed = _most(([code], parts) for code, parts in composition.decompositions.items())
    decomposed = decomposed * OF_SYLLABLE if makes_syllables else max(decomposed, Fraction(OF_SYLLABLE))
    return of_images(composition.first) * decomposed * _most((pair, [whole]) for pair, whole in composition.pairs.items())


def _most(changes: Iterable[tuple[Sequence[int], Sequence[int]]]) -> Fraction:
    """The bound for changes. A change is a string of code points before, and a string of code points after.

    The bound is at least 1: text that a later change removes needs capacity until then.
    """
    listed = [*changes]
    if not listed:
        return Fraction(1)
    before, after = map(_sizes, zip(*listed, strict=True))
    return max(Fraction(int(np.max(after * RATIOS // before)), RATIOS), Fraction(1))


def _sizes(strings: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """The byte lengths of strings of code points."""
    codes, lengths = np.array([*chain.from_iterable(strings)], np.int64), np.array([*map(len, strings)])
    ends = np.cumsum(lengths)
    sums = np.cumsum(np.append(0, 1 + (codes >= 0x80).astype(np.int64) + (codes >= 0x800) + (codes >= 0x10000)))
    sizes: NDArray[np.int64] = sums[ends] - sums[ends - lengths]
    return sizes
