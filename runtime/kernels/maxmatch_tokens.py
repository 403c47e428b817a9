"""The tokens of MaxMatch: matches of keyword search, and each character between them.

`fst.runtime.kernels.keywords` calls this where it would write matches, and where rows end. ``notes[DONE]`` is the position up to which
tokens are written. Where spans are asked for, a character's span is from its first byte in UTF-8 to the next byte. In numbers of characters
this is the same as to its end, also in a text whose bytes are in reverse order.
"""

from __future__ import annotations

import numpy as np

from fst.jit import part
from fst.machines import maxmatch
from fst.machines.kernel_call import IDS_ALONE
from fst.runtime.kernels.intrinsics import continuing, ones, trailing_zeros
from fst.runtime.kernels.keyword_walk import BEFORE_IT, END, KEYWORD, PLACE, START, WORD
from fst.runtime.kernels.numbers import U1, U2, U63

DONE = np.uint64(maxmatch.DONE)
UNSEEN = maxmatch.UNSEEN


@part
def put_unseen(text, stop, output, notes):
    """Write the characters up to a position."""
    at, place = notes[DONE], notes[PLACE]
    while at < stop:
        size = min(stop - at, U63)
        begins = ~continuing(text, at) & (U1 << size) - U1
        if len(output) > IDS_ALONE and len(output.offsets):
            while begins:
                begin = at + trailing_zeros(begins)
                output.offsets[place << U1], output.offsets[place << U1 | U1], output.words[place] = begin, begin + U1, WORD
                output.ids[place] = UNSEEN
                place += U1
                begins &= begins - U1
        else:
            after = place + ones(begins)
            while place < after:
                output.ids[place] = UNSEEN
                place += U1
        at += size
    notes[DONE], notes[PLACE] = stop, place


@part
def put_match(begin, row, machine, output, notes):
    """Write a match; `begin` is the position of the first byte that the state stands for."""
    matches, place = machine.matches, notes[PLACE]
    end = begin + np.uint64(matches[row + END])
    output.ids[place] = matches[row + KEYWORD]
    if len(output) > IDS_ALONE and len(output.offsets):
        output.offsets[place << U1], output.offsets[place << U1 | U1] = begin + np.uint64(matches[row + START]), end
        output.words[place] = WORD
    notes[DONE], notes[PLACE] = end, place + U1


@part
def put_chain(text, begin, row, machine, output, notes):
    """Write the matches of an output that has several, and the characters before each.

    The output leads from its last match to the first. So their rows are first written to the end of the room for these bytes. Tokens have
    at least one byte each, so those before a match do not reach its row.
    """
    matches = machine.matches
    after = notes[PLACE] + begin + np.uint64(matches[row + END]) - notes[DONE]
    at = after
    while row:
        at -= U1
        output.ids[at] = row >> U2
        row = np.uint64(matches[row + BEFORE_IT]) << U2
    while at < after:
        row = np.uint64(output.ids[at]) << U2
        put_unseen(text, begin + np.uint64(matches[row + START]), output, notes)
        put_match(begin, row, machine, output, notes)
        at += U1


@part
def put_tokens(text, begin, row, machine, output, notes):
    """Write the matches of an output, and the characters before each.

    Args:
        begin: the position of the first byte that the state stands for.
        row: where the last match begins in `matches`.
    """
    if machine.matches[row + BEFORE_IT]:
        put_chain(text, begin, row, machine, output, notes)
        return
    put_unseen(text, begin + np.uint64(machine.matches[row + START]), output, notes)
    put_match(begin, row, machine, output, notes)
