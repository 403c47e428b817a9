"""Walks over the stems, and sets of flags.

A *walk* reads the symbols of `work.main` from a start; its row of `work.nodes` and `work.numbers` has the state after each symbol. Rows are
computed when they are first needed. An *entry* is a position in `homonyms`, or `NONE`.

Kernels check nothing, and require a table that has passed `Table.prove`.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, part
from fst.machines.speller.kernels.constants import (
    DEAD,
    I0,
    LABEL_SHIFT,
    LIVE,
    MAIN,
    MASK_BITS,
    NODES,
    NONE,
    NUMBERS,
    ROWS,
    STAMP_SHIFT,
    TAGS,
    TARGET,
    TARGET_BITS,
    VALUE,
    WIDTH,
)


@inlined
def step(entries, node, number, symbol):
    """The state after a symbol, or `DEAD`; and twice the number of the string, plus 1 if a string ends. `number`: this value before."""
    entry = entries[node + 1 + symbol]
    if entry >> LABEL_SHIFT != symbol:
        return DEAD, number
    return entry & TARGET, (number & ~1) + (entry >> TARGET_BITS & VALUE)


@part
def walk(start, table, work):
    """Walk from a position of `work.main`, unless this is done; return the row of the walk."""
    row, tag = start & (ROWS - 1), work.registers.stamp << STAMP_SHIFT | start
    if work.memory[TAGS + row] == tag:
        return row
    work.memory[TAGS + row] = tag
    entries = table.entries
    place, at, node, number = row * WIDTH, start, I0, I0
    work.memory[NODES + place], work.memory[NUMBERS + place] = 0, 0
    while at - start < WIDTH - 1:
        node, number = step(entries, node, number, work.memory[MAIN + at])
        if node == DEAD:
            break
        at, place = at + 1, place + 1
        work.memory[NODES + place], work.memory[NUMBERS + place] = node, number
    work.memory[LIVE + row] = at - start
    return row


@inlined
def stem_at(number, table, work):
    """The first entry of the stem that ends with a number of a walk."""
    word = number >> 1
    if number & 1 == 0 or word >= len(table.word_lists):
        return NONE
    work.registers.word = word
    return np.int64(table.word_lists[word])


@part
def look_up(start, end, table, work):
    """The first entry of a part of `work.main`."""
    row = walk(start, table, work)
    if end - start > work.memory[LIVE + row]:
        return NONE
    return stem_at(work.memory[NUMBERS + row * WIDTH + end - start], table, work)


@part
def stem_after(row, size, first, last, table, work):
    """The first entry of the stem that begins with the first `size` symbols of a walk, and ends with some elements of `strings`."""
    if size > work.memory[LIVE + row]:
        return NONE
    node, number = work.memory[NODES + row * WIDTH + size], work.memory[NUMBERS + row * WIDTH + size]
    for place in range(first, last):
        node, number = step(table.entries, node, number, table.pool[table.places.strings + place])
        if node == DEAD:
            return NONE
    return stem_at(number, table, work)


@inlined
def is_taken(work):
    """Whether an entry that fits is the result: the first entry, unless some entries are passed over."""
    work.registers.passed -= 1
    return work.registers.passed < 0


@inlined
def set_of(entry, table):
    """The set of flags of an entry."""
    return np.int64(table.homonyms[entry]) >> 1


@inlined
def next_of(entry, table):
    """The next entry with the same stem."""
    return entry + 1 if table.homonyms[entry] & 1 else NONE


@inlined
def bits_of(entry, table):
    """The bits of an entry's set of flags."""
    return table.pool[table.places.set_bits + set_of(entry, table)]


@inlined
def has(some, flag, table):
    """Whether a set of flags has a flag with a number; no set has the number 0."""
    if table.pool[table.places.set_masks + some] >> (flag & (MASK_BITS - 1)) & 1 == 0:
        return False
    return contains(some, flag, table)


@part
def contains(some, flag, table):
    """Whether the sorted flags of a set contain a flag."""
    low = table.pool[table.places.set_ends + some]
    high = table.pool[table.places.set_ends + some + 1]
    last = high
    while low < high:
        middle = (low + high) >> 1
        if table.pool[table.places.set_flags + middle] < flag:
            low = middle + 1
        else:
            high = middle
    return low < last and table.pool[table.places.set_flags + low] == flag
