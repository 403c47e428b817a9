"""The kernels of Japanese BERT. `fst.machines.segmentation.pieces` describes the tokens, and its slow walk specifies them.

`cut` divides normalized texts into segments in UTF-16, the kernel of MeCab finds their words, and `encode_rows` makes the tokens of each
word.

Kernels check nothing, and require a table that has passed `Table.prove`, normalized text in UTF-8 with marks, and an output array with a
capacity of one id for each byte of normalized text.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.machines.segmentation import pieces
from fst.runtime.kernels.constants import LOW_10, U0, U1, U2, U10
from fst.runtime.kernels.output import put_special_ids
from fst.runtime.kernels.unicode import HIGH_SURROGATE, LOW_SURROGATE, SUPPLEMENTARY, SURROGATE
from fst.runtime.kernels.utf_8 import LOW_6
from fst.runtime.machines.segmentation.kernels.unit_trie import LEAF, ROOT, label_of, leads, state_of, value_of
from fst.runtime.text.kernels.composition import code_at
from fst.tables.kernel_call import IDS_ALONE
from fst.text import marks

MARK, MARK_BITS, MARK_BYTES = np.uint8(marks.MARK), np.uint64(marks.MARK_BITS), np.uint64(marks.MARK_BYTES)
NO_TOKEN = np.int32(pieces.NO_TOKEN)
SIGMA, FINAL_SIGMA = np.uint64(pieces.SIGMA), np.uint64(pieces.FINAL_SIGMA)
CASED, IGNORABLE = np.uint8(pieces.CASED), np.uint8(pieces.IGNORABLE)
FIRST_WHITE, LAST_ASCII, FIRST_OTHER, LAST_WHITE = np.uint64(9), np.uint64(0x20), np.uint64(0x85), np.uint64(0x3000)


@inlined
def put_units(code, units, at):
    """Write a code point in UTF-16; return the new number of units."""
    if code < SUPPLEMENTARY:
        units[at] = code
        return at + U1
    units[at] = HIGH_SURROGATE | (code - SUPPLEMENTARY) >> U10
    units[at + U1] = LOW_SURROGATE | (code - SUPPLEMENTARY) & LOW_10
    return at + U2


@inlined
def unit_code_at(units, at):
    """Decode the character at a position of UTF-16; return its code point, and the position after it."""
    code = np.uint64(units[at])
    if code & SURROGATE != HIGH_SURROGATE:
        return code, at + U1
    return (((code & LOW_10) << U10) | (np.uint64(units[at + U1]) & LOW_10)) + SUPPLEMENTARY, at + U2


@kernel
def cut(text, starts, ids, units, bounds, tokens, firsts):
    """Divide texts into segments; return the number of segments.

    Args:
        text, starts: normalized texts, see `fst.text.arguments.Normalized`.
        ids: int32[tokens], the id of each added token by the number in its mark.
        units, bounds, tokens, firsts: filled, see `fst.machines.segmentation.pieces.Words`.
    """
    segment, filled = U0, U0
    bounds[0] = 0
    for row in range(np.uint64(len(starts)) - U1):
        at, end = np.uint64(starts[np.uint64(row)]), np.uint64(starts[np.uint64(row) + U1])
        characters, is_cut = U0, False
        firsts[segment] = 0
        while at < end:
            if text[at] == MARK:
                number = U0
                for index in range(U1, MARK_BYTES):
                    number = number << MARK_BITS | np.uint64(text[at + np.uint64(index)]) & LOW_6
                tokens[segment], bounds[segment + U1] = ids[number], filled
                segment, at, characters, is_cut = segment + U1, at + MARK_BYTES, characters + U1, False
                firsts[segment] = characters
            else:
                code, at = code_at(text, at)
                is_cut = is_cut or code == U0
                if not is_cut:
                    filled = put_units(code, units, filled)
                characters += U1
        tokens[segment], bounds[segment + U1] = NO_TOKEN, filled
        segment += U1
    return segment


@inlined
def is_white(unit, table):
    """Whether a unit is whitespace."""
    if unit < FIRST_WHITE or unit > LAST_WHITE or (unit > LAST_ASCII and unit < FIRST_OTHER):
        return False
    found = False
    for index in range(np.uint64(len(table.whitespace))):
        found = found or np.uint64(table.whitespace[np.uint64(index)]) == unit
    return found


@part
def lower_of(code, lowers):
    """Look up the lower case of a code point; return one or two code points, the second 0 if there is one."""
    low, high = U0, np.uint64(len(lowers))
    while low < high:
        middle = (low + high) >> U1
        if np.uint64(lowers[middle, 0]) < code:
            low = middle + U1
        else:
            high = middle
    if low < np.uint64(len(lowers)) and np.uint64(lowers[low, 0]) == code:
        return np.uint64(lowers[low, 1]), np.uint64(lowers[low, 2])
    return code, U0


@part
def is_final(units, begin, at, end, case):
    """Whether the Σ at a position is at the end of a word, see `fst.machines.segmentation.pieces`."""
    before = False
    place = at
    while place > begin:
        place -= U1
        if np.uint64(units[place]) & SURROGATE == LOW_SURROGATE:
            place -= U1
        kind = case[unit_code_at(units, place)[0]]
        if not kind & IGNORABLE:
            before = kind & CASED > 0
            break
    place = at + U1
    while before and place < end:
        code, place = unit_code_at(units, place)
        if not case[code] & IGNORABLE:
            return not case[code] & CASED
    return before


@part
def is_kept(units, begin, end, table):
    """Whether a word keeps its case."""
    start = U0
    for index in range(np.uint64(len(table.kept_ends))):
        stop = np.uint64(table.kept_ends[np.uint64(index)])
        if stop - start == end - begin:
            same = True
            for place in range(stop - start):
                same = same and table.kept_units[start + np.uint64(place)] == units[begin + np.uint64(place)]
            if same:
                return True
        start = stop
    return False


@inlined
def put_id(number, first, last, word, output, place):
    """Write an id with its span and word; return the next output index."""
    output.ids[place] = number
    if len(output) > IDS_ALONE and len(output.offsets):
        output.offsets[place << U1], output.offsets[place << U1 | U1], output.words[place] = first, last, word
    return place + U1


@inlined
def longest(units, at, end, state, table):
    """Find the longest token of a text from a state of the trie; return its value, or 0, and its end."""
    value, stop = U0, at
    while at < end and state != LEAF:
        label = label_of(table, units[at])
        entry = table.entries[state + label]
        if not leads(entry, label):
            break
        at += U1
        if value_of(entry):
            value, stop = value_of(entry), at
        state = state_of(entry)
    return value, stop


@part
def put_part(count, is_long, word, table, output, work, place):
    """Write the tokens of a part of a word, which is in `work.part`; return the next output index.

    Args:
        count: the number of units.
        is_long: whether the part has too many characters; the arrays then contain its first characters, and `origins` its last, too.
        word: the number of the word.
    """
    begin, at = place, U0
    while at < count and not is_long:
        state = table.scalars.continues if at else ROOT
        value, stop = longest(work.part, at, count, state, table)
        if value == U0:
            break
        place = put_id(value - U1, work.origins[at], work.origins[stop - U1] + U1, word, output, place)
        at = stop
    if at < count:
        place = put_id(table.scalars.unk_id, work.origins[0], work.origins[count - U1] + U1, word, output, begin)
    return place


@part
def put_pieces(begin, end, origin, word, table, output, work, place):
    """Write the tokens of a word of `table.words.units`; return the next output index. `origin`: the position of the word's first
    character in its text.
    """
    units, lowers, most = table.words.units, table.lowers, table.scalars.most
    converts = len(lowers) > 0 and not is_kept(units, begin, end, table)
    count, characters, at = U0, U0, begin
    while at < end:
        code, after = unit_code_at(units, at)
        if is_white(code, table):
            if characters:
                place = put_part(count, characters > most, word, table, output, work, place)
            count, characters = U0, U0
        else:
            second = U0
            if converts:
                if code == SIGMA and is_final(units, begin, at, end, table.case):
                    code = FINAL_SIGMA
                else:
                    code, second = lower_of(code, lowers)
            while code:
                characters += U1
                if characters <= most + U1:
                    filled = put_units(code, work.part, count)
                    work.origins[count] = work.origins[filled - U1] = origin
                    count = filled
                else:
                    work.origins[count - U1] = origin
                code, second = second, U0
        at, origin = after, origin + U1
    if characters:
        place = put_part(count, characters > most, word, table, output, work, place)
    return place


@part
def put_characters(begin, end, origin, word, table, output, place):
    """Write a token for each character of a word; the arguments are as in `put_pieces`."""
    units, at = table.words.units, begin
    while at < end:
        _, after = unit_code_at(units, at)
        value, stop = longest(units, at, after, ROOT, table)
        number = value - U1 if value and stop == after else table.scalars.unk_id
        place = put_id(number, origin, origin + U1, word, output, place)
        at, origin = after, origin + U1
    return place


@kernel
def encode_rows(text, starts, more, table, output, work):  # noqa: ARG001 - the words are in `table`; a text never continues in the next call
    """Encode texts. Arguments and result are as in `fst.runtime.machines.bpe.kernels.encode.encode_rows`, except for `table`, which is
    `fst.machines.segmentation.pieces.Arguments` with the words of the texts, and `work`, which is `fst.machines.segmentation.pieces.Work`.
    """
    call, words = work.state, table.words
    place, segment, index = call.count, U0, U0
    for row in range(np.uint64(len(starts)) - U1):
        place = put_special_ids(output.prefix, place, output)
        word, goes_on = U0, True
        while goes_on:
            at, characters, first = np.uint64(words.bounds[segment]), U0, np.uint64(words.firsts[segment])
            while index < np.uint64(words.ends[segment]):
                begin, end = np.uint64(words.offsets[index << U1]), np.uint64(words.offsets[index << U1 | U1])
                while characters < begin:
                    _, at = unit_code_at(words.units, at)
                    characters += U1
                stop = at
                while characters < end:
                    _, stop = unit_code_at(words.units, stop)
                    characters += U1
                if table.scalars.is_character:
                    place = put_characters(at, stop, first + begin, word, table, output, place)
                else:
                    place = put_pieces(at, stop, first + begin, word, table, output, work, place)
                at, index, word = stop, index + U1, word + U1
            goes_on = words.tokens[segment] != NO_TOKEN
            if goes_on:
                last = np.uint64(words.firsts[segment + U1])
                place = put_id(words.tokens[segment], last - U1, last, word, output, place)
                word += U1
            segment += U1
        place = put_special_ids(output.suffix, place, output)
        output.ends[np.uint64(row)] = place
    call.count = place
    return np.uint64(starts[len(starts) - 1])
