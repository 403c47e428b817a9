"""Lexicons of lexc by their definition: all paths through the entries, each with its analysis and form."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

SYMBOLS = ("+N", "+Pl", "ab", "@U.F.X@")
ESCAPED = ' !%:;<>"0'


class Entry(NamedTuple):
    """An entry: the strings that it adds to the analysis and to the form, and the lexicon that continues (None: the end)."""

    upper: tuple[str, ...]
    lower: tuple[str, ...]
    continuation: int | None


Lexicons = list[list[Entry]]


def random_lexicons(random: Random) -> Lexicons:
    """Lexicons without cycles, whose entries are sequences of characters and symbols."""

    def side() -> tuple[str, ...]:
        return tuple(random.choices([*"abc" * 4, *ESCAPED, *SYMBOLS], k=random.choice([0, 1, 1, 2, 3])))

    count = random.randint(1, 4)
    found: Lexicons = []
    for number in range(count):
        following = [None, *range(number + 1, count)]
        found.append([Entry(side(), side(), random.choice(following)) for _ in range(random.randint(1, 5))])
    return found


def text_of(lexicons: Lexicons, random: Random) -> str:
    """The lexicons as a file, the first one with the name Root."""
    lines = [f"Multichar_Symbols {' '.join(SYMBOLS)} ! symbols", ""]
    for number, entries in enumerate(lexicons):
        lines.append(f"LEXICON {_name(number)}")
        for upper, lower, continuation in entries:
            both = _written(upper) if upper and upper == lower and random.random() < 0.5 else f"{_written(upper)}:{_written(lower)}"
            info = random.choice(["", ' "any ; string"', " "])
            lines.append(f"  {both}\t{_name(continuation)}{info};{random.choice(['', ' ! a comment ;'])}")
    return "\n".join([*lines, "END", "any text"])


def _name(number: int | None) -> str:
    return "#" if number is None else "Root" if number == 0 else f"L{number}"


def _written(side: tuple[str, ...]) -> str:
    return "".join(part if part in SYMBOLS or part not in ESCAPED else f"%{part}" for part in side)


def pairs(lexicons: Lexicons, number: int | None = 0) -> set[tuple[str, str]]:
    """The pairs of a form and its analysis, for all paths that begin in one lexicon."""
    if number is None:
        return {("", "")}
    found = set()
    for upper, lower, continuation in lexicons[number]:
        for form, analysis in pairs(lexicons, continuation):
            found.add(("".join(lower) + form, "".join(upper) + analysis))
    return found
