"""Look up the ids of pre-tokens (`pretokens`) in the table of words, a hash table.

The loops of `find_words`::

    mark_dropped     pre-tokens → marks on dropped pre-tokens, if the table drops any
    find_short       pre-tokens → ids, by the table of short words; a pre-token that is not found is pending
    without_dropped  removes dropped pre-tokens from the pending pre-tokens
    find_slots       pending pre-tokens → their slots in the table of words, which are prefetched
    look_up          pending pre-tokens → ids; a pre-token that the table of words does not contain remains pending, and so does a tuned
                     word, whose ids the machine's kernel copies
    close_gaps       removes the places of dropped pre-tokens from the ids

`table` is `fst.pretokens.arguments.Arguments`, and `work` `fst.pretokens.arguments.Work`.
"""

from __future__ import annotations

import numpy as np

from fst.automata.kernels.matcher import child_of
from fst.automata.matcher import ENDING, NO_STRING
from fst.core.jit import inlined, part
from fst.core.prefetch import prefetch
from fst.pretokens import short_words, tuned_words
from fst.pretokens.arguments import KEY_PARTS as KEY_PARTS_COUNT
from fst.runtime.kernels.constants import HALF, LOW_HALF, ROOT, U0, U1, U2, U3, U8, U16, U64
from fst.runtime.kernels.intrinsics import hash_of, is_key, opaque, word_at
from fst.runtime.pretokens.kernels.find import DROPPED, KIND, LONG, PLACE, mark_dropped

NO_TOKEN = np.int32(NO_STRING)
WORD_BYTES, ALL = np.uint64(8 * KEY_PARTS_COUNT), np.uint64((1 << 64) - 1)
TUNED_BIT, TUNED_START, MOST_TUNED_IDS = map(np.uint64, (tuned_words.BIT, tuned_words.START, tuned_words.MOST_IDS))
TUNED_COUNT, COUNT, LOW_16 = map(np.uint64, (32 + tuned_words.COUNT_SHIFT, tuned_words.COUNT, (1 << 16) - 1))
FACTOR, BYTES_SHIFT, LENGTH_SHIFT = map(np.uint64, (short_words.FACTOR, short_words.BYTES_SHIFT, short_words.LENGTH_SHIFT))


@inlined
def bounds_of(pretokens, index):
    """Return the start, the end and the length of a pre-token, in bytes. For an item of another kind than 0, the length is greater than
    `LONGEST`, because the kind is subtracted, too.
    """
    item, end = np.uint64(pretokens[index]), np.uint64(pretokens[index + U1]) & PLACE
    return item & PLACE, end, end - item


@inlined
def pack_pending(gap, index, number):
    """Pack a pending pre-token: the place of its ids in `scratch`, the index of the pre-token, both below 2^16, and the number of a tuned
    word (`fst.pretokens.tuned_words`), or 0.
    """
    return gap | index << U16 | number << HALF


@inlined
def pending_of(item):
    """Return the place in `scratch` of a pending pre-token, and the index of the pre-token."""
    return item & LOW_16, item >> U16 & LOW_16


@inlined
def is_tuned(item):
    """Whether a pending pre-token is a tuned word."""
    return item > LOW_HALF


@inlined
def tuned_of(item):
    """Return the start and the end of the ids of a pending pre-token in ``table.tuned``; both are 0 unless it is a tuned word."""
    start = item >> HALF & TUNED_START
    return start, start + (item >> TUNED_COUNT & COUNT)


@inlined
def at_most(number, limit):
    """Return the lower of two numbers, without a branch."""
    return limit ^ (number ^ limit) & opaque(U0 - np.uint64(number < limit))


@inlined
def mask_for(length):
    """Return the index in `key_masks` of the masks for a length in bytes."""
    return at_most(length, WORD_BYTES) << U2


@inlined
def short_hash(text, start, length):
    """Return the hash of a pre-token in the table of short words (`fst.pretokens.short_words`). Pre-tokens of more than 7 bytes, and items
    of other kinds, have the length 8, which no word of this table has.
    """
    length = at_most(length, U8)
    return ((word_at(text, start) & ALL >> U64 - (length << U3)) << BYTES_SHIFT | length << LENGTH_SHIFT) * FACTOR


@part
def find_short(text, pretokens, count, table, scratch, pending):
    """Look up pre-tokens in the table of short words; write the id of each pre-token to its place in `scratch`. There is no branch: for a
    pre-token that is not found, an arbitrary id is written, which is not used.

    Returns:
        The number of items in `pending`: the index of each pre-token that is not found.
    """
    words, bits, left, item = table.short_words, table.scalars.short_bits, U0, np.uint64(pretokens[0])
    shift, least = U64 - bits, U1 << bits + LENGTH_SHIFT
    for number in range(count):
        index = np.uint64(number)
        following = np.uint64(pretokens[index + U1])
        hashed = short_hash(text, item & PLACE, (following & PLACE) - item)
        value = words[hashed >> shift] ^ hashed << bits  # the id; if the slot has another key, a number of at least `least`
        scratch[index] = np.int32(value)
        pending[left] = index
        left += np.uint64(value >= least)
        item = following
    return left


@part
def without_dropped(pretokens, pending, waiting):
    """Remove dropped pre-tokens from `pending`; return the new number of items."""
    left = U0
    for item in range(waiting):
        pending[left] = pending[item]
        left += np.uint64(np.uint64(pretokens[pending[item]]) >> KIND << KIND != DROPPED)
    return left


@part
def find_slots(text, pretokens, pending, waiting, table, slots):
    """Compute the slot of each pending pre-token in the table of words, and prefetch the slot."""
    words, displacements, key_masks, scalars = table.words, table.displacements, table.key_masks, table.scalars
    highest = np.uint64(len(words) >> 2) - U1
    bucket_shift, slot_shift = scalars.bucket_shift, scalars.slot_shift
    for item in range(waiting):
        start, _, length = bounds_of(pretokens, pending[item])
        hashed = hash_of(text, start, key_masks, mask_for(length))
        slot = ((hashed >> slot_shift ^ np.uint64(displacements[hashed >> bucket_shift])) & highest) << U2
        prefetch(words, slot)
        slots[item] = slot


@part
def look_up(text, pretokens, slots, table, scratch, pending, waiting):
    """Look up the pending pre-tokens in the table of words.

    Returns:
        The number of items in `pending`: for each tuned word, and for each pre-token that is not found, the result of `pack_pending`.
    """
    words, key_masks, left = table.words, table.key_masks, U0
    for item in range(waiting):
        index, slot = pending[item], slots[item]
        start, _, length = bounds_of(pretokens, index)
        value = words[slot + U3]
        number, size = value & LOW_HALF, value >> HALF  # `value` in a slot of the table of words: ``id | length of the word << 32``
        found = (size == length) & is_key(text, start, key_masks, mask_for(length), words, slot)
        scratch[index] = np.int32(number)
        pending[left] = pack_pending(index, index, number & U0 - np.uint64(found))
        left += np.uint64(not found) | number >> TUNED_BIT
    return left


@part
def close_gaps(pretokens, count, scratch, pending, waiting, places):
    """Remove the places of dropped pre-tokens from `scratch`; return the new number of places."""
    place = U0
    for index in range(count):
        scratch[place], places[index] = scratch[index], place
        place += np.uint64(np.uint64(pretokens[index]) >> KIND << KIND != DROPPED)
    for item in range(waiting):
        _, index = pending_of(pending[item])
        pending[item] = pack_pending(places[index], index, pending[item] >> HALF)
    return place


@part
def long_pretoken(text, start, end, pretokens):
    """Look up a pre-token in `long_pretokens`; return its token, or `NO_TOKEN`."""
    node, at = child_of(ROOT, np.uint64(text[start]), pretokens.edges), start + U1
    while at < end and node > ROOT:
        node = child_of(node, np.uint64(text[at]), pretokens.edges)
        at += U1
    return pretokens.nodes[node, ENDING]


@part
def mark_long(text, pretokens, pending, waiting, long_pretokens, shortest):
    """Mark the pending pre-tokens that `long_pretokens` contains. The shortest pre-token in `long_pretokens` has `shortest` bytes."""
    for item in range(waiting):
        _, index = pending_of(pending[item])
        first, last, length = bounds_of(pretokens, index)
        kind = np.uint64(pretokens[index]) >> KIND << KIND
        if length >= shortest and kind == U0 and long_pretoken(text, first, last, long_pretokens) != NO_TOKEN:
            pretokens[index] = first | LONG


@inlined
def find_words(text, count, table, work):
    """Look up the pre-tokens of a round, and mark long tokens. Dropped pre-tokens have no place in `scratch`, and are not pending.

    Returns:
        The number of places in `scratch`: the ids of pre-tokens in order, and an unused place for each pending pre-token; and the number of
        items in `pending`, see `look_up`.
    """
    pretokens, slots, pending, scratch, written = work.pretokens, work.slots, work.pending, work.scratch, np.uint64(count)
    if len(table.drops):
        mark_dropped(text, pretokens, count, table)
    waiting = find_short(text, pretokens, count, table, scratch, pending)
    if len(table.drops):
        waiting = without_dropped(pretokens, pending, waiting)
    find_slots(text, pretokens, pending, waiting, table, slots)
    waiting = look_up(text, pretokens, slots, table, scratch, pending, waiting)
    if len(table.drops):
        written = close_gaps(pretokens, count, scratch, pending, waiting, slots)
    if len(table.long_pretokens.nodes) > 1:
        mark_long(text, pretokens, pending, waiting, table.long_pretokens, table.scalars.shortest_long)
    return written, waiting
