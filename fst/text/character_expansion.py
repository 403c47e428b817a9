"""Upper bounds on the rewritten size of one text, from a bound for each character; `fst.text.normalizer` has a single bound for all
characters.

Only few characters become much longer; U+FDFA, for example, becomes 18 letters. So the capacity for a long text is the sum of the bounds of
its characters.

Bounds are computed backwards, from the last step of rewriting to the first. The bytes of a replacement count for the first character of the
replaced string, and the bytes of a composite count for its first part. Cuts and tokens of normalized text are rare, so the sum is simply
multiplied by the largest factor by which cuts and tokens lengthen a text.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np
from numpy.typing import NDArray

from fst.automata.double_array import DoubleArray, character_sizes
from fst.automata.rows import CODE_POINTS
from fst.core.lazy import Lazy
from fst.text.charsmap import Charsmap
from fst.text.composition import HANGUL, ITSELF, LEADING, SYLLABLES, TRAILING, TRAILING_COUNT, VOWEL_COUNT, VOWELS, Composition, Images
from fst.text.edits import REPLACE, RUNS, Edit
from fst.text.normalizer import Normalizer, spread

BLOCK = 1 << 20  # number of bytes of a text that are counted at a time
MAX_PASSES = 8  # maximum number of passes over the pairs that compose; no composite has more marks than this

Bounds = NDArray[np.int64]  # by code point, the maximum number of bytes of the text that replaces the character


class CharacterExpansion:
    """Upper bounds on the numbers of bytes of rewritten texts. `by`: the normalizer. `raw`, `normalized`: the added tokens of raw and of
    normalized text. `token`: the maximum number of bytes of the text that replaces an added token.
    """

    def __init__(self, by: Normalizer, raw: Sequence[str], normalized: Sequence[str], token: int) -> None:
        self._by, self._raw, self._token = by, raw, token
        self._factor = max((ceil(token / len(content.encode())) for content in normalized), default=1) * spread(by)

    def bytes_of(self, text: bytes) -> int:
        """Upper bound on the number of bytes of the rewritten text, without text that is added at its ends. `text`: UTF-8."""
        begin = total = 0
        while begin < len(text):
            end = min(begin + BLOCK, len(text))
            while end < len(text) and text[end] & 0xC0 == 0x80:
                end += 1
            codes = np.frombuffer(text[begin:end].decode().encode("utf-32-le"), "<u4")
            total += int(self._bounds[codes].sum())
            begin = end
        return self._factor * total

    @Lazy
    def _bounds(self) -> Bounds:
        by, bounds, at_ends = self._by, sizes(), 0
        for edit in reversed(by.after):
            bounds, at_ends = edited(edit, bounds, at_ends)
        bounds = mapped(by.last, bounds)
        if by.composition:
            bounds = composed(by.composition, bounds)
        for edit in reversed(by.before):
            bounds, at_ends = edited(edit, bounds, at_ends)
        for content in self._raw:
            first = ord(content[0])
            bounds[first] = max(bounds[first], self._token + at_ends)
        return bounds


def sizes() -> Bounds:
    """The number of UTF-8 bytes of each character."""
    return character_sizes(np.arange(CODE_POINTS))


def edited(edit: Edit | Charsmap, bounds: Bounds, at_ends: int) -> tuple[Bounds, int]:
    """Compute the bounds of characters before an edit from the bounds after the edit. Returns the bounds, and the maximum number of bytes
    that this edit and all later edits add at the ends of a stretch.
    """
    if isinstance(edit, Charsmap):
        return with_strings(edit.strings, bounds), at_ends
    content, found = sum(int(bounds[ord(char)]) for char in edit.content), bounds.copy()
    if edit.kind == REPLACE:
        first = ord(edit.string[0])
        found[first] = max(found[first], content)
    elif edit.kind == RUNS:
        for low, high in edit.runs:
            found[low : high + 1] = np.maximum(found[low : high + 1], content)
    else:
        at_ends += content + 2 * int(bounds[ord(" ")])
    return found, at_ends


def with_strings(strings: DoubleArray, bounds: Bounds) -> Bounds:
    """Compute the bounds of characters before strings are replaced. A character that does not begin a string keeps its bound."""
    found, most = bounds.copy(), int(np.max(-(-bounds // sizes())))
    for codes, lengths in strings.lengths():
        np.maximum.at(found, codes, lengths * most)
    return found


def mapped(images: Images, bounds: Bounds) -> Bounds:
    """Compute the bounds before a mapping: the bound of a character is the sum of the bounds of its image."""
    found = bounds.copy()
    for first, last, *image in images.runs:
        own = slice(first, last + 1)
        found[own] = sum((bounds[own] if part == ITSELF else bounds[part] for part in image), np.zeros(last + 1 - first, np.int64))
    return np.maximum(found, sizes())


def composed(composition: Composition, bounds: Bounds) -> Bounds:
    """Compute the bounds of characters before a composition from the bounds after the composition."""
    if composition.pairs:
        bounds = _before_composing(composition, bounds)
    found, index = bounds.copy(), np.arange(SYLLABLES)
    parts = bounds[LEADING + index // (VOWEL_COUNT * TRAILING_COUNT)] + bounds[VOWELS + index // TRAILING_COUNT % VOWEL_COUNT]
    found[HANGUL : HANGUL + SYLLABLES] = parts + np.where(index % TRAILING_COUNT, bounds[TRAILING + index % TRAILING_COUNT], 0)
    of_parts = found.copy()
    for code, decomposition in composition.decompositions.items():
        found[code] = of_parts[[*decomposition]].sum()
    return mapped(composition.first, np.maximum(found, bounds))


def _before_composing(composition: Composition, bounds: Bounds) -> Bounds:
    """Raise the bound of each character to the highest bound of a composite that begins with it."""
    bounds = bounds.copy()
    firsts, _, wholes = np.array([(*pair, whole) for pair, whole in composition.pairs.items()], np.int64).T
    syllables, leading = bounds[HANGUL : HANGUL + SYLLABLES], bounds[LEADING : LEADING + SYLLABLES // (VOWEL_COUNT * TRAILING_COUNT)]
    syllables[:] = syllables.max()
    leading[:] = np.maximum(leading, syllables[0])
    for _ in range(MAX_PASSES):
        np.maximum.at(bounds, firsts, bounds[wholes])
    if (bounds[firsts] < bounds[wholes]).any():
        bounds[:] = bounds.max()
    return bounds
