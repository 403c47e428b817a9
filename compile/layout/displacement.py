"""Kernels that overlay the rows of a sparse table so that no two rows share a slot, and that build a perfect hash table of words."""

from __future__ import annotations

import numpy as np

from fst.core.jit import kernel

NONE, ONE, LAST = np.uint64(0), np.uint64(1), np.uint64(63)


@kernel
def place(order, starts, columns, shapes, bases, occupied, tried, free):
    """Place rows by first fit. A uint64 word has one bit for each of 64 candidate bases; several words are tested at a time.

    A row occupies its base, and the slot ``base + column`` for each of its columns. Slots are never freed, so a row cannot fit before the
    previous row with the same columns. Therefore, the search for a row starts at the base of this previous row. (This takes 1 s instead of
    40 s for bert-base-multilingual-cased, with 14,738 distinct rows among 218,084.)

    Args:
        order: int64[rows], the order in which rows are placed.
        starts: int64[rows + 1]; the columns of row r are ``columns[starts[r]:starts[r + 1]]``.
        columns: int64[n], ≥ 1.
        shapes: int64[rows], a number for each row, equal for rows with the same columns.
        bases: output, int64[rows].
        occupied: uint64[words], one bit per slot, initially 0; the last words contain no candidate bases, only the other slots of rows.
        tried: int64[shapes], initially 0: for each shape, the word of `occupied` at which the next search starts.
        free: uint64[words at a time], scratch: the candidates left in each word.

    Returns:
        1 + the highest occupied slot, or -1 if `occupied` is too short.
    """
    highest = 0
    widest = 0
    for column in columns:
        widest = max(widest, column)
    last = len(occupied) - (widest >> 6) - len(free) - 1
    full = 0  # number of words at the beginning of `occupied` without a free slot
    for row in order:
        first, end = starts[row], starts[row + 1]
        while occupied[full] == ~NONE:
            full += 1
        word = max(full, tried[shapes[row]])
        while True:
            if word >= last:
                return -1
            some = NONE
            for index in range(len(free)):
                free[index] = ~occupied[word + index]
                some |= free[index]
            place_in = first
            while place_in < end and some != NONE:
                column = columns[place_in]
                at, shift = word + (column >> 6), np.uint64(column & 63)
                some = NONE
                for index in range(len(free)):
                    taken = occupied[at + index] >> shift | occupied[at + index + 1] << ONE << (LAST - shift)
                    free[index] &= ~taken
                    some |= free[index]
                place_in += 1
            if some != NONE:
                break
            word += len(free)
        index = 0
        while free[index] == NONE:
            index += 1
        word += index
        tried[shapes[row]] = word
        bit = 0
        while (free[index] >> np.uint64(bit)) & ONE == NONE:
            bit += 1
        base = word * 64 + bit
        bases[row] = base
        occupied[base >> 6] |= ONE << np.uint64(base & 63)
        highest = max(highest, base)
        for place_in in range(first, end):
            slot = base + columns[place_in]
            occupied[slot >> 6] |= ONE << np.uint64(slot & 63)
            highest = max(highest, slot)
    return highest + 1


@kernel
def displace(members, starts, bucket, base, displacements, taken, slot):
    """Find a displacement for every bucket, so that no two words get the same slot of the hash table.

    Args:
        members: int64[words], the words, grouped by bucket, the most frequent first.
        starts: int64[n + 1], the start of each bucket in `members`.
        bucket: int64[words], the bucket of each word.
        base: int64[words], the slot of each word before displacement.
        displacements: output, int64[buckets], initially 0: numbers below 2^16.
        taken: output, bool[slots], initially False; the number of slots is a power of two.
        slot: output, int64[words], initially -1; words without a slot keep -1.
    """
    for index in range(len(starts) - 1):
        begin, end = starts[index], starts[index + 1]
        found = False
        while end > begin and not found:
            leader = base[members[begin]]
            for low in range(min(len(taken), 1 << 16)):
                candidate = leader ^ low ^ (leader & 0xFFFF)
                found = not taken[candidate]
                if not found:
                    continue
                displacement = leader ^ candidate
                place = begin
                while place < end and not taken[base[members[place]] ^ displacement]:
                    taken[base[members[place]] ^ displacement] = True
                    place += 1
                found = place == end
                if found:
                    displacements[bucket[members[begin]]] = displacement
                    for member in members[begin:end]:
                        slot[member] = base[member] ^ displacement
                    break
                while place > begin:
                    place -= 1
                    taken[base[members[place]] ^ displacement] = False
            if not found:
                end -= 1
