"""The kernel of spell checking: rows of words, or of running text.

Each wrong word has the id 0. In running text, a word consists of letters, of the characters of WORDCHARS, and of apostrophes between them
if the dictionary has strings with apostrophes.

    row ─→ whole row is one word ─→ stem without affixes? ─→ correct
                                  └→ all other rules of Hunspell

A correct stem, as most words of a text are, takes one look-up for each character. If a text continues in the next call, the kernel stops
before its last word.

Kernels check nothing, and require a table that has passed `Table.prove`, and text in UTF-16.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.machines.speller.kernels.asking import is_correct_word
from fst.machines.speller.kernels.constants import CONVERTED, DEAD, I0, LETTER, MAX_BYTES, PLAIN_IN_LOWER, SYMBOL, TEXTS
from fst.machines.speller.kernels.stems import step
from fst.tables.kernel_call import IDS_ALONE

LOW_SURROGATE, SURROGATE = 0xDC00, 0xFC00
SPACE, DOT = 0x20, 0x2E
FEW = MAX_BYTES // 3  # words with so many units are not too long


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


@part
def is_right(text, start, end, table, work):
    """Whether a word is correct."""
    if is_plain_stem(text, start, end, table) or is_plain_with_capital(text, start, end, table):
        return True
    return is_correct_word(text, start, end, table, work)


@inlined
def is_letter(text, place, end, table):
    """Whether a place of a text has a character of words that is no apostrophe."""
    return place < end and table.units[text[place]] & LETTER != 0 and text[place] != 0x27 and text[place] != 0x2019


@part
def count_characters(text, start, end):
    """The number of characters of a part of a text."""
    count = 0
    for place in range(start, end):
        count += text[place] & SURROGATE != LOW_SURROGATE
    return count


@part
def put(output, place, start, end):
    """Write a wrong word with its span; return the next place."""
    output.ids[place] = 0
    if len(output) > IDS_ALONE and len(output.offsets):
        output.offsets[2 * place], output.offsets[2 * place + 1], output.words[place] = start, end, 0
    return place + 1


@part
def end_of_word(text, start, end, table):
    """The end of the word that begins at a place."""
    place = start
    while True:
        if is_letter(text, place, end, table) or (is_apostrophe(text, place, end, table) and is_letter(text, place + 1, end, table)):
            place += 1
        else:
            return place


@inlined
def is_apostrophe(text, place, end, table):
    """Whether a place of a text has an apostrophe, if apostrophes belong to words."""
    if place >= end:
        return False
    unit = text[place]
    return (unit == 0x27 or unit == 0x2019) and table.units[0x27] & LETTER != 0


@part
def put_words(text, start, end, is_open, table, output, place, characters, work):
    """Write the wrong words of a part of a running text. Returns the position where reading stopped, the next place in the output, and the
    number of characters of the text before this position.
    """
    read = start
    while read < end:
        first = read
        while first < end and not is_letter(text, first, end, table):
            first += 1
        last = end_of_word(text, first, end, table)
        if is_open and last + 1 >= end:
            characters += count_characters(text, read, first)
            return first, place, characters
        characters += count_characters(text, read, first)
        after = characters + count_characters(text, first, last)
        if first < last and not is_right(text, first, last, table, work):
            place = put(output, place, characters, after)
        read, characters = last, after
    return read, place, characters


@part
def mark_stems(text, starts, complete, table, output):
    """Write for each row, to the end of the row, whether it is a plain stem."""
    for row in range(complete):
        start, end = np.int64(starts[row]), np.int64(starts[row + 1])
        output.ends[row] = is_plain_stem(text, start, end, table) or is_plain_with_capital(text, start, end, table)


@kernel
def run_rows(text, starts, more, table, output, work):
    """Check words. Arguments and result are as in `fst.runtime.machines.bpe.kernels.encode.encode_rows`, except for `table`, which is
    `fst.machines.speller.layout.Arguments`, and `work`, which is `fst.machines.speller.layout.Work`.
    """
    call, rows = work.state, len(starts) - 1
    place, end = np.int64(call.count), np.int64(starts[0])
    characters = np.int64(call.before) if call.is_open else 0
    if table.mode[0] != TEXTS:
        complete = rows - 1 if more else rows
        mark_stems(text, starts, complete, table, output)
        for row in range(complete):
            if not output.ends[row]:
                start, end = np.int64(starts[row]), np.int64(starts[row + 1])
                if not is_correct_word(text, start, end, table, work):
                    place = put(output, place, I0, count_characters(text, start, end))
            output.ends[row] = place
        call.count = place
        return np.uint64(starts[complete])
    for row in range(rows):
        start, end = np.int64(starts[row]), np.int64(starts[row + 1])
        is_open = more != 0 and row + 1 == rows
        end, place, characters = put_words(text, start, end, is_open, table, output, place, characters, work)
        if not is_open:
            output.ends[row] = place
            characters = 0
    call.count, call.before, call.is_open = place, characters, more
    return np.uint64(end)
