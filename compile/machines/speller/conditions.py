"""Conditions of affixes whose parts read one UTF-16 unit each, as the symbols of a speller are."""

from __future__ import annotations

from collections.abc import Iterator

from fst.compile.sources.transducers.hunspell.affixes import Condition, Part
from fst.errors import UnsupportedError

HIGH, LOW = (frozenset(map(chr, range(first, first + 0x400))) for first in (0xD800, 0xDC00))  # the first and the last units of pairs
MAX_WAYS = 64  # maximum number of conditions into which a condition is divided


def units_of(text: str) -> str:
    """The UTF-16 units of a text, each as a character."""
    return "".join(map(chr, memoryview(text.encode("utf-16-le")).cast("H"))) if not text.isascii() else text


def in_units(condition: Condition, *, from_end: bool) -> list[Condition]:
    """Divide a condition into conditions whose parts read one unit each: exactly one of them holds if the condition holds, else none.

    Args:
        condition: the condition, whose parts read one character each.
        from_end: whether its parts are in order from the end of a word.
    """
    found: list[Condition] = [()]
    for part in condition:
        ways = [units[::-1] if from_end else units for units in _ways(part)]
        found = [(*before, *units) for before in found for units in ways]
        if len(found) > MAX_WAYS:
            fault = f"a condition of an affix reads characters after U+FFFF in more than {MAX_WAYS} ways"
            raise UnsupportedError(f"{fault}; expected fewer; write it with fewer sets of characters")
    return found


def _ways(part: Part) -> Iterator[tuple[Part, ...]]:
    """The ways in which a part reads a character: one unit, or two."""
    chars = frozenset(part.chars)
    pairs: dict[str, set[str]] = {}
    for units in map(units_of, filter("\uffff".__lt__, chars)):
        pairs.setdefault(units[0], set()).add(units[1])
    single = frozenset(char for char in chars if char <= "\uffff")
    if part.is_negated:
        yield (Part(True, single | HIGH | LOW),)
        yield Part(False, HIGH.difference(pairs)), Part(False, LOW)
    elif single:
        yield (Part(False, single),)
    for high, lows in sorted(pairs.items()):
        yield Part(False, high), Part(False, LOW - lows if part.is_negated else frozenset(lows))
