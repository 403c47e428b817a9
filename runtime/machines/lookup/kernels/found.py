"""Collect the analyses of a word, each once, and write the analyses."""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, part
from fst.machines.lookup import layout
from fst.machines.lookup.layout import WORDS_ALONE
from fst.runtime.kernels.constants import U0, U1, U2
from fst.runtime.machines.lookup.kernels.arcs import FAILED, TARGET, TOO_MANY, VALUE, VALUE_SHIFT, frame_after
from fst.tables.kernel_call import IDS_ALONE

END, CUT, SLOW, END_FOLDED = layout.END, layout.CUT, layout.SLOW, layout.END_FOLDED
MAX_ANALYSES = np.uint64(layout.MAX_ANALYSES)
OVER, FULL = MAX_ANALYSES + U1, MAX_ANALYSES + U2  # in place of a number of analyses: more than `most`; `found` is full


@part
def are_equal(found, one, one_end, other, other_end, table):
    """Whether two sequences of pieces are the same string."""
    starts, data = table.piece_starts, table.piece_bytes
    at, at_end, place, place_end = U0, U0, U0, U0
    while True:
        while at == at_end and one < one_end:
            at, at_end = np.uint64(starts[np.uint64(found[one])]), np.uint64(starts[np.uint64(found[one]) + U1])
            one += U1
        while place == place_end and other < other_end:
            place, place_end = np.uint64(starts[np.uint64(found[other])]), np.uint64(starts[np.uint64(found[other]) + U1])
            other += U1
        if at == at_end or place == place_end:
            return at == at_end and place == place_end
        if data[at] != data[place]:
            return False
        at += U1
        place += U1


@part
def collect_finals(state, count, length, frame, weight, most, size, folded, rests, table, work):
    """Add the analyses of the current path, one for each final of the path's last state.

    Args:
        state, frame, weight: the last state of the path, the frame of the registers in this state, and the weight of the path.
        count: the number of analyses.
        length: the number of pieces on the path.
        most: the maximum number of analyses.
        size, folded, rests: for running text: the number of symbols, whether a symbol was read in lower case, and the pauses after the last
            symbol.

    Returns:
        The new number of analyses; and 0, `OVER` or `FULL`.
    """
    final = table.entries[state] & TARGET
    last = final + (table.entries[state] >> VALUE_SHIFT & VALUE)
    while final < last:
        after, total = frame, weight
        if table.features[0]:
            after = frame_after(np.uint64(table.final_conditions[final]), frame, table, work.registers)
        if after == TOO_MANY:
            return count, FULL
        if after != FAILED:
            if len(table.final_weights):
                total = weight + table.final_weights[final]
            if len(work) > WORDS_ALONE:
                work.pauses[size] = rests + np.uint64(table.final_pauses[final])
            new = collect(count, length, np.uint64(table.final_pieces[final]), total, most, size, folded, table, work)
            if new >= OVER:
                return count, new
            count = new
        final += U1
    return count, U0


@part
def collect(count, length, piece, weight, most, size, folded, table, work):
    """Add the analysis of the current path, unless it was found before.

    Args:
        piece: the piece of the final, or 0.
        count, length, weight, most, size, folded: as in `collect_finals`.

    Returns:
        The new number of analyses, `OVER` or `FULL`.
    """
    found, starts = work.found, work.starts
    start = np.uint64(starts[count])
    end = start + length
    if end + U2 > np.uint64(len(found)):
        return FULL
    for index in range(length):
        found[start + np.uint64(index)] = work.path[index]
    found[end] = piece
    end += np.uint64(piece != U0)
    found[end] = END_FOLDED if folded else END
    if count:
        other = same(count, start, end, table, work)
        if other < count:
            if weight < work.weights[other] or (
                len(work) > WORDS_ALONE and weight == work.weights[other] and is_earlier(other, size, work)
            ):
                keep_order(other, weight, size, work)
            return count
    if count == most:
        return OVER
    if len(work) > WORDS_ALONE and (count + U1) * (size + U1) > np.uint64(len(work.ranks)):
        return FULL
    keep_order(count, weight, size, work)
    starts[count + U1] = end + U1
    return count + U1


@part
def same(count, start, end, table, work):
    """Return the number of the analysis that equals the new analysis, which reaches from `start` to its end mark at `end`; `count` if there
    is none. `work.marks` receives the hash of the new analysis. The hash of the first analysis is computed only if there is a second
    analysis.
    """
    found, starts, marks = work.found, work.starts, work.marks
    if count == U1:
        marks[0] = mark_of(U0, np.uint64(starts[1]) - U1, table, found)
    marks[count] = mark_of(start, end, table, found)
    for index in range(count):
        other = np.uint64(index)
        other_end = np.uint64(starts[other + U1]) - U1
        if marks[other] == marks[count] and are_equal(found, start, end, np.uint64(starts[other]), other_end, table):
            return other
    return count


@inlined
def mark_of(at, end, table, found):
    """Compute the hash of an analysis; the lowest bit of the hash is 1 if a symbol was read in lower case."""
    mark = U0
    while at < end:
        piece = np.uint64(found[at])
        mark = mark * table.powers[piece] + table.hashes[piece]
        at += U1
    return mark << U1 | np.uint64(found[end] == END_FOLDED)


@inlined
def keep_order(number, weight, size, work):
    """Store the values that determine the order of an analysis: its weight, and in running text its pauses."""
    work.weights[number] = weight
    if len(work) > WORDS_ALONE:
        for index in range(size + U1):
            work.ranks[number * (size + U1) + np.uint64(index)] = work.pauses[index]


@part
def is_earlier(number, size, work):
    """Whether the current path comes before an analysis by pauses: it has fewer pauses at the end; if the numbers are equal, fewer before
    the last symbol; and so on
    """
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
    """Write the order of the analyses; analyses with equal weights and pauses keep their order."""
    order = work.order
    for index in range(count):
        place = np.uint64(index)
        while place > U0 and precedes(np.uint64(index), np.uint64(order[place - U1]), size, work):
            order[place] = order[place - U1]
            place -= U1
        order[place] = index


@inlined
def put(output, place, number):
    """Write an id if it fits; return the output index after the id."""
    if place < np.uint64(len(output.ids)):
        output.ids[place] = number
    return place + U1


@part
def put_analyses(count, most, is_cut, is_weighted, size, output, place, work):
    """Write at most `most` analyses of a word of `size` symbols; return the output index after them."""
    is_sorted = is_weighted or len(work) > WORDS_ALONE
    if is_sorted:
        sort(count, size, work)
        is_cut, count = is_cut or count > most, min(count, most)
        bits = work.weights.view(np.int32)
        for index in range(count):
            number = np.uint64(work.order[index])
            place = put_pieces(output, place, np.uint64(work.starts[number]), np.uint64(work.starts[number + U1]), work.found)
            if is_weighted:
                place = put(output, place, bits[number])
    else:
        place = put_pieces(output, place, U0, np.uint64(work.starts[count]), work.found)
    return put(output, place, CUT) if is_cut else place


@inlined
def put_pieces(output, place, at, end, found):
    """Write some pieces if all of them fit; return the output index after them."""
    if place + (end - at) <= np.uint64(len(output.ids)):
        for index in range(end - at):
            output.ids[place + np.uint64(index)] = found[at + np.uint64(index)]
    return place + (end - at)


@part
def put_spans(output, first, end, start, characters):
    """Write the spans of ids: each id has the span of its word, from `start` to `characters`."""
    if len(output) > IDS_ALONE and len(output.offsets):
        for index in range(first, min(end, np.uint64(len(output.words)))):
            place = np.uint64(index)
            output.offsets[place << U1], output.offsets[place << U1 | U1], output.words[place] = start, characters, 0
