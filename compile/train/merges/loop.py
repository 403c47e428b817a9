"""Kernels of byte-pair encoding in training; see `fst.compile.train.merges.merging` for the state.

A merge reads the positions of the pair from left to right, skips stale positions, and sums the counts of each neighbouring token in dense
arrays. For each distinct neighbour, it then probes the hash table twice: for the new pair and for the old pair. A second pass writes the
cells and the positions of the new pairs.

Entries of the queue are corrected only at the top of its heap: if the count of the top pair has fallen since it was pushed, the pair sinks.
Counts only fall after a push, so a top with a correct count is the most frequent pair. With `BY_PLACE`, the same applies to a pair's first
position, which only increases.

Most of the time is spent waiting for memory, so the cells of positions, the slots of pairs and the records of the next pairs are
prefetched.

Kernels do not check the state, because `begin` creates a valid state and `prove` checks a state from a file. A kernel returns at the end of
a round, if an array is too short, if the caller must look up the id of the next string, or at the end of training.
"""

from __future__ import annotations

import numpy as np

from fst.automata.rows import MULTIPLIERS
from fst.compile.train.merges.heap import LOW, drop_top, fill, load_records, load_slots, push, sink
from fst.compile.train.merges.merging import (
    ADJACENT,
    ASK,
    AT_SIZE,
    BY_PLACE,
    BY_TEXT,
    CAREFUL,
    FLOOR,
    HEAP,
    KNOWN,
    LEAST,
    MERGES,
    NEED_POOL,
    NEED_RECORDS,
    NEED_SYMBOLS,
    NEVER,
    NEW_STRING,
    NO_PAIR_LEFT,
    OUT_OF_CAPACITY,
    OUT_OF_STEPS,
    POOL,
    QUEUED,
    RECORDS,
    SIZE,
    STEPS,
    SYMBOLS,
    TIES,
    TO_RECOUNT,
    TOKENS,
    TOO_RARE,
    USED,
)
from fst.compile.train.merges.step import collect, count_of, expand, forget, update_pairs, write
from fst.core.jit import inlined, kernel, part
from fst.machines.bpe.merge_list import EMPTY
from fst.machines.bpe.pairs import HALF, insert, key_of, slot_of

BASE, MASK = np.uint64(MULTIPLIERS[2]), np.uint64((1 << 63) - 1)
SWITCHES = 8  # fixed cost of a merge, in steps; each position costs one more step


@inlined
def joined_hash(left, right, state):
    """The hash of the string that a merge makes: a polynomial over the symbols, below `EMPTY`."""
    result = state.hashes[left]
    for _ in range(state.lengths[right]):
        result *= BASE
    return (result + state.hashes[right]) & MASK


@inlined
def may_be_known(left, right, state):
    """Whether the string that a merge makes may already have an id."""
    if state.numbers[CAREFUL] or len(state.suspects) == 0:
        return True
    if state.numbers[TIES] == BY_TEXT:
        suspect = joined_hash(left, right, state)
    else:
        suspect = key_of(state.firsts[left], state.lengths[left] + state.lengths[right])
    return state.suspects[slot_of(suspect, state.suspects)] != EMPTY


@inlined
def has_capacity(occurrences, neighbours, state):
    """Whether all arrays have capacity for the new pairs of a merge. If not, the caller reads the required capacity from `numbers`."""
    numbers = state.numbers
    numbers[NEED_POOL], numbers[NEED_RECORDS] = 2 * occurrences + 1, neighbours + 1
    numbers[NEED_SYMBOLS] = occurrences if numbers[CAREFUL] else 0
    return (
        numbers[POOL] + numbers[NEED_POOL] <= len(state.pool)
        and numbers[RECORDS] + numbers[NEED_RECORDS] <= len(state.keys)
        and 4 * (numbers[USED] + numbers[NEED_RECORDS]) < len(state.pairs)
        and numbers[SYMBOLS] + numbers[NEED_SYMBOLS] <= len(state.lengths)
        and 3 * numbers[MERGES] + 3 <= len(state.merges)
    )


@part
def merge(record, left, right, made, state):
    """Merge all occurrences of the pair at the top of the heap. `record`: the record of the pair at the top of the heap. `left`, `right`,
    `made`: the ids of the pair's two tokens and of the merged token. Returns False if an array is too short; in this case, the state is
    unchanged.
    """
    numbers = state.numbers
    begin, end = state.records[2 * record], state.records[2 * record + 1]
    if numbers[CAREFUL]:
        found = expand(record, left, right, state)
        if found < 0:
            numbers[NEED_POOL], numbers[NEED_RECORDS], numbers[NEED_SYMBOLS] = len(state.pool), 0, 0
            return False
        begin, end = numbers[POOL], numbers[POOL] + found
        numbers[POOL] += found
    kept, lefts, rights, total, between = collect(begin, end, left, right, made, state)
    if not has_capacity(kept - begin, lefts + rights, state):
        forget(lefts, rights, state)
        if numbers[CAREFUL]:
            numbers[POOL] = begin
            numbers[NEED_POOL] += end - begin
        return False
    size = np.int64(state.lengths[left]) + state.lengths[right]
    drop_top(state)
    load_records(state)
    if made == numbers[TOKENS]:
        numbers[TOKENS] += 1
        numbers[SYMBOLS] += 0 if numbers[CAREFUL] else 1
    if not numbers[CAREFUL]:
        state.lengths[made], state.firsts[made] = size, state.firsts[left]
    if numbers[TIES] == BY_TEXT:
        state.kinds[made] = state.kinds[left] if state.kinds[left] else state.kinds[right]
        state.hashes[made] = joined_hash(left, right, state)
        insert(state.hashes[made], 0, state.suspects)
    first = numbers[RECORDS]
    both, never = update_pairs(left, right, made, lefts, rights, between, state)
    load_slots(state)
    write(begin, kept, made, size, both, never, state)
    for new in range(first, numbers[RECORDS]):
        count = count_of(state.keys[new], state.pairs)
        if count > 0 or numbers[TIES] == BY_TEXT:
            push(count, new, state)
    forget(lefts, rights, state)
    state.made[made] += total
    place = 3 * numbers[MERGES]
    state.merges[place], state.merges[place + 1], state.merges[place + 2] = left, right, made
    numbers[MERGES] += 1
    numbers[ADJACENT] -= kept - begin
    numbers[STEPS] -= end - begin + SWITCHES
    return True


@inlined
def drop_stale(record, left, right, state):
    """Drop the stale positions at the beginning of a pair's block, except the last position. Returns whether any are dropped."""
    begin, last = state.records[2 * record], state.records[2 * record + 1] - 1
    kept, width = begin, np.int64(state.lengths[left])
    while kept < last and (state.cells[state.pool[kept]] != left or state.cells[state.pool[kept] + width] != right):
        kept += 1
    state.records[2 * record] = kept
    return kept > begin


@inlined
def at_end(numbers):
    """The reason to stop merging: `TO_RECOUNT`, `TOO_RARE` or `NO_PAIR_LEFT`."""
    if numbers[ADJACENT] > 0 and numbers[LEAST] > numbers[FLOOR]:
        return TO_RECOUNT
    return TOO_RARE if numbers[ADJACENT] > 0 and numbers[FLOOR] > 1 else NO_PAIR_LEFT


@kernel
def merge_pairs(state):
    """Repeatedly merge the most frequent pair; `fst.compile.train.merges.heap.precedes` orders equally frequent pairs.

    Args:
        state: `Merging`; changed.

    Returns:
        The reason for stopping. `OUT_OF_STEPS`: the round has used all its steps. `OUT_OF_CAPACITY`: an array is too short. `NEW_STRING`:
        the caller must set `numbers[KNOWN]`. `AT_SIZE`: the vocabulary is full. `NO_PAIR_LEFT`: no pair remains. `TOO_RARE`: all pairs are
        rarer than `FLOOR`. `TO_RECOUNT`: all recorded pairs are rarer than `LEAST`.
    """
    numbers = state.numbers
    while numbers[TOKENS] < numbers[SIZE]:
        if numbers[HEAP] == 0:
            if numbers[QUEUED] == 0:
                return at_end(numbers)
            fill(state)
        record = np.int64(state.heap_records[0])
        key = state.keys[record]
        count = count_of(key, state.pairs)
        if count != state.heap_counts[0]:
            sink(count, record, state)
            continue
        if count < numbers[LEAST]:
            return at_end(numbers)
        if numbers[STEPS] <= 0:
            return OUT_OF_STEPS
        left, right = np.int64(key >> HALF), np.int64(key & LOW)
        if numbers[TIES] == BY_PLACE and drop_stale(record, left, right, state):
            sink(count, record, state)
            continue
        if numbers[KNOWN] == ASK and may_be_known(left, right, state):
            return NEW_STRING
        if numbers[KNOWN] == NEVER or (numbers[TIES] == BY_TEXT and numbers[KNOWN] >= 0):  # SentencePiece makes each string only once
            drop_top(state)
            numbers[KNOWN] = ASK
            continue
        made = numbers[KNOWN] if numbers[KNOWN] >= 0 else numbers[TOKENS]
        if not merge(record, left, right, made, state):
            return OUT_OF_CAPACITY
        numbers[KNOWN] = ASK
    return AT_SIZE
