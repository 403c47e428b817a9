"""Determinization: sets of states with residual weights become states."""

from __future__ import annotations

import numpy as np

from fst.automata.kernels.hashing import FULL, U1, hash_of, slot_of
from fst.compile.algebra.kernels.room import (
    ARCS,
    BUFFER,
    COMPLETE,
    DONE,
    MEMBERS,
    MORE_ARCS,
    MORE_BUFFER,
    MORE_MEMBERS,
    MORE_STATES,
    STATES,
)
from fst.core.jit import inlined, kernel, part

QUANTA = 2.0**20  # residuals are equal if they are equal in units of 2⁻²⁰
INFINITY = np.inf


@inlined
def quantum(residual):
    """A residual in units of 2⁻²⁰."""
    return np.int64(np.floor(residual * QUANTA + 0.5))


@inlined
def is_same(set_, other, size, pool):
    """Whether two sets of `size` members have the same states, and the same residuals up to a quantum."""
    for index in range(size):
        if pool.members[set_ + index] != pool.members[other + index]:
            return False
        if quantum(pool.residuals[set_ + index]) != quantum(pool.residuals[other + index]):
            return False
    return True


@part
def number_of_set(begin, end, pool, counts):
    """The number of the set at the end of the pool. If the set is known, it is removed from the pool; if not, it gets the next number.

    This is not `fst.automata.kernels.hashing.intern`, because sets with residuals equal up to a quantum are one set, which keeps the
    residuals found first.
    """
    digest = np.uint64(end - begin)
    for index in range(begin, end):
        digest = hash_of(digest ^ np.uint64(pool.members[index])) ^ np.uint64(quantum(pool.residuals[index]))
    hashed = hash_of(digest)
    slot = slot_of(hashed, hashed, pool.hashes, pool.slots)
    while pool.slots[slot] != 0:
        number = np.int64(pool.slots[slot] - 1)
        first = pool.starts[number]
        if pool.starts[number + 1] - first == end - begin and is_same(first, begin, end - begin, pool):
            return number
        slot = slot_of(hashed, slot + U1, pool.hashes, pool.slots)
    number = counts[STATES]
    if number == len(pool.hashes):
        return np.int64(FULL)
    pool.hashes[number], pool.starts[number + 1], pool.slots[slot] = hashed, end, number + 1
    counts[STATES] = number + 1
    counts[MEMBERS] = end
    return number


@part
def merge(begin, middle, end, codes, weights, sorted_codes, sorted_weights):
    """Merge two sorted runs."""
    left, right = begin, middle
    for place in range(begin, end):
        if right == end or (left < middle and codes[left] <= codes[right]):
            sorted_codes[place], sorted_weights[place] = codes[left], weights[left]
            left += 1
        else:
            sorted_codes[place], sorted_weights[place] = codes[right], weights[right]
            right += 1


@part
def gather(first, end, machine, pool, buffer):
    """Copy the arcs of all members of a set to the buffer, sorted by code; return which half of the buffer contains them.

    Each member's arcs are a sorted run; ``buffer.runs`` contains the starts of the runs, which are merged in pairs.
    """
    made = 0
    for index in range(first, end):
        state, residual = pool.members[index], pool.residuals[index]
        buffer.runs[index - first] = made
        for arc in range(machine.row_start[state], machine.row_start[state + 1]):
            buffer.codes[0, made] = machine.codes[arc]
            buffer.weights[0, made] = residual + machine.weight[arc]
            made += 1
    runs, half = end - first, 0
    buffer.runs[runs] = made
    while runs > 1:
        for run in range(0, runs, 2):
            begin, middle = buffer.runs[run], buffer.runs[run + 1]
            last = buffer.runs[run + 2] if run + 1 < runs else middle
            merge(begin, middle, last, buffer.codes[half], buffer.weights[half], buffer.codes[1 - half], buffer.weights[1 - half])
            buffer.runs[run >> 1] = begin
        runs = (runs + 1) >> 1
        buffer.runs[runs] = made
        half = 1 - half
    return half


@kernel
def begin(state, pool, counts):
    """Make set 0, which contains one state."""
    pool.members[0] = state
    pool.residuals[0] = 0
    number_of_set(0, 1, pool, counts)


@kernel
def determinize(machine, pool, buffer, output, counts):
    """Add the arcs of sets to a machine, until all sets that can be reached are complete or an array is full.

    The weight of an arc is the smallest of all weights to its target set; the surplus of each member is its residual (Mohri 1997).

    Args:
        machine: row_start, codes (label << 32 | target, sorted in each row), weight and final of a machine without ε.
        pool: the sets: members, residuals; starts (the start of each set, and the end of the last); hashes, slots (1 + number of a set).
            Set 0, which is made by `begin`, is the start.
        buffer: codes int64[2, n], weights float64[2, n], runs int64[states + 1].
        output: row_start, label, target, weight, final of the new machine.
        counts: see `counters`. ``counts[BUFFER]`` is the required length of the buffer.

    Returns:
        `COMPLETE`, `MORE_STATES`, `MORE_ARCS`, `MORE_MEMBERS` or `MORE_BUFFER`.
    """
    while counts[DONE] < counts[STATES]:
        state = counts[DONE]
        first, end = pool.starts[state], pool.starts[state + 1]
        total, final = 0, INFINITY
        for index in range(first, end):
            member = pool.members[index]
            total += machine.row_start[member + 1] - machine.row_start[member]
            final = min(final, pool.residuals[index] + machine.final[member])
        if total > buffer.codes.shape[1]:
            counts[BUFFER] = total
            return MORE_BUFFER
        half = gather(first, end, machine, pool, buffer)
        codes, weights = buffer.codes[half], buffer.weights[half]
        made, place = counts[ARCS], 0
        output.row_start[state] = made
        output.final[state] = final
        while place < total:
            label, begin, lightest = codes[place] >> 32, counts[MEMBERS], INFINITY
            past = place
            while past < total and codes[past] >> 32 == label:
                lightest = min(lightest, weights[past])
                past += 1
            if made == len(output.target):
                return MORE_ARCS
            if begin + past - place > len(pool.members):
                return MORE_MEMBERS
            last = begin - 1
            for index in range(place, past):
                target = codes[index] & 0xFFFFFFFF
                if last < begin or pool.members[last] != target:
                    last += 1
                    pool.members[last] = target
                    pool.residuals[last] = weights[index] - lightest
                else:
                    pool.residuals[last] = min(pool.residuals[last], weights[index] - lightest)
            number = number_of_set(begin, last + 1, pool, counts)
            if number == FULL:
                return MORE_STATES
            output.label[made] = label
            output.target[made] = number
            output.weight[made] = lightest
            made += 1
            place = past
        counts[ARCS] = made
        counts[DONE] = state + 1
    output.row_start[counts[DONE]] = counts[ARCS]
    return COMPLETE
