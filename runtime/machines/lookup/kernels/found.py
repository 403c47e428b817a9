"""Collect the analyses of a word, each once, and write them."""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, part
from fst.machines.lookup import layout
from fst.runtime.kernels.constants import U0, U1, U2
from fst.tables.kernel_call import IDS_ALONE

END, CUT, SLOW = layout.END, layout.CUT, layout.SLOW
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
def collect(count, length, piece, weight, most, table, work):
    """Add the analysis of the current path, unless it has been found before.

    Args:
        count: the number of analyses.
        length: the number of pieces on the path.
        piece: the piece of the final, or 0.
        weight: the weight of the path.
        most: the maximum number of analyses.

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
    for index in range(count):
        other = np.uint64(index)
        if work.marks[other] == mark and are_equal(found, begin, end, np.uint64(starts[other]), np.uint64(starts[other + U1]), table):
            work.weights[other] = min(work.weights[other], weight)
            return count
    if count == most:
        return OVER
    work.marks[count], work.weights[count] = mark, weight
    starts[count + U1] = end
    return count + U1


@part
def sort_by_weight(count, work):
    """Write the order of the analyses by weight; equal weights keep their order."""
    order, weights = work.order, work.weights
    for index in range(count):
        place = np.uint64(index)
        while place > U0 and weights[order[place - U1]] > weights[index]:
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
def put_analyses(count, most, is_cut, is_weighted, output, place, work):
    """Write the analyses of a word, at most `most`; return the output index after them."""
    if is_weighted:
        sort_by_weight(count, work)
        is_cut, count = is_cut or count > most, min(count, most)
    bits = work.weights.view(np.int32)
    for index in range(count):
        number = np.uint64(work.order[index]) if is_weighted else np.uint64(index)
        at, end = np.uint64(work.starts[number]), np.uint64(work.starts[number + U1])
        while at < end:
            place = put(output, place, work.found[at])
            at += U1
        place = put(output, place, END)
        if is_weighted:
            place = put(output, place, bits[number])
    return put(output, place, CUT) if is_cut else place


@part
def put_spans(output, first, end, characters):
    """Write the spans of ids: each id has the span of its word."""
    if len(output) > IDS_ALONE and len(output.offsets):
        for index in range(first, min(end, np.uint64(len(output.words)))):
            place = np.uint64(index)
            output.offsets[place << U1], output.offsets[place << U1 | U1], output.words[place] = 0, characters, 0
