"""The characters of a word: their case, conversions and break points.

A *word* is a part of `work.text`: symbols, as they are in the text or after conversion.

Kernels check nothing, and require a table that has passed `Table.prove`.
"""

from __future__ import annotations

from fst.core.jit import inlined, part
from fst.machines.speller.kernels.affixes import string_at
from fst.machines.speller.kernels.constants import (
    ALL_CAPITALS,
    BEGINS_CONVERSION,
    I0,
    IGNORED,
    INITIAL_CAPITAL,
    LIMIT,
    LOWER,
    MAX_BYTES,
    MAX_CHARACTERS,
    MIXED,
    MIXED_INITIAL,
    NONE,
    TEXT,
)


@inlined
def is_pair(place, end, table, work):
    """Whether there are two letters "s" at a place of a word, in any case."""
    wanted, lower = table.options.lower_s, table.places.lower
    if place + 1 >= end or table.pool[lower + work.memory[TEXT + place]] != wanted:
        return False
    return table.pool[lower + work.memory[TEXT + place + 1]] == wanted


@part
def kind_of(start, end, table, work):
    """The kind of a word by its capitals [captype]."""
    capitals, neutral = 0, 0
    for place in range(start, end):
        symbol = work.memory[TEXT + place]
        lower = table.pool[table.places.lower + symbol]
        capitals += symbol != lower
        neutral += table.pool[table.places.upper + symbol] == lower
    if capitals == 0:
        return LOWER
    first = work.memory[TEXT + start]
    is_first = table.pool[table.places.lower + first] != first
    if capitals == 1 and is_first:
        return INITIAL_CAPITAL
    if capitals + neutral == end - start:
        return ALL_CAPITALS
    return MIXED_INITIAL if is_first else MIXED


@part
def is_number(start, end, table, work):
    """Whether a word is a number, with single commas, dots and hyphens between digits."""
    options, was_sign, has_digit = table.options, True, False
    for place in range(start, end):
        symbol = work.memory[TEXT + place]
        if options.sign_zero <= symbol < options.sign_zero + 10:
            was_sign, has_digit = False, True
        elif symbol == options.sign_comma or symbol == options.sign_dot or symbol == options.sign_hyphen:
            if was_sign:
                return False
            was_sign = True
        else:
            return False
    return has_digit and not was_sign


@part
def place_of(pattern, end, first, table, work):
    """The first place of a word, from `first` on, where a string occurs; `end` if there is none."""
    low, high = string_at(pattern, table)
    for place in range(first, end - (high - low) + 1):
        if occurs(low, high, place, work, table):
            return place
    return end


@inlined
def occurs(low, high, place, work, table):
    """Whether elements of `strings` occur at a place of `work.text`."""
    at = low
    while at < high and work.memory[TEXT + place + at - low] == table.pool[table.places.strings + at]:
        at += 1
    return at == high


@part
def conversion_at(place, end, table, work):
    """The conversion of the text at a place, by Hunspell's binary search; `NONE` if there is none."""
    options = table.options
    low, high, found = 0, (options.conversions_end - options.conversions) // 5 - 1, NONE
    while low <= high:
        middle = (low + high) >> 1
        number = options.conversions + 5 * middle
        begin, stop = string_at(number, table)
        at = 0
        while at < stop - begin and place + at < end and work.memory[TEXT + place + at] == table.pool[table.places.strings + begin + at]:
            at += 1
        if at == stop - begin:
            found, low = number, middle + 1
        elif place + at == end or work.memory[TEXT + place + at] < table.pool[table.places.strings + begin + at]:
            high = middle - 1
        else:
            low = middle + 1
    return found


@part
def replacement_of(number, is_first, is_last, table):
    """The string that replaces a conversion's pattern: for the place in the word, or for a more general place."""
    kind = (1 if is_first else 0) + (2 if is_last else 0)
    while kind:
        begin, stop = string_at(number + 1 + kind, table)
        if begin < stop:
            break
        kind = 0 if kind == 2 and not is_first else kind - 1
    return number + 1 + kind


@part
def converted(start, end, free, table, work):
    """Write a word after conversion (ICONV) to `free`; return the end, or `NONE` if the result is too long."""
    at, place, low, high = free, start, I0, I0
    while place < end:
        symbol, replacement = work.memory[TEXT + place], NONE
        if table.pool[table.places.kinds + symbol] & BEGINS_CONVERSION:
            number = conversion_at(place, end, table, work)
            if number != NONE:
                low, high = string_at(number, table)
                replacement = replacement_of(number, place == start, high - low == end - place, table)
        first, last = string_at(max(replacement, I0), table)
        if replacement == NONE or first == last:
            work.memory[TEXT + at] = symbol
            at += 1
            place += 1
        else:
            place += high - low
            for source in range(first, last):
                work.memory[TEXT + at] = table.pool[table.places.strings + source]
                at += 1
        if at - free > LIMIT - 2:
            return NONE
    return at


@part
def cleaned(start, end, table, work):
    """The bounds of a word without spaces at its beginning and dots at its end, and the number of these dots [cleanword2]."""
    while start < end and work.memory[TEXT + start] == table.options.sign_space:
        start += 1
    dots = 0
    while start < end and work.memory[TEXT + end - 1] == table.options.sign_dot:
        end -= 1
        dots += 1
    return start, end, dots


@part
def has_ignored(start, end, table, work):
    """Whether a word has symbols that are ignored (IGNORE)."""
    for place in range(start, end):  # noqa: SIM110 - kernels have no generators
        if table.pool[table.places.kinds + work.memory[TEXT + place]] & IGNORED:
            return True
    return False


@part
def without_ignored(start, end, free, table, work):
    """Write a word without ignored symbols to `free`, and return the end."""
    for place in range(start, end):
        work.memory[TEXT + free] = work.memory[TEXT + place]
        free += table.pool[table.places.kinds + work.memory[TEXT + place]] & IGNORED == 0
    return free


@part
def in_title(start, end, free, table, work):
    """Write a word in lower case, except for its first letter, to `free`, and return the end."""
    for place in range(start, end):
        work.memory[TEXT + free + place - start] = table.pool[table.places.lower + work.memory[TEXT + place]]
    is_dotted = table.options.is_utf_8 and not table.options.is_turkic and work.memory[TEXT + start] == table.options.letter_dotted_i
    work.memory[TEXT + free] = table.options.letter_dotted_i if is_dotted else table.pool[table.places.upper + work.memory[TEXT + free]]
    return free + end - start


@part
def has_pair(start, end, table, work):
    """Whether a word contains "SS"."""
    for place in range(start, end - 1):
        if work.memory[TEXT + place] == table.options.upper_s and work.memory[TEXT + place + 1] == table.options.upper_s:
            return True
    return False


@part
def has_sharp_s(start, end, table, work):
    """Whether a word contains "ß"."""
    for place in range(start, end):  # noqa: SIM110 - kernels have no generators
        if table.pool[table.places.lower + work.memory[TEXT + place]] == table.options.letter_sharp_s:
            return True
    return False


@part
def is_too_long(text, start, end, table):
    """Whether a word is longer than any word that Hunspell reads. A surrogate counts as two bytes of UTF-8."""
    if not table.options.is_utf_8:
        return end - start > MAX_CHARACTERS
    size = end - start
    if 3 * size <= MAX_BYTES:
        return False
    for place in range(start, end):
        unit = text[place]
        size += (unit >= 0x80) + (unit >= 0x800 and unit >> 11 != 0xD800 >> 11)
    return size > MAX_BYTES
