"""Split words into symbols, and find their classes."""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, part
from fst.machines.lookup import layout
from fst.runtime.kernels.constants import U0, U1, U2, U11
from fst.runtime.kernels.unicode import LOW_SURROGATE, SURROGATE, SURROGATES, UTF_16, label_at

BEGINS, CLASS, ROOTS = np.uint64(layout.BEGINS), np.uint64(layout.BEGINS - 1), np.uint64(layout.ROOTS)
LETTER = np.uint64(layout.LETTER)
NODE_SHIFT, MAX_SYMBOLS = np.uint64(layout.NODE_SHIFT), np.uint64(layout.MAX_SYMBOLS)
UNKNOWN, TOO_LONG = MAX_SYMBOLS + U1, MAX_SYMBOLS + U2  # returned instead of a number of symbols


@part
def longest_symbol(text, at, stop, table, found):
    """Find the longest symbol that begins at a position; return its class and its end. `found` is the class of the first unit."""
    keys, classes = table.symbol_keys, table.symbol_classes
    end, place, node = at + U1, at, table.begin[U2]
    while place < stop:
        key = node << NODE_SHIFT | np.uint64(text[place])
        low, high = U0, np.uint64(len(keys))
        while low < high:
            middle = (low + high) >> U1
            if keys[middle] < key:
                low = middle + U1
            else:
                high = middle
        if low == np.uint64(len(keys)) or keys[low] != key:
            break
        place += U1
        node = ROOTS + low
        if classes[low]:
            found, end = np.uint64(classes[low]), place
    return found, end


@inlined
def symbol_at(text, at, stop, table):
    """Return the class of the longest symbol at a position, the class of the symbol in lower case or 0, and the end of the symbol. Only a
    symbol of one unit may be read in lower case.
    """
    record = np.uint64(table.units[text[at]])
    found, end, lower = record & CLASS, at + U1, np.uint64(table.lower_units[text[at]])
    if record & BEGINS:
        found, end = longest_symbol(text, at, stop, table, found)
    if lower and end == at + U1:
        return found, np.uint64(table.units[lower]) & CLASS, end
    return found, U0, end


@part
def is_long_letter(text, at, edges):
    """Whether a surrogate belongs to a letter, a mark or a number, by a set of code points as in `LookupTable.letters`."""
    first = at - np.uint64(np.uint64(text[at]) & SURROGATE == LOW_SURROGATE)
    code, _ = label_at(text, first, UTF_16)
    low, high = U0, np.uint64(len(edges))
    while low < high:
        middle = (low + high) >> U1
        if np.uint64(edges[middle]) <= code:
            low = middle + U1
        else:
            high = middle
    return low & U1 != U0


@inlined
def is_letter(text, at, end, table):
    """Whether there is a unit at a position that is a letter, a mark or a number, or a part of one."""
    if at >= end:
        return False
    if np.uint64(text[at]) >> U11 == SURROGATES:
        return is_long_letter(text, at, table.letters)
    return np.uint64(table.units[text[at]]) & LETTER != U0


@inlined
def read_classes(text, start, stop, table, classes):
    """Write the class of each symbol of a word; return the number of symbols, `UNKNOWN` if no arc reads one of the symbols, or
    `TOO_LONG`.
    """
    count, at = U0, start
    while at < stop:
        record = np.uint64(table.units[text[at]])
        found, end = record & CLASS, at + U1
        if record & BEGINS:
            found, end = longest_symbol(text, at, stop, table, found)
        if found == U0:
            return UNKNOWN
        if count == MAX_SYMBOLS:
            return TOO_LONG
        classes[count] = found
        count += U1
        at = end
    return count


@part
def characters_of(text, start, end):
    """Count the characters of a word."""
    count = U0
    while start < end:
        count += np.uint64(np.uint64(text[start]) & SURROGATE != LOW_SURROGATE)
        start += U1
    return count
