"""Kernels of the queue of pairs in training; see `fst.compile.train.merges.merging`.

Only the most frequent entries of the queue are a heap, which therefore is small; the other entries follow it in any order. When the heap is
empty, `fill` moves the next most frequent entries into it. For example, with `NEAR` = 14, so the heap contains the counts 16, 14 and 15::

    heap_counts    16 14 15 | 9 2 13 9        `HEAP` is 3, `QUEUED` is 7
    `push` of 15   16 15 15 14 | 2 13 9 9     9 makes room for it at the end
    `push` of 8    16 15 15 14 | 2 13 9 9 8
    `sink` to 9    15 14 15 | 9 2 13 9 9 8    the count of the top was 16 when it was pushed, and is now below `NEAR`
"""

from __future__ import annotations

import numpy as np

from fst.compile.train.merges.merging import BY_ID, BY_TEXT, HEAP, LONGEST, NEAR, QUEUED, SPACE, TIES
from fst.core.jit import inlined, part
from fst.core.prefetch import prefetch
from fst.machines.bpe.pairs import HALF, home_of

LOW = np.uint64((1 << 32) - 1)
NEXT = 3  # number of entries at the top of the heap that are prefetched; the next top is probably one of them


@inlined
def may_merge(left, right, state):
    """Whether the rules of SentencePiece allow two tokens to merge: one script, ▁ only at the left end, and not too long."""
    kind, other = state.kinds[left], state.kinds[right]
    size = state.lengths[left] + state.lengths[right]
    return size < state.numbers[LONGEST] and state.firsts[right] != state.numbers[SPACE] and (kind == other or kind == 0 or other == 0)


@part
def precedes_by_text(record, other, state):
    """With `BY_TEXT`, whether a pair precedes an equally frequent pair: shorter strings come first, then strings with smaller code
    points.
    """
    key, other_key = state.keys[record], state.keys[other]
    size = state.lengths[key >> HALF] + state.lengths[key & LOW]
    other_size = state.lengths[other_key >> HALF] + state.lengths[other_key & LOW]
    if size != other_size:
        return size < other_size
    at, other_at = state.pool[state.records[2 * record]], state.pool[state.records[2 * other]]
    for place in range(size):
        if state.letters[at + place] != state.letters[other_at + place]:
            return state.letters[at + place] < state.letters[other_at + place]
    return key < other_key


@inlined
def precedes(count, record, other_count, other, state):
    """Whether a pair precedes another pair: greater counts come first; in a tie, smaller ids, or the order of `TIES`."""
    if count != other_count:
        return count > other_count
    if state.numbers[TIES] == BY_ID:
        return state.keys[record] < state.keys[other]
    if state.numbers[TIES] == BY_TEXT:
        return precedes_by_text(record, other, state)
    return state.pool[state.records[2 * record]] < state.pool[state.records[2 * other]]


@inlined
def rise(at, count, record, state):
    """Sift a record up from a free place of the heap."""
    counts, records = state.heap_counts, state.heap_records
    while at > 0:
        above = (at - 1) >> 1
        if not precedes(count, record, counts[above], records[above], state):
            break
        counts[at], records[at] = counts[above], records[above]
        at = above
    counts[at], records[at] = count, record


@part
def push(count, record, state):
    """Add a record to the queue: to the heap, or to the entries after the heap, if its count is below `NEAR`."""
    numbers, counts, records = state.numbers, state.heap_counts, state.heap_records
    at, numbers[QUEUED] = numbers[QUEUED], numbers[QUEUED] + 1
    if count < numbers[NEAR]:
        counts[at], records[at] = count, record
        return
    size = numbers[HEAP]
    counts[at], records[at] = counts[size], records[size]
    numbers[HEAP] = size + 1
    rise(size, count, record, state)


@part
def fill(state):
    """Fill the empty heap with the most frequent entries of the queue: `NEAR` becomes seven eighths of the greatest count."""
    numbers, counts, records = state.numbers, state.heap_counts, state.heap_records
    most = counts[0]
    for at in range(numbers[QUEUED]):
        most = max(most, counts[at])
    numbers[NEAR] = least = most - (max(most, 0) >> 3)
    for at in range(numbers[QUEUED]):
        if counts[at] >= least:
            count, record, size = counts[at], records[at], numbers[HEAP]
            counts[at], records[at] = counts[size], records[size]
            numbers[HEAP] = size + 1
            rise(size, count, record, state)


@part
def sink(count, record, state):
    """Replace the top entry of the heap by a record, and sift the record down. If its count is below `NEAR`, the record becomes the entry
    after the heap instead.
    """
    counts, records, size = state.heap_counts, state.heap_records, state.numbers[HEAP]
    if count < state.numbers[NEAR]:
        remove(state)
        counts[size - 1], records[size - 1] = count, record
        return
    at = 0
    while 2 * at + 1 < size:
        below = 2 * at + 1
        if below + 1 < size and precedes(counts[below + 1], records[below + 1], counts[below], records[below], state):
            below += 1
        if not precedes(counts[below], records[below], count, record, state):
            break
        counts[at], records[at] = counts[below], records[below]
        at = below
    counts[at], records[at] = count, record


@part
def remove(state):
    """Remove the top entry of the heap: the gap moves down to a leaf, and the last entry, which is seldom frequent, rises from there. The
    entry after the heap is then free.
    """
    counts, records, size = state.heap_counts, state.heap_records, state.numbers[HEAP] - 1
    state.numbers[HEAP] = size
    at = 0
    while 2 * at + 2 < size:
        below = 2 * at + 1
        if precedes(counts[below + 1], records[below + 1], counts[below], records[below], state):
            below += 1
        counts[at], records[at] = counts[below], records[below]
        at = below
    if 2 * at + 1 < size:
        below = 2 * at + 1
        counts[at], records[at] = counts[below], records[below]
        at = below
    if size > 0:
        rise(at, counts[size], records[size], state)


@part
def drop_top(state):
    """Remove the top entry of the queue."""
    numbers, counts, records = state.numbers, state.heap_counts, state.heap_records
    remove(state)
    size, last = numbers[HEAP], numbers[QUEUED] - 1
    counts[size], records[size] = counts[last], records[last]
    numbers[QUEUED] = last


@part
def load_records(state):
    """Prefetch the records of the pairs that are probably merged next."""
    for place in range(min(state.numbers[HEAP], NEXT)):
        record = np.uint64(state.heap_records[place])
        prefetch(state.keys, record)
        prefetch(state.records, record + record)


@part
def load_slots(state):
    """Prefetch the slots and the first positions of the pairs that are probably merged next, after `load_records`."""
    for place in range(min(state.numbers[HEAP], NEXT)):
        record = state.heap_records[place]
        prefetch(state.pairs, home_of(state.keys[record], state.pairs))
        prefetch(state.pool, np.uint64(state.records[2 * record]))
