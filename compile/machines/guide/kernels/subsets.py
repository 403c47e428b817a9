"""The subset construction over ranges of bytes.

The kernels of `fst.compile.algebra` need an arc for each class of bytes, which takes five times as long where strings may contain most
bytes: see LOG, "Token masks".

    take the next set → mark where a range of its arcs begins or ends → for each segment between two marks:
        the targets of the arcs over the segment → what they reach without reading → sort → find or add the set
"""

from __future__ import annotations

import numpy as np

from fst.automata.kernels.hashing import folded, mixed
from fst.compile.algebra.kernels.counters import COMPLETE, MORE_MEMBERS, MORE_STATES
from fst.core.jit import inlined, kernel, part

U1 = np.uint64(1)
SETS, MEMBERS, STAMP = 0, 1, 2  # places in `counts`


@part
def close(count, machine, work, counts):
    """Add to the first `count` states of ``work.found`` what they reach by ε-arcs; keep states with arcs and the end, sorted; return their
    number. The states have the stamp of ``counts[STAMP]``.
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


@part
def number_of(count, pool, work, counts):
    """The number of the set of the first `count` states of ``work.found``, which is added if it is new; -1 - code if an array is full."""
    digest = np.uint64(count)
    for place in range(count):
        digest = mixed(digest ^ np.uint64(work.found[place]))
    mask = np.uint64(len(pool.table) - 1)
    slot = folded(mixed(digest)) & mask
    while pool.table[slot] != 0:
        number = np.int64(pool.table[slot] - 1)
        first = pool.starts[number]
        if pool.starts[number + 1] - first == count:
            is_same = True
            for place in range(count):
                if pool.members[first + place] != work.found[place]:
                    is_same = False
                    break
            if is_same:
                return number
        slot = (slot + U1) & mask
    number, begin = counts[SETS], counts[MEMBERS]
    if number == len(pool.starts) - 1:
        return np.int64(-1 - MORE_STATES)
    if begin + count > len(pool.members):
        return np.int64(-1 - MORE_MEMBERS)
    for place in range(count):
        pool.members[begin + place] = work.found[place]
    pool.starts[number + 1] = begin + count
    pool.table[slot] = number + 1
    counts[SETS] = number + 1
    counts[MEMBERS] = begin + count
    return number


@inlined
def begin_set(counts):
    """A new stamp, for a set that is still empty."""
    counts[STAMP] += 1
    return counts[STAMP]


@kernel
def determinize(start, machine, pool, work, counts, targets, is_final):
    """Build all sets of states that can be reached; set 0 contains the start.

    Args:
        start: the start state.
        machine: row_start int64[states + 1], first and last int64[arcs] (bytes), target int64[arcs]; silent_start, silent_target (ε-arcs);
            end int64[1], the final state. All numbers are in range.
        pool: starts int64[sets + 1], members int64[m], table int32[2ⁿ], longer than `starts` and initially 0.
        work: stamps int64[states], initially 0; found int64[states]; alone int64[states], initially -1: the set that one target alone
            gives; marks bool[257], initially False.
        counts: int64[3], initially 0: sets, members, stamp.
        targets: output, int32[sets, 256].
        is_final: output, bool[sets].

    Returns:
        `COMPLETE`; or `MORE_STATES` or `MORE_MEMBERS`: larger arrays are needed, from the beginning.
    """
    work.stamps[start] = begin_set(counts)
    work.found[0] = start
    number = number_of(close(1, machine, work, counts), pool, work, counts)
    if number < 0:
        return -1 - number
    done = 0
    while done < counts[SETS]:
        first, end = pool.starts[done], pool.starts[done + 1]
        is_final[done] = False
        for place in range(first, end):
            state = pool.members[place]
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
                state = pool.members[place]
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
                    number = number_of(close(count, machine, work, counts), pool, work, counts)
                    if number < 0:
                        return -1 - number
                    if count == 1:
                        work.alone[only] = number
            for place in range(byte, past):
                targets[done, place] = number
            byte = past
        for place in range(len(work.marks)):
            work.marks[place] = False
        done += 1
    return COMPLETE


@kernel
def products(first, second, columns, keeps_first, keeps_second, keys, table, counts, targets):
    """Build all pairs of states of two automata that can be reached. A pair is ``(q + 1) << 32 | r + 1``; state -1 is the dead one.

    Args:
        first, second: int32[states, classes], the next state of each automaton, -1: none. Numbers are in range.
        columns: int64[n, 2], pairs of classes of the two automata.
        keeps_first, keeps_second: whether a pair is kept where only this automaton has a next state.
        keys: int64[pairs]; the first pair is given.
        table: int32[2ⁿ], longer than `keys` and initially 0.
        counts: int64[1], initially 0: the number of pairs.
        targets: output, int32[pairs, n].

    Returns:
        `COMPLETE`, or `MORE_STATES`: larger arrays are needed, from the beginning.
    """
    mask = np.uint64(len(table) - 1)
    table[folded(mixed(np.uint64(keys[0]))) & mask] = 1
    counts[0] = 1
    done = 0
    while done < counts[0]:
        one, other = (keys[done] >> 32) - 1, (keys[done] & 0xFFFFFFFF) - 1
        for column in range(len(columns)):
            left = np.int64(first[one, columns[column, 0]]) if one >= 0 else np.int64(-1)
            right = np.int64(second[other, columns[column, 1]]) if other >= 0 else np.int64(-1)
            targets[done, column] = -1
            if (left < 0 and (right < 0 or not keeps_second)) or (right < 0 and not keeps_first):
                continue
            key = (left + 1) << 32 | (right + 1)
            slot = folded(mixed(np.uint64(key))) & mask
            while table[slot] != 0 and keys[table[slot] - 1] != key:
                slot = (slot + U1) & mask
            if table[slot] == 0:
                if counts[0] == len(keys):
                    return MORE_STATES
                keys[counts[0]] = key
                counts[0] += 1
                table[slot] = counts[0]
            targets[done, column] = table[slot] - 1
        done += 1
    return COMPLETE
