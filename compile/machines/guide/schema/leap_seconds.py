"""Parts for the formats with a time of day, with leap seconds: the second 60 of a minute that is 23:59 in UTC.

The local time before a leap second determines the offset: 01:29:60+01:30, for example. An automaton of all local times would have thousands
of states, so each hour, and each minute of it, is a part of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial

from fst.compile.machines.guide.part_builder import PartBuilder
from fst.compile.machines.guide.schema import formats
from fst.compile.machines.guide.schema.string_sets import Strings, pattern_of
from fst.machines.guide.parts import Part

Number = Callable[[Hashable, object, str, Callable[[], Part | None]], int]  # see `Maker.number`

HOURS, MINUTES = 24, 60
LAST = HOURS * MINUTES - 1  # the minute of a day with a leap second, in UTC
TERMS = {Strings(patterns=(pattern_of(name, is_format=True),)): name for name in formats.BEFORE_LEAP_SECOND}


def is_timed(term: Strings) -> bool:
    """Whether a term consists of the strings of a format with a time of day."""
    return bool(term.patterns) and term in TERMS


def timed_part(number: Number, term: Strings) -> Part | None:
    """The part of the strings of such a term, with quotation marks."""
    builder = PartBuilder()
    start, end, last = builder.state(), builder.state(), builder.state()
    name = TERMS[term]
    begun = builder.text(start, b'"')
    usual = builder.node(formats.tree_of(name), begun)
    builder.skip(usual, last)
    day = builder.node(formats.tree_of_pattern(formats.BEFORE_LEAP_SECOND[name]), begun)
    tens = {digit: builder.text(day, b"%d" % digit) for digit in range(3)}
    for hour in range(HOURS):
        after = builder.text(tens[hour // 10], b"%d" % (hour % 10))
        builder.call(after, number(("leap", hour), None, "#", partial(_minutes, number, hour)), last)
    builder.read(last, ord('"'), ord('"'), end)
    return builder.part(start, [end])


def _minutes(number: Number, hour: int) -> Part | None:
    """The rest of a time with a leap second, after its hour."""
    builder = PartBuilder()
    start, end = builder.state(), builder.state()
    begun = builder.text(start, b":")
    tens = {digit: builder.text(begun, b"%d" % digit) for digit in range(6)}
    for minute in range(MINUTES):
        after = builder.text(tens[minute // 10], b"%d" % (minute % 10))
        builder.call(after, number(("leap", hour, minute), None, "#", partial(_offsets, hour, minute)), end)
    return builder.part(start, [end])


def _offsets(hour: int, minute: int) -> Part | None:
    """The rest of a time with a leap second, after its minute: the offset makes it 23:59 in UTC."""
    builder = PartBuilder()
    start, end = builder.state(), builder.state()
    second = builder.node(formats.tree_of_pattern(r":60(?:\.[0-9]+)?"), start)
    ahead = (hour * MINUTES + minute - LAST) % (HOURS * MINUTES)
    for sign, offset in ((b"+", ahead), (b"-", -ahead % (HOURS * MINUTES))):
        builder.text(second, sign + b"%02d:%02d" % divmod(offset, MINUTES), end)
    if not ahead:
        builder.read(second, ord("Z"), ord("Z"), end)
        builder.read(second, ord("z"), ord("z"), end)
    return builder.part(start, [end])
