"""Row displacement: rows of a sparse table laid over each other so that no two claim the same slot."""

from __future__ import annotations

import numpy as np

from fst.jit import kernel

WORD_BITS = 64
LOOK_BACK = 64


@kernel
def place(order, starts, columns, bases, occupied, hints):
    """First fit, 64 candidate bases at a time.

    A row claims its base and ``base + column`` for each of its columns. A row of as many columns as earlier ones is only tried from
    `LOOK_BACK` words before the farthest of them: what lies before will hardly have room for it. (For bert-base-multilingual-cased:
    from the farthest on, 4 % more slots in half the time; from 1,024 words before it, 2 % fewer in 6 times the time.)

    Args:
        order: int64[rows], rows in the order in which they are placed.
        starts: int64[rows + 1], the columns of row r are ``columns[starts[r]:starts[r + 1]]``.
        columns: int64[n], ≥ 1.
        bases: int64[rows], filled.
        occupied: uint64[words], a bit a slot, all zero; the last words are never reached by a base.
        hints: int64[most columns of a row + 1], all zero; the first word to try for rows of each size.

    Returns:
        1 past the highest slot claimed, or -1 if there was no room.
    """
    highest = 0
    widest = 0
    for column in columns:
        widest = max(widest, column)
    last = len(occupied) - (widest >> 6) - 2
    for row in order:
        first, end = starts[row], starts[row + 1]
        word = hints[end - first]
        free = np.uint64(0)
        while free == 0:
            if word >= last:
                return -1
            free = ~occupied[word]
            place_in = first
            while place_in < end and free != 0:
                column = columns[place_in]
                at, shift = word + (column >> 6), np.uint64(column & 63)
                taken = occupied[at] >> shift
                if shift:
                    taken |= occupied[at + 1] << (np.uint64(64) - shift)
                free &= ~taken
                place_in += 1
            word += 1
        word -= 1
        hints[end - first] = max(hints[end - first], word - LOOK_BACK)
        bit = 0
        while (free >> np.uint64(bit)) & np.uint64(1) == 0:
            bit += 1
        base = word * 64 + bit
        bases[row] = base
        occupied[base >> 6] |= np.uint64(1) << np.uint64(base & 63)
        highest = max(highest, base)
        for index in range(first, end):
            slot = base + columns[index]
            occupied[slot >> 6] |= np.uint64(1) << np.uint64(slot & 63)
            highest = max(highest, slot)
    return highest + 1
