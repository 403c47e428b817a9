"""Arrays whose items are all different, with items from finite sets of strings, numbers and literals."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import cache
from math import comb

import numpy as np

from fst.compile.machines.guide.languages import Language, intersection
from fst.compile.machines.guide.regex import whole
from fst.compile.machines.guide.schema.numbers import compared
from fst.compile.machines.guide.schema.patterns import of_strings
from fst.compile.machines.guide.schema.values import NOTHING, Arrays, Values, arrays
from fst.errors import UnsupportedError

MAX_SETS = 1 << 12  # maximum number of sets of items; each becomes a state


def distinct(term: Arrays) -> Arrays | None:
    """The arrays of a term whose items are all different; None if there are no such arrays."""
    places = len(term.first) + 1 if term.most is None else term.most
    values = {key: each for place in range(min(places, len(term.first) + 1)) for key, each in _single(term.item(place)).items()}
    most = len(values) if term.most is None else min(term.most, len(values))
    if sum(comb(len(values), count) for count in range(most + 1)) > MAX_SETS:
        raise UnsupportedError(f"for more than {MAX_SETS:,} sets of items; use a smaller maxItems, or remove it")
    return arrays(term.first, term.rest, term.least, most, term.some, tuple(values.values()))


def _single(values: Values) -> dict[str | Decimal, Values]:
    """The set of each single value of a set, by key; a key is a literal, a decimal number, or a string of JSON after a quotation mark."""
    strings, numbers = _strings_of(values.strings), _strings_of(intersection(values.numbers, _shortest()))
    if strings is None or numbers is None or values.arrays or values.objects:
        raise UnsupportedError("for items other than a few strings, numbers and literals; list them by enum, or remove it")
    found: dict[str | Decimal, Values] = {literal: replace(NOTHING, literals=frozenset([literal])) for literal in values.literals}
    found |= {Decimal(number.decode()): replace(NOTHING, numbers=compared(Decimal(number.decode()), (0,))) for number in numbers}
    return found | {f'"{text.decode()}': replace(NOTHING, strings=of_strings([text.decode()])) for text in strings}


@cache
def _shortest() -> Language:
    """For each number, only its shortest decimal."""
    return whole(r"0|-?[1-9][0-9]*|-?(0|[1-9][0-9]*)\.[0-9]*[1-9]")


def _strings_of(language: Language) -> list[bytes] | None:
    """The strings of a language; None if there are more than `MAX_SETS`."""
    found = list[bytes]()
    waiting = [] if language.is_empty else [(0, b"")]  # prefixes of strings; none is a prefix of another
    while waiting:
        state, text = waiting.pop()
        if len(text) >= len(language.is_final) or len(found) + len(waiting) > MAX_SETS:  # a string of this length visits a state twice
            return None
        if language.is_final[state]:
            found.append(text)
        after = language.targets[state, language.classes]
        waiting += [(int(after[byte]), text + bytes([byte])) for byte in np.flatnonzero(after >= 0).tolist()]
    return found
