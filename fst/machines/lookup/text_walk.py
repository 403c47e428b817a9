"""The slow walk over running text: longest match, as lt-proc analyses text.

At each position, the walk reads as far as any path allows. A *match* is the longest string that is accepted at the position. In a section
of the kind "standard", a string is accepted only before a character that is no letter; in other sections, it is accepted anywhere. If the
walk stops inside of a word, a match at the beginning of this word is dropped, and the letters from the position on are an unknown token.
Other characters that begin no match belong to no token. An upper-case letter may be read in lower case, too.

The result for a text is a row of ids; positions are characters::

    FIRST_SECTION + section, start, end, piece, …, END, piece, …, END        a match, with the ids of its analyses
    UNKNOWN, start, end                                                      letters without a match

Source: `FSTProcessor::analysis` of lttoolbox 3.7.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from fst.automata import flags
from fst.errors import MAX_QUOTED
from fst.machines.lookup.arcs import Registers, arcs_of, finals_of
from fst.machines.lookup.layout import EPSILON, FIRST_SECTION, LETTER, MAX_ANALYSES, UNITS, UNKNOWN
from fst.machines.lookup.walk import Steps, Symbol, ids_of, symbol_at, units_of

SURROGATES = 0xD800 >> 11

Place = tuple[int, Registers]  # a state and registers


class Match(NamedTuple):
    """The end of the longest match from a position (the position itself: no match), its section, and the end of what any path reads."""

    end: int
    section: int
    reach: int


def tokens(table: Any, text: str, *, limit: int = MAX_ANALYSES) -> Iterator[list[int]]:
    """Yield the ids of each token of a text."""
    units = units_of(text)
    places = [0]  # for each unit, the number of characters before it
    for unit in units:
        places.append(places[-1] + (unit & 0xFC00 != 0xDC00))
    at = 0
    while at < len(units):
        with Steps(text[places[at] : places[at] + MAX_QUOTED + 1]) as steps:
            match = longest(table, units, at, steps)
            end, is_known = _next(table, units, at, match)
            symbols = [*_symbols(table, units, at, end)] if is_known else []
            ids = ids_of(table, symbols, steps, inverse=False, limit=limit, in_text=True) if is_known else []
        if is_known:
            yield [FIRST_SECTION + match.section, places[at], places[end], *ids]
        elif end > at:
            yield [UNKNOWN, places[at], places[end]]
        at = end if end > at else at + 1 + (units[at] & 0xFC00 == 0xD800)


def _next(table: Any, units: Sequence[int], at: int, match: Match) -> tuple[int, bool]:
    """The end of the token at a position, or the position itself if no token begins there; and whether the token is a match."""
    is_inside = is_letter(table, units, match.reach)
    edges = [place - at for place in range(at, match.reach) if not is_letter(table, units, place)]
    is_dropped = is_inside and match.section == 0 and match.end - at > (edges[-1] if edges else 0)
    if match.end > at and not is_dropped:
        return match.end, True
    end = at
    while (is_inside or end < match.reach) and is_letter(table, units, end):
        end += 1
    return end, False


def is_letter(table: Any, units: Sequence[int], at: int) -> bool:
    """Whether the unit at a position exists, and is a part of a letter, a mark or a number."""
    if at >= len(units) or units[at] >> 11 != SURROGATES:
        return at < len(units) and bool(int(table.units[units[at]]) & LETTER)
    first = at - (units[at] & 0xFC00 == 0xDC00)
    code = (units[first] - 0xD800 << 10) + units[first + 1] - 0xDC00 + UNITS
    return int(np.searchsorted(table.letters, code, "right")) % 2 == 1


def _symbols(table: Any, units: Sequence[int], at: int, end: int) -> Iterator[Symbol]:
    while at < end:
        symbol = symbol_at(table, units, at)
        yield symbol
        at = symbol.end


def longest(table: Any, units: Sequence[int], start: int, steps: Steps) -> Match:
    """The longest match at a position."""
    pending: dict[int, set[Place]] = {start: {(int(table.begin()[0]), (0,) * table.metadata.settings.features)}}
    match = Match(start, 0, start)
    while pending:
        at = min(pending)
        steps.add(1)
        places = _closed(table, pending.pop(at), steps)
        match = match._replace(reach=at)
        sections = [section for place in places for section in _sections(table, place)]
        section = max(sections, default=0)
        if at > start and sections and (section or not is_letter(table, units, at)):
            match = Match(at, section, at)
        if at < len(units):
            symbol = symbol_at(table, units, at)
            for label in {symbol.number, symbol.lower} - {EPSILON}:
                found = {target for place in places for target in _targets(table, place, label, steps)}
                if found:
                    pending.setdefault(symbol.end, set()).update(found)
    return match


def _closed(table: Any, places: set[Place], steps: Steps) -> set[Place]:
    """The given places, and the places that arcs that read nothing reach from them."""
    found, new = set(places), [*places]
    while new:
        more = {*_targets(table, new.pop(), EPSILON, steps)} - found
        found |= more
        new += more
    return found


def _sections(table: Any, place: Place) -> Iterator[int]:
    """Yield the sections of the finals of a place whose conditions hold."""
    for final in finals_of(table, place[0]):
        if flags.applied(final.operations, place[1]).registers is not None:
            yield final.section


def _targets(table: Any, place: Place, label: int, steps: Steps) -> Iterator[Place]:
    """Yield the places after the arcs of a place that read a class, and whose conditions hold."""
    for arc in arcs_of(table, place[0], label):
        steps.take(1 + (len(place[1]) >> 6))
        outcome = flags.applied(arc.operations, place[1])
        if outcome.registers is not None:
            yield arc.target, table.alike.registers(outcome.registers, outcome.fixed)
