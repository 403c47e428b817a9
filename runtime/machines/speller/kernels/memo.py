"""The memo: the answers for the words that a thread checked last, because most words of a text occur several times. Longer words are
looked up in the stems first, which takes less time if most words are new.

A slot of `work.memo` has four numbers. Three contain the units of a word, and zeros after them; the fourth is ``number of units << 1 |
answer``, and 0 in a free slot. The hash of a word is the number of its slot, which contains the last word with this number. A word is
compared as a whole, so the answers are the same without the memo.

Kernels check nothing. They read 16 units from the start of a word, and require `fst.runtime.rows.texts.PAST_END` units after a text.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, part
from fst.machines.speller.kernels.asking import is_correct_word
from fst.machines.speller.kernels.constants import CONVERTED, DEAD, I0, MAX_BYTES, PLAIN_IN_LOWER, RIGHT, SYMBOL, UNKNOWN
from fst.machines.speller.kernels.stems import step
from fst.machines.speller.layout import FIRST_SLOT, KEY_UNITS, MEMO_BITS, SHORT
from fst.runtime.kernels.intrinsics import hash_of, is_key, word_at

SPACE, DOT = 0x20, 0x2E
FEW = MAX_BYTES // 3  # a word with at most this number of units is not too long
FIRST, SHIFT = np.uint64(FIRST_SLOT), np.uint64(64 - MEMO_BITS)
U1, U2, U3, PART_UNITS = (np.uint64(number) for number in (1, 2, 3, 4))


@inlined
def keep(text, start, masks, slot, value, memo):
    """Write a word and its answer into a slot."""
    for number in range(3):
        index = np.uint64(number)
        memo[slot + index] = word_at(text, start + PART_UNITS * index) & memo[masks + index]
    memo[slot + U3] = value


@inlined
def is_plain_stem(text, start, end, table):
    """Whether a word is a stem that is correct as it is, whatever its case. Otherwise the word may still be correct."""
    entries, units = table.entries, table.units
    if start == end or end - start > FEW or text[start] == SPACE or text[end - 1] == DOT:
        return False
    node, number = I0, I0
    for place in range(start, end):
        symbol = np.int64(units[text[place]]) & (SYMBOL | CONVERTED)
        if symbol > SYMBOL:
            return False
        node, number = step(entries, node, number, symbol)
        if node == DEAD:
            return False
    word = number >> 1
    return number & 1 != 0 and word < len(table.plain) and table.plain[word] != 0


@part
def is_plain_with_capital(text, start, end, table):
    """Whether a word with a capital only at its beginning is a stem in lower case that is correct as it is. Otherwise the word may still be
    correct.
    """
    pool, places = table.pool, table.places
    if not table.options.has_free_capitals or start == end or end - start > FEW or text[end - 1] == DOT:
        return False
    node, number = I0, I0
    for place in range(start, end):
        symbol = np.int64(table.units[text[place]]) & (SYMBOL | CONVERTED)
        lower = pool[places.lower + (symbol & SYMBOL)]
        if symbol > SYMBOL or (symbol != lower) != (place == start) or symbol == table.options.letter_dotted_i:
            return False
        node, number = step(table.entries, node, number, lower)
        if node == DEAD:
            return False
    word = number >> 1
    return number & 1 != 0 and word < len(table.plain) and table.plain[word] & PLAIN_IN_LOWER != 0


@inlined
def is_plain(text, start, end, table):
    """Whether a word is a stem that is correct as it is, also with a capital at its beginning."""
    return is_plain_stem(text, start, end, table) or is_plain_with_capital(text, start, end, table)


@part
def is_correct_first(text, start, end, table, work):
    """Whether a word is correct, without the memo."""
    if end - start <= SHORT and is_plain(text, start, end, table):
        return True
    return is_correct_word(text, start, end, table, work)


@inlined
def slot_of(text, first, masks, memo):
    """The slot of a word."""
    return FIRST + (hash_of(text, first, memo, masks) >> SHIFT << U2)


@inlined
def found(text, start, end, memo):
    """The answer of the memo for a short word: `RIGHT`, `WRONG` or `UNKNOWN`."""
    size, first = np.uint64(end - start), np.uint64(start)
    if size == 0 or size > SHORT:
        return UNKNOWN
    slot = slot_of(text, first, size << U2, memo)
    value = memo[slot + U3]
    if value >> U1 == size and is_key(text, first, memo, size << U2, memo, slot):
        return np.int64(value & U1)
    return UNKNOWN


@part
def mark_found(text, starts, rows, memo, marks):
    """Write the answer of the memo for each row: `RIGHT`, `WRONG`, or `UNKNOWN` for a longer word or a word that is not in the memo."""
    for row in range(rows):
        marks[row] = found(text, np.int64(starts[row]), np.int64(starts[row + 1]), memo)


@part
def mark_stems(text, starts, rows, table, marks):
    """Mark the rows of longer words that are plain stems as `RIGHT`."""
    for row in range(rows):
        start, end = np.int64(starts[row]), np.int64(starts[row + 1])
        if end - start > SHORT and is_plain(text, start, end, table):
            marks[row] = RIGHT


@part
def is_correct_again(text, start, end, table, work):
    """Whether a word of any length is correct, by the memo if it contains the word."""
    memo, size, first = work.memo, np.uint64(end - start), np.uint64(start)
    if size == 0 or size > KEY_UNITS:
        return is_correct_first(text, start, end, table, work)
    masks = size << U2
    slot = slot_of(text, first, masks, memo)
    value = memo[slot + U3]
    if value >> U1 == size and is_key(text, first, memo, masks, memo, slot):
        return value & U1 != 0
    answer = is_correct_first(text, start, end, table, work)
    keep(text, first, masks, slot, size << U1 | np.uint64(answer), memo)
    return answer


@part
def is_right(text, start, end, table, work):
    """Whether the word in a part of a text in UTF-16 is correct."""
    verdict = found(text, start, end, work.memo)
    if verdict != UNKNOWN:
        return verdict == RIGHT
    if end - start > SHORT and is_plain(text, start, end, table):
        return True
    return is_correct_again(text, start, end, table, work)
