"""The kernel of keyword search. `fst.machines.keywords.table` describes the automaton, and its slow walk specifies the matches.

To read a byte, the automaton follows failure links up to a state with a transition on this byte, and then follows this transition. A
failure link reduces the depth of the state, and a transition adds at most 1 to the depth. So a text of n bytes needs at most 2n look-ups,
for any keywords. The kernel stores nothing between calls. If a text continues, the kernel stops before the bytes that may still belong to a
match, and the caller passes these bytes again.

Three algorithms read texts, and find the same matches:

- *walk*: four walks take turns, each over one segment of the text, and write events, see `fst.runtime.machines.keywords.kernels.walk`;
- *join*: the walk over a segment began at the root, but the true state at the end of the previous segment may be another state. So both
  walks, from the true state and from the root, read the segment until their states agree, and the events of the walk from the root up to
  this position are dropped. The states nearly always agree after a few bytes, and they always agree at the end of a row;
- *follow*: a single walk skips bytes that begin no keyword, and writes matches instead of events. The kernel uses *follow* for short texts,
  and for texts in which keywords are rare. The code of *follow* has branches, because a processor that predicts a branch correctly does not
  wait for the look-up.

The kernel checks nothing, and requires a table that has passed `Table.prove`, UTF-8, and an output with a capacity of one id for each byte
of text.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.machines.keywords import table as keywords
from fst.runtime.kernels.code_points import characters_before, count_from, count_to
from fst.runtime.kernels.constants import ROOT, U0, U1, U2, U3
from fst.runtime.kernels.utf_8 import count_characters
from fst.runtime.machines.keywords.kernels.walk import (
    BEFORE_IT,
    END,
    KEYWORD,
    LABEL_SHIFT,
    REGION,
    SEGMENT,
    START,
    STATE,
    WORD,
    event_of,
    output_of,
    pause,
    step,
    stop_of,
    walk,
)
from fst.tables.kernel_call import IDS_ALONE

OWN, WALKS, FEW = np.uint64(keywords.OWN), np.uint64(keywords.WALKS), np.uint64(keywords.FEW)
RARE = U3  # keywords are rare if `follow` can skip all but one byte in 2 ** RARE
PATIENCE = np.uint64(16)  # number of rounds of four walks before `follow` is tried again


@part
def in_characters(text, start, before, offsets, first, last):
    """Convert positions in a row of text from bytes to characters.

    Args:
        start: the position where the row begins, or where it continues from the last call.
        before: the number of characters of the row before `start`.
        offsets: int32[n]; the elements `first` to `last`, which ascend, are converted in place.
    """
    block, bits, behind = count_from(text, start, before)
    for index in range(first, last):
        at = np.uint64(offsets[np.uint64(index)])
        block, bits, behind = count_to(text, at, block, bits, behind)
        offsets[np.uint64(index)] = characters_before(at, block, bits, behind)


@part
def report(start, number, table, output, notes):
    """Write the matches of an output.

    Args:
        start: the position in the text of the first byte that the state represents.
        number: the number of the output, which is the number of the output's last match.
    """
    matches, last, place = table.matches, number << U2, notes.place
    after, before = place + U1, last
    while matches[before + BEFORE_IT]:
        before = np.uint64(matches[before + BEFORE_IT]) << U2
        after += U1
    notes.place = at = after
    while at > place:
        at -= U1
        output.ids[at] = matches[last + KEYWORD]
        if len(output) > IDS_ALONE and len(output.offsets):
            output.offsets[at << U1] = start + np.uint64(matches[last + START])
            output.offsets[at << U1 | U1] = start + np.uint64(matches[last + END])
            output.words[at] = WORD
        last = np.uint64(matches[last + BEFORE_IT]) << U2


@inlined
def report_own(at, state, table, output, notes):
    """Write the matches in the output of a state's failure link; return the state that the link leads to."""
    own = table.entries[state]
    if output_of(own):
        report(at - np.uint64(table.depths[state]), output_of(own), table, output, notes)
    return own & STATE


@part
def report_rest(at, state, table, output, notes):
    """Write the last matches of a row: the outputs of the failure links from the row's last state to the root."""
    while state != ROOT:
        state = report_own(at, state, table, output, notes)


@inlined
def end_matches(text, start, output, notes):
    """Convert the spans of a row's matches from bytes to characters; the row begins at `start`."""
    if len(output) > IDS_ALONE and len(output.offsets) and notes.first < notes.place:
        in_characters(text, start, notes.before, output.offsets, notes.first << U1, notes.place << U1)
    notes.first = notes.place


@inlined
def close_rows(text, starts, before, output, notes):
    """Finish all rows that end at the position `before` or earlier."""
    row = notes.row
    while row < np.uint64(len(output.ends)) and np.uint64(starts[row + U1]) <= before:
        output.ends[row] = notes.place
        end_matches(text, np.uint64(starts[row]), output, notes)
        notes.before = U0
        row += U1
    notes.row = row


@part
def expand(text, starts, first, last, table, output, work):
    """Write the matches of the events `first` to `last`."""
    notes = work.notes
    for index in range(first, last):
        at, slot, is_finish = event_of(work.events[np.uint64(index)])
        close_rows(text, starts, at - is_finish, output, notes)
        entry = table.entries[slot]
        label = entry >> LABEL_SHIFT
        if label != OWN:
            depth = np.uint64(table.depths[slot - U1 - label])
            report(at - depth, output_of(entry), table, output, notes)
            continue
        state = report_own(at, slot, table, output, notes)
        if is_finish:
            report_rest(at, state, table, output, notes)
        elif state == ROOT and output_of(table.roots[text[at]]):
            report(at, output_of(table.roots[text[at]]), table, output, notes)


@part
def follow(text, starts, closed, at, end, state, table, output, work):
    """Read text with a single walk; return the state, and the number of bytes that were read by a transition."""
    entries, roots, notes, read = table.entries, table.roots, work.notes, U0
    row, stop = stop_of(starts, closed, notes.row, at, end)
    while at < end:
        while at < stop:
            byte = np.uint64(text[at])
            entry = entries[state + U1 + byte]
            if entry >> LABEL_SHIFT == byte:
                if output_of(entry):
                    report(at - np.uint64(table.depths[state]), output_of(entry), table, output, notes)
                state = entry & STATE
                at += U1
                read += U1
            elif state != ROOT:
                state = report_own(at, state, table, output, notes)
            else:
                at += U1
                while at < stop and roots[text[at]] == U0:
                    at += U1
        if row < closed and at == np.uint64(starts[row + U1]):
            report_rest(at, state, table, output, notes)
            close_rows(text, starts, at, output, notes)
            row, stop = stop_of(starts, closed, row, at, end)
            state = ROOT
    return state, read


@part
def join(text, starts, closed, at, end, state, first, table, output, work):
    """Read a segment from the true state, until this state agrees with the state of the segment's walk, which began at the root.

    The segment's walk is repeated at the same time, to count the events up to this position, which are dropped.

    Args:
        at, end: the bounds of the segment.
        state: the true state at `at`.
        first: the index of the first event of the segment's walk.

    Returns:
        The true state at the position where the states agree, or at the end of the segment; whether they agree; and the index of the first
        event that is not dropped.
    """
    events, spare = work.events, WALKS * REGION
    row, stop = stop_of(starts, closed, work.notes.row, at, end)
    other, other_at, kept = ROOT, at, first
    while (state != other or at != other_at) and (at < stop or other_at < stop):
        if at < stop and at <= other_at:
            state, at, count = step(text, table, state, at, events, spare)
            if count > spare:
                expand(text, starts, spare, count, table, output, work)
        else:
            other, other_at, count = step(text, table, other, other_at, events, spare)
            kept += count - spare
    if state != other:
        _, _, other, count = pause(starts, closed, row, stop, end, other, events, spare)
        kept += count - spare
        _, _, state, count = pause(starts, closed, row, stop, end, state, events, spare)
        if count > spare:
            expand(text, starts, spare, count, table, output, work)
    return state, state == other, kept


@part
def read_in_turns(text, starts, closed, at, size, state, table, output, work):
    """Walk over four segments in turns, and join the walks; return the state at the end of the last segment."""
    walk(text, starts, closed, work.notes.row, at, size, table, work)
    for number in range(WALKS):
        index = np.uint64(number)
        first, start = index * REGION, at + index * size
        close_rows(text, starts, start, output, work.notes)
        state, agrees, kept = join(text, starts, closed, start, start + size, state, first, table, output, work)
        if agrees:
            expand(text, starts, kept, work.counts[index], table, output, work)
            state = work.states[index]
    return state


@kernel
def run_rows(text, starts, more, table, output, work):
    """Search texts. Arguments and result are as in `fst.runtime.machines.bpe.kernels.encode.encode_rows`, except for `table`, which is
    `fst.machines.keywords.table.Arguments`, and `work`, which is `fst.machines.keywords.table.Work`.
    """
    call, notes = work.state, work.notes
    at, stop, closed, state = np.uint64(starts[0]), np.uint64(starts[len(starts) - 1]), np.uint64(len(starts)) - U1 - more, ROOT
    notes.place = notes.first = call.count
    notes.row, notes.before, notes.turns = U0, call.before if call.is_open else U0, U0
    while at < stop:
        size = min((stop - at) // WALKS, SEGMENT)
        is_in_turns = notes.turns > U0 and size >= FEW
        end = at + size * WALKS if is_in_turns else min(at + FEW * WALKS, stop)
        close_rows(text, starts, at, output, notes)
        if is_in_turns:
            state = read_in_turns(text, starts, closed, at, size, state, table, output, work)
            notes.turns -= U1
        else:
            state, read = follow(text, starts, closed, at, end, state, table, output, work)
            notes.turns = PATIENCE if read > end - at >> RARE else U0
        at = end
    close_rows(text, starts, at, output, notes)
    at -= np.uint64(table.depths[state])
    if more:
        start = np.uint64(starts[closed])
        end_matches(text, start, output, notes)
        call.before = notes.before + count_characters(text, start, at)
    call.count, call.is_open = notes.place, more
    return at
