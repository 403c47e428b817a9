"""Kernels of the heap of pairs in training, see `fst.compile.train.merge_state`."""

from __future__ import annotations

from fst.compile.train.merge_state import HEAP
from fst.jit import inlined, part


@inlined
def precedes(count, record, other_count, other, state):
    """Whether a pair is merged before another one: more frequent; of equals, that of smaller ids."""
    return count > other_count or (count == other_count and state.keys[record] < state.keys[other])


@part
def push(count, record, state):
    """Add a record to the heap, a binary one."""
    counts, records = state.heap_counts, state.heap_records
    at = state.numbers[HEAP]
    state.numbers[HEAP] += 1
    while at > 0:
        above = (at - 1) >> 1
        if not precedes(count, record, counts[above], records[above], state):
            break
        counts[at], records[at] = counts[above], records[above]
        at = above
    counts[at], records[at] = count, record


@part
def sink(count, record, state):
    """Put a record in place of the heap's top."""
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
