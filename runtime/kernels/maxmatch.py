"""MaxMatch. `fst.machines.maxmatch` says what the tokens are; its slow walk specifies them.

The kernel walks the automaton of keyword search, and notes each output that it passes as an *event*: matches, and the place of the first
byte that the state stands for. When it has noted some, it writes their tokens: the matches, and a token for each character between them.

Places are counted from the first byte of a row that is read, in the order of reading. So the tokens of a row that is read backward are
written from the last to the first, and turned round when they are complete. If such a row goes on in the next call, the kernel reads it up
to the last character that no word has, which is a border of tokens whatever follows.

Kernels check nothing. They require a proven table, UTF-8, and room for an id for each byte of text.
"""

from __future__ import annotations

import numpy as np

from fst.jit import inlined, kernel, part
from fst.machines import keywords, maxmatch
from fst.machines.kernel_call import BEFORE, COUNT, IDS_ALONE, OPEN
from fst.runtime.kernels.keywords import BEFORE_IT, INDEX, KEYWORD, LABEL_SHIFT, OUTPUT, ROOT, START, STATE, WORD, output_of
from fst.runtime.kernels.numbers import U0, U1, U2
from fst.runtime.kernels.utf_8 import CONTINUES, LEAD_MASK, count_characters

UNSEEN = maxmatch.UNSEEN
OUTPUT_BITS = np.uint64(keywords.OUTPUT_BITS)
BACK = np.uint64((1 << 64) - 1)  # a step to the byte before


@inlined
def event_of(read, depth, entry):
    """An event; see `fst.machines.maxmatch.Work`."""
    return read - np.uint64(depth) << OUTPUT_BITS | output_of(entry)


@part
def walk(text, origin, step, read, stop, state, automaton, events):
    """Read bytes, and note events until there is no room for one more.

    Args:
        origin: the position of the first byte that is read; step: 1, or `BACK`.
        read, stop: the place of the next byte to read, and of the end.
        state: the state before.

    Returns:
        The place of the next byte to read, the state, and the number of events.
    """
    entries, depths, room = automaton.entries, automaton.depths, np.uint64(len(events))
    count = U0
    while read < stop and count < room:
        byte = np.uint64(text[origin + step * read])
        entry = entries[state + U1 + byte]
        if entry >> LABEL_SHIFT == byte:
            if output_of(entry):
                events[count] = event_of(read, depths[state], entry)
                count += U1
            state = entry & STATE
            read += U1
        elif state == ROOT:
            read += U1
        else:
            own = entries[state]
            if output_of(own):
                events[count] = event_of(read, depths[state], own)
                count += U1
            state = own & STATE
    return read, state, count


@part
def finish(read, state, automaton, events):
    """Note the events that are left where a text ends, until there is no room for one more. Returns the state, and their number."""
    entries, depths, room = automaton.entries, automaton.depths, np.uint64(len(events))
    count = U0
    while state != ROOT and count < room:
        own = entries[state]
        if output_of(own):
            events[count] = event_of(read, depths[state], own)
            count += U1
        state = own & STATE
    return state, count


@inlined
def put_token(output, place, token, first, last):
    """Write a token, and its first character and one past the last."""
    output.ids[place] = token
    if len(output) > IDS_ALONE and len(output.offsets):
        output.offsets[place << U1], output.offsets[place << U1 | U1], output.words[place] = first, last, WORD


@inlined
def characters_of(text, origin, step, read, stop):
    """The number of characters between two places."""
    count = U0
    while read < stop:
        count += np.uint64(text[origin + step * read] & LEAD_MASK != CONTINUES)
        read += U1
    return count


@part
def put_unseen(text, origin, step, read, stop, output, place, characters):
    """Write the characters between two places.

    Args:
        place: where the output has room for the first one.
        characters: the number of characters before them.

    Returns:
        The place after the last token, and the number of characters before this.
    """
    while read < stop:
        put_token(output, place, UNSEEN, characters, characters + U1)
        is_character = np.uint64(text[origin + step * read] & LEAD_MASK != CONTINUES)
        place += is_character
        characters += is_character
        read += U1
    return place, characters


@part
def put_events(text, origin, step, events, count, automaton, output, place, done, characters):
    """Write the matches of events, and the characters between them.

    An output leads from its last match to the first. So the rows of its matches are first written to the end of the room for these bytes.
    Tokens have at least one byte each, so those before a match never reach its row.

    Args:
        place, characters: as in `put_unseen`.
        done: the place after the bytes whose tokens are written.

    Returns:
        The new values of `place`, `done` and `characters`.
    """
    matches, lengths = automaton.matches, automaton.lengths
    for index in range(count):
        event = events[np.uint64(index)]
        begin, row = event >> OUTPUT_BITS, (event & OUTPUT) << U2
        size = np.uint64(matches[row + INDEX]) + U1
        after = place + begin + np.uint64(matches[row + START]) + np.uint64(lengths[np.uint64(matches[row + KEYWORD])]) - done
        at = after
        while after - at < size:
            at -= U1
            output.ids[at] = row >> U2
            row = np.uint64(matches[row + BEFORE_IT]) << U2
        while at < after:
            row = np.uint64(output.ids[at]) << U2
            keyword, start = matches[row + KEYWORD], begin + np.uint64(matches[row + START])
            place, characters = put_unseen(text, origin, step, done, start, output, place, characters)
            done = start + np.uint64(lengths[np.uint64(keyword)])
            last = characters
            if len(output) > IDS_ALONE and len(output.offsets):
                last += characters_of(text, origin, step, start, done)
            put_token(output, place, keyword, characters, last)
            characters = last
            place += U1
            at += U1
    return place, done, characters


@part
def put_row(text, origin, step, stop, is_open, automaton, output, place, characters, events):
    """Write the tokens of a row, in the order of reading.

    Args:
        stop: the number of bytes.
        is_open: whether more bytes follow in the order of reading.

    Returns:
        The place after the last token, and the number of bytes that their tokens, or the tokens before them, may still need.
    """
    read = done = U0
    state = ROOT
    while read < stop:
        read, state, count = walk(text, origin, step, read, stop, state, automaton, events)
        place, done, characters = put_events(text, origin, step, events, count, automaton, output, place, done, characters)
    kept = np.uint64(automaton.depths[state])
    if not is_open:
        kept = U0
        while state != ROOT:
            state, count = finish(read, state, automaton, events)
            place, done, characters = put_events(text, origin, step, events, count, automaton, output, place, done, characters)
    place, _ = put_unseen(text, origin, step, done, stop - kept, output, place, characters)
    return place, kept


@part
def turn_round(output, place, after, border):
    """Turn tokens round, from the order of reading backward to that of the text. `border` is the sum of a place in both orders."""
    while place < after:
        after -= U1
        output.ids[place], output.ids[after] = output.ids[after], output.ids[place]
        if len(output) > IDS_ALONE and len(output.offsets):
            low, high = place << U1, after << U1
            first, last = border - output.offsets[high | U1], border - output.offsets[high]
            output.offsets[high], output.offsets[high | U1] = border - output.offsets[low | U1], border - output.offsets[low]
            output.offsets[low], output.offsets[low | U1] = first, last
        place += U1


@part
def last_cut(text, at, stop, is_cut):
    """The position after the last character before `stop` behind which a text may be cut; `at` if there is none."""
    while stop > at and not is_cut[text[stop - U1]]:
        stop -= U1
    return stop


@kernel
def encode_rows(text, starts, more, machine, output, work):
    """Segment texts. Arguments and result are those of `fst.runtime.kernels.bpe.encode_rows`, but for `machine`, which is
    `fst.machines.maxmatch.Arguments`, and `work`, which is `fst.machines.maxmatch.Work`.
    """
    automaton, events, call, rows = machine.automaton, work.events, work.state, np.uint64(len(starts)) - U1
    is_backward = machine.is_backward[0] != 0
    place, at = call[COUNT], np.uint64(starts[0])
    before = call[BEFORE] if call[OPEN] else U0
    for index in range(rows):
        row = np.uint64(index)
        at, stop = np.uint64(starts[row]), np.uint64(starts[row + U1])
        is_open = more and row + U1 == rows
        if is_backward:
            stop = last_cut(text, at, stop, machine.is_cut) if is_open else stop
            after, _ = put_row(text, stop - U1, BACK, stop - at, False, automaton, output, place, U0, events)
            turn_round(output, place, after, before + count_characters(text, at, stop))
        else:
            after, kept = put_row(text, at, U1, stop - at, is_open, automaton, output, place, before, events)
            stop -= kept
        place = after
        if is_open:
            before += count_characters(text, at, stop)
        else:
            output.ends[row] = place
            before = U0
        at = stop
    call[COUNT], call[BEFORE], call[OPEN] = place, before, more
    return at
