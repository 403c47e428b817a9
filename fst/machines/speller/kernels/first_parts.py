"""The first part of a compound: an entry with a flag of compounds, or a word with such a flag because of an affix.

Kernels check nothing, and require a table that has passed `Table.prove`.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, part
from fst.machines.speller.kernels.affixes import find_affixes, find_prefix, find_suffix, find_two_suffixes, flags_of
from fst.machines.speller.kernels.constants import (
    ALONE,
    BEGIN,
    COMPOUND,
    END,
    FIRST_PART,
    FORBIDDEN,
    FORBIDS,
    HIDDEN,
    HU_FIRST,
    HU_SUFFIX,
    I0,
    IS_BYTE,
    MAIN,
    MIDDLE,
    NEEDS_AFFIX,
    NONE,
    OTHER_PART,
    SKIP,
    STOP,
    VOWEL,
)
from fst.machines.speller.kernels.rules import fits_rules
from fst.machines.speller.kernels.stems import bits_of, has, look_up, next_of, set_of, walk


@part
def syllables_of(start, end, table, work):
    """The number of vowels in a part of `work.main`; 0 if the number of syllables is not limited."""
    count = 0
    if table.options.most_syllables:
        for at in range(start, end):
            count += np.int64(table.pool[table.places.kinds + work.memory[MAIN + at]] & VOWEL) >> 1
    return count


@inlined
def pattern_flag(pattern, side, table):
    """The flag that a part must have at a replaced pattern; 0: no pattern, or any flag. `pattern`: the number of the pattern, from 1."""
    return table.pool[table.places.pattern_flags + 2 * (pattern - 1) + side] if pattern else 0


@inlined
def lacks(entry, flag, table):
    """Whether an entry does not have a flag; False for the flag 0."""
    return flag != 0 and not has(set_of(entry, table), flag, table)


@inlined
def role_of(number):
    """The flag of a first part after a number of words, which is negative only for the Hungarian rule for hyphens."""
    return BEGIN if number == 0 else (MIDDLE if number > 0 else 0)


@inlined
def is_unfit(bits, work):
    """Whether an entry cannot be a part of a compound, by its bits."""
    return bits & (FORBIDDEN | HIDDEN | work.registers.unwanted) != 0


@inlined
def affix_bits(work, table):
    """The bits of the last prefix and of the last suffix."""
    return flags_of(work.registers.prefix, table) | flags_of(work.registers.suffix, table)


@part
def is_case_change(place, table, work):
    """Whether a part begins or ends with a capital at a boundary inside of a word [cpdcase_check]."""
    left, right = work.memory[MAIN + place - 1], work.memory[MAIN + place]
    hyphen = table.options.sign_hyphen
    if left == hyphen or right == hyphen:
        return False
    if table.options.is_utf_8:
        return table.pool[table.places.upper + left] == left or table.pool[table.places.upper + right] == right
    return table.pool[table.places.lower + left] != left or table.pool[table.places.lower + right] != right


@part
def is_triple(start, place, end, table, work):
    """Whether a letter occurs three times at a boundary. As in Hunspell, this is a letter of one byte."""
    if not table.pool[table.places.kinds + work.memory[MAIN + place]] & IS_BYTE:
        return False
    if work.memory[MAIN + place - 1] != work.memory[MAIN + place]:
        return False
    if place - start > 1 and work.memory[MAIN + place - 1] == work.memory[MAIN + place - 2]:
        return True
    return place + 1 < end and work.memory[MAIN + place - 1] == work.memory[MAIN + place + 1]


@part
def first_alone(start, place, number, index, by_rules, pattern, table, work):
    """The entry of a first part without affixes; `SKIP` if the dictionary forbids the part. For the arguments, see `first_part`."""
    entry, registers = look_up(start, place, table, work), work.registers
    if entry != NONE and bits_of(entry, table) & FORBIDS:
        return SKIP
    while entry != NONE:
        bits = bits_of(entry, table)
        fits = False
        if not bits & NEEDS_AFFIX:
            if by_rules:
                if table.options.compound_rules and (registers.by_rule or number == 0) and fits_rules(index, entry, I0, table, work):
                    registers.by_rule, fits = 1, True
            else:
                fits = bits & (COMPOUND | (BEGIN if number == 0 else MIDDLE)) != 0
        if fits and not lacks(entry, pattern_flag(pattern, I0, table), table):
            return entry
        entry = next_of(entry, table)
    return NONE


@part
def first_affixed(start, place, number, place_kind, is_moved, table, work):
    """The entry of a first part with affixes, of which the entry or an affix has a flag of compounds."""
    options, entry = table.options, NONE
    if options.defined & COMPOUND:
        entry = find_prefix(start, place, I0, COMPOUND, place_kind, table, work)
        if entry == NONE:
            entry = with_suffixes(start, place, COMPOUND, place_kind, table, work)
            if entry != NONE and not is_moved and flags_of(work.registers.suffix, table) & (FORBIDS | END):
                entry = NONE
    needed = role_of(number)
    if entry == NONE and options.defined & needed:
        entry = with_suffixes(start, place, needed, place_kind, table, work)
        if entry == NONE:
            entry = find_prefix(start, place, I0, needed, place_kind, table, work)
    return entry


@part
def with_suffixes(start, place, needed, place_kind, table, work):
    """The entry of a first part with a suffix or, if the option allows it, with two."""
    row = walk(start, table, work)
    entry = find_suffix(start, place, I0, I0, row, I0, NONE, I0, needed, place_kind, table, work)
    if entry == NONE and table.options.has_second_in_compounds:
        entry = find_two_suffixes(start, place, row, I0, NONE, needed, table, work)
    return entry


@part
def first_part(start, place, number, index, by_rules, pattern, is_moved, table, work):
    """The entry of a first part.

    Args:
        start, place: the part.
        number: the number of words before the part, as COMPOUNDWORDMAX counts them.
        index: the number of parts before the part.
        by_rules: whether the part must fit a rule.
        pattern: the number of the pattern that is replaced at the boundary, from 1; 0: none.
        is_moved: whether the Hungarian rule for hyphens applies.

    Returns:
        The entry; or `NONE`, `SKIP` or `STOP`.
    """
    registers = work.registers
    registers.suffix = registers.prefix = NONE
    registers.is_affixed = 0
    entry = look_up(start, place, table, work) if is_moved else first_alone(start, place, number, index, by_rules, pattern, table, work)
    if entry == SKIP:
        return SKIP
    if entry == NONE:
        if by_rules:
            return SKIP
        entry = first_affixed(start, place, number, OTHER_PART if is_moved else FIRST_PART, is_moved, table, work)
        registers.is_affixed = entry != NONE
    elif bits_of(entry, table) & (FORBIDDEN | NEEDS_AFFIX | HIDDEN | registers.unwanted):
        return SKIP
    if entry == NONE:
        return NONE
    of_affixes = affix_bits(work, table)
    if not is_moved:
        unwanted = FORBIDS
        if not registers.is_affixed:
            unwanted |= END | (MIDDLE if number == 0 else 0)
        if of_affixes & unwanted:
            return NONE
    return STOP if is_unfit(bits_of(entry, table), work) else entry


@part
def is_first(entry, start, place, end, number, pattern, is_moved, table, work):
    """Whether a first part may be at the beginning of a compound. Arguments as in `first_part`; `end`: the end of the compound."""
    registers, bits, options = work.registers, bits_of(entry, table), table.options
    fits = registers.is_affixed or registers.by_rule or bits & (COMPOUND | role_of(number))
    if not fits and not (options.is_hungarian and is_moved and bits & HU_FIRST):
        return False
    if pattern:
        return not lacks(entry, pattern_flag(pattern, I0, table), table)
    if registers.by_rule:
        return True
    if options.forbids_triple and is_triple(start, place, end, table, work):
        return False
    return not (options.forbids_case and is_case_change(place, table, work))


@part
def first_of(start, place, end, number, index, by_rules, pattern, is_moved, table, work):
    """The entry of a first part that may be at the beginning of a compound; `NONE`, `SKIP` or `STOP` as in `first_part`."""
    entry = first_part(start, place, number, index, by_rules, pattern, is_moved, table, work)
    if entry >= 0:
        return entry if is_first(entry, start, place, end, number, pattern, is_moved, table, work) else NONE
    if entry == NONE and is_moved and table.options.is_hungarian:
        entry = find_affixes(start, place, I0, ALONE, table, work)
        if entry != NONE and flags_of(work.registers.suffix, table) & HU_SUFFIX:
            return entry
        return NONE
    return entry
