"""The forms in which a word is looked up: as it is, in lower case, with a capital, with "ß", and with a dot [checkword].

The word in a form is written to `work.main`, without ignored symbols, and looked up there.

Kernels check nothing, and require a table that has passed `Table.prove`.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, part
from fst.machines.speller.kernels.affixes import find_affixes
from fst.machines.speller.kernels.compounds import compound
from fst.machines.speller.kernels.constants import (
    ALL_CAPITALS,
    ALONE,
    AS_IT_IS,
    BEGIN,
    COMPOUND,
    FIRST_FREE,
    FORBIDDEN,
    FORBIDDEN_INFO,
    HIDDEN,
    I0,
    I1,
    IGNORED,
    IN_DOTTED_TITLE,
    IN_LOWER,
    IN_TITLE,
    INITIAL_CAPITAL,
    KEEPS_CASE,
    MAIN,
    MOST_COMPOUND_STEPS,
    MOST_SHARPS,
    MOVED,
    NEEDS_AFFIX,
    NONE,
    ONLY_IN_COMPOUND,
    PARTS,
    PARTS_SIZE,
    STEMS,
    TEXT,
)
from fst.machines.speller.kernels.rules import forget
from fst.machines.speller.kernels.stems import bits_of, is_taken, look_up, next_of
from fst.machines.speller.kernels.text import has_pair, has_sharp_s, is_pair


@part
def put(start, end, form, second, sharps, dot, table, work):
    """Write a word in a form to `work.main`, without symbols that are ignored.

    Args:
        start, end: the word.
        form: `IN_TITLE` and `IN_DOTTED_TITLE` are lower case except for the first letter, which is "İ" in the latter.
        second: the place of another letter in upper case, from the start; `NONE`: no other letter.
        sharps: bits for the first pairs of "s" of the form, from the left: whether a pair is "ß".
        dot: whether a dot follows the word.
    """
    size, pair, place, options = 0, 0, start, table.options
    while place < end:
        symbol = work.memory[TEXT + place]
        if form != AS_IT_IS:
            symbol = table.pool[table.places.lower + symbol]
            if sharps and not (place == start and form >= IN_TITLE) and is_pair(place, end, table, work):
                if sharps >> pair & 1:
                    symbol = options.letter_sharp_s
                else:
                    work.memory[MAIN + size] = symbol
                    size += 1
                place += 1
                pair += 1
            if place == start and form >= IN_TITLE:
                symbol = options.letter_dotted_i if form == IN_DOTTED_TITLE else table.pool[table.places.upper + symbol]
            if place - start == second:
                symbol = table.pool[table.places.upper + symbol]
        if not table.pool[table.places.kinds + symbol] & IGNORED:
            work.memory[MAIN + size] = symbol
            size += 1
        place += 1
    if dot and not table.pool[table.places.kinds + options.sign_dot] & IGNORED:
        work.memory[MAIN + size] = options.sign_dot
        size += 1
    work.memory[MAIN + size] = 0
    if options.complex_prefixes:
        for at in range(size >> 1):
            work.memory[MAIN + at], work.memory[MAIN + size - 1 - at] = work.memory[MAIN + size - 1 - at], work.memory[MAIN + at]
    work.registers.length = size
    forget(work)


@part
def entry_of(start, end, form, dot, initial, table, work):
    """The entry of a word in a form; see `put` and `entry_in_main`."""
    put(start, end, form, NONE, I0, dot, table, work)
    return entry_in_main(initial, table, work)


@part
def entry_in_main(initial, table, work):
    """The entry of the word in `work.main` [checkword]; `initial`: whether the word has a capital only at its beginning, which hidden
    entries do not have.
    """
    registers, size, unwanted = work.registers, work.registers.length, NEEDS_AFFIX | ONLY_IN_COMPOUND | (HIDDEN if initial else 0)
    if size == 0:
        return NONE
    entry = look_up(I0, size, table, work)
    if entry != NONE and bits_of(entry, table) & FORBIDDEN:
        registers.info |= FORBIDDEN_INFO
        return NONE
    while entry != NONE and bits_of(entry, table) & unwanted:
        entry = next_of(entry, table)
    if entry != NONE and is_taken(work):
        return entry
    entry = find_affixes(I0, size, I0, ALONE, table, work)
    if entry != NONE and bits_of(entry, table) & (unwanted & ~NEEDS_AFFIX):
        entry = NONE
    if entry != NONE:
        if bits_of(entry, table) & FORBIDDEN:
            registers.info |= FORBIDDEN_INFO
            return NONE
        return entry
    return entry_of_compound(size, table, work) if table.mode[0] < STEMS else NONE


@part
def entry_of_compound(size, table, work):
    """The entry of the first part of the compound in `work.main`; `NONE` if it is not a compound, or the dictionary has none."""
    registers, options = work.registers, table.options
    if not options.defined & (COMPOUND | BEGIN) and not options.compound_rules:
        return NONE
    registers.top, registers.by_rule = FIRST_FREE, 0
    kept = max(registers.steps - MOST_COMPOUND_STEPS, I0)  # steps that the search for a compound may not use
    registers.steps -= kept
    if options.compound_rules:
        for at in range(min(size + 2, PARTS_SIZE)):
            work.memory[PARTS + at] = NONE
    entry = compound(I0, size, I0, I0, I0, I0, table, work)
    registers.steps += kept
    if entry == NONE and options.is_hungarian and work.memory[MAIN + size - 1] == options.sign_hyphen:
        work.memory[MAIN + size - 1] = 0
        forget(work)
        registers.top, registers.by_rule = FIRST_FREE, 0
        entry = compound(I0, size - 1, MOVED, I0, I0, I1, table, work)
    return entry


@part
def with_sharps(start, end, form, dot, table, work):
    """The entry of a word in which some "ss" are "ß" [spellsharps]."""
    count, place = 0, start + 1 if form >= IN_TITLE else start
    while place < end and count < MOST_SHARPS:
        if is_pair(place, end, table, work):
            count += 1
            place += 1
        place += 1
    for turn in range((1 << count) - 1):
        sharps = 0
        for bit in range(count):
            sharps |= ((1 << count) - 1 - turn) >> (count - 1 - bit) << bit & 1 << bit
        put(start, end, form, NONE, sharps, dot, table, work)
        entry = entry_in_main(I0, table, work)
        if entry != NONE:
            return entry
    return NONE


@part
def in_capitals(start, end, dots, table, work):
    """The entry of a word in upper case, in forms in which only such words are looked up."""
    options = table.options
    entry = entry_of(start, end, AS_IT_IS, I0, I0, table, work)
    if entry == NONE and dots:
        entry = entry_of(start, end, AS_IT_IS, I1, I0, table, work)
    if entry != NONE:
        return entry
    place = start
    while place < end and work.memory[TEXT + place] != options.sign_apostrophe:
        place += 1
    if place < end:
        if place < end - 1:
            for form in range(IN_LOWER, IN_TITLE + 1):
                put(start, end, form, place - start + 1, I0, I0, table, work)
                entry = entry_in_main(I0, table, work)
                if entry != NONE:
                    return entry
        return NONE
    if options.sharp_s and has_pair(start, end, table, work):
        for dot in range(2 if dots else 1):
            for form in range(IN_LOWER, IN_TITLE + 1):
                entry = with_sharps(start, end, form, dot, table, work)
                if entry != NONE:
                    return entry
    return NONE


@inlined
def keeps_case(entry, table):
    """Whether an entry must keep its case."""
    return entry != NONE and bits_of(entry, table) & KEEPS_CASE != 0


@part
def in_other_case(start, end, kind, dots, table, work):
    """The entry of a word with a capital at its beginning, or in upper case."""
    options, registers = table.options, work.registers
    is_all, is_dotted = np.int64(kind == ALL_CAPITALS), options.is_utf_8 and work.memory[TEXT + start] == options.letter_dotted_i
    form = AS_IT_IS if not is_all else (IN_DOTTED_TITLE if is_dotted else IN_TITLE)
    entry = entry_of(start, end, form, I0, 1 - is_all, table, work)
    if registers.info & FORBIDDEN_INFO:
        return NONE
    if is_all and keeps_case(entry, table):
        entry = NONE
    if entry != NONE or (is_dotted and not options.is_turkic):
        return entry
    entry = entry_of(start, end, IN_LOWER, I0, I0, table, work)
    if entry == NONE and dots:
        entry = entry_of(start, end, IN_LOWER, I1, I0, table, work)
        if entry == NONE:
            entry = entry_of(start, end, IN_TITLE, I1, 1 - is_all, table, work)
            return NONE if is_all and keeps_case(entry, table) else entry
    if keeps_case(entry, table) and (is_all or not (options.sharp_s and has_sharp_s(start, end, table, work))):
        return NONE
    return entry


@part
def entry_by_case(start, end, kind, dots, table, work):
    """The entry of a word in the forms in which Hunspell looks up a word of its kind."""
    if kind == INITIAL_CAPITAL:
        return in_other_case(start, end, kind, dots, table, work)
    if kind == ALL_CAPITALS:
        entry = in_capitals(start, end, dots, table, work)
        return entry if entry != NONE else in_other_case(start, end, kind, dots, table, work)
    entry = entry_of(start, end, AS_IT_IS, I0, I0, table, work)
    if entry == NONE and dots:
        entry = entry_of(start, end, AS_IT_IS, I1, I0, table, work)
    return entry
