"""Functions of jieba's kernels that look up words and write tokens, see `fst.machines.segmentation.jieba`.

Kernels check nothing, and have the requirements of `fst.runtime.machines.segmentation.kernels.jieba`.
"""

from __future__ import annotations

from fst.core.jit import inlined
from fst.machines.segmentation import jieba
from fst.runtime.kernels.constants import U1, U2, U3
from fst.runtime.machines.segmentation.kernels.unit_trie import LEAF, ROOT, label_of, leads, state_of
from fst.tables.kernel_call import IDS_ALONE

NO_WORD = jieba.NO_WORD
SEARCH = jieba.MODES.index(jieba.SEARCH)
WORD = 0  # the element of ``output.words`` for every token; -1 would mean a special id


@inlined
def put(output, place, word, start, end, row, characters):
    """Write a token.

    Args:
        word: the number of the token's word; -1 if the word is not in the dictionary.
        start, end: the position of the token's first unit, and one past its last unit.
        row, characters: a position at or before the token, and the number of characters before this position. All characters from this
            position to the token's end have one unit.

    Returns:
        The index after the token.
    """
    output.ids[place] = word
    if len(output) > IDS_ALONE and len(output.offsets):
        output.offsets[place << U1], output.offsets[place << U1 | U1] = characters + (start - row), characters + (end - row)
        output.words[place] = WORD
    return place + U1


@inlined
def slot_between(text, at, end, table):
    """Look up the units from `at` to `end` in the trie; return the slot of the last unit, or `ROOT` if the trie does not contain these
    units.
    """
    state, slot = ROOT, ROOT
    while at < end:
        label = label_of(table, text[at])
        if state == LEAF or not leads(table.entries[state + label], label):
            return ROOT
        slot = state + label
        state = state_of(table.entries[slot])
        at += U1
    return slot


@inlined
def word_between(text, at, end, table):
    """Look up the word from `at` to `end`; return the number of the word, or -1 if the dictionary does not contain the word."""
    return table.numbers[slot_between(text, at, end, table)]


@inlined
def put_parts(text, start, end, table, output, place, row, characters):
    """Write the dictionary's words of two characters inside a word, and then the words of three characters."""
    for size in (U2, U3):
        at = start
        while at + size <= end and size < end - start:
            word = word_between(text, at, at + size, table)
            if word != NO_WORD:
                place = put(output, place, word, at, at + size, row, characters)
            at += U1
    return place


@inlined
def put_whole(text, start, end, word, table, output, place, row, characters):
    """Write a word of a block; in the mode "search", write the shorter words inside it first."""
    if table.mode[0] == SEARCH:
        place = put_parts(text, start, end, table, output, place, row, characters)
    return put(output, place, word, start, end, row, characters)
