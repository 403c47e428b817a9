"""Rules of compounds: sequences of flags (COMPOUNDRULE), and pairs of parts that must not meet (CHECKCOMPOUNDPATTERN, CHECKCOMPOUNDREP).

Kernels check nothing, and require a table that has passed `Table.prove`.
"""

from __future__ import annotations

from fst.core.jit import inlined, part
from fst.machines.speller.kernels.affixes import copied, find_affixes, string_at, written
from fst.machines.speller.kernels.constants import (
    ALONE,
    COUNT,
    I0,
    LIMIT,
    MAIN,
    MAIN_SIZE,
    MARKS,
    NONE,
    NOT_EMPTY,
    OPTIONAL,
    PARTS,
    PATTERN_PLACE,
    WORD_PLACE,
)
from fst.machines.speller.kernels.stems import bits_of, has, look_up, set_of


@inlined
def is_repeated(rule, end, table):
    """Whether the item of a rule is followed by ``*`` or ``?``."""
    return rule + 1 < end and table.pool[table.places.compound_rules + rule + 1] <= 0


@inlined
def part_has(number, flag, table, work):
    """Whether a part of the compound has a flag."""
    entry = work.memory[PARTS + number]
    return entry != NONE and has(set_of(entry, table), flag, table)


@part
def fits_rules(last, entry, is_whole, table, work):
    """Whether the parts of the compound, of which the entry is the last one, begin like a rule or, if `is_whole`, fit a rule
    [defcpd_check].
    """
    work.memory[PARTS + last] = entry
    if bits_of(entry, table) & NOT_EMPTY and is_in_rules(entry, table):
        for number in range(table.options.compound_rules):
            begin, end = table.pool[table.places.rule_ends + number], table.pool[table.places.rule_ends + number + 1]
            if fits_rule(begin, end, last, is_whole, table, work):
                return True
    work.memory[PARTS + last] = NONE
    return False


@part
def is_in_rules(entry, table):
    """Whether an entry has a flag of a rule."""
    some = set_of(entry, table)
    for at in range(table.places.rule_items):
        flag = table.pool[table.places.compound_rules + at]
        if flag > 0 and has(some, flag, table):
            return True
    return False


@part
def fits_rule(begin, end, last, is_whole, table, work):
    """As `fits_rules`, for one rule."""
    depth = 0
    rule, word, fits, fits_repeated = begin, 0, True, True
    while True:
        while rule < end and word <= last:
            if is_repeated(rule, end, table):
                flag = table.pool[table.places.compound_rules + rule]
                most = word if table.pool[table.places.compound_rules + rule + 1] == OPTIONAL else last
                fits_repeated = True
                rule += 2
                work.memory[MARKS + 3 * depth + PATTERN_PLACE], work.memory[MARKS + 3 * depth + WORD_PLACE] = rule, word
                while word <= most:
                    if not part_has(word, flag, table, work):
                        fits_repeated = False
                        break
                    word += 1
                if word <= last:
                    fits_repeated = False
                work.memory[MARKS + 3 * depth + COUNT] = word - work.memory[MARKS + 3 * depth + WORD_PLACE]
                if work.memory[MARKS + 3 * depth + COUNT] > 0:
                    depth += 1
                if fits_repeated:
                    break
            else:
                fits_repeated = True
                if not part_has(word, table.pool[table.places.compound_rules + rule], table, work):
                    fits = False
                    break
                rule += 1
                word += 1
                if rule == end and word <= last:
                    fits = False
        if fits and fits_repeated:
            rest = rule
            while rest < end and is_repeated(rest, end, table):
                rest += 2
            if rest >= end:
                return True
        if depth == 0:
            break
        while True:
            fits = True
            work.memory[MARKS + 3 * depth - 3 + COUNT] -= 1
            rule = work.memory[MARKS + 3 * depth - 3 + PATTERN_PLACE]
            word = work.memory[MARKS + 3 * depth - 3 + WORD_PLACE] + work.memory[MARKS + 3 * depth - 3 + COUNT]
            if work.memory[MARKS + 3 * depth - 3 + COUNT] >= 0:
                break
            depth -= 1
            if depth == 0:
                break
        if depth == 0:
            break
    if fits and fits_repeated and (not is_whole or rule >= end):
        return True
    while fits and fits_repeated and rule < end and is_repeated(rule, end, table):
        rule += 2
    return fits and fits_repeated and rule >= end


@part
def is_at(number, place, end, table, work):
    """Whether a part of `work.main`, up to `end`, begins with a string."""
    begin, stop = string_at(number, table)
    if stop - begin > end - place:
        return False
    for at in range(begin, stop):  # noqa: SIM110 - kernels have no generators
        if work.memory[MAIN + place + at - begin] != table.pool[table.places.strings + at]:
            return False
    return True


@part
def ends_stem(start, place, word, table, work):
    """Whether the symbols before a place of `work.main`, not before `start`, end with the stem of a number."""
    for begin in range(start, place):  # noqa: SIM110 - kernels have no generators
        if look_up(begin, place, table, work) != NONE and work.registers.word == word:
            return True
    return False


@part
def is_forbidden_pair(start, place, end, left, left_word, right, table, work):
    """Whether the parts on both sides of a place form a forbidden pattern [cpdpat_check]. `left`, `right`: their entries."""
    options = table.options
    first = options.patterns
    while first < options.patterns_end:
        flags = 2 * ((first - options.patterns) // 3)
        left_flag, right_flag = table.pool[table.places.pattern_flags + flags], table.pool[table.places.pattern_flags + flags + 1]
        begin, stop = string_at(first, table)
        if (
            is_at(first + 1, place, end, table, work)
            and (not left_flag or left == NONE or has(set_of(left, table), left_flag, table))
            and (not right_flag or right == NONE or has(set_of(right, table), right_flag, table))
        ):
            if begin == stop:
                return True
            if table.pool[table.places.strings + begin] == options.sign_zero:
                if ends_stem(start, place, left_word, table, work):
                    return True
            elif place - start >= stop - begin and is_at(first, place - (stop - begin), end, table, work):
                return True
        first += 3
    return False


@part
def is_word(start, end, table, work):
    """Whether a part of `work.main` is a word without being a compound [candidate_check]."""
    return look_up(start, end, table, work) != NONE or find_affixes(start, end, I0, ALONE, table, work) != NONE


@part
def is_word_replaced(start, end, place, size, first, last, table, work):
    """Whether a part of `work.main` is a word if `size` symbols at a place are replaced by elements of `strings`."""
    begin = work.registers.top
    if begin + end - start + last - first + 1 >= MAIN_SIZE:
        return False
    at = written(first, last, copied(start, place, begin, work), table, work)
    at = copied(place + size, end, at, work)
    work.memory[MAIN + at] = 0
    if at - begin > LIMIT:
        return False
    forget(work)
    return is_word(begin, at, table, work)


@inlined
def forget(work):
    """Forget all walks, because `work.main` has changed."""
    work.registers.stamp += 1


@part
def is_typical_fault(start, end, table, work):
    """Whether a correction of a frequent fault turns a compound into a word [cpdrep_check]."""
    options = table.options
    if end - start < 2:
        return False
    number = options.replacements
    while number < options.replacements_end:
        first, last = string_at(number + 1, table)
        begin, stop = string_at(number, table)
        for place in range(start, end):
            if is_at(number, place, end, table, work) and is_word_replaced(
                start, end, place, stop - begin, first, last, table, work
            ):
                return True
        number += 2
    return False


@part
def is_word_pair(start, end, table, work):
    """Whether the dictionary has a word that becomes the compound if its space is removed [cpdwordpair_check]."""
    begin, stop = string_at(table.options.space_string, table)
    if end - start > 2 and table.options.has_spaces:
        for place in range(start + 1, end):
            if is_word_replaced(start, end, place, I0, begin, stop, table, work):
                return True
    return False
