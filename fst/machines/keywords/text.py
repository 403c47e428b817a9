"""The text that the automaton of keywords reads: normalized, with folded case, and with a border at both ends of each word.

The compiler changes keywords by the same rules. So the automaton only compares bytes.

1. The text is normalized, see `fst.text.normalizer`. If several characters become a single character, the span of this character covers all
   of them. A span also covers removed characters after it, such as accents; so replacing a match leaves no accent.
2. Each character is folded: all its upper-case and lower-case forms become one character.
3. With whole words, the byte `BORDER` separates a word character from a non-word character and from the ends of the text. UTF-8 does not
   use this byte. A keyword that begins with a word character begins with a border, and a border never occurs inside a word; other keywords
   begin without a border. So the automaton respects whole words when it chooses between matches.

A border counts as a character. The span of a border is from the start of the next character to the end of the previous character. So the
span of a match covers exactly its characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from fst.automata.rows import CODE_POINTS, Array
from fst.core.json_fields import Rule, or_null, stored_as
from fst.tables.header import AddedTokens, form_of
from fst.tables.proof import need
from fst.text.arguments import expansion_bound, prove_normalizer
from fst.text.composition import Images, Place
from fst.text.normalizer import NO_CUTS, Normalizer
from fst.text.whitespace import NO_WHITESPACE

BORDER = 0xFF
WORD = 1 << 21  # the bit above a code point, set for word characters
FOLDED, BORDERED = 2, 2  # maximum number of bytes of folded text, and of bytes of added borders, per byte of rewritten text
ASCII = 128
NO_TOKENS = AddedTokens({}, {}, None, [], [])


def _runs(size: int) -> Rule:
    """The JSON rule for null, or for ascending runs of characters. A run is `size` code points: the first and the last code point of the
    run, then further code points.
    """

    def read(stored: Any) -> Images:
        images = Images.from_stored({"runs": stored}, "runs")
        if any(len(run) != size or run[0] > run[1] or max(run) >= CODE_POINTS for run in images.runs):
            raise ValueError(f"a run of characters does not have {size} code points, or is out of order")
        if any(following[0] <= run[1] for run, following in pairwise(images.runs)):
            raise ValueError("a run of characters does not begin after the one before")
        return images

    return or_null(Rule(lambda value: isinstance(value, list), "a list of runs", read, lambda images: images.runs))


@dataclass(frozen=True)
class KeywordText:
    """The steps from a text to the bytes that the automaton reads. A step that is None is skipped.

    Attributes:
        normalizer: the normalizers.
        folds: a mapping of each character to its folded form.
        words: the word characters, as runs of two code points.
    """

    normalizer: Normalizer | None = stored_as(form_of(Normalizer), "rewriting")
    folds: Images | None = stored_as(_runs(3))
    words: Images | None = stored_as(_runs(2))

    @property
    def folding_bound(self) -> int:
        """The maximum number of bytes of the folded text with borders, per byte of rewritten text."""
        return (FOLDED if self.folds else 1) + (BORDERED if self.words else 0)

    @property
    def expansion_bound(self) -> int:
        """The maximum number of bytes that the automaton reads per byte of text."""
        return (expansion_bound(self.normalizer) if self.normalizer else 1) * self.folding_bound

    def prove(self) -> None:
        """Prove that rewritten texts are not too long, that rewriting adds no spaces, and that ASCII is folded into ASCII.

        So folding at most doubles the number of bytes of a character: a character of two bytes may become a character of four.
        """
        prove_normalizer(self.normalizer, NO_TOKENS)
        by = self.normalizer
        need(by is None or (by.whitespace == NO_WHITESPACE and by.cuts == NO_CUTS), "the normalizer of keywords adds blanks")
        codes = (self.codes()[:ASCII] & (WORD - 1)).astype(np.uint8)
        need(self.folds is None or codes.tobytes() == bytes(range(ASCII)).lower(), "ASCII is not folded to lower case")

    def codes(self) -> Array:
        """uint32[CODE_POINTS], the folded character of each character, with the bit `WORD` if it is a word character."""
        codes = np.arange(CODE_POINTS, dtype=np.uint32)
        for first, last, image in self.folds.runs if self.folds else ():
            codes[first : last + 1] = image
        is_word = np.zeros(CODE_POINTS, np.uint32)
        for first, last in self.words.runs if self.words else ():
            is_word[first : last + 1] = WORD
        return codes | is_word[codes]

    def spelled(self, text: str) -> Spelled:
        """Return a text in the form that the automaton reads. This method is part of the slow walk."""
        places: Sequence[Place] = [(at, at + 1) for at in range(len(text))]
        if self.normalizer:
            length, (text, places) = len(text), self.normalizer.normalized(text)
            places = covering(places, length)
        data, found, was_word, end = bytearray(), list[Place](), False, 0
        for char, place in zip(text, places, strict=True):
            folded = self.folds.of(ord(char))[0] if self.folds else ord(char)
            is_word = self._is_word(folded)
            if is_word != was_word:
                data.append(BORDER)
                found.append((place[0], max(place[0], end)))
            data += chr(folded).encode()
            found.append(place)
            was_word, end = is_word, place[1]
        if was_word:
            data.append(BORDER)
            found.append((end, end))
        return Spelled(bytes(data), found)

    def _is_word(self, code: int) -> bool:
        return self.words is not None and any(first <= code <= last for first, last in self.words.runs)


class Spelled(NamedTuple):
    """A text in the form that the automaton reads.

    Attributes:
        data: UTF-8 with borders.
        places: the span of each character and of each border in the text.
    """

    data: bytes
    places: Sequence[Place]


def covering(places: Sequence[Place], length: int) -> Sequence[Place]:
    """The spans of characters: each span extends to the start of the next span, and the last span extends to the end of the text.

    >>> covering([(0, 1), (2, 3), (2, 3)], 4)
    [(0, 2), (2, 3), (2, 4)]
    """
    following = [*(start for start, _ in places[1:]), length]
    return [(start, max(end, other)) for (start, end), other in zip(places, following, strict=True)] if places else places


PLAIN = KeywordText(None, None, None)
