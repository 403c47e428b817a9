"""The kernel of keyword search with overlapping matches. `fst.machines.keywords.overlapping` describes the automaton, and its slow walk
specifies the matches.

A text of n bytes needs at most 2n look-ups, as in `fst.runtime.machines.keywords.kernels.search`, but it may have many more matches than
bytes. The kernel counts all matches, and writes only as many as the output can hold. If the output is too small, the caller enlarges it and
calls the kernel again.

If a text continues, the kernel stops before the bytes that its state represents, because keywords may begin in these bytes. The caller
passes these bytes again, and the next call does not repeat matches that end in these bytes.

The kernel checks nothing, and requires a table that has passed `Table.prove`, and UTF-8.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.machines.keywords import overlapping
from fst.runtime.kernels.code_points import characters_before, count_from, count_to
from fst.runtime.kernels.constants import ROOT, U0, U1
from fst.runtime.kernels.utf_8 import count_characters
from fst.runtime.machines.keywords.kernels.walk import LABEL_SHIFT, STATE, WORD, output_of
from fst.tables.kernel_call import IDS_ALONE

NEXT, SIZE = np.uint64(overlapping.NEXT), np.uint64(overlapping.COUNT)


@part
def report(row, first, end, table, output, place):
    """Write the matches that end at a position, if the output can hold all of them.

    Args:
        row: in ``table.matches``, the row of the longest keyword that ends at the position.
        first, end: the indices of two characters: the first character in the kernel's `text`, and one past the last character of the
            matches.
        place: the output index of the first match, possibly past the end of the output.

    Returns:
        The output index after the last match, even if the match is not written.
    """
    matches, has_spans = table.matches, len(output) > IDS_ALONE
    after = place + np.uint64(matches[row << U1 | SIZE])
    if after > np.uint64(len(output.ids)):
        return after
    while row:
        keyword = row - U1
        output.ids[place] = keyword
        if has_spans and len(output.offsets):
            output.offsets[place << U1] = end - min(np.uint64(table.lengths[keyword]), end - first)
            output.offsets[place << U1 | U1], output.words[place] = end, WORD
        row = np.uint64(matches[row << U1 | NEXT])
        place += U1
    return place


@inlined
def step(entries, state, byte):
    """Follow failure links from a state to the first state with a transition on a byte; return the entry of this transition."""
    entry = entries[state + U1 + byte]
    while entry >> LABEL_SHIFT != byte and state != ROOT:
        state = entries[state] & STATE
        entry = entries[state + U1 + byte]
    return entry


@kernel
def run_rows(text, starts, more, table, output, work):
    """Search texts. Arguments and result are as in `fst.runtime.machines.keywords.kernels.search.run_rows`; `table` belongs to a table
    with overlapping matches.
    """
    entries, call, rows = table.entries, work.state, np.uint64(len(starts)) - U1
    place, at, first, state = call.count, np.uint64(starts[0]), call.before if call.is_open else U0, ROOT
    known = at + call.known
    block, bits, behind = count_from(text, at, first)
    for index in range(rows):
        row = np.uint64(index)
        end = np.uint64(starts[row + U1])
        while at < end:
            byte = np.uint64(text[at])
            entry = step(entries, state, byte)
            at += U1
            state = entry & STATE if entry >> LABEL_SHIFT == byte else ROOT
            if entry >> LABEL_SHIFT == byte and output_of(entry) and at > known:
                block, bits, behind = count_to(text, at, block, bits, behind)
                place = report(output_of(entry), first, characters_before(at, block, bits, behind), table, output, place)
        if not more or row + U1 < rows:
            output.ends[row] = place
            first, state = U0, ROOT
            block, bits, behind = count_from(text, at, first)
    left = np.uint64(table.depths[state])
    block, bits, behind = count_to(text, at, block, bits, behind)
    before = characters_before(at, block, bits, behind) - count_characters(text, at - left, at)
    call.count, call.before, call.is_open, call.known = place, before, more, left
    return at - left
