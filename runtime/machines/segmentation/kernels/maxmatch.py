"""The kernel of MaxMatch. `fst.machines.segmentation.maxmatch` describes the tokens, and its slow walk is their specification.

A row is read forward or backward. A *position* counts units in reading order, so the first position of a backward row belongs to the row's
last unit; `unit_at` returns the unit at a position. Tokens are written when they are found, with their sizes if spans are requested. At the
end of a row, the tokens of a backward row are reversed, and sizes are converted to spans in characters.

The kernel stores nothing between calls. If a text continues, the kernel stops before the first token that later text may change, and the
caller passes the units after this position again. If a text continues, a backward kernel reads the text only up to its last cut.

Kernels check nothing, and require a table that has passed `Table.prove`, text in UTF-16, and an output array with a capacity of one id for
each unit.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.machines.segmentation import maxmatch
from fst.runtime.kernels.constants import U0, U1, U2
from fst.runtime.kernels.unicode import LOW_SURROGATE, SURROGATE
from fst.runtime.machines.segmentation.kernels.unit_trie import LABEL_SHIFT, LEAF, ROOT, label_of, leads, state_of, value_of
from fst.tables.kernel_call import IDS_ALONE

ALONE = np.uint64(maxmatch.ALONE)
TOKENS, STATE, VALUE, SIZE = (np.uint64(column) for column in maxmatch.JUMP)
LISTED, END, NUMBER, BEFORE_IT = (np.uint64(column) for column in maxmatch.TOKEN)
ASCII = np.uint64(0x80)
WORD = 0  # the element of ``output.words`` for every token; -1 would mean a special id


@inlined
def unit_at(text, at, is_backward, bounds):
    """Return the unit at a position in reading order; `bounds` is the sum of the row's begin and end."""
    return text[bounds - U1 - at if is_backward else at]


@inlined
def put(output, place, value, size):
    """Write a token, and its size if spans are requested."""
    output.ids[place] = np.int64(value) - 1
    if len(output) > IDS_ALONE and len(output.offsets):
        output.offsets[place << U1 | U1] = size


@part
def put_list(last, table, output, place):
    """Write the list of tokens that ends with ``lists[last]``; return the output index after the last token."""
    lists = table.lists
    after = place + np.uint64(lists[last + NUMBER])
    while last:
        before = np.uint64(lists[last + BEFORE_IT]) << U2
        put(output, place + np.uint64(lists[last + NUMBER]) - U1, lists[last + LISTED], lists[last + END] - lists[before + END])
        last = before
    return after


@part
def put_tokens(text, start, stop, is_open, table, output, place):
    """Write the tokens of a row.

    Args:
        start, stop, is_open: the bounds of the row in this call, and whether the row continues in the next call.

    Returns:
        The position after the last token, and the output index after the last token.
    """
    entries, words, is_backward, bounds = table.entries, table.words[0], table.is_backward[0], start + stop
    while True:
        first = ALONE
        while start < stop:
            first = table.firsts[unit_at(text, start, is_backward, bounds)]
            if first >> LABEL_SHIFT != ALONE:
                break
            put(output, place, value_of(first), U1)
            place += U1
            start += U1
        if start == stop:
            return start, place
        state, value, end, at = state_of(first), value_of(first), start + (first >> LABEL_SHIFT), start + U1
        while True:
            while state != LEAF and at < stop:
                label = label_of(table, unit_at(text, at, is_backward, bounds))
                entry = entries[state + label]
                if not leads(entry, label):
                    break
                at += U1
                state = state_of(entry)
                if value_of(entry):
                    value, end = value_of(entry), at
            if is_open and at == stop and state != LEAF:
                return start, place
            if at <= end:
                break
            jump = state_of(entries[state]) << U2
            last = np.uint64(table.jumps[jump + TOKENS]) << U2
            place = put_list(last, table, output, place)
            start += np.uint64(table.lists[last + END])
            state, value = np.uint64(table.jumps[jump + STATE]), np.uint64(table.jumps[jump + VALUE])
            end = start + np.uint64(table.jumps[jump + SIZE])
            if state == ROOT:
                break
        if value > words:
            place = put_list(np.uint64(table.rules[value - words - U1]) << U2, table, output, place)
        elif start < end:
            put(output, place, value, end - start)
            place += U1
        start = end


@part
def turn_round(numbers, first, end, step, column):
    """Reverse the values of the tokens `first` to `end`; the value of a token is ``numbers[step * token + column]``."""
    while first + U1 < end:
        end -= U1
        low, high = first * step + column, end * step + column
        numbers[low], numbers[high] = numbers[high], numbers[low]
        first += U1


@part
def locate(text, at, first, end, characters, output):
    """Convert the sizes of tokens to spans in characters.

    Args:
        at: the position of the first unit of the first token.
        first, end: the output index of the first token, and one past the last token.
        characters: the number of characters of the row before the first token.

    Returns:
        The number of characters of the row up to the end of the last token.
    """
    for index in range(first, end):
        token = np.uint64(index)
        stop = at + np.uint64(output.offsets[token << U1 | U1])
        output.offsets[token << U1] = characters
        while at < stop:
            characters += np.uint64(np.uint64(text[at]) & SURROGATE != LOW_SURROGATE)
            at += U1
        output.offsets[token << U1 | U1] = characters
        output.words[token] = WORD
    return characters


@part
def last_cut(text, start, end, table):
    """Find the last position where a row may be cut, see `fst.machines.segmentation.maxmatch.MaxMatchTable.cuts`; return `start` if there
    is none.
    """
    while start < end and (np.uint64(text[end - U1]) >= ASCII or label_of(table, text[end - U1])):
        end -= U1
    return end


@kernel
def run_rows(text, starts, more, table, output, work):
    """Segment texts. Arguments and result are as in `fst.runtime.machines.bpe.kernels.encode.encode_rows`, except for `table`, which is
    `fst.machines.segmentation.maxmatch.Arguments`, and `work`, which is `fst.machines.segmentation.maxmatch.Work`.
    """
    call, rows, is_backward = work.state, np.uint64(len(starts)) - U1, table.is_backward[0]
    place, end, characters = call.count, np.uint64(starts[0]), call.before if call.is_open else U0
    for index in range(rows):
        row, first = np.uint64(index), place
        start, end, is_open = np.uint64(starts[row]), np.uint64(starts[row + U1]), more != U0 and row + U1 == rows
        if is_open and is_backward:
            end, is_open = last_cut(text, start, end, table), False
        end, place = put_tokens(text, start, end, is_open, table, output, place)
        if is_backward:
            turn_round(output.ids, first, place, U1, U0)
        if len(output) > IDS_ALONE and len(output.offsets):
            if is_backward:
                turn_round(output.offsets, first, place, U2, U1)
            characters = locate(text, start, first, place, characters, output)
        if more == U0 or row + U1 < rows:
            output.ends[row] = place
            characters = U0
    call.count, call.before, call.is_open = place, characters, more
    return end
