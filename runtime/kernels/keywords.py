"""Keyword search. `fst.machines.keywords` says what the automaton is; its slow walk specifies the matches.

Each byte takes a transition, after as many failure links as lead to a state that has one. A link leads to less depth, and a transition adds
at most one, so a text of n bytes takes at most 2n look-ups, whatever the keywords are. The kernel keeps nothing from one call to the next:
if a text goes on, it stops before the bytes that may still belong to a match, and the caller gives these again.

Kernels check nothing. They require a proven table, UTF-8, and room for an id for each byte of text.
"""

from __future__ import annotations

import numpy as np

from fst.jit import inlined, kernel, part
from fst.machines import keywords
from fst.machines.kernel_call import BEFORE, COUNT, IDS_ALONE, OPEN
from fst.runtime.kernels.numbers import U0, U1, U2
from fst.runtime.kernels.utf_8 import count_characters

ROOT, STATE, OUTPUT = np.uint64(keywords.ROOT), np.uint64(keywords.MAX_STATE), np.uint64(keywords.MAX_OUTPUT)
KEYWORD, START, BEFORE_IT, INDEX = (np.uint64(column) for column in keywords.COLUMNS)
WORD = 0  # of all matches; -1 would mean the frame of a text
OUTPUT_SHIFT, LABEL_SHIFT = np.uint64(keywords.OUTPUT_SHIFT), np.uint64(keywords.LABEL_SHIFT)


@inlined
def output_of(entry):
    """The number of the first report of an entry; 0 for none."""
    return entry >> OUTPUT_SHIFT & OUTPUT


@part
def report(text, begin, number, machine, output, place, counted, characters):
    """Write the matches of an output.

    Args:
        begin: the position in `text` of the first byte that the state stands for.
        number: the number of the last match.
        place: where the output has room for the first one.
        counted, characters: a position before these matches, and the number of characters of the row before it.

    Returns:
        The place after the last match, its end, and the number of characters before this.
    """
    matches, last = machine.matches, number << U2
    after = place + np.uint64(matches[last + INDEX]) + U1
    at = after
    while at > place:
        at -= U1
        output.ids[at] = matches[last + KEYWORD]
        if len(output) > IDS_ALONE and len(output.offsets):
            output.offsets[at << U1] = begin + np.uint64(matches[last + START])
        last = np.uint64(matches[last + BEFORE_IT]) << U2
    if len(output) > IDS_ALONE and len(output.offsets):
        while at < after:
            start = np.uint64(output.offsets[at << U1])
            end = start + np.uint64(machine.lengths[np.uint64(output.ids[at])])
            first = characters + count_characters(text, counted, start)
            counted, characters = end, first + count_characters(text, start, end)
            output.offsets[at << U1], output.offsets[at << U1 | U1], output.words[at] = first, characters, WORD
            at += U1
    return after, counted, characters


@part
def finish(text, at, state, machine, output, place, counted, characters):
    """Write the matches that are left where a text ends. Other arguments, and the results, are those of `report`."""
    while state != ROOT:
        own = machine.entries[state]
        if output_of(own):
            begin = at - np.uint64(machine.depths[state])
            place, counted, characters = report(text, begin, output_of(own), machine, output, place, counted, characters)
        state = own & STATE
    return place, counted, characters


@kernel
def encode_rows(text, starts, more, machine, output, work):
    """Search texts. Arguments and result are those of `fst.runtime.kernels.bpe.encode_rows`, but for `machine`, which is
    `fst.machines.keywords.Arguments`, and `work`, which is `fst.machines.keywords.Work`.
    """
    entries, depths, call, rows = machine.entries, machine.depths, work.state, np.uint64(len(starts)) - U1
    place, at, characters = call[COUNT], np.uint64(starts[0]), call[BEFORE] if call[OPEN] else U0
    counted, state = at, ROOT
    for index in range(rows):
        row = np.uint64(index)
        stop = np.uint64(starts[row + U1])
        while at < stop:
            byte = np.uint64(text[at])
            entry = entries[state + U1 + byte]
            while entry >> LABEL_SHIFT != byte and state != ROOT:
                own = entries[state]
                if output_of(own):
                    begin = at - np.uint64(depths[state])
                    place, counted, characters = report(text, begin, output_of(own), machine, output, place, counted, characters)
                state = own & STATE
                entry = entries[state + U1 + byte]
            if entry >> LABEL_SHIFT == byte:
                if output_of(entry):
                    begin = at - np.uint64(depths[state])
                    place, counted, characters = report(text, begin, output_of(entry), machine, output, place, counted, characters)
                state = entry & STATE
            at += U1
        if not more or row + U1 < rows:
            place, counted, characters = finish(text, at, state, machine, output, place, counted, characters)
            output.ends[row] = place
            counted, characters, state = at, U0, ROOT
    at -= np.uint64(depths[state])
    if more:
        characters += count_characters(text, counted, at)
    call[COUNT], call[BEFORE], call[OPEN] = place, characters, more
    return at
