"""Kernels of the heap of pairs in training; see `fst.compile.train.merges.merging`."""

from __future__ import annotations

import numpy as np

from fst.compile.train.merges.merging import BY_ID, BY_TEXT, HEAP, LONGEST, SPACE, TIES
from fst.core.jit import inlined, part
from fst.machines.bpe.pairs import HALF

LOW = np.uint64((1 << 32) - 1)


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
    """Add a record to the binary heap."""
    state.numbers[HEAP] += 1
    rise(state.numbers[HEAP] - 1, count, record, state)


@part
def sink(count, record, state):
    """Replace the top entry of the heap by a record, and sift the record down."""
    counts, records, size = state.heap_counts, state.heap_records, state.numbers[HEAP]
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
def drop_top(state):
    """Remove the top entry of the heap: the gap moves down to a leaf, and the last entry, which is seldom frequent, rises from there."""
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
