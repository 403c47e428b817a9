"""Whether a candidate may be suggested: the checks that Hunspell uses for suggestions, which differ from those of words.

Kernels check nothing, and require a table that has passed `Table.prove`.
"""

from __future__ import annotations

from fst.core.jit import part
from fst.machines.speller.kernels.affixes import find_prefix, find_suffix, find_two_suffixes
from fst.machines.speller.kernels.constants import (
    ALONE,
    AS_IT_IS,
    CANDIDATES,
    CAPITALIZED,
    CAPITALS,
    COMPOUNDS,
    FORBIDDEN,
    FORBIDDEN_INFO,
    HIDDEN,
    I0,
    I1,
    MAIN,
    MAX_BYTES,
    NEEDS_AFFIX,
    NO_SUGGESTION,
    NONE,
    ONLY_IN_COMPOUND,
    STEPS,
    SUBSTANDARD,
    SYMBOL,
    TEXT,
)
from fst.machines.speller.kernels.forms import entry_of, entry_of_compound
from fst.machines.speller.kernels.rules import forget
from fst.machines.speller.kernels.stems import bits_of, look_up, next_of, walk


@part
def with_suffixes(size, table, work):
    """The entry of the word in `work.main` with suffixes, or with a prefix and two suffixes."""
    row = walk(I0, table, work)
    entry = find_suffix(I0, size, I0, I0, row, I0, NONE, I0, I0, ALONE, table, work)
    if entry == NONE and table.options.has_second:
        entry = find_two_suffixes(I0, size, row, I0, NONE, I0, table, work)
        if entry == NONE:
            entry = find_prefix(I0, size, I1, I0, ALONE, table, work)
    return entry


@part
def is_simple(size, table, work):
    """Whether the word in `work.main` may be suggested without compounds."""
    entry, found = look_up(I0, size, table, work), NONE
    if entry == NONE:
        found = find_prefix(I0, size, I0, I0, ALONE, table, work)
    elif bits_of(entry, table) & (FORBIDDEN | NO_SUGGESTION | SUBSTANDARD):
        return False
    while entry != NONE and bits_of(entry, table) & (NEEDS_AFFIX | HIDDEN | ONLY_IN_COMPOUND):
        entry = next_of(entry, table)
    if entry != NONE:
        found = entry
    elif found == NONE:
        found = with_suffixes(size, table, work)
    return found != NONE and bits_of(found, table) & (FORBIDDEN | HIDDEN | NO_SUGGESTION | ONLY_IN_COMPOUND) == 0


@part
def is_compound(size, table, work):
    """Whether the word in `work.main` may be suggested as a compound."""
    work.registers.unwanted = NO_SUGGESTION
    entry = entry_of_compound(size, table, work)
    work.registers.unwanted = 0
    if entry == NONE:
        return False
    entry = look_up(I0, size, table, work)
    return entry == NONE or bits_of(entry, table) & (FORBIDDEN | NO_SUGGESTION) == 0


@part
def is_candidate(text, start, end, table, work):
    """Whether a word in a part of a text in UTF-16 is accepted in the mode of suggestions.

    The modes: `CANDIDATES`: a word in this case that is suggested; `COMPOUNDS`: a compound in this case that is suggested; `CAPITALIZED`: a
    word if it has capitals; `NOT_FORBIDDEN`: any string that is not a forbidden word.
    """
    registers, size, mode = work.registers, end - start, table.mode[0]
    if size > MAX_BYTES or size == 0:
        return mode > CAPITALIZED
    registers.steps, registers.depth, registers.info = STEPS, 0, CAPITALS if mode == CAPITALIZED else 0
    if mode > COMPOUNDS:
        for place in range(size):
            work.memory[TEXT + place] = table.units[text[start + place]] & SYMBOL
        entry = entry_of(I0, size, AS_IT_IS, I0, I0, table, work)
        return entry != NONE if mode == CAPITALIZED else registers.info & FORBIDDEN_INFO == 0
    for place in range(size):
        work.memory[MAIN + place] = table.units[text[start + place]] & SYMBOL
    work.memory[MAIN + size] = 0
    registers.length = size
    forget(work)
    return is_simple(size, table, work) if mode == CANDIDATES else is_compound(size, table, work)
