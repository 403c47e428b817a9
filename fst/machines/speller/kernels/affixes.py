"""Stems without affixes: the affixes that a word has are tried in the order of Hunspell, and the first entry that fits is found.

A *string* is a part of `work.main`, followed by the characters that a suffix has stripped: ``start, end`` in `main`, and ``first, last`` in
`strings`. The order of suffixes is that of their additions from the end of the word, shorter ones first, and the later line of the file
first.

Kernels check nothing, and require a table that has passed `Table.prove`.
"""

from __future__ import annotations

from fst.core.jit import inlined, part
from fst.machines.speller.kernels.constants import (
    ALONE,
    CIRCUMFIX,
    COLUMNS,
    CONDITION,
    CONDITION_SIZE,
    CROSSES,
    DEAD,
    FIRST_PART,
    FLAG,
    I0,
    I1,
    IS_EXTRA,
    IS_SECOND,
    KIND,
    LAST_PART,
    LIVE,
    MAIN,
    MAY_LACK_LAST,
    NEEDS_AFFIX,
    NODES,
    NONE,
    NOT_EMPTY,
    NUMBERS,
    ONLY_IN_COMPOUND,
    PERMITS,
    ROWS,
    SCRATCH,
    SET,
    STRIP,
    SUFFIX_LISTS,
    TAGS,
    WIDTH,
)
from fst.machines.speller.kernels.stems import bits_of, has, is_taken, look_up, next_of, set_of, stem_after, stem_at, step, walk


@inlined
def field(affix, column, table):
    """A field of an affix."""
    return table.pool[table.places.affixes + affix * COLUMNS + column]


@inlined
def flags_of(affix, table):
    """The bits of an affix's set of flags; 0 for no affix."""
    return table.pool[table.places.set_bits + field(affix, SET, table)] if affix != NONE else 0


@inlined
def string_at(number, table):
    """The bounds of a string in `strings`."""
    return table.pool[table.places.string_ends + number], table.pool[table.places.string_ends + number + 1]


@inlined
def list_of(number, first, table):
    """The list of affixes whose addition ends with a number of a walk. `first`: the first list of suffixes, or of prefixes."""
    return min(first + (number >> 1), table.places.last_list)


@inlined
def end_of_list(number, table):
    """The first affix of a list, which is the end of the list before it."""
    return table.pool[table.places.affix_ends + number]


@inlined
def accepts(piece, symbol, table):
    """Whether a part of a condition accepts a symbol."""
    width = (table.options.symbols + 63) >> 6
    return table.pool[table.places.parts + (piece * width + (symbol >> 6))] >> (symbol & 63) & 1 != 0


@part
def fits_end(affix, start, end, first, size, table, work):
    """Whether the first `size` symbols of a string, followed by the characters that a suffix strips, fit the condition of the suffix."""
    count, place = field(affix, CONDITION_SIZE, table), field(affix, CONDITION, table)
    begin, stop = string_at(field(affix, STRIP, table), table)
    if count > size + stop - begin:
        return False
    for back in range(count):
        at = stop - 1 - back
        if at >= begin:
            symbol = table.pool[table.places.strings + at]
        else:
            at = size - 1 - (back - (stop - begin))
            symbol = work.memory[MAIN + start + at] if at < end - start else table.pool[table.places.strings + first + at - (end - start)]
        if not accepts(table.pool[table.places.conditions + place + back], symbol, table):
            return False
    return True


@part
def fits_start(affix, start, end, table, work):
    """Whether the characters that a prefix strips, followed by a part of `work.main`, fit the condition of the prefix."""
    count, place = field(affix, CONDITION_SIZE, table), field(affix, CONDITION, table)
    begin, stop = string_at(field(affix, STRIP, table), table)
    size = end - start + stop - begin
    if count == size + 1 and field(affix, KIND, table) & MAY_LACK_LAST:
        count = size
    if count > size:
        return False
    for at in range(count):
        symbol = table.pool[table.places.strings + begin + at] if at < stop - begin else work.memory[MAIN + start + at - (stop - begin)]
        if not accepts(table.pool[table.places.conditions + place + at], symbol, table):
            return False
    return True


@inlined
def is_allowed(bits, prefix_bits, has_prefix, is_second, place, is_first_list, table):
    """Whether a suffix may be at a place, with a prefix and before another suffix, by the bits of its set of flags."""
    if place == FIRST_PART and not bits & PERMITS:
        return False
    if table.options.defined & CIRCUMFIX and (bits ^ prefix_bits) & CIRCUMFIX:
        return False
    if place == ALONE and bits & ONLY_IN_COMPOUND:
        return False
    if not is_second and bits & NEEDS_AFFIX and (not has_prefix or prefix_bits & NEEDS_AFFIX):
        return False
    if is_first_list:
        return not is_second or bits & NOT_EMPTY != 0
    return place != LAST_PART or has_prefix or bits & ONLY_IN_COMPOUND == 0


@part
def entry_of_suffix(affix, start, end, first, last, size, row, crosses, prefix, second, needed, place, table, work):
    """The entry of a string of which a suffix leaves the first `size` symbols; see `find_suffix`."""
    if (size == 0 and not table.options.full_strip) or size > work.memory[LIVE + row] + last - first:
        return NONE
    begin, stop = string_at(field(affix, STRIP, table), table)
    if size <= end - start:
        entry = stem_after(row, size, begin, stop, table, work)
    else:
        entry = stem_after_two(row, end - start, first, first + size - (end - start), begin, stop, table, work)
    if entry == NONE or not fits_end(affix, start, end, first, size, table, work):
        return NONE
    own, flag = field(affix, SET, table), field(affix, FLAG, table)
    own_bits = table.pool[table.places.set_bits + own]
    if second and not has(own, second, table):
        return NONE
    while entry != NONE:
        some = set_of(entry, table)
        bits = table.pool[table.places.set_bits + some]
        fits = has(some, flag, table) or (prefix != NONE and has(field(prefix, SET, table), flag, table))
        if fits and crosses:
            of_prefix = field(prefix, FLAG, table)
            fits = has(some, of_prefix, table) or has(own, of_prefix, table)
        if fits and place == ALONE and bits & ONLY_IN_COMPOUND:
            fits = False
        if fits and (not needed or (bits | own_bits) & needed) and is_taken(work):
            return entry
        entry = next_of(entry, table)
    return NONE


@part
def stem_after_two(row, size, first, last, begin, stop, table, work):
    """As `stem_after`, for the symbols of two strings in succession."""
    if size > work.memory[LIVE + row]:
        return NONE
    node, number = work.memory[NODES + row * WIDTH + size], work.memory[NUMBERS + row * WIDTH + size]
    for turn in range(2):
        for at in range(first if turn == 0 else begin, last if turn == 0 else stop):
            node, number = step(table.entries, node, number, table.pool[table.places.strings + at])
            if node == DEAD:
                return NONE
    return stem_at(number, table, work)


@inlined
def symbol_before(back, end, first, last, table, work):
    """The symbol of a string at a distance from its end."""
    if back < last - first:
        return table.pool[table.places.strings + last - 1 - back]
    return work.memory[MAIN + end - 1 - (back - (last - first))]


@part
def find_suffix(start, end, first, last, row, crosses, prefix, second, needed, place, table, work):
    """The entry of a string that ends with a suffix [suffix_check].

    Args:
        start, end, first, last: the string.
        row: the row of the walk from `start`.
        crosses: whether the suffix must cross with a prefix.
        prefix: the prefix that the word has before the string; `NONE`: no prefix.
        second: the flag of the second suffix, which the suffix must allow; 0: no second suffix.
        needed: the bits of which the entry or the suffix must have one; 0: none.
        place: the place in a compound.
    """
    registers, prefix_bits = work.registers, flags_of(prefix, table)
    size, node, number, depth = end - start + last - first, table.options.suffix_root, I0, I0
    found = I0
    while True:
        for affix in range(end_of_list(found, table), end_of_list(found + 1, table)):
            registers.steps -= 1
            bits = flags_of(affix, table)
            if crosses and not field(affix, KIND, table) & CROSSES:
                continue
            if not is_allowed(bits, prefix_bits, prefix != NONE, second != 0, place, depth == 0, table):
                continue
            entry = entry_of_suffix(affix, start, end, first, last, size - depth, row, crosses, prefix, second, needed, place, table, work)
            if entry != NONE:
                note_suffix(affix, bits, depth, table, work)
                return entry
        while True:
            if depth == size or registers.steps < 0:
                return NONE
            node, number = step(table.entries, node, number, symbol_before(depth, end, first, last, table, work))
            if node == DEAD:
                return NONE
            depth += 1
            if number & 1:
                break
        found = list_of(number, SUFFIX_LISTS, table)


@inlined
def note_suffix(affix, bits, depth, table, work):
    """Keep the suffix that was found."""
    registers = work.registers
    registers.suffix = affix
    if depth:
        registers.suffix_flag = field(affix, FLAG, table)
        if not bits & NOT_EMPTY:
            registers.plain_suffix = affix
        elif table.options.is_hungarian and field(affix, KIND, table) & IS_EXTRA:
            registers.extra = 1


@part
def find_two_suffixes(start, end, row, crosses, prefix, needed, table, work):
    """The entry of a part of `work.main` that ends with two suffixes [suffix_check_twosfx]; arguments as in `find_suffix`."""
    registers = work.registers
    size, node, number, depth, found = end - start, table.options.suffix_root, I0, I0, I0
    while True:
        for affix in range(end_of_list(found, table), end_of_list(found + 1, table)):
            registers.steps -= 1
            kind, left = field(affix, KIND, table), size - depth
            if not kind & IS_SECOND or (crosses and not kind & CROSSES) or (left == 0 and not table.options.full_strip):
                continue
            if not fits_end(affix, start, end, I0, left, table, work):
                continue
            begin, stop = string_at(field(affix, STRIP, table), table)
            flag = field(affix, FLAG, table)
            if prefix != NONE and has(field(affix, SET, table), field(prefix, FLAG, table), table):
                entry = find_suffix(start, start + left, begin, stop, row, I0, NONE, flag, needed, ALONE, table, work)
            else:
                entry = find_suffix(start, start + left, begin, stop, row, crosses, prefix, flag, needed, ALONE, table, work)
            if entry != NONE:
                if depth:
                    registers.suffix_flag = flag
                    if not flags_of(affix, table) & NOT_EMPTY:
                        registers.plain_suffix = affix
                return entry
        while True:
            if depth == size or registers.steps < 0:
                return NONE
            node, number = step(table.entries, node, number, work.memory[MAIN + end - 1 - depth])
            if node == DEAD:
                return NONE
            depth += 1
            if number & 1:
                break
        found = list_of(number, SUFFIX_LISTS, table)


@part
def find_prefix(start, end, two, needed, place, table, work):
    """The entry of a part of `work.main` that begins with a prefix, and may end with a suffix [prefix_check]; if `two`, with two suffixes
    [prefix_check_twosfx]. Other arguments as in `find_suffix`.
    """
    registers = work.registers
    registers.prefix = registers.plain_suffix = NONE
    registers.extra = 0
    node, number, depth, found = table.options.prefix_root, I0, I0, I1
    while True:
        for affix in range(end_of_list(found, table), end_of_list(found + 1, table)):
            registers.steps -= 1
            bits = flags_of(affix, table)
            if not two and place == ALONE and bits & ONLY_IN_COMPOUND:
                continue
            if not two and place == LAST_PART and not bits & PERMITS:
                continue
            entry = entry_of_prefix(affix, bits, start + depth, end, two, needed, place, table, work)
            if entry != NONE:
                if not two or depth:
                    registers.prefix = affix
                return entry
        while True:
            if start + depth == end or registers.steps < 0:
                return NONE
            node, number = step(table.entries, node, number, work.memory[MAIN + start + depth])
            if node == DEAD:
                return NONE
            depth += 1
            if number & 1:
                break
        found = list_of(number, table.options.prefix_lists, table)


@part
def entry_of_prefix(affix, bits, start, end, two, needed, place, table, work):
    """The entry of a part of `work.main` after a prefix; see `find_prefix`."""
    if (start == end and not table.options.full_strip) or not fits_start(affix, start, end, table, work):
        return NONE
    if two and (not field(affix, KIND, table) & CROSSES or place == FIRST_PART):
        return NONE
    stop = put_scratch(affix, start, end, table, work)
    crosses = field(affix, KIND, table) & CROSSES
    if two:
        return find_two_suffixes(SCRATCH, stop, walk(SCRATCH, table, work), I1, affix, needed, table, work)
    entry, flag = look_up(SCRATCH, stop, table, work), field(affix, FLAG, table)
    while entry != NONE:
        fits = has(set_of(entry, table), flag, table) and not bits & NEEDS_AFFIX
        if fits and (not needed or (bits_of(entry, table) | bits) & needed) and is_taken(work):
            return entry
        entry = next_of(entry, table)
    if crosses:
        return find_suffix(SCRATCH, stop, I0, I0, walk(SCRATCH, table, work), I1, affix, I0, needed, place, table, work)
    return NONE


@part
def copied(start, end, at, work):
    """Copy a part of `work.main` to another place, and return the end of the copy."""
    for place in range(start, end):
        work.memory[MAIN + at] = work.memory[MAIN + place]
        at += 1
    return at


@part
def written(first, last, at, table, work):
    """Write elements of `strings` to a place of `work.main`, and return the end."""
    for place in range(first, last):
        work.memory[MAIN + at] = table.pool[table.places.strings + place]
        at += 1
    return at


@part
def put_scratch(affix, start, end, table, work):
    """Write the characters that a prefix strips, and a part of `work.main`, to `SCRATCH`; return the end."""
    begin, stop = string_at(field(affix, STRIP, table), table)
    at = copied(start, end, written(begin, stop, SCRATCH, table, work), work)
    work.memory[MAIN + at] = 0
    work.memory[TAGS + (SCRATCH & (ROWS - 1))] = NONE
    return at


@part
def find_affixes(start, end, needed, place, table, work):
    """The entry of a part of `work.main` with affixes [affix_check]; arguments as in `find_suffix`."""
    registers = work.registers
    entry = find_prefix(start, end, I0, needed, place, table, work)
    if entry != NONE:
        return entry
    row = walk(start, table, work)
    entry = find_suffix(start, end, I0, I0, row, I0, NONE, I0, needed, place, table, work)
    if not table.options.has_second:
        return entry
    registers.suffix = registers.prefix = NONE
    if entry != NONE:
        return entry
    entry = find_two_suffixes(start, end, row, I0, NONE, needed, table, work)
    if entry != NONE:
        return entry
    return find_prefix(start, end, I1, needed, ALONE, table, work)
