"""Kernels of byte-pair encoding in training, see `fst.compile.train.merge_state` for the state.

One merge reads the positions of its pair from left to right, leaves out stale ones, and adds up the counts of each neighbour in dense
arrays. Each distinct neighbour then takes one probe for its new pair and one for its old one. A second pass writes the cells, and the
positions of the new pairs.

The heap is brought up to date at its top alone: a pair that is rarer by now than when it was pushed sinks. Counts only fall after a push,
so a top that is up to date is the most frequent pair.

Kernels trust the state: `begin` makes it and `prove` checks one from a file. They return when a round's steps are used up, when an array
is too short, when only the caller knows the id of the next string, or at the end.
"""

from __future__ import annotations

import numpy as np

from fst.compile.train.merge_state import (
    ADJACENT,
    ASK,
    AT_SIZE,
    CAREFUL,
    HEAP,
    INSIDE,
    KNOWN,
    LEAST,
    LONGEST,
    MERGES,
    NEED_POOL,
    NEED_RECORDS,
    NEED_SYMBOLS,
    NEW_STRING,
    NO_PAIR_LEFT,
    NONE,
    OUT_OF_ROOM,
    OUT_OF_STEPS,
    POOL,
    RECORDS,
    SIZE,
    STEPS,
    SYMBOLS,
    TOKENS,
    TOO_RARE,
    USED,
)
from fst.compile.train.pair_heap import push, sink
from fst.jit import inlined, kernel, part
from fst.merge_list import EMPTY
from fst.pairs import HALF, ONE, key_of, slot_of

LOW = np.uint64((1 << 32) - 1)
SWITCHES = 8  # the steps that a merge without positions takes


@inlined
def count_of(key, pairs):
    """The count of a pair that the table has."""
    return np.int64(pairs[slot_of(key, pairs) + ONE])


@inlined
def id_of(cell, careful, state):
    """The id of a cell; of a cell that is no symbol, the cell."""
    return state.ids[cell] if careful and cell >= 0 else cell


@part
def expand(record, left, right, state):
    """Find all occurrences of a pair in the words of a record, in a careful run.

    Their positions are written into `pool` after those in use.

    Returns:
        Their number; -1 if there is no room.
    """
    cells, pool = state.cells, state.pool
    first = state.numbers[POOL]
    put, before = first, NONE
    for place in range(state.records[2 * record], state.records[2 * record + 1]):
        word = state.words[pool[place]]
        if word == before:
            continue
        before = word
        at = state.word_starts[word]
        while cells[at] >= 0:
            after = at + state.lengths[cells[at]]
            if state.ids[cells[at]] == left and cells[after] >= 0 and state.ids[cells[after]] == right:
                if put == len(pool):
                    return -1
                pool[put] = at
                put += 1
                after += state.lengths[cells[after]]
            at = after
    return put - first


@inlined
def size_at(at, state):
    """The cells of the two tokens at a position."""
    first = state.lengths[state.cells[at]]
    return first + state.lengths[state.cells[at + first]]


@inlined
def note(neighbour, count, sums, touched, used):
    """Add an occurrence of a neighbour; returns the number of distinct ones."""
    if sums[2 * neighbour + 1] == 0:
        touched[used] = neighbour
        used += 1
    sums[2 * neighbour] += count
    sums[2 * neighbour + 1] += 1
    return used


@part
def collect(begin, end, left, right, made, state):
    """Count the neighbours of a pair's occurrences, and drop stale positions. Nothing else changes, so it may be done again.

    Args:
        begin, end: a block of `pool`. It is shortened in place: of overlapping occurrences the first one stays.
        left, right, made: ids.

    Returns:
        The new end of the block; the numbers of distinct left and right neighbours; the count of all occurrences, and of those that follow
        right after another one: these have `made` as their left neighbour, and the one before has no right neighbour.
    """
    cells, pool, words = state.cells, state.pool, state.words
    careful = state.numbers[CAREFUL] != 0
    middle = len(state.touched) >> 1
    rights = state.touched[middle:]
    width = np.int64(state.lengths[left])
    size = width + state.lengths[right]
    kept, lefts, used, last = begin, 0, 0, -1
    count, total, between = np.int64(0), np.int64(0), np.int64(0)
    for place in range(begin, end):
        at = np.int64(pool[place])
        if careful:
            size = size_at(at, state)
        elif at < last or cells[at] != left or cells[at + width] != right:
            continue
        neighbour = id_of(cells[at - 1], careful, state)
        follows = at == last
        if not follows and kept > begin:
            after = id_of(cells[last], careful, state)
            if after >= 0:
                used = note(after, count, state.right, rights, used)
        count = state.counts[words[at]]
        total += count
        if follows:
            neighbour = made
            between += count
        if neighbour >= 0:
            lefts = note(neighbour, count, state.left, state.touched, lefts)
        pool[kept] = at
        kept += 1
        last = at + size
    if kept > begin:
        after = id_of(cells[last], careful, state)
        if after >= 0:
            used = note(after, count, state.right, rights, used)
    return kept, lefts, used, total, between


@part
def forget(lefts, rights, state):
    """Clear the counts of all neighbours."""
    middle = len(state.touched) >> 1
    for place in range(lefts):
        neighbour = state.touched[place]
        state.left[2 * neighbour], state.left[2 * neighbour + 1] = 0, 0
    for place in range(rights):
        neighbour = state.touched[middle + place]
        state.right[2 * neighbour], state.right[2 * neighbour + 1] = 0, 0


@part
def add_pair(key, count, occurrences, state):
    """Add to the count of a new pair, and make a record for its positions.

    Returns:
        Where its positions go in `pool`.
    """
    numbers, pairs = state.numbers, state.pairs
    slot = slot_of(key, pairs)
    if pairs[slot] == EMPTY:
        pairs[slot], pairs[slot + ONE] = key, np.uint64(0)
        numbers[USED] += 1
    pairs[slot + ONE] += np.uint64(count)
    record, place = numbers[RECORDS], numbers[POOL]
    state.keys[record] = key
    state.records[2 * record], state.records[2 * record + 1] = place, place + occurrences
    numbers[RECORDS], numbers[POOL] = record + 1, place + occurrences
    return place


@inlined
def take_off(key, count, pairs):
    """Lower the count of a pair; of one that is not counted, nothing."""
    slot = slot_of(key, pairs)
    if pairs[slot] != EMPTY:
        pairs[slot + ONE] -= np.uint64(count)


@part
def update_pairs(left, right, made, size, lefts, rights, between, state):
    """Add the new pairs, lower the old ones, and push the new ones: the new pair (made, left) may be an old one, too.

    The occurrences of each neighbour in `left` and `right` become the place of its next position, or `NONE` if its pair gets no record.

    Args:
        left, right, made: ids.
        size: the cells of the made token.
        lefts, rights: the numbers of distinct neighbours.
        between: the count of occurrences right after another one.
    """
    numbers, pairs, touched = state.numbers, state.pairs, state.touched
    middle = len(touched) >> 1
    careful = numbers[CAREFUL] != 0
    first = numbers[RECORDS]
    both = careful and state.left[2 * made + 1] > 0 and state.right[2 * made + 1] > 0  # one record of (made, made), for both sides
    for place in range(lefts):
        other = np.int64(touched[place])
        count, occurrences = state.left[2 * other], state.left[2 * other + 1]
        if other == made and both:
            count, occurrences = count + state.right[2 * made], occurrences + state.right[2 * made + 1]
        others_size = size if other == made else np.int64(state.lengths[other])
        kept = careful or (count >= numbers[LEAST] and others_size + size < numbers[LONGEST])
        state.left[2 * other + 1] = add_pair(key_of(other, made), count, occurrences, state) if kept else NONE
    for place in range(rights):
        other = np.int64(touched[middle + place])
        if other == made and both:
            continue
        count, occurrences = state.right[2 * other], state.right[2 * other + 1]
        kept = careful or (count >= numbers[LEAST] and state.lengths[other] + size < numbers[LONGEST])
        state.right[2 * other + 1] = add_pair(key_of(made, other), count, occurrences, state) if kept else NONE
    for place in range(lefts):
        other = touched[place]
        take_off(key_of(other, left), state.left[2 * other] - (between if other == made else 0), pairs)
    for place in range(rights):
        other = touched[middle + place]
        take_off(key_of(right, other), state.right[2 * other], pairs)
    if between:
        take_off(key_of(right, left), between, pairs)
    for record in range(first, numbers[RECORDS]):
        count = count_of(state.keys[record], pairs)
        if count > 0:
            push(count, record, state)
    return both


@inlined
def symbol_of(made, size, careful, state):
    """The symbol of an id in a number of cells; a new one if it has none."""
    if not careful:
        return made
    symbol = state.heads[made]
    while symbol != NONE and state.lengths[symbol] != size:
        symbol = state.others[symbol]
    if symbol == NONE:
        symbol = np.int32(state.numbers[SYMBOLS])
        state.numbers[SYMBOLS] += 1
        state.ids[symbol], state.lengths[symbol] = made, size
        state.others[symbol], state.heads[made] = state.heads[made], symbol
    return symbol


@part
def write(begin, end, made, size, both, state):
    """Write the made token over all occurrences, and the positions of the new pairs."""
    cells, pool, careful = state.cells, state.pool, state.numbers[CAREFUL] != 0
    for place in range(begin, end):
        at = np.int64(pool[place])
        before = cells[at - 1]
        first = np.int64(state.lengths[cells[at]])
        if careful:
            size = size_at(at, state)
        symbol = symbol_of(made, size, careful, state)
        cells[at] = symbol
        cells[at + first] = INSIDE
        cells[at + size - 1] = symbol
        if before >= 0:
            other = id_of(before, careful, state)
            put = state.left[2 * other + 1]
            if put != NONE:
                pool[put] = at - state.lengths[before]
                state.left[2 * other + 1] = put + 1
        if (place + 1 < end and pool[place + 1] == at + size) or cells[at + size] < 0:
            continue
        other = id_of(cells[at + size], careful, state)
        sums = state.left if both and other == made else state.right
        put = sums[2 * other + 1]
        if put != NONE:
            pool[put] = at
            sums[2 * other + 1] = put + 1


@inlined
def may_be_known(left, right, state):
    """Whether the string of a merge may have an id already."""
    if state.numbers[CAREFUL]:
        return True
    suspect = key_of(state.firsts[left], state.lengths[left] + state.lengths[right])
    return state.suspects[slot_of(suspect, state.suspects)] != EMPTY


@inlined
def has_room(occurrences, neighbours, state):
    """Whether all arrays have room for the new pairs of a merge; if not, `numbers` gets what they need."""
    numbers = state.numbers
    numbers[NEED_POOL], numbers[NEED_RECORDS] = 2 * occurrences, neighbours
    numbers[NEED_SYMBOLS] = occurrences if numbers[CAREFUL] else 0
    return (
        numbers[POOL] + 2 * occurrences <= len(state.pool)
        and numbers[RECORDS] + neighbours <= len(state.keys)
        and 4 * (numbers[USED] + neighbours) < len(state.pairs)
        and numbers[SYMBOLS] + numbers[NEED_SYMBOLS] <= len(state.lengths)
        and 3 * numbers[MERGES] + 3 <= len(state.merges)
    )


@part
def merge(record, left, right, made, state):
    """Merge all occurrences of the heap's top.

    Args:
        record, left, right, made: the top's record, and ids.

    Returns:
        Whether there was room; if not, nothing has changed.
    """
    numbers = state.numbers
    begin, end = state.records[2 * record], state.records[2 * record + 1]
    if numbers[CAREFUL]:
        found = expand(record, left, right, state)
        if found < 0:
            numbers[NEED_POOL], numbers[NEED_RECORDS], numbers[NEED_SYMBOLS] = len(state.pool), 0, 0
            return False
        begin, end = numbers[POOL], numbers[POOL] + found
        numbers[POOL] += found
    kept, lefts, rights, total, between = collect(begin, end, left, right, made, state)
    if not has_room(kept - begin, lefts + rights, state):
        forget(lefts, rights, state)
        if numbers[CAREFUL]:
            numbers[POOL] = begin
            numbers[NEED_POOL] += end - begin
        return False
    size = np.int64(state.lengths[left]) + state.lengths[right]
    last = numbers[HEAP] - 1
    numbers[HEAP] = last
    if last > 0:
        sink(state.heap_counts[last], state.heap_records[last], state)
    if made == numbers[TOKENS]:
        numbers[TOKENS] += 1
        numbers[SYMBOLS] += 0 if numbers[CAREFUL] else 1
    if not numbers[CAREFUL]:
        state.lengths[made], state.firsts[made] = size, state.firsts[left]
    both = update_pairs(left, right, made, size, lefts, rights, between, state)
    write(begin, kept, made, size, both, state)
    forget(lefts, rights, state)
    state.made[made] += total
    place = 3 * numbers[MERGES]
    state.merges[place], state.merges[place + 1], state.merges[place + 2] = left, right, made
    numbers[MERGES] += 1
    numbers[ADJACENT] -= kept - begin
    numbers[STEPS] -= end - begin + SWITCHES
    return True


@inlined
def at_end(numbers):
    """Why no pair is merged: the remaining ones are too rare, or none remain."""
    return TOO_RARE if numbers[LEAST] > 1 and numbers[ADJACENT] > 0 else NO_PAIR_LEFT


@kernel
def merge_pairs(state):
    """Merge the best pair again and again: the most frequent; of equals, that of smaller ids.

    Args:
        state: `Merging`; changed.

    Returns:
        Why it stopped: `OUT_OF_STEPS`; `OUT_OF_ROOM`; `NEW_STRING`: the caller sets `numbers[KNOWN]`; `AT_SIZE`; `NO_PAIR_LEFT`;
        `TOO_RARE`: the best pair is rarer than `LEAST`.
    """
    numbers = state.numbers
    while numbers[TOKENS] < numbers[SIZE]:
        if numbers[HEAP] == 0:
            return at_end(numbers)
        record = np.int64(state.heap_records[0])
        key = state.keys[record]
        count = count_of(key, state.pairs)
        if count != state.heap_counts[0]:
            sink(count, record, state)
            continue
        if count < numbers[LEAST]:
            return at_end(numbers)
        if numbers[STEPS] <= 0:
            return OUT_OF_STEPS
        left, right = np.int64(key >> HALF), np.int64(key & LOW)
        if numbers[KNOWN] == ASK and may_be_known(left, right, state):
            return NEW_STRING
        made = numbers[KNOWN] if numbers[KNOWN] >= 0 else numbers[TOKENS]
        if not merge(record, left, right, made, state):
            return OUT_OF_ROOM
        numbers[KNOWN] = ASK
    return AT_SIZE
