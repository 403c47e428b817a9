"""Masks of classes of characters: most tokens at a place where a class is repeated are decided by the class alone.

A *loop* is a set of items that each character of a class leads back to, or to a set that contains it. A *chain* is a sequence of sets:
each character of a class of ASCII leads from one set to the next. A token whose characters are all in the class, and that is not longer
than the chain, is allowed. Of the other tokens, a scan reads only those that are longer than the chain, or contain a byte of the
group of an *exit*, a byte by which the loop or the chain can be left.

Example: in ``[a-z]{2}-``, the class is a to z, the chain has the sets before, between and after the two letters, and the exit is "-".

Preconditions: those of `fst.machines.guide.kernels.items`; and the texts are UTF-8, so that all items of a set are at the same place of a
character.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.machines.guide.item_arguments import ALL, CLASS, NO_CLASS, NONE, POSTPONED, SPACED, UNKNOWN
from fst.machines.guide.kernels.items import expand, row_of, target_of
from fst.machines.guide.kernels.scan import BYTE, DEPTH_SHIFT, ONE, U1, clear_bit, set_bit
from fst.runtime.machines.guide.kernels.strings import INCOMPLETE, SPACE, WRONG, unescaped

CONTINUED = 2  # the first two bits of the second and following bytes of a character
ASCII, FIRST_LEAD, END_LEADS = 0x80, 0xC2, 0xF5
NO_CHARACTER = 0x80  # a byte in the signatures of tokens that are in no class
SHORT = 4  # minimum number of steps of a chain; with fewer, a scan is short
FEW = 10  # minimum number of ASCII characters in a class; with fewer, a scan is short
UNBOUNDED = 1 << 30  # as a number of bytes: no bound
LETTERS = tuple(b"aAqQzZ_")  # a class that contains none of them is not looked for
SPACED_KEY = 0xFF  # a byte in the key of a class of tokens that begin with a space


@inlined
def has(key, byte):
    """Whether a set of bytes, uint64[4], contains a byte."""
    return key[byte >> 6] >> np.uint64(byte & 63) & U1 != np.uint64(0)


@part
def clear(key):
    """Make a set of bytes empty."""
    for word in range(4):
        key[word] = 0


@inlined
def put(key, byte):
    """Add a byte to a set of bytes."""
    key[byte >> 6] |= U1 << np.uint64(byte & 63)


@kernel
def sign_tokens(data, ends, is_spaced, signatures):
    """Store, for each token, the set of the first bytes of its characters.

    Args:
        data: uint8[n], the bytes of all tokens.
        ends: int64[ids], the end of each token.
        is_spaced: 1: only tokens that begin with a space, each without this space; 0: all tokens.
        signatures: output, uint64[ids, 4], sets of bytes. Byte 0x80, which no class contains, is in the sets of empty tokens, of tokens
            without the space, and of tokens that no text in UTF-8 begins with.
    """
    start = np.int64(0)
    for token in range(len(ends)):
        key, end = signatures[token], ends[token]
        clear(key)
        place = start + is_spaced
        if place >= end or (is_spaced and data[start] != SPACE):
            put(key, np.int64(NO_CHARACTER))
            place = end
        while place < end:
            byte = np.int64(data[place])
            after = np.int64(place + 1) if byte < ASCII else unescaped(data, place, end)
            put(key, byte if after != WRONG else np.int64(NO_CHARACTER))
            place = end if after in (WRONG, INCOMPLETE) else after
        start = end


@kernel
def fill_class(key, signatures, row):
    """Make the mask of the tokens whose characters are all in a class.

    Args:
        key: uint64[4], the first bytes of the characters of the class.
        signatures: see `sign_tokens`.
        row: output, uint32[words + 1].
    """
    for word in range(len(row)):
        row[word] = 0
    for token in range(len(signatures)):
        outside = np.uint64(0)
        for word in range(4):
            outside |= signatures[token, word] & ~key[word]
        row[token >> 5] |= ONE * np.uint32(outside == 0) << np.uint32(token & 31)


@part
def after_long(number, byte, parts, pool, steps, work):
    """The set after the characters of several bytes that begin with `byte`; `NONE` if they do not all lead through the same sets; or
    another negative result.
    """
    more = 1 if byte < 0xE0 else 2 if byte < 0xF0 else 3
    low = 0xA0 if byte == 0xE0 else 0x90 if byte == 0xF0 else 0x80
    high = 0x9F if byte == 0xED else 0x8F if byte == 0xF4 else 0xBF
    row = row_of(number, parts, pool, steps, work)
    if row < 0:
        return row
    number = target_of(row, byte, pool, steps, work)
    for _ in range(more):
        if number < 0:
            return number
        row = row_of(number, parts, pool, steps, work)
        if row < 0:
            return row
        number = target_of(row, low, pool, steps, work)
        for each in range(low, high + 1):
            other = target_of(row, each, pool, steps, work)
            if other != number:
                return min(other, np.int64(NONE))
        low, high = 0x80, 0xBF
    return number


@part
def begin_chain(number, parts, pool, steps, work):
    """Store the class of the ASCII characters that lead from a set to the same set as the first of `LETTERS` that it reads, and these two
    sets, which begin the chain. Return the number of characters in the class, 0 if the set reads none of `LETTERS`; or a negative result.
    """
    clear(work.members)
    row, size, following = row_of(number, parts, pool, steps, work), np.int64(0), np.int64(NONE)
    if row < 0:
        return row
    for letter in LETTERS:
        if following == NONE:
            following = target_of(row, letter, pool, steps, work)
    if following < 0:
        return following if following < NONE else size
    for byte in range(ASCII):
        target = target_of(row, byte, pool, steps, work)
        if target < NONE:
            return target
        if target == following:
            put(work.members, byte)
            size += 1
    work.chain[0], work.chain[1] = number, following
    return size


@part
def extend_chain(parts, pool, steps, work):
    """Extend the chain while all characters of the class lead to one set, for at most `MAX_CHAIN` steps; return their
    number, or a negative result.
    """
    length = np.int64(1)
    while length < len(work.chain) - 1:
        row, following = row_of(work.chain[length], parts, pool, steps, work), np.int64(UNKNOWN)
        if row < 0:
            return row
        for byte in range(ASCII):
            if has(work.members, byte):
                target = target_of(row, byte, pool, steps, work)
                if target < NONE:
                    return target
                following = target if following in (target, UNKNOWN) else np.int64(NONE)
                if following == NONE:
                    return length
        length += 1
        work.chain[length] = following
    return length


@part
def find_exits(length, classes, parts, pool, steps, work):
    """Store the groups of the exits of a chain, and the maximum number of bytes of a token that needs no scan if it contains no exit;
    return 0, or a negative result.
    """
    work.counts.exits, work.counts.decided = 0, UNBOUNDED
    for place in range(length + 1):
        row = row_of(work.chain[place], parts, pool, steps, work)
        if row < 0:
            return row
        for byte in range(256):
            if steps.targets[row, byte] != NONE:
                if not has(work.members, byte):
                    work.counts.exits |= np.int64(classes.groups[byte])
                elif place == length:
                    work.counts.decided = length
    return np.int64(0)


@part
def class_row(classes, is_spaced, key):
    """The row of a class in `classes`, or with `is_spaced`, of a class after a space. `NO_CLASS` if its mask is not made: then, with
    `is_spaced`, `key` contains `SPACED_KEY`.
    """
    key[3] |= np.uint64(is_spaced) << np.uint64(SPACED_KEY & 63)
    for row in range(classes.made[0]):
        difference = np.uint64(0)
        for word in range(4):
            difference |= classes.keys[row, word] ^ key[word]
        if difference == 0:
            key[3] &= ~(np.uint64(1) << np.uint64(SPACED_KEY & 63))
            return np.int64(row)
    return np.int64(NO_CLASS)


@part
def fill_chain(number, is_spaced, classes, parts, pool, steps, work, mask):
    """Set the bits of the tokens that are decided by the class of a chain. With `is_spaced`, the set `number` is after a space, and the
    tokens are those that begin with a space. Return 0, `NONE` if the set begins no chain or too short a one, or another negative result.
    """
    size = begin_chain(number, parts, pool, steps, work)
    if size < FEW:
        return size if size < 0 else np.int64(NONE)
    length = extend_chain(parts, pool, steps, work)
    if length < 0:
        return length
    if length < SHORT:
        return np.int64(NONE)
    failed = find_exits(length, classes, parts, pool, steps, work)
    if failed < 0:
        return failed
    row = class_row(classes, is_spaced, work.members)
    if row < 0:
        return row
    for word in range(len(mask)):
        mask[word] |= classes.rows[row, word] & classes.short[length + is_spaced, word]
    for word in range(4):
        work.initials[word] = work.members[word]
    work.counts.inside, work.counts.loop, work.counts.steps = 0, NONE, length
    work.counts.decided += is_spaced
    return np.int64(0)


@part
def contains(one, other, pool):
    """Whether a set contains all items of another."""
    place, end = pool.starts[one], pool.starts[one + 1]
    for each in range(pool.starts[other], pool.starts[other + 1]):
        while place < end and pool.cells[place] < pool.cells[each]:
            place += 1
        if place == end or pool.cells[place] != pool.cells[each]:
            return False
    return True


@part
def find_loop(number, classes, parts, pool, steps, work):
    """Store the loop, a set that a letter leads to, and that the same letter then leads back to; the class of the characters that lead from
    the loop to itself, or to a set that contains it; and the exits. Return the number of ASCII characters in the class, or a negative
    result.
    """
    row, size, loop = row_of(number, parts, pool, steps, work), np.int64(0), np.int64(NONE)
    if row < 0:
        return row
    for letter in LETTERS:
        if loop == NONE:
            target = target_of(row, letter, pool, steps, work)
            after = row_of(target, parts, pool, steps, work) if target >= 0 else target
            if after >= 0:
                after = target_of(after, letter, pool, steps, work)
            if after < NONE:
                return after
            loop = target if after == target else np.int64(NONE)
    clear(work.members)
    if loop == NONE:
        return size
    row = row_of(loop, parts, pool, steps, work)
    if row < 0:
        return row
    for byte in range(END_LEADS):
        target = np.int64(NONE)
        if byte < ASCII:
            target = target_of(row, byte, pool, steps, work)
        elif byte >= FIRST_LEAD:
            target = after_long(loop, byte, parts, pool, steps, work)
        if target < NONE:
            return target
        if target == loop or (target >= 0 and byte < ASCII and contains(target, loop, pool)):
            put(work.members, np.int64(byte))
            size += byte < ASCII
    work.counts.loop, work.counts.exits = loop, 0
    for byte in range(256):
        if steps.targets[row, byte] != NONE and not has(work.members, byte):
            work.counts.exits |= np.int64(classes.groups[byte])
    return size


@part
def fill_loop(number, is_spaced, classes, trie, parts, pool, steps, work, mask):
    """Set the bits of the tokens that are decided by the class of a loop. The first character may lead to more than the loop, such as the
    first letter of a keyword among names. With `is_spaced`, the set `number` is after a space, and the tokens are those that begin
    with a space.

    Returns:
        0; `NONE`: the set does not lead into a loop; or another negative result.
    """
    size = find_loop(number, classes, parts, pool, steps, work)
    if size < FEW:
        return size if size < 0 else np.int64(NONE)
    row, loop = row_of(number, parts, pool, steps, work), row_of(work.counts.loop, parts, pool, steps, work)
    if row < 0 or loop < 0:
        return min(row, loop)
    clear(work.initials)
    for byte in range(END_LEADS):
        if has(work.members, byte):
            target = target_of(row, byte, pool, steps, work)
            if target < NONE:
                return target
            following = np.int64(steps.targets[loop, byte]) if byte >= ASCII else np.int64(work.counts.loop)
            if target != NONE and contains(target, following, pool):
                put(work.initials, np.int64(byte))
    found = class_row(classes, is_spaced, work.members)
    if found < 0:
        return found
    for word in range(len(mask)):
        mask[word] |= classes.rows[found, word]
    node = np.int64(trie.roots[SPACE]) + 1 if is_spaced else np.int64(0)
    end = np.int64(trie.skips[trie.roots[SPACE]]) if is_spaced else len(trie.labels)
    while node < end:
        byte, after = np.int64(trie.labels[node] & BYTE), np.int64(trie.skips[node])
        if has(work.members, byte) and not has(work.initials, byte):
            for each in range(node, after):
                clear_bit(trie.tokens[each], mask)
        node = after
    work.counts.inside, work.counts.steps, work.counts.decided = 0, UNBOUNDED, UNBOUNDED
    return np.int64(0)


@part
def begin_class(number, classes, trie, parts, pool, steps, work, mask):
    """Set the bits of the tokens that are decided by a class of characters; return the phase that follows, or a negative result. Tokens
    that begin with a space are postponed, unless the space is in the class.
    """
    found = fill_loop(number, False, classes, trie, parts, pool, steps, work, mask)
    if found == NONE:
        found = fill_chain(number, False, classes, parts, pool, steps, work, mask)
    if found < NONE:
        return found
    row = row_of(number, parts, pool, steps, work)
    if row < 0:
        return row
    is_postponed = steps.targets[row, SPACE] != NONE and (found == NONE or not has(work.members, SPACE))
    work.counts.postponed = SPACE if is_postponed and trie.roots[SPACE] >= 0 else NONE
    return np.int64(CLASS if found != NONE else ALL)


@part
def scan_spaced(number, trie, classes, parts, pool, steps, work, mask):
    """Set the bits of the tokens that begin with a space; return 0, or a negative result."""
    root = np.int64(trie.roots[SPACE])
    if work.counts.phase != SPACED:
        work.counts.phase = POSTPONED
        row = row_of(number, parts, pool, steps, work)
        after = target_of(row, SPACE, pool, steps, work) if row >= 0 else row
        if after < NONE:
            return after
        found = fill_loop(after, True, classes, trie, parts, pool, steps, work, mask)
        if found == NONE:
            found = fill_chain(after, True, classes, parts, pool, steps, work, mask)
        if found < NONE:
            return found
        if found == NONE:
            clear(work.members)
            clear(work.initials)
        work.counts.phase, work.counts.node, work.counts.inside = SPACED, root, 0
    return scan_class(np.int64(1), np.int64(trie.skips[root]), trie, parts, pool, steps, work, mask)


@inlined
def is_back(number, loop, byte, steps, work):
    """Whether a set belongs to the class: it is the loop, or the set that the loop leads to with the first byte of a character of the
    class. In a chain, which has no loop, each set does.
    """
    if loop == NONE or number == loop:
        return True
    row = np.int64(steps.rows[np.uint64(loop)])
    return byte >= FIRST_LEAD and has(work.members, byte) and row >= 0 and number == steps.targets[np.uint64(row), np.uint64(byte)]


@part
def scan_class(offset, end, trie, parts, pool, steps, work, mask):
    """`scan_from`, up to the node `end`, without the subtrees of tokens that are decided by a class. The first `offset` bytes of a token, 0
    or 1, are before the class. ``work.counts.inside`` is the number of bytes from the root of the trie on that are before the class or in
    it.
    """
    node, exits, inside = np.uint64(work.counts.node), np.uint64(work.counts.exits), work.counts.inside
    loop, length, decided = work.counts.loop, work.counts.steps, work.counts.decided
    while node < np.uint64(end):
        label = trie.labels[node]
        depth, byte = np.int64(np.uint64(label) >> DEPTH_SHIFT), np.int64(label & BYTE)
        if depth == 0 and offset == 0 and byte == work.counts.postponed:
            node = np.uint64(trie.skips[node])
            continue
        row = np.int64(steps.rows[np.uint64(work.path[depth])])
        if row < 0:
            row = expand(work.path[depth], parts, pool, steps, work)
        number = target_of(row, byte, pool, steps, work) if row >= 0 else row
        if number == NONE:
            node = np.uint64(trie.skips[node])
            continue
        if number < 0:
            work.counts.node, work.counts.inside = np.int64(node), inside
            return number
        work.path[depth + 1] = number
        set_bit(trie.tokens[node], mask)
        own, node, inside = node, node + U1, min(inside, depth)
        if inside < depth or depth - offset >= length:
            continue
        if depth < offset:
            inside += 1
        elif byte >> 6 == CONTINUED or has(work.initials if depth == offset else work.members, byte):
            inside += 1
            is_decided = not trie.groups_below[own] & exits and trie.longest_below[own] <= decided
            if is_decided and is_back(number, loop, byte, steps, work):
                node = np.uint64(trie.skips[own])
    return np.int64(0)
