"""Characters for sweeps: every one, and those of which sweeps in many contexts make do.

Most code points are ideographs, syllables of Hangul, for private use, or no character yet. Those of a kind are treated alike, so a part of
them shows how: the borders of each run, and some between.
"""

from __future__ import annotations

from itertools import pairwise
from unicodedata import category, decomposition

EVERY_CHARACTER = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
ALIKE, FIRST_ALIKE = ("Lo", "Cn", "Co"), "\u3400"  # categories of such runs, and where the first of them begins


def _is_alike(char: str) -> bool:
    return char >= FIRST_ALIKE and category(char) in ALIKE and not decomposition(char)


_BORDERS = {char for pair in pairwise(EVERY_CHARACTER) if _is_alike(pair[0]) != _is_alike(pair[1]) for char in pair}
SWEPT_CHARACTERS = [char for char in EVERY_CHARACTER if not _is_alike(char) or char in _BORDERS or ord(char) % 31 == 0]
