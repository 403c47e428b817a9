"""Compounds: words that are joined from several words [compound_check].

    for each boundary:   first part ─→ accepted? ─→ rest is one part ─→ accepted?
                                                 └→ rest is a compound, by the same search

The first part must be an entry with a flag of compounds, or have such a flag because of an affix; so must the rest. If a pattern of
CHECKCOMPOUNDPATTERN has a replacement, the search also reads a word in which the replacement is undone.

Kernels check nothing, and require a table that has passed `Table.prove`. The number of steps bounds the time of a search, and a word that
takes more steps is not accepted.
"""

from __future__ import annotations

from fst.core.jit import inlined, part
from fst.machines.speller.kernels.affixes import copied, find_affixes, string_at, written
from fst.machines.speller.kernels.constants import (
    ALONE,
    BEGIN,
    COMPOUND,
    COMPOUND_STEPS,
    DEAD,
    FORBIDDEN,
    I0,
    I1,
    IS_BYTE,
    LIMIT,
    LIVE,
    MAIN,
    MAIN_SIZE,
    MOST_PARTS,
    NONE,
    NUMBERS,
    ROOT,
    SKIP,
    STOP,
    WIDTH,
)
from fst.machines.speller.kernels.first_parts import first_of, syllables_of
from fst.machines.speller.kernels.rests import prefix_is_word, rest_of
from fst.machines.speller.kernels.rules import forget, is_at, is_forbidden_pair, is_typical_fault, is_word_pair
from fst.machines.speller.kernels.stems import bits_of, look_up, step, walk


@part
def stem_length(place, word, table, work):
    """The length of the stem of a number, if the symbols from a place of `work.main` begin with this stem; else `NONE`."""
    row = walk(place, table, work)
    for size in range(work.memory[LIVE + row] + 1):
        if work.memory[NUMBERS + row * WIDTH + size] == word * 2 + 1:
            return size
    return NONE


@part
def is_stem_of(start, end, word, table, work):
    """Whether the stem of a number begins with a part of `work.main`."""
    entries, node, left = table.entries, 0, word
    for at in range(start, end):
        after, skip, last = DEAD, 0, 0
        for symbol in range(1, table.options.symbols):
            target, number = step(entries, node, I0, symbol)
            if target != DEAD and number >> 1 <= left:  # the last such transition leads to the stem
                after, skip, last = target, number >> 1, symbol
        if after == DEAD or last != work.memory[MAIN + at]:
            return False
        node, left = after, left - skip
    return True


@part
def accepted_longer(first, start, place, end, begin, boundary, table, work):
    """The entry of the first part of a compound whose rest is a compound, too, unless the whole is a typical fault. `NONE` if the first two
    parts are a typical fault. The stem of the second part is in `registers.word`.

    Args:
        first: the entry of the first part.
        start, place, end: as in `rest_of`.
        begin, boundary: the bounds of the first part, in the word in which the replacement of a pattern is undone.
    """
    options, second = table.options, work.registers.word
    if is_word_pair(start, end, table, work):
        return STOP
    if options.forbids_replaced and is_typical_fault(start, end, table, work):
        return STOP
    size = stem_length(place, second, table, work)
    if size == NONE:
        return first
    if (options.forbids_replaced and is_typical_fault(begin, boundary + size, table, work)) or is_word_pair(
        begin, boundary + size, table, work
    ):
        return NONE
    whole = look_up(start, end, table, work)
    if whole == NONE:
        whole = find_affixes(start, end, I0, ALONE, table, work)
    if whole != NONE and bits_of(whole, table) & FORBIDDEN and is_stem_of(begin, boundary + size, work.registers.word, table, work):
        return STOP
    return first


@part
def undone(start, place, end, pattern, table, work):
    """Write a compound in which the replacement of a pattern is undone after the used part of `work.main`; return its start, the boundary
    and its end. There is room for it.
    """
    first = table.options.patterns + 3 * (pattern - 1)
    begin = work.registers.top
    low, high = string_at(first, table)
    boundary = written(low, high, copied(start, place, begin, work), table, work)
    low, high = string_at(first + 1, table)
    at = written(low, high, boundary, table, work)
    low, high = string_at(first + 2, table)
    at = copied(place + high - low, end, at, work)
    work.memory[MAIN + at] = 0
    forget(work)
    return begin, boundary, at


@part
def next_pattern(pattern, place, end, table, work):
    """The next pattern, from a number on, whose replacement is at a place of a compound; 0 if there is none."""
    options = table.options
    while options.patterns + 3 * pattern <= options.patterns_end:
        number = options.patterns + 3 * (pattern - 1) + 2
        low, high = string_at(number, table)
        if low < high and is_at(number, place, end, table, work):
            return pattern
        pattern += 1
    return 0


@part
def is_bad_pair(entry, first, first_word, start, place, end, pattern, table, work):
    """Whether the first two parts of a longer compound form a forbidden pattern, or do not form the pattern whose replacement is undone."""
    if table.options.patterns == table.options.patterns_end:
        return False
    word = work.registers.word
    is_forbidden = place <= end and is_forbidden_pair(start, place, end, first, first_word, entry, table, work)
    work.registers.word = word
    return is_forbidden != (pattern != 0)


@part
def compound(start, end, number, syllables, index, is_moved, table, work):
    """The entry of the first part of a compound; `NONE` if a part of `work.main` is not a compound.

    Args:
        start, end: the part of `work.main`.
        number: the number of words before it, as COMPOUNDWORDMAX counts them.
        syllables: the number of syllables before it.
        index: the number of parts before it.
        is_moved: whether the Hungarian rule for hyphens applies.
    """
    options, registers = table.options, work.registers
    by_rule, top = registers.by_rule, registers.top
    first_turn = by_rule if options.defined & (COMPOUND | BEGIN) else I1  # without these flags, only rules make compounds
    place, by_rules, pattern = start + least_size(start, end, table), first_turn, I0
    while place <= end - options.compound_min:
        if by_rules and first_turn and place - start > work.memory[LIVE + walk(start, table, work)]:
            return NONE  # no stem is so long
        registers.steps -= COMPOUND_STEPS
        if registers.steps < 0:
            return NONE
        registers.by_rule = by_rule
        begin, boundary, stop = start, place, end
        if pattern:
            begin, boundary, stop = undone(start, place, end, pattern, table, work)
            registers.top = stop + 1
        shift = start - begin
        first = first_of(begin, boundary, stop, number, index, by_rules, pattern, is_moved, table, work)
        if first >= 0:
            word = registers.word
            words, vowels = number + (bits_of(first, table) & ROOT != 0), syllables
            if options.is_hungarian:
                vowels += syllables_of(begin, boundary, table, work)
                words += prefix_is_word(table, work)
            for turn in range(2):
                found = rest_of(
                    first, word, start, boundary + shift, end, boundary, stop, words, vowels, index, by_rules, pattern, table, work
                )
                if found == NONE and words + 2 < MOST_PARTS:
                    kept = registers.by_rule
                    second = compound(boundary, stop, words + 1, vowels, index + 1, I0, table, work)
                    registers.by_rule = kept
                    if second != NONE and not is_bad_pair(second, first, word, start, boundary + shift, end, pattern, table, work):
                        found = accepted_longer(first, start, boundary + shift, end, begin, boundary, table, work)
                if found >= 0 or found == STOP:
                    registers.top, registers.word = top, word
                    return max(found, NONE)
                if turn or not options.simplifies_triple or not is_double(begin, boundary, table, work):
                    break
                boundary -= 1
        registers.top = top
        if first == STOP:
            return NONE
        if first != SKIP and not by_rules and options.simplifies_patterns and top + 2 * (end - start) + 3 * LIMIT < MAIN_SIZE:
            pattern = next_pattern(pattern + 1, place, end, table, work)
            if pattern:
                continue
        pattern = 0
        if by_rules or number or not options.compound_rules:
            place, by_rules = place + 1, first_turn
        else:
            by_rules = I1
    return NONE


@inlined
def is_double(begin, boundary, table, work):
    """Whether a part of at least three symbols ends with two equal symbols, of one byte each."""
    if not table.pool[table.places.kinds + work.memory[MAIN + boundary - 1]] & IS_BYTE:
        return False
    return boundary - begin > 2 and work.memory[MAIN + boundary - 1] == work.memory[MAIN + boundary - 2]


@inlined
def least_size(start, end, table):
    """The number of symbols before the first boundary."""
    least = table.options.compound_min
    return min(least, end - start) if table.options.is_utf_8 else least
