"""Kernels of jieba's model for unknown words. `fst.machines.segmentation.jieba_model` describes the model, and its slow functions specify
the tokens.

A run of unknown characters is read twice: from left to right for the best predecessor of each state, and from right to left for the states
of the best path. Both results overwrite the choices of the run in the output array, because these choices are no longer needed (see
`fst.runtime.machines.segmentation.kernels.jieba`):

    choices of a run:   a bit for each state: the choice of the state before it      →      1 where a word ends, otherwise 0

The four sums at a character depend only on the four sums at the previous character. So each character takes four comparisons, which run in
parallel.

Kernels check nothing, and have the requirements of `fst.runtime.machines.segmentation.kernels.jieba`.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, part
from fst.machines.segmentation import jieba, jieba_model
from fst.runtime.kernels.constants import U0, U1, U2, U3
from fst.runtime.machines.segmentation.kernels.jieba_tokens import NO_WORD, put, put_whole, slot_between, word_between
from fst.runtime.machines.segmentation.kernels.unit_trie import ROOT, kind_of

LETTER = np.uint64(jieba.LETTER)
LENGTH_BITS, LENGTH, SLOT = np.uint64(jieba.LENGTH_BITS), np.uint64(jieba.MAX_LENGTH), np.uint64(jieba.MAX_SLOT)
FIRST_HAN, HAN = np.uint64(jieba_model.HAN.start), np.uint64(len(jieba_model.HAN))
POINT, PERCENT, ZERO, TEN = np.uint64(jieba_model.POINT), np.uint64(jieba_model.PERCENT), np.uint64(jieba_model.DIGITS.start), np.uint64(10)
BEGIN, END, SINGLE = (np.uint64(state) for state in (jieba_model.BEGIN, jieba_model.END, jieba_model.SINGLE))


@inlined
def is_han(unit):
    """Whether a unit is a Han character, to which the model applies."""
    return np.uint64(unit) - FIRST_HAN < HAN


@inlined
def better(one, other, emission):
    """Add an emission to two sums; return the greater sum, and 1 if this is the second sum, otherwise 0. If the sums are equal, return the
    second.
    """
    one, other = one + emission, other + emission
    is_other = other >= one
    return (other if is_other else one), np.uint64(is_other)


@inlined
def find_ends(text, start, stop, table, noted, place):
    """Find the ends of words in a run of Han characters, by the best path of the model.

    Args:
        noted, place: the output: ``noted[place + n]`` becomes 1 if a word ends with the character at ``start + n``, otherwise 0.
    """
    emits, chances = table.emits, table.chances
    row = (np.uint64(text[start]) - FIRST_HAN) << U2
    first, middle = chances[0] + emits[row], chances[1] + emits[row | U1]
    end, single = chances[2] + emits[row | U2], chances[3] + emits[row | U3]
    at = start + U1
    while at < stop:
        row = (np.uint64(text[at]) - FIRST_HAN) << U2
        next_first, bit_0 = better(end + chances[4], single + chances[5], emits[row])
        next_middle, bit_1 = better(first + chances[6], middle + chances[7], emits[row | U1])
        next_end, bit_2 = better(first + chances[8], middle + chances[9], emits[row | U2])
        next_single, bit_3 = better(end + chances[10], single + chances[11], emits[row | U3])
        noted[place + (at - start)] = bit_0 | bit_1 << U1 | bit_2 << U2 | bit_3 << U3
        first, middle, end, single = next_first, next_middle, next_end, next_single
        at += U1
    state = SINGLE if single >= end else END
    while at > start:
        at -= U1
        bits = np.uint64(noted[place + (at - start)])
        noted[place + (at - start)] = state >= END
        state = (U2 if state in (SINGLE, BEGIN) else U0) | (bits >> state & U1)


@inlined
def is_forced(slot, forced):
    """Whether the sorted array `forced` contains the slot of a word; such a word is always split into characters."""
    low, high = 0, len(forced)
    while low < high:
        middle = (low + high) >> 1
        if np.uint64(forced[middle]) < slot:
            low = middle + 1
        else:
            high = middle
    return low < len(forced) and np.uint64(forced[low]) == slot


@part
def put_apart(text, start, end, table, output, place, row, characters):
    """Write each character from `start` to `end` as a token."""
    at = start
    while at < end:
        place = put(output, place, word_between(text, at, at + U1, table), at, at + U1, row, characters)
        at += U1
    return place


@inlined
def end_of_letters(text, at, end, table):
    """Find the end of a run of letters and digits; a fraction such as ``.5`` and a percent sign belong to the run."""
    while at < end and kind_of(table, text[at]) == LETTER:
        at += U1
    if at < end and np.uint64(text[at]) == POINT:
        digits = at + U1
        while digits < end and np.uint64(text[digits]) - ZERO < TEN:
            digits += U1
        at = digits if digits > at + U1 else at
    return at + np.uint64(at < end and np.uint64(text[at]) == PERCENT)


@inlined
def end_of_signs(text, at, end, table):
    """Find the end of a run of characters that are neither letters nor Han characters."""
    while at < end and kind_of(table, text[at]) != LETTER and not is_han(text[at]):
        at += U1
    return at


@inlined
def end_of_han(text, at, end):
    """Find the end of a run of Han characters."""
    while at < end and is_han(text[at]):
        at += U1
    return at


@inlined
def put_han(text, begin, end, table, output, place, noted, row, characters):
    """Write the words that `find_ends` finds in a run of Han characters."""
    find_ends(text, begin, end, table, output.ids, noted)
    at = start = begin
    while at < end:
        ends = output.ids[noted + (at - begin)]
        at += U1
        if ends:
            slot = slot_between(text, start, at, table)
            if slot != ROOT and is_forced(slot, table.forced):
                place = put_apart(text, start, at, table, output, place, row, characters)
            else:
                place = put_whole(text, start, at, table.numbers[slot], table, output, place, row, characters)
            start = at
    return place


@part
def put_unknown(text, start, stop, table, output, place, noted, row, characters):
    """Write the tokens of a run of unknown characters in a block.

    Args:
        noted: the index in `output.ids` of the choice at `start`. The choices from `start` to `stop` are overwritten.
        row, characters: as in `fst.runtime.machines.segmentation.kernels.jieba_tokens.put`.

    Returns:
        The index after the last token.
    """
    if stop < start + U2 or word_between(text, start, stop, table) != NO_WORD:
        return put_apart(text, start, stop, table, output, place, row, characters)
    at = start
    while at < stop:
        if is_han(text[at]):
            end = end_of_han(text, at, stop)
            place = put_han(text, at, end, table, output, place, noted + (at - start), row, characters)
        else:
            is_letter = kind_of(table, text[at]) == LETTER
            end = end_of_letters(text, at, stop, table) if is_letter else end_of_signs(text, at, stop, table)
            place = put_whole(text, at, end, word_between(text, at, end, table), table, output, place, row, characters)
        at = end
    return place


@part
def put_words_and_unknown(text, start, end, table, output, place, best, row, characters):
    """Write the words of a block's best path, but segment each run of single characters by the model. Arguments and result are as in
    `fst.runtime.machines.segmentation.kernels.jieba.put_words`.
    """
    at = unknown = start
    while at < end:
        choice = np.uint64(output.ids[best + (at - start)])
        stop = at + (choice & LENGTH)
        if stop > at + U1:
            if unknown < at:
                place = put_unknown(text, unknown, at, table, output, place, best + (unknown - start), row, characters)
            word = table.numbers[choice >> LENGTH_BITS & SLOT]
            place = put_whole(text, at, stop, word, table, output, place, row, characters)
            unknown = stop
        at = stop
    if unknown < end:
        place = put_unknown(text, unknown, end, table, output, place, best + (unknown - start), row, characters)
    return place
