"""The kernel that counts the words of texts in a hash table; `fst.counting.arguments` describes the table.

The pre-tokens of a round are counted in several loops, so that the processor loads the slots of many pre-tokens at the same time::

    find_pretokens  text → pre-tokens, see `fst.runtime.pretokens.kernels.find`
    mark_dropped    pre-tokens → marks on dropped pre-tokens, if the table drops any
    find_slots      pre-tokens → their first slots, which are prefetched
    count_pretokens pre-tokens → counts; a new word is put into a free slot

For example, the documents are "to be, or not to be" and the letter x thirty times; words are separated by whitespace. The slots in use, in
an order that depends on the hashes, and the first occurrence of each word::

    be      0x6562       0    0     1 | 2 << 56       document 0, word 5
    to      0x6f74       0    0     2 | 2 << 56       document 0, word 0: it occurs twice
    xx…     the hash     0    30    1 | 25 << 56      document 1, word 0: the word is in the pool, at index 0
    or      0x726f       0    0     1 | 2 << 56       document 0, word 2; the words "be," and "not" likewise

Kernels check nothing. They require:

- The compiler has made the splitter's table. ``text`` is valid UTF-8, or normalized from valid UTF-8, and the 64 bytes after it can be
  read. ``starts`` ascends from 0 to the length of ``text``, and no start is inside a character.
- At most the fraction `MOST_FILLED` of the slots is used, so that each search ends at a free slot. `count_words` stops before a round that
  could exceed this limit or the size of the pool.
"""

from __future__ import annotations

import numpy as np

from fst.automata.kernels.hashing import mixed
from fst.core.jit import inlined, kernel, part
from fst.core.prefetch import prefetch
from fst.counting import arguments
from fst.runtime.kernels.constants import U0, U1, U2, U3, U4, U8
from fst.runtime.kernels.intrinsics import hash_of, is_key
from fst.runtime.pretokens.kernels.find import KIND, PLACE, ROW_END, SPECIAL, find_pretokens, mark_dropped

DONE, NO_SLOTS, NO_POOL, HAS_ADDED = (np.uint64(reason) for reason in range(4))
INLINE, LONG, TAG = np.uint64(arguments.INLINE), np.uint64(arguments.LONG), np.uint64(arguments.TAG_SHIFT)
COUNT_MASK = np.uint64((1 << arguments.TAG_SHIFT) - 1)
AHEAD = np.uint64(8)  # number of slots between the one whose word is moved and the one whose target is prefetched
MOST_FILLED, OF = (np.uint64(number) for number in arguments.MOST_FILLED)


@part
def hash_of_long(text, start, length, masks):
    """Hash a word of more than `INLINE` bytes."""
    hashed, at, end = length, start, start + length
    while at < end:
        hashed = mixed(hashed) + hash_of(text, at, masks, min(end - at, INLINE) << U2)
        at += INLINE
    return mixed(hashed)


@part
def find_slots(text, pretokens, count, counts, shift, hashes):
    """Hash the pre-tokens of a round, and prefetch their slots."""
    slots, masks = counts.slots, counts.masks
    for index in range(count):
        item = np.uint64(pretokens[index])
        length = (np.uint64(pretokens[index + 1]) & PLACE) - (item & PLACE)
        hashed = mixed(hash_of(text, item & PLACE, masks, min(length, INLINE) << U2))
        if length > INLINE and item >> KIND == U0:
            hashed = hash_of_long(text, item, length, masks)
        prefetch(slots, hashed >> shift << U2)
        hashes[index] = hashed


@part
def same_bytes(text, start, pool, at, length):
    """Whether a word of the text equals a word in the pool."""
    different = np.uint8(0)
    for index in range(length):
        different |= text[start + np.uint64(index)] ^ pool[at + np.uint64(index)]
    return different == 0


@part
def put_word(text, start, length, hashed, slot, counts):
    """Write a new word to a free slot, with the count 1."""
    slots, sizes, pool, position = counts.slots, counts.sizes, counts.pool, counts.position
    if length > INLINE:
        at = sizes.pool
        for index in range(length):
            pool[at + np.uint64(index)] = text[start + np.uint64(index)]
        slots[slot], slots[slot + U1], slots[slot + U2] = hashed, at, length
        sizes.pool = at + length
    else:
        for index in range(length):
            byte = np.uint64(index)
            slots[slot + (byte >> U3)] |= np.uint64(text[start + byte]) << ((byte & np.uint64(7)) << U3)
    slots[slot + U3] = min(length, LONG) << TAG | U1
    place = slot >> U1
    counts.places[place], counts.places[place + U1] = np.int64(position.document), np.int64(position.word)
    sizes.words += U1
    sizes.bytes += length


@inlined
def is_word(text, start, length, hashed, slot, counts):
    """Whether a slot contains a word; the caller has checked that the tags of slot and word are equal."""
    slots = counts.slots
    if length <= INLINE:
        return is_key(text, start, counts.masks, length << U2, slots, slot)
    is_like = slots[slot] == hashed and slots[slot + U2] == length
    return is_like and same_bytes(text, start, counts.pool, slots[slot + U1], length)


@part
def count_pretokens(text, pretokens, count, counts, shift, hashes):
    """Count the pre-tokens of a round. At an added token, stop and return False, unless added tokens are skipped; otherwise return True."""
    slots, position, last = counts.slots, counts.position, np.uint64(len(counts.slots)) - U1
    for index in range(count):
        item = np.uint64(pretokens[index])
        if item >> KIND == U0:
            length, hashed = (np.uint64(pretokens[index + 1]) & PLACE) - item, hashes[index]
            slot, tag = hashed >> shift << U2, min(length, LONG)
            value = slots[slot + U3]
            while value and not (value >> TAG == tag and is_word(text, item, length, hashed, slot, counts)):
                slot = slot + U4 & last
                value = slots[slot + U3]
            if value:
                slots[slot + U3] = value + U1
            else:
                put_word(text, item, length, hashed, slot, counts)
            position.word += U1
        elif item >> KIND << KIND == ROW_END:
            position.document += U1
            position.word = U0
        elif item >> KIND << KIND == SPECIAL and not position.skips_added:
            return False
    return True


@inlined
def shift_of(slots):
    """Return the right shift that converts a hash to the number of a slot."""
    shift, size = np.uint64(64), np.uint64(len(slots)) >> U2
    while size > U1:
        shift -= U1
        size >>= U1
    return shift


@kernel
def count_words(text, starts, table, work, counts):
    """Count the words of texts, starting at ``counts.position``.

    Args:
        text: uint8[n], all texts in UTF-8.
        starts: int64[rows + 1], the start of each text in `text`, and the end of the last text.
        table: `fst.pretokens.arguments.Arguments` of the splitter.
        work: `fst.pretokens.arguments.Work`.
        counts: `fst.counting.arguments.Counts`. The caller sets ``counts.position`` to the first row.

    Returns:
        `DONE`; `NO_SLOTS` or `NO_POOL`: the caller must enlarge the table and call again; or `HAS_ADDED`: the document
        ``counts.position.document`` contains an added token.
    """
    sizes, position, pretokens, hashes, shift = counts.sizes, counts.position, work.pretokens, work.slots, shift_of(counts.slots)
    rows, row, at = np.uint64(len(starts)) - U1, position.row, position.at
    most = (np.uint64(len(counts.slots)) >> U2) * MOST_FILLED // OF
    while row < rows:
        next_row, following, count, _ = find_pretokens(text, starts, row, at, U0, table, work)
        position.needed = following - at + INLINE
        if sizes.words + count > most:
            return NO_SLOTS
        if sizes.pool + position.needed > np.uint64(len(counts.pool)):
            return NO_POOL
        if len(table.drops):
            mark_dropped(text, pretokens, count, table)
        find_slots(text, pretokens, count, counts, shift, hashes)
        if not count_pretokens(text, pretokens, count, counts, shift, hashes):
            return HAS_ADDED
        row, at = next_row, following
        position.row, position.at = row, at
    return DONE


@inlined
def home_of(counts, slot, shift):
    """The slot at which the search for the word of a slot begins, in a table with another `shift`."""
    tag = counts.slots[slot + U3] >> TAG
    hashed = counts.slots[slot] if tag == LONG else mixed(hash_of(counts.slots, slot, counts.masks, INLINE << U2))
    return hashed >> shift << U2


@inlined
def put_slot(old, slot, new, free):
    """Copy a slot of a table to a free slot of another table."""
    length = old.slots[slot + U3] >> TAG
    for index in range(U4):
        new.slots[free + index] = old.slots[slot + index]
    if length == LONG:
        start, length, at = old.slots[slot + U1], old.slots[slot + U2], new.sizes.pool
        for index in range(length):
            new.pool[at + np.uint64(index)] = old.pool[start + np.uint64(index)]
        new.slots[free + U1] = at
        new.sizes.pool = at + length
    new.places[free >> U1], new.places[(free >> U1) + U1] = old.places[slot >> U1], old.places[(slot >> U1) + U1]
    new.sizes.words += U1
    new.sizes.bytes += length


@kernel
def move_words(old, new):
    """Copy the words of a table to an empty table.

    Args:
        old: the table to copy.
        new: the empty table, with a pool for all words, and with so many slots that at most the fraction `MOST_FILLED` is used after the
            call.
    """
    shift, last, end = shift_of(new.slots), np.uint64(len(new.slots)) - U1, np.uint64(len(old.slots))
    for number in range(end >> U2):
        slot = np.uint64(number) << U2
        ahead = slot + (AHEAD << U2)
        if ahead < end and old.slots[ahead + U3]:
            free = home_of(old, ahead, shift)
            prefetch(new.slots, free)
            prefetch(new.places, free >> U1)
        if old.slots[slot + U3]:
            free = home_of(old, slot, shift)
            while new.slots[free + U3]:
                free = free + U4 & last
            put_slot(old, slot, new, free)


@kernel
def list_words(counts, text, ends, numbers, first):
    """List all words of a table, in arbitrary order.

    Args:
        counts: the table.
        text: uint8[sizes.bytes], an output: the bytes of the words, concatenated.
        ends, numbers: int64[sizes.words], outputs: the end of each word in `text`, and the count of each word.
        first: int64[sizes.words, 2], an output: the first occurrence of each word.
    """
    filled, at = U0, U0
    for number in range(np.uint64(len(counts.slots)) >> U2):
        slot = np.uint64(number) << U2
        value = counts.slots[slot + U3]
        if value:
            if value >> TAG == LONG:
                start = counts.slots[slot + U1]
                for index in range(counts.slots[slot + U2]):
                    text[at] = counts.pool[start + np.uint64(index)]
                    at += U1
            else:
                for index in range(value >> TAG):
                    byte = np.uint64(index)
                    text[at] = np.uint8(counts.slots[slot + (byte >> U3)] >> ((byte & np.uint64(7)) * U8) & np.uint64(255))
                    at += U1
            ends[filled], numbers[filled] = np.int64(at), np.int64(value & COUNT_MASK)
            first[filled, U0], first[filled, U1] = counts.places[slot >> U1], counts.places[(slot >> U1) + U1]
            filled += U1
