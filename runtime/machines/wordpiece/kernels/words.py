"""Words: find the first and the last symbol of each word, and look up the word's ids in the table of words."""

from __future__ import annotations

import numpy as np

from fst.automata.rows import WORD_SYMBOLS
from fst.core.jit import inlined, part
from fst.core.prefetch import prefetch
from fst.runtime.kernels.constants import HALF, LOW_HALF, U0, U1, U2, U3, U6, U8, U63
from fst.runtime.kernels.intrinsics import at_least, equal_to, hash_of, is_key, ones, trailing_zeros

LONGEST_WORD = np.uint64(WORD_SYMBOLS)  # the maximum number of symbols of a word in the table
FAILED = np.uint64(1 << 63)  # result of a word without a segmentation into tokens; other results are the index after the word's last id


@inlined
def put_bits(mask, base, numbers, count):
    """For each 1 bit in a mask, append the bit's index plus `base` to `numbers`; return the new count."""
    found, index = ones(mask), U0
    while index < found:
        for offset in range(8):  # eight bits in a round, because the processor predicts the number of rounds better than the number of bits
            numbers[count + index + np.uint64(offset)] = base + trailing_zeros(mask)
            mask &= mask - U1
        index += U8
    return count + found


@part
def find_words(symbols, filled, scalars, masks, begins, stops, omits):
    """Write the start and the end of each word. A word ends at a symbol that is not a part of words; a word may be empty.

    A space directly after a symbol that ends a word would end an empty word, and has no id. With `omits`, this space is skipped.

    Returns:
        The number of words. The start of the word after the last is also written.
    """
    last = filled + U63 >> U6
    for word in range(last):
        base = np.uint64(word) << U6
        masks[word << 1] = at_least(symbols, base, scalars.parts)
        masks[word << 1 | 1] = equal_to(symbols, base, scalars.whitespace_class) if omits else U0
    if filled & U63:
        masks[last - U1 << U1] &= (U1 << (filled & U63)) - U1
    masks[last << U1 | U1] = U0  # the loop below reads the spaces of one more block
    count = after = before = U0  # number of written ends; number of starts after the first start; whether the last symbol ends a word
    begins[0] = 0
    for word in range(last):
        mask, base = masks[word << 1], np.uint64(word) << U6
        left_out = masks[word << 1 | 1] & (mask << U1 | before) & mask
        before = mask >> U63
        next_left_out = left_out >> U1 | (before & masks[(word << 1) + 3]) << U63
        count = put_bits(mask & ~left_out, base, stops, count)
        after = put_bits(mask & ~next_left_out, base + U1, begins, after + U1) - U1
    return count


@inlined
def pack_word(gap, start):
    """Pack the first item of a pending word: the index of its first id, and the index of its first symbol. The second item is the end of
    the word.
    """
    return gap | start << HALF


@inlined
def word_of(item):
    """Return the gap and the start of a pending word."""
    return item & LOW_HALF, item >> HALF


@inlined
def value_of(value):
    """Return the id of a word in the table, or of a symbol, and 1, the number of ids; two zeros if there is no id."""
    return value & LOW_HALF, value >> HALF


@inlined
def put_value(value, scratch, place):
    """Write the id of a value; for a value without an id, the next id overwrites the written element."""
    number, count = value_of(value)
    scratch[place] = np.int32(number)
    return place + count


@inlined
def mask_for(length):
    """Return the index in `key_masks` of the masks for words of a length."""
    return min(length, LONGEST_WORD + U1) << U2


@part
def find_slots(symbols, begins, stops, count, table, slots):
    """Find and prefetch the slot of each word. `look_up` reads the slots in a separate loop: two loops are a third faster than one loop."""
    words, displacements, key_masks, scalars = table.words, table.displacements, table.key_masks, table.scalars
    highest = np.uint64(len(words) >> 2) - U1
    bucket_shift, slot_shift = scalars.bucket_shift, scalars.slot_shift
    for index in range(count):
        start, end = np.uint64(begins[index]), np.uint64(stops[index])
        hashed = hash_of(symbols, start, key_masks, mask_for(end - start))
        slot = ((hashed >> slot_shift ^ np.uint64(displacements[hashed >> bucket_shift])) & highest) << U2
        prefetch(words, slot)
        slots[index] = slot


@part
def look_up(symbols, begins, stops, slots, count, table, scratch, pending):
    """Look up the ids of words, and of the symbols that end words.

    Returns:
        The number of ids in `scratch`, gaps included, and the number of items in `pending`. A word is pending if the table does not contain
        it, or if it ends a text. A pending word has two items: the result of `pack_word`, and the end of the word. If the table contains
        the word, its start equals its end.
    """
    isolated_ids, words, key_masks, last = table.isolated_ids, table.words, table.key_masks, table.scalars.end_class
    place, known = U0, U0
    for index in range(count):
        start, end, slot = np.uint64(begins[index]), np.uint64(stops[index]), slots[index]
        length = end - start
        ended = np.uint64(symbols[end])
        own = isolated_ids[ended]
        found = is_key(symbols, start, key_masks, mask_for(length), words, slot)
        if found and ended != last:
            value = words[slot + U3]
            place = put_value(value, scratch, place)
        else:
            value = words[slot + U3] if found else U0
            place = put_value(value, scratch, place)
            start = end if found else start
            pending[known] = pack_word(place, start)
            pending[known + U1] = end
            known += U2
            # The gap has an element for each symbol, and one more element, for an id that is written but not counted.
            place += U0 if start == end else length + U1
        place = put_value(own, scratch, place)
    return place, known
