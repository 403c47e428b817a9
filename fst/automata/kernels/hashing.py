"""The numbers of keys and of rows: tables of hashes with 2ⁿ slots, in which an item is added to the first free slot from its hash on.

Example: rows are interned into a `fst.automata.hashing.Pool`, whose hashes end, in 8 slots, with 5, 6 and 5::

    row      slots read              number   counts   starts     cells        slots 5, 6, 7
    [7, 9]   5: free                 0        1, 2     0 2        7 9          1 0 0
    [4]      6: free                 1        2, 3     0 2 3      7 9 4        1 2 0
    [7, 9]   5: row 0, equal         0        2, 3     0 2 3      7 9 4        1 2 0
    [8, 9]   5, 6: other hashes; 7   2        3, 5     0 2 3 5    7 9 4 8 9    1 2 3
"""

from __future__ import annotations

import numpy as np

from fst.automata.rows import MULTIPLIERS
from fst.core.jit import inlined, kernel, part

HALF, U1, MULTIPLIER = np.uint64(32), np.uint64(1), np.uint64(MULTIPLIERS[0])
ITEMS, CELLS = 0, 1  # indices into counts
FULL = -1  # the result instead of a number if an array is full


@inlined
def mixed(number):
    """Mix a uint64: the high bits of the result depend on all bits of the argument."""
    return (number ^ number >> HALF) * MULTIPLIER


@inlined
def folded(number):
    """Fold a mixed number: the low bits of the result, too, depend on all bits of the argument."""
    return number ^ number >> HALF


@inlined
def hash_of(key):
    """A uint64 whose low bits depend on all bits of a uint64."""
    return folded(mixed(mixed(key)))


@inlined
def slot_of(value, slot, values, slots):
    """The first slot from `slot` on that is free, or whose item has `value`, which is a key or a hash."""
    last = np.uint64(len(slots) - 1)
    slot = slot & last
    while slots[slot] != 0 and values[slots[slot] - 1] != value:
        slot = slot + U1 & last
    return slot


@inlined
def number_of(key, keys, slots, counts):
    """The number of a key. A new key gets the next number, or `FULL` if there is no room.

    Args:
        key: int64.
        keys: int64[capacity], the key of each number.
        slots: int32[2ⁿ], longer than `keys`: 1 + the number of the key in each slot, or 0.
        counts: ``counts[ITEMS]`` is the number of keys.
    """
    slot = slot_of(key, hash_of(np.uint64(key)), keys, slots)
    if slots[slot] != 0:
        return np.int64(slots[slot] - 1)
    number = counts[ITEMS]
    if number == len(keys):
        return np.int64(FULL)
    keys[number] = key
    slots[slot] = number + 1
    counts[ITEMS] = number + 1
    return number


@part
def is_row(number, row, begin, end, pool):
    """Whether a row of a pool is ``row[begin:end]``."""
    first, size, equal = pool.starts[number], end - begin, 0
    if pool.starts[number + 1] - first != size:
        return False
    while equal < size and pool.cells[first + equal] == row[begin + equal]:
        equal += 1
    return equal == size


@part
def intern(row, begin, end, pool):
    """The number of the row ``row[begin:end]`` in a `fst.automata.hashing.Pool`, to which a new row is added; `FULL`: there is no room."""
    hashed = np.uint64(end - begin)
    for place in range(begin, end):
        hashed = mixed(hashed ^ np.uint64(row[place]))
    hashed = folded(mixed(hashed))
    slot = slot_of(hashed, hashed, pool.hashes, pool.slots)
    while pool.slots[slot] != 0:
        number = np.int64(pool.slots[slot] - 1)
        if is_row(number, row, begin, end, pool):
            return number
        slot = slot_of(hashed, slot + U1, pool.hashes, pool.slots)
    number, first = pool.counts[ITEMS], pool.counts[CELLS]
    if number == len(pool.hashes) or first + end - begin > len(pool.cells):
        return np.int64(FULL)
    for place in range(end - begin):
        pool.cells[first + place] = row[begin + place]
    pool.starts[number + 1], pool.hashes[number], pool.slots[slot] = first + end - begin, hashed, number + 1
    pool.counts[ITEMS], pool.counts[CELLS] = number + 1, first + end - begin
    return number


@kernel
def fill_slots(hashes, slots):
    """Put 1 + the number of each hash into the first free slot from the hash on; see `fst.automata.hashing.slots_of`."""
    last = np.uint64(len(slots) - 1)
    for number in range(len(hashes)):
        slot = hashes[number] & last
        while slots[slot]:
            slot = slot + U1 & last
        slots[slot] = number + 1
