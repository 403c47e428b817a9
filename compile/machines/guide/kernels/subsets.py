"""The subset construction over ranges of bytes.

The kernels of `fst.compile.algebra` need an arc for each class of bytes, which takes five times as long if strings may contain most
bytes: see LOG, "Token masks".

    take the next set → mark the bytes where ranges of its arcs begin or end → for each segment between two marks: the targets of the arcs
        over the segment → the states that ε-arcs reach from these targets → sort → find or add the set

Example: state 0 reads a to z and stays, or reads b and goes to state 1, from which an ε-arc leads to the end, state 2. From set 0, {0}, the
arcs mark a, b, c and the byte after z::

    segment   targets   closed      kept (with arcs, or the end)   set
    a         0         0           0                              0
    b         0 1       0 1 2       0 2                            1, new and final
    c to z    0         0           0                              0
"""

from __future__ import annotations

import numpy as np

from fst.automata.kernels.hashing import FULL, ITEMS, intern, number_of
from fst.core.jit import inlined, kernel, part

STAMP, DONE = 0, 1  # indices into `counts`


@part
def close(count, machine, work, counts):
    """Add to the first `count` states of ``work.found`` the states that ε-arcs reach from them; keep states with arcs and the end, sorted;
    return their number. Found states have the stamp ``counts[STAMP]``.
    """
    stamp = counts[STAMP]
    place = 0
    while place < count:
        state = work.found[place]
        place += 1
        for arc in range(machine.silent_start[state], machine.silent_start[state + 1]):
            following = machine.silent_target[arc]
            if work.stamps[following] != stamp:
                work.stamps[following] = stamp
                work.found[count] = following
                count += 1
    kept = 0
    for place in range(count):
        state = work.found[place]
        if machine.row_start[state] < machine.row_start[state + 1] or state == machine.end[0]:
            work.found[kept] = state
            kept += 1
    gap = 1
    while gap < kept // 3:
        gap = 3 * gap + 1
    while gap > 0:  # Shell's sort
        for place in range(gap, kept):
            state = work.found[place]
            before = place
            while before >= gap and work.found[before - gap] > state:
                work.found[before] = work.found[before - gap]
                before -= gap
            work.found[before] = state
        gap //= 3
    return kept


@inlined
def begin_set(counts):
    """A new stamp, for a set that is empty so far."""
    counts[STAMP] += 1
    return counts[STAMP]


@kernel
def determinize(start, machine, pool, work, counts, targets, is_final):
    """Build all sets of states that can be reached; set 0 contains the start.

    Args:
        start: the start state.
        machine: row_start int64[states + 1], first and last int64[arcs] (bytes), target int64[arcs]; silent_start, silent_target (ε-arcs);
            end int64[1], the final state. All numbers are in range.
        pool: a `fst.automata.hashing.Pool` of the sets, int64.
        work: stamps int64[states], initially 0; found int64[states]; alone int64[states], initially -1: the set of each single target;
            marks bool[257], initially False.
        counts: int64[2], initially 0: the latest stamp, and the number of complete sets; the kernel continues after these sets.
        targets: output, int32[sets, 256].
        is_final: output, bool[sets].

    Returns:
        Whether all sets are complete; otherwise an array of `pool` is too small.
    """
    work.stamps[start] = begin_set(counts)
    work.found[0] = start
    if intern(work.found, 0, close(1, machine, work, counts), pool) == FULL:
        return False
    while counts[DONE] < pool.counts[ITEMS]:
        done = counts[DONE]
        first, end = pool.starts[done], pool.starts[done + 1]
        is_final[done] = False
        for place in range(first, end):
            state = pool.cells[place]
            is_final[done] |= state == machine.end[0]
            for arc in range(machine.row_start[state], machine.row_start[state + 1]):
                work.marks[machine.first[arc]] = True
                work.marks[machine.last[arc] + 1] = True
        byte = 0
        while byte < targets.shape[1]:
            past = byte + 1
            while past < targets.shape[1] and not work.marks[past]:
                past += 1
            stamp, count = begin_set(counts), 0
            for place in range(first, end):
                state = pool.cells[place]
                for arc in range(machine.row_start[state], machine.row_start[state + 1]):
                    if machine.first[arc] <= byte <= machine.last[arc] and work.stamps[machine.target[arc]] != stamp:
                        work.stamps[machine.target[arc]] = stamp
                        work.found[count] = machine.target[arc]
                        count += 1
            number = np.int64(-1)
            if count > 0:
                only = work.found[0]
                number = work.alone[only] if count == 1 else np.int64(-1)
                if number < 0:
                    number = intern(work.found, 0, close(count, machine, work, counts), pool)
                    if number == FULL:
                        return False
                    if count == 1:
                        work.alone[only] = number
            for place in range(byte, past):
                targets[done, place] = number
            byte = past
        for place in range(len(work.marks)):
            work.marks[place] = False
        counts[DONE] += 1
    return True


@kernel
def products(first, second, columns, keeps_first, keeps_second, keys, slots, counts, targets):
    """Build all pairs of states of two automata that can be reached. A pair is ``(q + 1) << 32 | r + 1``; state -1 is the dead state.

    Args:
        first, second: int32[states, classes], the next states of each automaton; -1: none. Numbers are in range.
        columns: int64[n, 2], pairs of classes of the two automata.
        keeps_first, keeps_second: whether a pair is kept if only the first, or only the second, automaton has a next state.
        keys, slots: the pairs, for `fst.automata.kernels.hashing.number_of`; the caller stores the first pair.
        counts: int64[2], initially 0: the number of pairs, and the number of complete pairs, after which the kernel continues.
        targets: output, int32[pairs, n].

    Returns:
        Whether all pairs are complete; otherwise `keys` is too small.
    """
    number_of(keys[0], keys, slots, counts)
    while counts[DONE] < counts[ITEMS]:
        done = counts[DONE]
        one, other = (keys[done] >> 32) - 1, (keys[done] & 0xFFFFFFFF) - 1
        for column in range(len(columns)):
            left = np.int64(first[one, columns[column, 0]]) if one >= 0 else np.int64(-1)
            right = np.int64(second[other, columns[column, 1]]) if other >= 0 else np.int64(-1)
            targets[done, column] = -1
            if (left < 0 and (right < 0 or not keeps_second)) or (right < 0 and not keeps_first):
                continue
            number = number_of((left + 1) << 32 | (right + 1), keys, slots, counts)
            if number == FULL:
                return False
            targets[done, column] = number
        counts[DONE] += 1
    return True
