"""Whether a word is correct: conversions, dots, numbers, forms by case, and breaks [spell].

Kernels check nothing, and require a table that has passed `Table.prove`.
"""

from __future__ import annotations

from fst.core.jit import inlined, part
from fst.machines.speller.kernels.affixes import string_at
from fst.machines.speller.kernels.constants import (
    ALL_CAPITALS,
    CAPITALS,
    FORBIDDEN_INFO,
    I0,
    LIMIT,
    LOWER,
    MAX_BYTES,
    MOST_BREAKS,
    MOST_DEPTH,
    NONE,
    RIGHT,
    STEPS,
    SYMBOL,
    TEXT,
    TEXT_SIZE,
    UNKNOWN,
    WARNS,
    WRONG,
)
from fst.machines.speller.kernels.forms import entry_by_case
from fst.machines.speller.kernels.stems import bits_of
from fst.machines.speller.kernels.text import (
    cleaned,
    converted,
    has_ignored,
    in_title,
    is_number,
    is_too_long,
    kind_of,
    occurs,
    place_of,
    without_ignored,
)


@part
def asked(first, last, free, table, work):
    """Whether a word is correct if it is not broken: `WRONG`, `RIGHT`, or `UNKNOWN` if parts of the word may be correct. Returns also the
    bounds of the word that may be broken, and the end of the used part of `work.text`.
    """
    options, registers, start, end = table.options, work.registers, first, last
    registers.steps -= 1
    if registers.steps < 0 or registers.depth > MOST_DEPTH or free + 2 * LIMIT > TEXT_SIZE:
        return WRONG, start, end, free
    if options.conversions < options.conversions_end:
        start, end = free, converted(first, last, free, table, work)
        if end == NONE:
            return WRONG, start, end, free
        free = end
    if has_ignored(start, end, table, work):
        start, end = free, without_ignored(start, end, free, table, work)
        free = end
    start, end, dots = cleaned(start, end, table, work)
    if start == end or is_number(start, end, table, work):
        return RIGHT, start, end, free
    kind = kind_of(start, end, table, work)
    registers.info = 0 if kind == LOWER else CAPITALS
    entry = entry_by_case(start, end, kind, dots, table, work)
    if entry != NONE:
        return WRONG if options.forbid_warn and bits_of(entry, table) & WARNS else RIGHT, start, end, free
    if registers.info & FORBIDDEN_INFO or has_many_breaks(start, end, table, work):
        return WRONG, start, end, free
    if kind == ALL_CAPITALS:
        start, end, free = free, free + end - start, in_title(start, end, free, table, work)
    return UNKNOWN, start, end, free


@part
def has_many_breaks(start, end, table, work):
    """Whether a word has more than `MOST_BREAKS` break points, so that it is not broken."""
    count = 0
    for pattern in range(table.options.breaks, table.options.breaks_end):
        low, high = string_at(pattern, table)
        place = place_of(pattern, end, start, table, work)
        while place < end:
            count += 1
            place = place_of(pattern, end, place + high - low, table, work)
    return count > MOST_BREAKS


@inlined
def closed(work):
    """Return True, and leave a level of recursion."""
    work.registers.depth -= 1
    return True


@part
def is_correct(first, last, free, table, work):
    """Whether a word is correct [spell]. `first`, `last`: the word in `work.text`. `free`: the end of the used part of `work.text`."""
    registers, options = work.registers, table.options
    verdict, start, end, free = asked(first, last, free, table, work)
    if verdict != UNKNOWN:
        return verdict == RIGHT
    registers.depth += 1
    for pattern in range(options.breaks, options.breaks_end):
        low, high = string_at(pattern, table)
        size = high - low
        if size == 1 or size > end - start:
            continue
        begins = table.pool[table.places.strings + low] == options.caret and occurs(low + 1, high, start, work, table)
        if begins and is_correct(start + size - 1, end, free, table, work):
            return closed(work)
        ends = table.pool[table.places.strings + high - 1] == options.dollar and occurs(low, high - 1, end - size + 1, work, table)
        if ends and is_correct(start, end - size + 1, free, table, work):
            return closed(work)
    for turn in range(2):
        for pattern in range(options.breaks, options.breaks_end):
            low, high = string_at(pattern, table)
            size = high - low
            place = place_of(pattern, end, start, table, work)
            if place == start or place >= end - size:
                continue
            if turn == 0:
                other = place_of(pattern, end, place + 1, table, work)
                place = other if other < end - size else place
            if is_correct(place + size, end, free, table, work):
                if is_correct(start, place, free, table, work):
                    return closed(work)
                has_hyphen = options.is_hungarian and size == 1 and table.pool[table.places.strings + low] == options.sign_hyphen
                if has_hyphen and is_correct(start, place + 1, free, table, work):
                    return closed(work)
    registers.depth -= 1
    return False


@part
def is_correct_word(text, start, end, table, work):
    """Whether the word in a part of a text in UTF-16 is correct."""
    registers, size = work.registers, end - start
    if size > MAX_BYTES or is_too_long(text, start, end, table):
        return False
    for place in range(size):
        work.memory[TEXT + place] = table.units[text[start + place]] & SYMBOL
    registers.steps, registers.depth = STEPS, 0
    return is_correct(I0, size, size, table, work)
