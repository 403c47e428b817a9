"""A table of numbered keys."""

from __future__ import annotations

import numpy as np

from fst.automata.kernels.hashing import folded, mixed
from fst.compile.algebra.kernels.counters import FULL, STATES
from fst.core.jit import inlined, kernel

U1 = np.uint64(1)


@inlined
def hash_of(key):
    """A uint64 whose low bits depend on all bits of a uint64."""
    return folded(mixed(mixed(key)))


@inlined
def number_of(key, keys, table, counts):
    """The number of a key. A new key gets the next number, or `FULL` if the arrays are full.

    Args:
        key: int64.
        keys: int64[capacity], the key of each number.
        table: int32[2ⁿ], longer than `keys`: 1 + the number of the key in each slot, or 0; linear probing.
        counts: ``counts[STATES]`` is the number of keys.
    """
    mask = np.uint64(len(table) - 1)
    slot = hash_of(np.uint64(key)) & mask
    while table[slot] != 0:
        number = table[slot] - 1
        if keys[number] == key:
            return number
        slot = (slot + U1) & mask
    number = counts[STATES]
    if number == len(keys):
        return FULL
    keys[number] = key
    table[slot] = number + 1
    counts[STATES] = number + 1
    return number


@kernel
def fill(keys, count, table):
    """Put the first `count` keys into an empty table."""
    mask = np.uint64(len(table) - 1)
    for number in range(count):
        slot = hash_of(np.uint64(keys[number])) & mask
        while table[slot] != 0:
            slot = (slot + U1) & mask
        table[slot] = number + 1
