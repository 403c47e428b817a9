"""NFKC of tables whose reference normalizes with Python."""

from __future__ import annotations

import random
import unicodedata

from fst.compile.text.nfkc import nfkc


def test_python() -> None:
    """Texts of all characters that change, compose or are marks become those of Python, if this version assigns the characters."""
    by, draw = nfkc(), random.Random(5)
    found = by.composition
    assert found
    codes = {*found.decompositions, *found.orders, *found.pairs.values(), *(code for pair in found.pairs for code in pair), 0xAC01, 0x1161}
    chars = [char for char in map(chr, sorted(codes)) if unicodedata.category(char) != "Cn"]
    for char in chars:
        assert by.normalized(char)[0] == unicodedata.normalize("NFKC", char), ascii(char)
    for _ in range(3000):
        text = "".join(draw.choices(chars, k=draw.randint(2, 6)))
        assert by.normalized(text)[0] == unicodedata.normalize("NFKC", text), ascii(text)


def test_suspects() -> None:
    """A text without suspects does not change."""
    by, draw = nfkc(), random.Random(6)
    assert by.composition
    others = [code for code in range(0x20, 0x20000) if code not in by.composition.suspects and not 0xD800 <= code < 0xE000]
    for _ in range(500):
        text = "".join(map(chr, draw.choices(others, k=40)))
        assert by.normalized(text)[0] == text
