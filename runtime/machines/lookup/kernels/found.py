"""Collect the analyses of a word, each once, and write them."""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, part
from fst.machines.lookup import layout
from fst.machines.lookup.layout import WORDS_ALONE
from fst.runtime.kernels.constants import U0, U1, U2
from fst.tables.kernel_call import IDS_ALONE

END, CUT, SLOW, END_FOLDED = layout.END, layout.CUT, layout.SLOW, layout.END_FOLDED
MAX_ANALYSES = np.uint64(layout.MAX_ANALYSES)
OVER, FULL = MAX_ANALYSES + U1, MAX_ANALYSES + U2  # instead of a number of analyses: there are more; they do not fit into `found`


@part
def are_equal(found, one, one_end, other, other_end, table):
    """Whether two sequences of pieces are the same string."""
    starts, data = table.piece_starts, table.piece_bytes
    at, at_end, place, place_end = U0, U0, U0, U0
    while True:
        while at == at_end and one < one_end:
            at, at_end = np.uint64(starts[found[one]]), np.uint64(starts[found[one] + 1])
            one += U1
        while place == place_end and other < other_end:
            place, place_end = np.uint64(starts[found[other]]), np.uint64(starts[found[other] + 1])
            other += U1
        if at == at_end or place == place_end:
            return at == at_end and place == place_end
        if data[at] != data[place]:
            return False
        at += U1
        place += U1


@part
def collect(count, length, piece, weight, most, size, folded, table, work):
    """Add the analysis of the current path, unless it has been found before.

    Args:
        count: the number of analyses.
        length: the number of pieces on the path.
        piece: the piece of the final, or 0.
        weight: the weight of the path.
        most: the maximum number of analyses.
        size, folded: the number of symbols, and whether one of them was read in lower case; for running text.

    Returns:
        The new number of analyses, `OVER` or `FULL`.
    """
    found, starts = work.found, work.starts
    begin = np.uint64(starts[count])
    end = begin + length
    if end + U2 > np.uint64(len(found)):
        return FULL
    mark = U0
    for index in range(length):
        of_path = work.path[index]
        found[begin + np.uint64(index)] = of_path
        mark = mark * table.powers[of_path] + table.hashes[of_path]
    if piece:
        found[end] = piece
        mark = mark * table.powers[piece] + table.hashes[piece]
        end += U1
    mark = mark << U1 | folded  # equal strings may differ in this bit
    for index in range(count):
        other = np.uint64(index)
        if work.marks[other] == mark and are_equal(found, begin, end, np.uint64(starts[other]), np.uint64(starts[other + U1]), table):
            if weight < work.weights[other] or (
                len(work) > WORDS_ALONE and weight == work.weights[other] and is_earlier(other, size, work)
            ):
                keep_order(other, weight, size, work)
            return count
    if count == most:
        return OVER
    if len(work) > WORDS_ALONE:
        if (count + U1) * (size + U1) > np.uint64(len(work.ranks)):
            return FULL
        work.folded[count] = folded
    work.marks[count] = mark
    keep_order(count, weight, size, work)
    starts[count + U1] = end
    return count + U1


@inlined
def keep_order(number, weight, size, work):
    """Store what determines the order of an analysis: its weight, and in running text its pauses."""
    work.weights[number] = weight
    if len(work) > WORDS_ALONE:
        for index in range(size + U1):
            work.ranks[number * (size + U1) + np.uint64(index)] = work.pauses[index]


@part
def is_earlier(number, size, work):
    """Whether the pauses of the current path come before those of an analysis: fewer at the end or, if equal, before the last symbol …"""
    at = size + U1
    while at > U0:
        at -= U1
        held = work.ranks[number * (size + U1) + at]
        if work.pauses[at] != held:
            return work.pauses[at] < held
    return False


@part
def precedes(one, other, size, work):
    """Whether an analysis comes before another one."""
    if work.weights[one] != work.weights[other]:
        return work.weights[one] < work.weights[other]
    if len(work) > WORDS_ALONE:
        at = size + U1
        while at > U0:
            at -= U1
            first, second = work.ranks[one * (size + U1) + at], work.ranks[other * (size + U1) + at]
            if first != second:
                return first < second
    return False


@part
def sort(count, size, work):
    """Write the order of the analyses; those of which none precedes the other keep their order."""
    order = work.order
    for index in range(count):
        place = np.uint64(index)
        while place > U0 and precedes(np.uint64(index), np.uint64(order[place - U1]), size, work):
            order[place] = order[place - U1]
            place -= U1
        order[place] = index


@inlined
def put(output, place, number):
    """Write an id if it fits; return the output index after it."""
    if place < np.uint64(len(output.ids)):
        output.ids[place] = number
    return place + U1


@part
def put_analyses(count, most, is_cut, is_weighted, size, output, place, work):
    """Write the analyses of a word of `size` symbols, at most `most`; return the output index after them."""
    is_sorted = is_weighted or len(work) > WORDS_ALONE
    if is_sorted:
        sort(count, size, work)
        is_cut, count = is_cut or count > most, min(count, most)
    bits = work.weights.view(np.int32)
    for index in range(count):
        number = np.uint64(work.order[index]) if is_sorted else np.uint64(index)
        at, end = np.uint64(work.starts[number]), np.uint64(work.starts[number + U1])
        while at < end:
            place = put(output, place, work.found[at])
            at += U1
        place = put(output, place, END_FOLDED) if len(work) > WORDS_ALONE and work.folded[number] else put(output, place, END)
        if is_weighted:
            place = put(output, place, bits[number])
    return put(output, place, CUT) if is_cut else place


@part
def put_spans(output, first, end, begin, characters):
    """Write the spans of ids: each id has the span of its word, from `begin` to `characters`."""
    if len(output) > IDS_ALONE and len(output.offsets):
        for index in range(first, min(end, np.uint64(len(output.words)))):
            place = np.uint64(index)
            output.offsets[place << U1], output.offsets[place << U1 | U1], output.words[place] = begin, characters, 0
