"""Words: where they are among symbols, and the ids that the table of words has for them."""

from __future__ import annotations

import numpy as np

from fst.jit import inlined, part
from fst.machines.wordpiece_arguments import BLANK_CLASS, BUCKET_SHIFT, END_CLASS, PARTS, SLOT_SHIFT
from fst.rows import WORD_SYMBOLS
from fst.runtime.kernels.intrinsics import at_least, equal_to, hash_of, is_key, ones, prefetch, trailing_zeros
from fst.runtime.kernels.numbers import HALF, LOW_HALF, U0, U1, U2, U3, U6, U8, U63

LONGEST_WORD = np.uint64(WORD_SYMBOLS)  # symbols in a word that the table may hold
FAILED = np.uint64(1 << 63)  # in place of where the ids of a word end: it has no segmentation

@inlined
def put_bits(mask, base, params, count):
    """Write the places of the bits of a mask, from a first number on; how many params there are then."""
    found, index = ones(mask), U0
    while index < found:
        for offset in range(8):  # eight at a time: the number of rounds is predicted better than the number of bits
            params[count + index + np.uint64(offset)] = base + trailing_zeros(mask)
            mask &= mask - U1
        index += U8
    return count + found


@part
def find_words(symbols, filled, params, masks, begins, stops, omits):
    """Where each word begins, and where it ends: at a symbol that is not a part of words. There may be nothing between the two.

    A blank that follows such a symbol ends nothing, and has no id: with `omits` it is left out.

    Returns:
        How many words there are; where the next one begins is written too.
    """
    last = filled + U63 >> U6
    for word in range(last):
        base = np.uint64(word) << U6
        masks[word << 1] = at_least(symbols, base, params, PARTS)
        masks[word << 1 | 1] = equal_to(symbols, base, params, BLANK_CLASS) if omits else U0
    if filled & U63:
        masks[last - U1 << U1] &= (U1 << (filled & U63)) - U1
    masks[last << U1 | U1] = U0
    count = after = before = U0  # words that end; words that are begun after; whether one ends right before
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
def mask_for(length):
    """The place of the mask that makes a key of a word of a length."""
    return min(length, LONGEST_WORD + U1) << U2


@part
def find_slots(symbols, begins, stops, count, machine, slots):
    """Find the slot of each word. Slots are fetched here and looked at in a loop of its own, which is a third faster than both in one."""
    words, displacements, key_masks, params = machine.words, machine.displacements, machine.key_masks, machine.params
    highest = np.uint64(len(words) >> 2) - U1
    bucket_shift, slot_shift = params[BUCKET_SHIFT], params[SLOT_SHIFT]
    for index in range(count):
        start, end = np.uint64(begins[index]), np.uint64(stops[index])
        hashed = hash_of(symbols, start, key_masks, mask_for(end - start))
        slot = ((hashed >> slot_shift ^ np.uint64(displacements[hashed >> bucket_shift])) & highest) << U2
        prefetch(words, slot)
        slots[index] = slot


@part
def look_up(symbols, begins, stops, slots, count, machine, scratch, pending):
    """Look up words, and what ends them.

    Returns:
        How many ids there are, gaps included, and how many items `pending` has. A pending word was not found, or ends a text, or both:
        ``gap | start << 32`` (where its ids go; where the word starts, or its end if it was found) and its end.
    """
    isolated_ids, words, key_masks, last = machine.isolated_ids, machine.words, machine.key_masks, machine.params[END_CLASS]
    place, known = U0, U0
    for index in range(count):
        start, end, slot = np.uint64(begins[index]), np.uint64(stops[index]), slots[index]
        length = end - start
        ended = np.uint64(symbols[end])
        own = isolated_ids[ended]
        found = is_key(symbols, start, key_masks, mask_for(length), words, slot)
        if found and ended != last:
            value = words[slot + U3]
            scratch[place] = np.int32(value & LOW_HALF)
            place += value >> HALF
        else:
            value = words[slot + U3] if found else U0
            scratch[place] = np.int32(value & LOW_HALF)
            place += value >> HALF
            start = end if found else start
            pending[known] = place | start << HALF
            pending[known + U1] = end
            known += U2
            # An id for each symbol at most, and one that is written and not counted.
            place += U0 if start == end else length + U1
        scratch[place] = np.int32(own & LOW_HALF)
        place += own >> HALF
    return place, known
