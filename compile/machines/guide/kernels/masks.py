"""Store masks: each distinct mask once, and a mask that is nearly equal to an earlier one as a list of differences.

A mask is a *base*, one of the rows of `Store.rows`, with its *flips*: the ids whose bits differ from the base. The first row is all zeros.
"""

from __future__ import annotations

import numpy as np

from fst.automata.kernels.hashing import U1, hash_of, slot_of
from fst.compile.machines.guide.mask_store import FLIPS, MASKS, ROWS
from fst.core.jit import inlined, kernel, part
from fst.machines.guide.kernels.scan import fill

BIT, WORD_SHIFT, ONE = np.uint32(31), np.uint32(5), np.uint32(1)
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
PAIRS, QUADS, NIBBLES, BYTES = map(np.uint32, (0x55555555, 0x33333333, 0x0F0F0F0F, 0x01010101))
S1, S2, S4, S24 = map(np.uint32, (1, 2, 4, 24))
LATEST = 24  # number of latest rows that are tried as bases, in addition to the first row


@inlined
def ones_of(word):
    """The number of bits of a uint32 that are 1."""
    word = word - (word >> S1 & PAIRS)
    word = (word & QUADS) + (word >> S2 & QUADS)
    return np.uint32((word + (word >> S4) & NIBBLES) * BYTES) >> S24  # numba multiplies in 64 bits


@part
def difference(row, base):
    """The number of bits in which a mask differs from a base."""
    found = np.int64(0)
    for word in range(len(base)):
        found += np.int64(ones_of(row[word] ^ base[word]))
    return found


@part
def hash_of_mask(row, words):
    """A hash of a mask."""
    found = np.uint64(0)
    for word in range(words):
        found += np.uint64(row[word]) * (np.uint64(2 * word + 1) * MULTIPLIER)
    return hash_of(found)


@part
def is_equal(row, mask, store):
    """Whether a row is equal to a stored mask."""
    begin, end = store.flip_ends[mask - 1] if mask else np.int64(0), store.flip_ends[mask]
    base = store.rows[store.bases[mask]]
    for place in range(begin, end):
        number = store.flips[place]
        word, bit = number >> WORD_SHIFT, number & BIT
        if (row[word] ^ base[word]) >> bit & ONE == 0:
            return False
    return difference(row, base) == end - begin


@part
def put(row, store):
    """The number of a mask in a store, to which a new mask is added; -1 if an array of the store is too small.

    Args:
        row: uint32[words + 1], the words of the mask, and one extra word.
        store: a `fst.compile.machines.guide.mask_store.Store`.
    """
    counts, words = store.counts, store.rows.shape[1]
    hashed = hash_of_mask(row, words)
    slot = slot_of(hashed, hashed, store.hashes, store.slots)
    while store.slots[slot] != 0:
        mask = np.int64(store.slots[slot]) - 1
        if is_equal(row, mask, store):
            return mask
        slot = slot_of(hashed, slot + U1, store.hashes, store.slots)
    mask, filled = counts[MASKS], counts[FLIPS]
    if mask == len(store.bases) or counts[ROWS] == len(store.rows) or filled + words > len(store.flips):
        return np.int64(-1)
    base, least = np.int64(0), difference(row, store.rows[0])
    for other in range(max(1, counts[ROWS] - LATEST), counts[ROWS]):
        found = difference(row, store.rows[other])
        if found < least:
            base, least = other, found
    if least > words // 4:
        base = counts[ROWS]
        for word in range(words):
            store.rows[base, word] = row[word]
        counts[ROWS] = base + 1
    elif least:
        for word in range(words):
            changed = row[word] ^ store.rows[base, word]
            while changed:
                lowest = changed & (~changed + ONE)
                store.flips[filled] = np.uint32(word) << WORD_SHIFT | ones_of(lowest - ONE)
                filled += 1
                changed ^= lowest
    store.bases[mask], store.flip_ends[mask], store.hashes[mask] = base, filled, hashed
    store.slots[slot] = mask + 1
    counts[MASKS], counts[FLIPS] = mask + 1, filled
    return mask


@kernel
def add_states(automaton, trie, end_id, states, done, work, row, store, masks):
    """Store the masks of states, beginning with ``states[done]``.

    Args:
        automaton: a `fst.machines.guide.arguments.Automaton`.
        trie: the trie of the tokens.
        end_id: the id that is allowed in final states; -1 if there is none.
        states: int64[n], the states.
        work, row: see `fst.machines.guide.kernels.scan.fill`.
        store: the `fst.compile.machines.guide.mask_store.Store` that gets the masks.
        masks: output, uint32[n], the number of each state's mask.

    Returns:
        The number of states whose masks are stored; fewer than `n` if an array of the store is too small.
    """
    for place in range(done, len(states)):
        fill(automaton, trie, states[place], work, row)
        if end_id >= 0 and automaton.finals[states[place]]:
            row[end_id >> 5] |= ONE << (np.uint32(end_id) & BIT)
        mask = put(row, store)
        if mask < 0:
            return place
        masks[place] = mask
    return len(states)


@kernel
def add_row(row, store):
    """Store a mask; see `put`."""
    return put(row, store)
