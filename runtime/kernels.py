"""The kernels: bare functions over arrays. What they compute is `fst.tables.Walk`, one symbol after the other.

They check nothing. What they take for granted:

- the table is one that `fst.verify` has proven, or that the compiler has just made;
- ``text`` is valid UTF-8, or valid UTF-16 in the processor's own byte order, and ``starts`` ascends within it and never cuts a
  character (`fst.runtime.texts` sees to that);
- ``ids`` has room for the ids of each text by the bound of `fst.verify` (its bytes in UTF-8, or 3 for each of its units in UTF-16), for
  the frame around it, and for 2 more, which may be written and are not counted.

Indices are unsigned: a signed one costs a test for negative values at every access. Numba keeps compiled kernels by the time of this file,
so their constants stand in it; a test holds them against `fst.tables`.
"""

from __future__ import annotations

import numpy as np

from fst.jit import inlined, kernel

U0, U1, U2, U3, U4, U6, U7, U12, U18 = (np.uint64(n) for n in (0, 1, 2, 3, 4, 6, 7, 12, 18))
U10, HALF, U64 = np.uint64(10), np.uint64(32), np.uint64(64)
LOW_3, LOW_4, LOW_5, LOW_6, LOW_7, LOW_10 = (np.uint64((1 << n) - 1) for n in (3, 4, 5, 6, 7, 10))
ASCII = np.uint64(0x80)
TWO_BYTES, THREE_BYTES, FOUR_BYTES = (np.uint64(n) for n in (0x80, 0xE0, 0xF0))  # first bytes of sequences of so many, from here on
SURROGATE, HIGH_SURROGATE = np.uint64(0xFC00), np.uint64(0xD800)

# Entries and records: next 24 | kind 2 | output 22 | label 16.
NEXT, OUTPUT = np.uint64((1 << 24) - 1), np.uint64((1 << 22) - 1)
KIND_SHIFT, OUTPUT_SHIFT, LABEL_SHIFT = np.uint64(24), np.uint64(26), np.uint64(48)
RARE = np.uint64(1 << 25)  # the bit that the rare kinds have: MANY and FAIL of entries, OTHER and LIST of classes
ONE, MANY, FAIL, OTHER, LIST = (np.uint64(n) for n in (1, 2, 3, 2, 3))
LAST_OUTPUT = np.uint64(1 << 31)  # the bit END of the pool
FINISH = np.uint64((1 << 16) - 1)  # the label of finish entries
ROOT = BLANK = U0
STARTS_SPECIAL, HAS_MARKS, CONTINUES_RUN = (np.uint64(n) for n in (1, 2, 4))
RANK_SHIFT, CLASS, RANKS = np.uint64(16), np.uint64(0xFFFF), np.uint64(64)


# A lane is one place in the texts and what is known there: (row, at, end, state, count, word).
# row: of the text; at: the next unit; end: where the text ends; state: of the table; count: ids written so far; word: in the high half the
# ids written before this word, in the low half its symbols, counted from `fresh` so that the bit RARE comes on when they are too many
# (and stays on: then they are not counted any more).
ROW, AT, END = 0, 1, 2
# A table is (pages, blocks, a_records, b_records, symbols, entries, pool, specials, dead, unk, fresh), see `encode_rows`.


@inlined
def code_at(text, at):
    """The code point at a place, and where the next one begins."""
    first = np.uint64(text[at])
    if np.iinfo(text.dtype).max > 255:  # known when the kernel is compiled: units of UTF-16
        if first & SURROGATE != HIGH_SURROGATE:
            return first, at + U1
        return (first & LOW_10) + U64 << U10 | np.uint64(text[at + U1]) & LOW_10, at + U2
    if first < TWO_BYTES:
        return first, at + U1
    second = np.uint64(text[at + U1]) & LOW_6
    if first < THREE_BYTES:
        return (first & LOW_5) << U6 | second, at + U2
    third = np.uint64(text[at + U2]) & LOW_6
    if first < FOUR_BYTES:
        return (first & LOW_4) << U12 | second << U6 | third, at + U3
    return (first & LOW_3) << U18 | second << U12 | third << U6 | np.uint64(text[at + U3]) & LOW_6, at + U4


@inlined
def class_at(text, at, table):
    """The class of the character at a place, and where the next one begins."""
    pages, blocks = table[:2]
    first = np.uint64(text[at])
    if first < ASCII:
        return first, at + U1
    code, after = code_at(text, at)
    return np.uint64(blocks[np.uint64(pages[code >> U7]) << U7 | code & LOW_7]), after


@inlined
def step(a, b, lane, table, ids):
    """One symbol of any kind: records A and B of its class, which is no LIST."""
    row, at, end, state, count, word = lane
    entries, pool, _, dead, unk, fresh = table[5:]
    label, class_kind = a >> LABEL_SHIFT, a >> KIND_SHIFT & U3
    entry = entries[state + label]
    if entry >> LABEL_SHIFT != label:
        entry = entries[state]
    kind, output = entry >> KIND_SHIFT & U3, entry >> OUTPUT_SHIFT & OUTPUT
    if kind == ONE:
        ids[count] = output
        count += U1
    elif kind == MANY:
        while pool[output] < LAST_OUTPUT:
            ids[count] = pool[output]
            count += U1
            output += U1
        ids[count] = pool[output] & OUTPUT
        count += U1
    if label != U0 or class_kind == OTHER:
        if entry >> LABEL_SHIFT != FINISH:
            state = entry & NEXT
        elif kind == FAIL:
            state = dead
        else:
            state = b if state == ROOT else a & NEXT
        return row, at, end, state, count, word if word & RARE else word + U1
    if kind == FAIL or word & RARE:
        ids[word >> HALF] = unk
        count = (word >> HALF) + U1
    if class_kind == ONE:
        ids[count] = a >> OUTPUT_SHIFT & OUTPUT
        count += U1
    return row, at, end, ROOT, count, count << HALF | fresh


@inlined
def moved(lane, at):
    """A lane at another place of its text."""
    row, _, end, state, count, word = lane
    return row, at, end, state, count, word


@kernel
def special_at(text, at, end, specials):
    """The end and the id of the longest special token at a place; the end is the place itself where there is none."""
    node, found, number = np.int64(0), at, np.int64(0)
    while at < end:
        code, at = code_at(text, at)
        node = np.int64(specials[node, 1])
        while node >= 0 and specials[node, 0] != code:
            node = np.int64(specials[node, 2])
        if node < 0:
            break
        if specials[node, 3] >= 0:
            found, number = at, np.int64(specials[node, 3])
    return found, np.uint64(number)


@kernel
def run_end(text, at, end, table):
    """Where the run of marks ends that goes on at a place."""
    a_records, specials = table[2], table[7]
    while at < end:
        number, after = class_at(text, at, table)
        a = a_records[number]
        flags = a >> OUTPUT_SHIFT & OUTPUT
        if a >> KIND_SHIFT & U3 != LIST or not flags & CONTINUES_RUN:
            break
        if flags & STARTS_SPECIAL and special_at(text, at, end, specials)[0] > at:
            break
        at = after
    return at


@kernel
def read_list(text, lane, table, ids):
    """Read what begins with a character of a LIST class: that character, a special token, or a run of marks."""
    a_records, b_records, symbols, specials = table[2], table[3], table[4], table[7]
    at, end = lane[AT], lane[END]
    number, stop = class_at(text, at, table)
    flags = a_records[number] >> OUTPUT_SHIFT & OUTPUT
    if flags & STARTS_SPECIAL:
        after, special = special_at(text, at, end, specials)
        if after > at:
            alone = special << OUTPUT_SHIFT | ONE << KIND_SHIFT
            return moved(step(alone, ROOT, lane, table, ids), after)
    # A run of marks is gone through once for each rank; all else has the rank 0.
    ranks = U1
    if flags & HAS_MARKS:
        stop, ranks = run_end(text, stop, end, table), RANKS
    for rank in range(ranks):
        place = at
        while place < stop:
            number, place = class_at(text, place, table)
            first = a_records[number] & NEXT
            for index in range(np.uint64(symbols[first])):
                symbol = np.uint64(symbols[first + U1 + index])
                if symbol >> RANK_SHIFT == rank:
                    lane = step(a_records[symbol & CLASS], b_records[symbol & CLASS], lane, table, ids)
    return moved(lane, stop)


@inlined
def read(text, lane, table, ids):
    """Read one character, or what begins with it.

    What is frequent is done without branches that depend on the text: a transition, or the end of a word, with at most one id of the
    word and one of its own. `step` does the same, and all the rest. (The root has all labels, so a miss is never at a word's start.)
    """
    row, at, end, state, count, word = lane
    a_records, b_records, entries, fresh = table[2], table[3], table[5], table[10]
    number, after = class_at(text, at, table)
    a = a_records[number]
    label = a >> LABEL_SHIFT
    entry = entries[state + label]
    finish = entries[state]
    # At the end of a word, too, the labels differ. The finish entry is loaded before it is known to be needed: a branch would be
    # mispredicted for one character in ten of multilingual text.
    default = entry >> LABEL_SHIFT != label
    follow = (a if default else entry) & NEXT
    entry = finish if default else entry
    if (a | entry | word) & RARE:
        if a >> KIND_SHIFT & U3 == LIST:
            return read_list(text, lane, table, ids)
        return step(a, b_records[number], moved(lane, after), table, ids)
    # Ids are written always, and counted if there are any: a branch would be mispredicted at every other word.
    ids[count] = entry >> OUTPUT_SHIFT & OUTPUT
    count += entry >> KIND_SHIFT & U1
    ids[count] = a >> OUTPUT_SHIFT & OUTPUT
    count += a >> KIND_SHIFT & U1
    return row, after, end, follow, count, word + U1 if label else count << HALF | fresh


@kernel
def begin_text(row, count, starts, prefix, fresh, ids):
    """A lane at the beginning of a text, the ids before it written; past the last text, a lane with nothing to read."""
    if row + U1 >= np.uint64(len(starts)):
        return row, U0, U0, ROOT, count, count << HALF | fresh
    for index in range(np.uint64(len(prefix))):
        ids[count + index] = prefix[index]
    count += np.uint64(len(prefix))
    return row, np.uint64(starts[row]), np.uint64(starts[row + U1]), ROOT, count, count << HALF | fresh


@kernel
def end_text(lane, starts, prefix, suffix, table, ids, ends):
    """End the last word of a text, write the ids after it, and begin the next text."""
    row, _, _, _, count, _ = step(BLANK, ROOT, lane, table, ids)
    for index in range(np.uint64(len(suffix))):
        ids[count + index] = suffix[index]
    count += np.uint64(len(suffix))
    ends[row] = count
    return begin_text(row + U1, count, starts, prefix, table[10], ids)


@kernel
def close_gap(ids, ends, middle, room):
    """Move the ids of the second part, which begin at `room`, to where those of the first end."""
    rows = np.uint64(len(ends))
    if middle >= rows:
        return
    gap = room - (np.uint64(ends[middle - U1]) if middle else U0)
    for index in range(room, np.uint64(ends[rows - U1])):
        ids[index - gap] = ids[index]
    for row in range(middle, rows):
        ends[row] -= np.int64(gap)


@kernel
def encode_rows(
    text, starts, middle, room, prefix, suffix, pages, blocks, a_records, b_records,
    symbols, entries, pool, specials, dead, unk, longest, ids, ends
):
    """The ids of texts, the first part of them and the second in turns.

    The two lanes have nothing to do with each other, so that the processor goes on with one while the other waits for its
    table. One lane alone has 160 MB/s where two have 210 (English), and 75 where two have 110 (109 languages).

    Args:
        text: uint8[n], UTF-8 of all texts, or uint16[n], UTF-16.
        starts: int64[rows + 1], where each text begins; the last is where the last one ends.
        middle: uint64 ≤ rows, the row with which the second part begins.
        room: uint64, where the ids of the second part are written at first; all the first part's have room before it.
        prefix, suffix: int32[n], ids put around each text.
        pages, blocks, symbols, entries, pool, specials: see `fst.tables.Tables`.
        a_records, b_records: uint64[classes], the records of each class; B is hardly ever read.
        dead, unk, longest: uint64, the dead state, the unknown token's id, and the symbols in the longest word that is looked up, < 2^25.
        ids: int32[n], filled.
        ends: int64[rows], filled: where the ids of each text end; the first begin at 0.
    """
    fresh = RARE - U1 - longest
    table = (pages, blocks, a_records, b_records, symbols, entries, pool, specials, dead, unk, fresh)
    rows = np.uint64(len(starts) - 1)
    first_starts = starts[: middle + U1]
    lane = begin_text(U0, U0, first_starts, prefix, fresh, ids)
    other = begin_text(middle, room, starts, prefix, fresh, ids)
    while lane[ROW] < middle and other[ROW] < rows:
        while lane[AT] < lane[END] and other[AT] < other[END]:
            lane = read(text, lane, table, ids)
            other = read(text, other, table, ids)
        if lane[AT] >= lane[END]:
            lane = end_text(lane, first_starts, prefix, suffix, table, ids, ends)
        if other[AT] >= other[END] and other[ROW] < rows:
            other = end_text(other, starts, prefix, suffix, table, ids, ends)
    last = middle
    if lane[ROW] >= middle:
        lane, last, first_starts = other, rows, starts
    while lane[ROW] < last:
        while lane[AT] < lane[END]:
            lane = read(text, lane, table, ids)
        lane = end_text(lane, first_starts, prefix, suffix, table, ids, ends)
    close_gap(ids, ends, middle, room)
