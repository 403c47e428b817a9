"""The kernel of spell checking: rows of words, or of running text.

Each wrong word has the id 0; in the modes of stems, a word has the number of a stem. In running text, a word consists of letters, of the
characters of WORDCHARS, and of apostrophes between them if the dictionary has strings with apostrophes.

    word of at most `SHORT` units ─→ memo of words ─→ answer
    longer word ─→ stem without affixes? ─→ correct
    all other words ─→ memo ─→ all rules of Hunspell, and into the memo

If a text continues in the next call, the kernel stops before its last word.

Kernels check nothing, and require a table that has passed `Table.prove`, and text in UTF-16.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.machines.speller.kernels.candidates import is_candidate
from fst.machines.speller.kernels.constants import I0, LETTER, NONE, STEMS, TEXTS, UNKNOWN, WORDS, WRONG
from fst.machines.speller.kernels.derivations import stem_of
from fst.runtime.machines.speller.kernels.memo import is_correct_again, is_right, mark_found, mark_stems
from fst.tables.kernel_call import IDS_ALONE

LOW_SURROGATE, SURROGATE = 0xDC00, 0xFC00


@inlined
def is_letter(text, place, end, table):
    """Whether a place of a text has a character of words that is not an apostrophe."""
    return place < end and table.units[text[place]] & LETTER != 0 and text[place] != 0x27 and text[place] != 0x2019


@part
def count_characters(text, start, end):
    """The number of characters of a part of a text."""
    count = 0
    for place in range(start, end):
        count += text[place] & SURROGATE != LOW_SURROGATE
    return count


@part
def put(output, place, number, start, end):
    """Write an id with its span; return the next place."""
    output.ids[place] = number
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
            place = put(output, place, I0, characters, after)
        read, characters = last, after
    return read, place, characters


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
        if table.mode[0] == WORDS:
            mark_found(text, starts, complete, work.memo, output.ends)
            mark_stems(text, starts, complete, table, output.ends)
        for row in range(complete):
            start, end, verdict, found = np.int64(starts[row]), np.int64(starts[row + 1]), output.ends[row], NONE
            if table.mode[0] >= STEMS:
                found = stem_of(text, start, end, table, work)
            elif table.mode[0] != WORDS:
                found = NONE if is_candidate(text, start, end, table, work) else I0
            elif verdict == WRONG or (verdict == UNKNOWN and not is_correct_again(text, start, end, table, work)):
                found = I0
            if found != NONE:
                place = put(output, place, found, I0, count_characters(text, start, end))
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
