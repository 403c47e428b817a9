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
    MASK_BITS,
    NONE,
    ROWS,
    STAMP_SHIFT,
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
    if work.tags[row] == tag:
        return row
    work.tags[row] = tag
    entries, nodes, numbers, main = table.entries, work.nodes, work.numbers, work.main
    place, at, node, number = row * WIDTH, start, I0, I0
    nodes[place], numbers[place] = 0, 0
    while at - start < WIDTH - 1:
        node, number = step(entries, node, number, np.int64(main[at]))
        if node == DEAD:
            break
        at, place = at + 1, place + 1
        nodes[place], numbers[place] = node, number
    work.live[row] = at - start
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
    if end - start > work.live[row]:
        return NONE
    return stem_at(np.int64(work.numbers[row * WIDTH + end - start]), table, work)


@part
def stem_after(row, size, first, last, table, work):
    """The first entry of the stem that begins with the first `size` symbols of a walk, and ends with some elements of `strings`."""
    if size > work.live[row]:
        return NONE
    node, number = np.int64(work.nodes[row * WIDTH + size]), np.int64(work.numbers[row * WIDTH + size])
    for place in range(first, last):
        node, number = step(table.entries, node, number, np.int64(table.strings[place]))
        if node == DEAD:
            return NONE
    return stem_at(number, table, work)


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
    return np.int64(table.set_bits[set_of(entry, table)])


@inlined
def has(some, flag, table):
    """Whether a set of flags has a flag with a number; no set has the number 0."""
    if table.set_masks[some] >> (flag & (MASK_BITS - 1)) & 1 == 0:
        return False
    return contains(some, flag, table)


@part
def contains(some, flag, table):
    """Whether the sorted flags of a set contain a flag."""
    low = np.int64(table.set_ends[some])
    high = np.int64(table.set_ends[some + 1])
    last = high
    while low < high:
        middle = (low + high) >> 1
        if table.set_flags[middle] < flag:
            low = middle + 1
        else:
            high = middle
    return low < last and table.set_flags[low] == flag
