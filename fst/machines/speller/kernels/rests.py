"""The rest of a compound, if it is a single part.

Kernels check nothing, and require a table that has passed `Table.prove`.
"""

from __future__ import annotations

from fst.core.jit import inlined, part
from fst.machines.speller.kernels.affixes import field, find_affixes
from fst.machines.speller.kernels.constants import (
    CAPITALS,
    COMPOUND,
    END,
    FORBIDS,
    HU_I,
    HU_J,
    I0,
    I1,
    LAST_PART,
    NEEDS_AFFIX,
    NONE,
    PARTS,
    ROOT,
    SKIP,
    STOP,
    SYLLABLES,
    UPPER_CASE,
)
from fst.machines.speller.kernels.first_parts import affix_bits, is_unfit, lacks, pattern_flag, syllables_of
from fst.machines.speller.kernels.rules import fits_rules, is_forbidden_pair, is_typical_fault, is_word_pair
from fst.machines.speller.kernels.stems import bits_of, look_up, next_of


@inlined
def has_capitals(bits, work):
    """Whether the word has capitals, if the last part requires them (FORCEUCASE). `bits`: those of the last part."""
    return not bits & UPPER_CASE or work.registers.info & CAPITALS


@part
def rest_alone(place, end, index, pattern, table, work):
    """The entry of the rest of a compound without affixes."""
    registers, entry = work.registers, look_up(place, end, table, work)
    while entry != NONE:
        bits = bits_of(entry, table)
        if not bits & NEEDS_AFFIX and not lacks(entry, pattern_flag(pattern, I1, table), table):
            if registers.by_rule:
                if table.options.compound_rules and fits_rules(index + 1, entry, I1, table, work):
                    break
            elif bits & (COMPOUND | END):
                break
        entry = next_of(entry, table)
    if entry != NONE and not has_capitals(bits_of(entry, table), work):
        return NONE
    return entry


@inlined
def is_short(number, syllables, table):
    """Whether a compound has few words, or few syllables."""
    options = table.options
    if options.compound_most < 0 or number + 1 < options.compound_most:
        return True
    return options.most_syllables != 0 and syllables <= options.most_syllables


@part
def accepted(entry, start, end, table, work):
    """The entry of the first part of a compound, unless the compound is a typical fault."""
    if (table.options.forbids_replaced and is_typical_fault(start, end, table, work)) or is_word_pair(start, end, table, work):
        return STOP
    return entry


@part
def rest_as_root(first, first_word, start, place, end, begin, stop, number, syllables, index, pattern, table, work):
    """Whether the rest of a compound is an entry without affixes; see `rest_of`."""
    options, registers = table.options, work.registers
    entry = rest_alone(begin, stop, index, pattern, table, work)
    if entry == NONE:
        return NONE
    if registers.by_rule and work.memory[PARTS + index + 1] != NONE:
        return first
    word, bits = registers.word, bits_of(entry, table)
    if options.is_hungarian and bits & HU_I and not bits & HU_J:
        syllables -= 1
    number += bits & ROOT != 0
    if is_unfit(bits, work):
        return STOP
    if not bits & (COMPOUND | END) or not is_short(number, syllables + syllables_of(begin, stop, table, work), table):
        return NONE
    if not pattern and is_forbidden_pair(start, place, end, first, first_word, entry, table, work):
        return NONE
    if options.forbids_repeated and entry == first and word == first_word:
        return NONE
    return accepted(first, start, end, table, work)


@part
def rest_affixed(place, end, index, by_rules, table, work):
    """The entry of the rest of a compound with affixes; `SKIP` if the rest fits a rule."""
    options, registers, entry = table.options, work.registers, NONE
    registers.suffix, registers.suffix_flag = NONE, 0
    if not by_rules and options.defined & COMPOUND:
        entry = find_affixes(place, end, COMPOUND, LAST_PART, table, work)
    if entry == NONE and not by_rules and options.defined & END:
        registers.suffix = registers.prefix = NONE
        entry = find_affixes(place, end, END, LAST_PART, table, work)
    if entry == NONE and options.compound_rules and registers.by_rule:
        entry = find_affixes(place, end, I0, LAST_PART, table, work)
        if entry != NONE and fits_rules(index + 1, entry, I1, table, work):
            return SKIP
        entry = NONE
    return entry


@part
def hungarian_syllables(place, end, bits, table, work):
    """The number of syllables of the rest of a compound by the Hungarian rules."""
    registers, options = work.registers, table.options
    count = syllables_of(place, end, table, work)
    if registers.plain_suffix != NONE:
        count -= field(registers.plain_suffix, SYLLABLES, table) if options.most_syllables else 0
    count -= registers.extra
    if options.has_syllable_flags and registers.suffix_flag:
        if registers.suffix_flag == options.hu_c:
            count += 2
        elif registers.suffix_flag == options.hu_j:
            count += 1
        elif registers.suffix_flag == options.hu_i:
            count += bits & HU_J != 0
    return count


@inlined
def prefix_is_word(table, work):
    """1 if the last prefix has several syllables, else 0."""
    prefix = work.registers.prefix
    return 1 if prefix != NONE and table.options.most_syllables and field(prefix, SYLLABLES, table) > 1 else 0


@part
def rest_with_affixes(first, first_word, start, place, end, number, syllables, index, by_rules, pattern, table, work):
    """Whether the rest of a compound is a word with affixes; see `rest_of`."""
    options, registers = table.options, work.registers
    entry = rest_affixed(place, end, index, by_rules, table, work)
    if entry == SKIP:
        return first
    if entry == NONE or lacks(entry, pattern_flag(pattern, I1, table), table):
        return NONE
    word, bits = registers.word, bits_of(entry, table)
    if not pattern and is_forbidden_pair(start, place, end, first, first_word, entry, table, work):
        return NONE
    if affix_bits(work, table) & FORBIDS or not has_capitals(bits, work):
        return NONE
    if is_unfit(bits, work):
        return STOP
    if options.is_hungarian:
        syllables += hungarian_syllables(place, end, bits, table, work)
        number += prefix_is_word(table, work)
    number += bits & ROOT != 0
    if not is_short(number, syllables, table) or (options.forbids_repeated and entry == first and word == first_word):
        return NONE
    return accepted(first, start, end, table, work)


@part
def rest_of(first, first_word, start, place, end, begin, stop, number, syllables, index, by_rules, pattern, table, work):
    """Whether the rest of a compound is a single part.

    Args:
        first, first_word: the entry and the stem of the first part.
        start, place, end: the bounds of the two parts in the word.
        begin, stop: the bounds of the rest, in the word in which the replacement of a pattern is undone.
        number, syllables: the number of words, and of syllables, before the rest.
        index, by_rules, pattern: as in `first_part`.

    Returns:
        The entry of the first part; or `NONE`, or `STOP`.
    """
    found = rest_as_root(first, first_word, start, place, end, begin, stop, number, syllables, index, pattern, table, work)
    if found != NONE or place > end:
        return found
    return rest_with_affixes(first, first_word, start, place, end, number, syllables, index, by_rules, pattern, table, work)
