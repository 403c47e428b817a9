"""Walks of late guides: along the bytes of a token, and along the trie of a vocabulary.

Preconditions: those of `fst.machines.guide.kernels.items`.
"""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined, kernel, part
from fst.machines.guide.item_arguments import ALL, BEGUN, CLASS, FILLED, NO_WORK, NONE, OTHERS
from fst.machines.guide.kernels.items import (
    LEAST,
    MISSING,
    MOST,
    PARENT,
    USED,
    close,
    expand,
    frame_of,
    item_of,
    number_in,
    position_of,
    row_of,
    sort,
    tallied,
    target_of,
)
from fst.machines.guide.kernels.scan import BYTE, DEPTH_SHIFT, U1, add_twins, clear_bit, set_bit
from fst.machines.guide.parts import ENTER, FREE, OPEN, SKIP, UNLIMITED
from fst.runtime.machines.guide.kernels.classes import begin_class, scan_class, scan_spaced
from fst.runtime.machines.guide.kernels.strings import QUOTE, SPACE

DONE = 0


@kernel
def walk_items(number, token, data, ends, parts, pool, steps, work):
    """Read the bytes of a token from a set.

    Args:
        number: the set.
        token: the id of the token.
        data: uint8[n], the bytes of all tokens.
        ends: int64[ids], the end of each token.
        parts, pool, steps, work: see `fst.machines.guide.item_arguments`.

    Returns:
        The set after the bytes; `NONE` if they are not read, or there are none; or another negative result, after which the caller calls
        again.
    """
    start, end = ends[token - 1] if token else np.int64(0), ends[token]
    if start == end:
        return np.int64(NONE)
    for byte in data[start:end]:
        row = row_of(number, parts, pool, steps, work)
        if row < 0:
            return row
        number = target_of(row, byte, pool, steps, work)
        if number < 0:
            return number
    return np.int64(number)


@part
def copied(number, source, numbers, pool, work):
    """The number in a pool of a set or tally of another pool, whose frames were copied before; or `NO_ROOM` or `NO_WORK`."""
    start, end = source.starts[number], source.starts[number + 1]
    size = end - start
    if size > len(work.row):
        return np.int64(NO_WORK)
    is_tally = size > 0 and source.cells[start] < 0
    for place in range(size):
        cell = source.cells[start + place]
        work.row[place] = cell if is_tally else item_of(position_of(cell), numbers[frame_of(cell)])
    if is_tally:
        work.row[PARENT] = ~np.int64(numbers[~source.cells[start]])
    else:
        size = sort(work.row, size)
    return number_in(work.row, size, pool)


@kernel
def copy_set(number, source, numbers, pool, work):
    """Copy a set, its frames and the frames around these from one pool to another.

    Args:
        number: the set in `source`.
        source: a `fst.automata.hashing.Pool`. A frame has a lower number than the sets that contain it.
        numbers: int32[room of `source`], the number in `pool` of each set that was copied before, else -1; it is extended.
        pool: the other pool.
        work: a `fst.machines.guide.item_arguments.Work`; `found` contains the sets that are to be copied.

    Returns:
        The number in `pool`; or `NO_ROOM` or `NO_WORK`, after which the caller calls again.
    """
    count = 1
    work.found[0] = number
    while count > 0:
        each = work.found[count - 1]
        if numbers[each] >= 0:
            count -= 1
            continue
        start, end = source.starts[each], source.starts[each + 1]
        before = count
        for place in range(start, end):
            cell = source.cells[place]
            frame = ~cell if cell < 0 else frame_of(cell)
            if (cell < 0 or source.cells[start] >= 0) and numbers[frame] < 0:
                if count == len(work.found):
                    return np.int64(NO_WORK)
                work.found[count] = frame
                count += 1
        if count == before:
            found = copied(each, source, numbers, pool, work)
            if found < 0:
                return found
            numbers[each] = found
            count -= 1
    return np.int64(numbers[number])


@kernel
def is_accepting(number, parts, pool, steps, work):
    """1 if a text may end in a set, otherwise 0; or a negative result, after which the caller calls again."""
    row = row_of(number, parts, pool, steps, work)
    return np.int64(steps.finals[row]) if row >= 0 else row


@part
def next_root(byte, trie, steps, work):
    """The first node of depth 0 whose byte is `byte` or greater, and is read by the set ``work.path[0]``; the postponed byte and bytes that
    lead to the shared set are left out. While the set has no row of steps, all other bytes count as read. The number of nodes if there is
    no such node.
    """
    row = steps.rows[work.path[0]]
    for each in range(np.int64(byte), 256):
        if trie.roots[each] < 0 or each == work.counts.postponed:
            continue
        if row < 0 or (steps.targets[row, each] != NONE and steps.targets[row, each] != work.counts.shared):
            return np.uint64(trie.roots[each])
    return np.uint64(len(trie.labels))


@part
def scan_from(trie, parts, pool, steps, work, mask):
    """Set the bits of the tokens that are read completely from the set ``work.path[0]``, from the node ``work.counts.node`` on; return
    `DONE`, or a negative result. No loop of a mask takes longer, and with `read_label`, this one takes 10 % longer still.
    """
    node, end = np.uint64(work.counts.node), np.uint64(len(trie.labels))
    while node < end:
        label = trie.labels[node]
        depth = np.uint64(label) >> DEPTH_SHIFT
        if depth == 0:  # nodes of first bytes are far apart in memory: those that are not read are not even loaded
            node = next_root(label & BYTE, trie, steps, work)
            if node == end:
                break
            label = trie.labels[node]
        row = np.int64(steps.rows[np.uint64(work.path[depth])])
        if row < 0:
            row = expand(work.path[depth], parts, pool, steps, work)
            if row < 0:
                work.counts.node = np.int64(node)
                return row
        number = target_of(row, label & BYTE, pool, steps, work)
        if number < 0:
            if number != NONE:
                work.counts.node = np.int64(node)
                return number
            node = np.uint64(trie.skips[node])
            continue
        work.path[depth + U1] = number
        set_bit(trie.tokens[node], mask)
        node += U1
    return np.int64(DONE)


@part
def fill_within(most, strings, mask):
    """Set the bits of the tokens of at most `most` characters of a string; `UNLIMITED`: of any number."""
    row = most if 0 < most < len(strings.within) else np.int64(0)
    if most == 0:
        return
    for word in range(len(mask)):
        mask[word] = strings.within[row, word]
    if most > 0 and row == 0:
        for place in range(len(strings.longer)):
            if strings.longer_chars[place] <= most:
                break
            token = strings.longer[place]
            clear_bit(token, mask)


@part
def add_quoted(number, least, most, strings, mask):
    """Set the bits of the tokens with a quotation mark after `least` to `most` characters, and after the mark, the text with a number in
    `strings.after`. `most` below 0: no bound.
    """
    start = strings.after_ends[number - 1] if number else np.int64(0)
    for place in range(start, strings.after_ends[number]):
        if least <= strings.quoted_chars[place] and (most < 0 or strings.quoted_chars[place] <= most):
            set_bit(strings.quoted[place], mask)


@inlined
def read_label(label, parts, pool, steps, work):
    """Read the byte of a node of a trie, given by its label, from the set at its depth in ``work.path``, and store the set after it; return
    this set, `NONE`, or another negative result.
    """
    depth = np.uint64(label) >> DEPTH_SHIFT
    row = row_of(work.path[depth], parts, pool, steps, work)
    if row < 0:
        return row
    number = target_of(row, label & BYTE, pool, steps, work)
    if number >= 0:
        work.path[depth + U1] = number
    return number


@part
def scan_after(least, most, strings, parts, pool, steps, work, mask):
    """Set the bits of the tokens that end a string after `least` to `most` characters, and go on after the quotation mark; ``work.path[0]``
    is the set after it.
    """
    trie, node, end = strings.after, np.uint64(0), np.uint64(len(strings.after.labels))
    while node < end:
        number = read_label(trie.labels[node], parts, pool, steps, work)
        if number >= 0:
            if trie.tokens[node] < len(strings.after_ends):
                add_quoted(np.int64(trie.tokens[node]), least, most, strings, mask)
            node += U1
        elif number == NONE:
            node = np.uint64(trie.skips[node])
        else:
            return number
    return np.int64(DONE)


@inlined
def is_free(number, parts, pool):
    """Whether a set is one free item."""
    start = pool.starts[number]
    return pool.starts[number + 1] - start == 1 and parts.positions[position_of(pool.cells[start]), 2] & FREE != 0


@part
def free_item(number, parts, pool, work):
    """The free item that is alone in a set, or that the only item becomes by moves without an alternative, such as the one that enters a
    tally; `NONE`: there is none; or another negative result.
    """
    start = pool.starts[number]
    item = pool.cells[start]
    if pool.starts[number + 1] - start != 1:
        return np.int64(NONE)
    while not parts.positions[position_of(item), 2]:
        position, frame = position_of(item), frame_of(item)
        move = parts.positions[position, 1]
        kind, first, second, target = parts.moves[move, 0], parts.moves[move, 1], parts.moves[move, 2], parts.moves[move, 3]
        is_only = parts.positions[position + 1, 1] - move == 1 and parts.positions[position + 1, 0] == parts.positions[position, 0]
        if not is_only or (kind != SKIP and kind != ENTER):
            return np.int64(NONE)
        if kind == ENTER:
            frame = tallied(kind, first, second, frame, pool, work)
            if frame < 0:
                return frame
        item = item_of(target, frame)
    return item if parts.positions[position_of(item), 2] & FREE else np.int64(NONE)


@part
def reads_all(number, parts, pool, work):
    """Whether all sequences of unescaped characters are read from a set, since one of its items is open, or free without a bound on the
    number of characters: 1 or 0; or a negative result.
    """
    failed = close(number, parts, pool, work)
    if failed < 0:
        return failed
    for place in range(work.counts.found):
        flags, start = parts.positions[position_of(work.found[place]), 2], pool.starts[frame_of(work.found[place])]
        is_bounded = pool.starts[frame_of(work.found[place]) + 1] > start and pool.cells[start] < 0 and pool.cells[start + MOST] >= 0
        if flags & OPEN or (flags & FREE and not is_bounded):
            return np.int64(1)
    return np.int64(0)


@part
def fill_free(item, strings, parts, pool, steps, work, mask):
    """Make the mask before a character of a string in which all characters are allowed; return `DONE`, or a negative result."""
    frame, least, most = frame_of(item), np.int64(0), np.int64(UNLIMITED)
    start = pool.starts[frame]
    if pool.cells[start] < 0:  # a tally: all counts lead to the same set after the quotation mark; take one that allows the mark at once
        least, most = pool.cells[start + LEAST], pool.cells[start + MOST]
        work.row[PARENT], work.row[LEAST], work.row[MOST], work.row[MISSING] = pool.cells[start + PARENT], 0, UNLIMITED, 0
        frame = number_in(work.row, USED, pool)
        if frame < 0:
            return frame
    work.row[0] = item_of(position_of(item), frame)
    number = number_in(work.row, 1, pool)
    if number < 0:
        return number
    row = row_of(number, parts, pool, steps, work)
    if row < 0:
        return row
    number = target_of(row, QUOTE, pool, steps, work)
    if number < 0:
        return number
    work.path[0] = number
    fill_within(most, strings, mask)
    add_quoted(np.int64(0), least, most, strings, mask)
    return scan_after(least, most, strings, parts, pool, steps, work, mask)


@part
def share(number, strings, parts, pool, steps, work, mask):
    """Begin the mask of an open set with the mask of a free set that it leads to, such as the set after a letter with which no name begins.
    The free set leads back to itself, so both sets allow the same tokens that begin with such a letter. Of the tokens that begin with other
    characters, only the plain ones stay in the mask; a scan adds the others.

    Returns:
        `DONE`; `NONE`: there is no such set; or another negative result.
    """
    row = row_of(number, parts, pool, steps, work)
    if row < 0:
        return row
    found = np.int64(NONE)
    for byte in range(SPACE, 0x80):
        target = target_of(row, byte, pool, steps, work)
        if target < NONE:
            return target
        if found == NONE and target != NONE and is_free(target, parts, pool):
            found = target
    if found == NONE:
        return found
    done = fill_free(pool.cells[pool.starts[found]], strings, parts, pool, steps, work, mask)
    if done < 0:
        return done
    loop, row, trie = row_of(found, parts, pool, steps, work), row_of(number, parts, pool, steps, work), strings.others
    if loop < 0 or row < 0:
        return min(loop, row)
    for byte in range(256):
        if trie.roots[byte] < 0:
            continue
        if steps.targets[row, byte] == found:
            after = target_of(loop, byte, pool, steps, work)
            if after < NONE:
                return after
            if after == found:
                continue
            return np.int64(NONE)  # the free set counts its characters
        for node in range(trie.roots[byte], trie.skips[trie.roots[byte]]):
            clear_bit(trie.tokens[node], mask)
    work.counts.shared = found
    return np.int64(DONE)


@part
def begin_mask(number, trie, strings, classes, parts, pool, steps, work, mask):
    """Set the bits of the tokens that need no scan. Return a negative result, or the phase that follows: `FILLED`: no scan; `ALL`: a scan
    of all tokens; `OTHERS`: of the tokens that are not plain; `CLASS`: of those that a class of characters does not decide.
    """
    work.counts.shared, work.counts.postponed = NONE, NONE
    item = free_item(number, parts, pool, work)
    if item >= 0:
        found = fill_free(item, strings, parts, pool, steps, work, mask)
        return found if found < 0 else np.int64(FILLED)
    if item != NONE:
        return item
    is_open = reads_all(number, parts, pool, work)
    if is_open < 0:
        return is_open
    if is_open:
        found = share(number, strings, parts, pool, steps, work, mask)
        if found != NONE:
            return found if found < 0 else np.int64(OTHERS)
    else:
        return begin_class(number, classes, trie, parts, pool, steps, work, mask)
    for word in range(len(mask)):
        mask[word] = strings.plain[word]
    return np.int64(OTHERS)


@kernel
def mask_items(number, trie, strings, classes, parts, pool, steps, work, end_id, mask):
    """Make the mask of a set, see `fst.runtime.machines.guide.late_states.LateStates.mask`. Before the first call, ``work.counts.phase`` is
    `BEGUN`; after a negative result, the mask stays as it is for the next call.

    Args:
        number: the set.
        trie: the `fst.machines.guide.vocabulary.Trie` of the vocabulary.
        strings: a `fst.runtime.machines.guide.string_tokens.StringTokens`.
        classes: a `fst.runtime.machines.guide.class_tokens.ClassMasks`.
        parts, pool, steps, work: see `fst.machines.guide.item_arguments`.
        end_id: the token that ends a text, whose bit is set if a text may end in the set; `NONE`: there is none.
        mask: output, uint32[words + 1]; the last word gets the bits of nodes without tokens.

    Returns:
        `DONE`, or a negative result, after which the caller calls again.
    """
    if work.counts.phase == BEGUN:
        for word in range(len(mask)):
            mask[word] = 0
        begun = begin_mask(number, trie, strings, classes, parts, pool, steps, work, mask)
        if begun < 0:
            return begun
        work.path[0], work.counts.node, work.counts.phase = number, 0, begun
    found = np.int64(DONE)
    if work.counts.phase == ALL:
        found = scan_from(trie, parts, pool, steps, work, mask)
    elif work.counts.phase == CLASS:
        found = scan_class(np.int64(0), len(trie.labels), trie, parts, pool, steps, work, mask)
    elif work.counts.phase == OTHERS:
        found = scan_from(strings.others, parts, pool, steps, work, mask)
    if found == DONE and work.counts.postponed != NONE:
        found = scan_spaced(number, trie, classes, parts, pool, steps, work, mask)
    if found < 0:
        return found
    row = row_of(number, parts, pool, steps, work)
    if row < 0:
        return row
    if steps.finals[row] and end_id != NONE:
        set_bit(np.uint32(end_id), mask)
    add_twins(trie, mask)
    return np.int64(DONE)


@kernel
def sets_after(trie, parts, pool, steps, work, found):
    """Store the set after each token that is read from the set ``work.path[0]``, from the node ``work.counts.node`` on.

    Args:
        trie: a `fst.machines.guide.vocabulary.Trie`.
        parts, pool, steps, work: see `fst.machines.guide.item_arguments`.
        found: int64[ids + 1], initially 0; the last element gets the sets of nodes without tokens.

    Returns:
        `DONE`, or a negative result, after which the caller calls again.
    """
    node, end, last = np.uint64(work.counts.node), np.uint64(len(trie.labels)), np.int64(len(found) - 1)
    while node < end:
        number = read_label(trie.labels[node], parts, pool, steps, work)
        if number >= 0:
            found[min(np.int64(trie.tokens[node]), last)] = number
            node += U1
        elif number == NONE:
            node = np.uint64(trie.skips[node])
        else:
            work.counts.node = np.int64(node)
            return number
    return np.int64(DONE)
