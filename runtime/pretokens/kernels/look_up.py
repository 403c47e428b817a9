"""Look up the ids of pre-tokens (`pretokens`) in the table of words, a hash table.

The loops of `find_words`::

    mark_dropped   pre-tokens → marks on dropped pre-tokens, if the table drops any
    find_slots     pre-tokens → their slots in the table of words, which are prefetched
    look_up        pre-tokens → ids; a pre-token that the table of words does not contain is pending

`table` is `fst.pretokens.arguments.Arguments`, and `work` `fst.pretokens.arguments.Work`.
"""

from __future__ import annotations

import numpy as np

from fst.automata.kernels.matcher import child_of
from fst.automata.matcher import ENDING, NO_STRING
from fst.core.jit import inlined, part
from fst.pretokens.arguments import BUCKET_SHIFT, SHORTEST_LONG, SLOT_SHIFT
from fst.pretokens.arguments import KEY_PARTS as KEY_PARTS_COUNT
from fst.runtime.kernels.constants import HALF, LOW_HALF, ROOT, U0, U1, U2, U3
from fst.runtime.kernels.intrinsics import hash_of, is_key, prefetch
from fst.runtime.pretokens.kernels.find import DROPPED, KIND, LONG, PLACE, mark_dropped

NO_TOKEN = np.int32(NO_STRING)
WORD_BYTES = np.uint64(8 * KEY_PARTS_COUNT)


@inlined
def mask_for(length):
    """Return the index in `key_masks` of the masks for a length in bytes."""
    return min(length, WORD_BYTES) << U2


@inlined
def bounds_of(pretokens, index):
    """Return the begin, the end and the length of a pre-token, in bytes. For an item of another kind than 0, the length is greater than
    `LONGEST`.
    """
    item, end = np.uint64(pretokens[index]), np.uint64(pretokens[index + U1]) & PLACE
    return item & PLACE, end, end - item


@part
def find_slots(text, pretokens, count, table, slots):
    """Compute the slot of each pre-token in the table of words, and prefetch it."""
    words, displacements, key_masks, params = table.words, table.displacements, table.key_masks, table.params
    highest = np.uint64(len(words) >> 2) - U1
    bucket_shift, slot_shift = params[BUCKET_SHIFT], params[SLOT_SHIFT]
    for index in range(count):
        begin, _, length = bounds_of(pretokens, np.uint64(index))
        hashed = hash_of(text, begin, key_masks, mask_for(length))
        slot = ((hashed >> slot_shift ^ np.uint64(displacements[hashed >> bucket_shift])) & highest) << U2
        prefetch(words, slot)
        slots[index] = slot


@part
def look_up(text, pretokens, slots, count, table, scratch, pending):
    """Look up pre-tokens.

    Returns:
        The number of ids in `scratch`; and the number of items in `pending`, ``number of ids before the pre-token | index of the pre-token
        << 32``.
    """
    words, key_masks = table.words, table.key_masks
    place = waiting = U0
    for index in range(count):
        begin, _, length = bounds_of(pretokens, np.uint64(index))
        slot = slots[index]
        value = words[slot + U3]
        found = (value >> HALF == length) & is_key(text, begin, key_masks, mask_for(length), words, slot)
        scratch[place] = np.int32(value & LOW_HALF)
        pending[waiting] = place | np.uint64(index) << HALF
        place += np.uint64(found)
        waiting += np.uint64(not found)
    return place, waiting


@part
def without_dropped(pretokens, pending, waiting):
    """Remove dropped pre-tokens from `pending`; return the new number of items."""
    left = U0
    for item in range(waiting):
        pending[left] = pending[item]
        left += np.uint64(np.uint64(pretokens[pending[item] >> HALF]) >> KIND << KIND != DROPPED)
    return left


@part
def long_pretoken(text, begin, end, pretokens):
    """Look up a pre-token in `long_pretokens`; return its token, or `NO_TOKEN`."""
    node, at = child_of(ROOT, np.uint64(text[begin]), pretokens.edges), begin + U1
    while at < end and node > ROOT:
        node = child_of(node, np.uint64(text[at]), pretokens.edges)
        at += U1
    return pretokens.nodes[node, ENDING]


@part
def mark_long(text, pretokens, pending, waiting, long_pretokens, shortest):
    """Mark the pending pre-tokens that `long_pretokens` contains. The shortest of these has `shortest` bytes."""
    for item in range(waiting):
        index = pending[item] >> HALF
        first, last, length = bounds_of(pretokens, index)
        kind = np.uint64(pretokens[index]) >> KIND << KIND
        if length >= shortest and kind == U0 and long_pretoken(text, first, last, long_pretokens) != NO_TOKEN:
            pretokens[index] = first | LONG


@inlined
def find_words(text, count, table, work):
    """Look up the pre-tokens of a round, remove dropped pre-tokens from `pending`, and mark long tokens; return the result of `look_up`."""
    pretokens, slots, pending = work.pretokens, work.slots, work.pending
    if len(table.drops):
        mark_dropped(text, pretokens, count, table)
    find_slots(text, pretokens, count, table, slots)
    written, waiting = look_up(text, pretokens, slots, count, table, work.scratch, pending)
    if len(table.drops):
        waiting = without_dropped(pretokens, pending, waiting)
    if len(table.long_pretokens.nodes) > 1:
        mark_long(text, pretokens, pending, waiting, table.long_pretokens, table.params[SHORTEST_LONG])
    return written, waiting
