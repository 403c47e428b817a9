"""Kernel of the compiler of MaxMatch: what is certain where a walk has read on after a token, see `fst.machines.segmentation.maxmatch`."""

from __future__ import annotations

from fst.automata.rows import ROOT
from fst.core.jit import inlined, kernel, part
from fst.machines.segmentation.maxmatch import BEFORE, END, LISTED, NUMBER, SIZE, STATE, TOKENS, VALUE
from fst.machines.segmentation.unit_trie import ENTRY, FREE, LEAF, MAX_VALUE

LABEL_SHIFT, VALUE_SHIFT = ENTRY.label_shift, ENTRY.value_shift
OWN = -1 << LABEL_SHIFT  # the label `FREE`, in a signed number


@inlined
def fields(entry):
    """The label of an entry, where it leads, and its value."""
    return entry >> LABEL_SHIFT & FREE, entry & LEAF, entry >> VALUE_SHIFT & MAX_VALUE


@part
def put_list(lists, count, before, last):
    """Write the tokens of another list, which ends with `last`, behind the list that ends with `before`.

    Returns:
        The number of rows that are used, or would be if there were as many.
    """
    end = count + lists[last, NUMBER]
    if end <= len(lists):
        place = end
        while last:
            place -= 1
            lists[place, LISTED], lists[place, END] = lists[last, LISTED], lists[last, END] + lists[before, END]
            lists[place, NUMBER], lists[place, BEFORE] = lists[last, NUMBER] + lists[before, NUMBER], place - 1
            last = lists[last, BEFORE]
        lists[place, BEFORE] = before
    return end


@part
def put(lists, count, before, value, size, rules, words):
    """Write a token behind a list, or those of a rule. Result as for `put_list`."""
    if value > words:
        return put_list(lists, count, before, rules[value - words - 1])
    if count < len(lists):
        lists[count, LISTED], lists[count, END] = value, lists[before, END] + size
        lists[count, NUMBER], lists[count, BEFORE] = lists[before, NUMBER] + 1, before
    return count + 1


@part
def read(unit, at, jump, units, entries, firsts, rules, words, count, jumps, lists):
    """Go on from a jump over one more unit, as a walk does.

    Args:
        unit, at: the unit, and the number of those before it, which are read.
        jump: the row of `jumps` to go on from, which is changed.
        units, entries, firsts, rules, words, count, jumps, lists: as in `link`.

    Returns:
        As `link`.
    """
    last, state, value, size = jumps[jump, TOKENS], jumps[jump, STATE], jumps[jump, VALUE], jumps[jump, SIZE]
    is_read = lists[last, END] > at  # as the second surrogate of a character outside of all words
    while not is_read:
        is_first = state == ROOT
        label, following, found = fields(firsts[unit] if is_first else entries[state + units[unit]])
        is_read = is_first or label == units[unit]
        if is_read:
            state = following
            if is_first or found:
                value, size = found, max(label, 1) if is_first else at + 1 - lists[last, END]
            if state != LEAF:
                break
        if at - lists[last, END] > size:
            further = entries[state] & LEAF
            count = put_list(lists, count, last, jumps[further, TOKENS])
            state, value, size = jumps[further, STATE], jumps[further, VALUE], jumps[further, SIZE]
        else:
            count = put(lists, count, last, value, size, rules, words)
            state, value, size = ROOT, 0, 0
        last = count - 1
        is_read = count > len(lists) or lists[last, END] > at
    jumps[jump, TOKENS], jumps[jump, STATE], jumps[jump, VALUE], jumps[jump, SIZE] = last, state, value, size
    return count


@kernel
def link(order, above, depths, units_read, targets, values, sizes, units, entries, firsts, rules, words, count, jumps, lists):
    """Find the jump of each state where walks jump, and write its number into its slot.

    The jump of a state v = δ(u, c) goes on from that of u, and reads c. If walks do not jump at u, its string is the token that they make
    at v, and is certain.

    Args:
        order: int64[n], the edges to these states, by their depth.
        above, depths, targets: int64[edges], the edge before each; where it ends; and its state. units_read: int64[edges], its unit.
        values, sizes: int64[edges], see `fst.machines.segmentation.maxmatch.Lasts`.
        units, entries, firsts, rules: those of the table, int64; slots of states are changed.
        words: the number of words.
        count: the number of rows of `lists` that are used.
        jumps: int64[1 + n, 4], filled from row 1 on. lists: int64[m, 4], filled from `count` on.

    Returns:
        The number of rows of `lists` that are used, or more than there are: then there are too few.
    """
    for index in range(len(order)):
        edge, jump = order[index], index + 1
        from_u = entries[targets[above[edge]]] & LEAF
        for column in range(jumps.shape[1]):
            jumps[jump, column] = jumps[from_u, column]
        if not from_u:
            count = put(lists, count, 0, values[edge], sizes[edge], rules, words)
            jumps[jump, TOKENS] = count - 1
        if count <= len(lists):
            count = read(units_read[edge], depths[edge] - 1, jump, units, entries, firsts, rules, words, count, jumps, lists)
        if count > len(lists):
            break
        entries[targets[edge]] = OWN | jump
    return count
