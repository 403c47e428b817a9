"""Characters for tests of all characters: every character, and a smaller set for tests in many contexts.

Most code points are ideographs, syllables of Hangul, private-use characters, or unassigned. Code points of one kind are treated in the same
way, so the smaller set contains only the ends of each run, and some code points between them.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from unicodedata import category, decomposition

EVERY_CHARACTER = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
ALIKE, FIRST_ALIKE = ("Lo", "Cn", "Co"), "\u3400"  # the categories in long runs of similar characters, and the beginning of the first run


def _is_alike(char: str) -> bool:
    return category(char) in ALIKE and char >= FIRST_ALIKE and not decomposition(char)


@cache
def swept_characters() -> list[str]:
    """The smaller set."""
    alike = [*map(_is_alike, EVERY_CHARACTER)]
    ends = {place for place, (one, next_one) in enumerate(pairwise(alike)) if one != next_one}  # of runs
    return [
        char
        for place, (char, is_alike) in enumerate(zip(EVERY_CHARACTER, alike, strict=True))
        if not is_alike or place in ends or place - 1 in ends or ord(char) % 31 == 0
    ]
