"""Kernels of one merge of byte-pair encoding in training; see `fst.compile.train.merges.loop`.

Example: the words "abab" (count 3) and "cab" (count 2), with a = 0, b = 1, c = 2 and `WORD_END` written as `|`. The pair (a, b) with the
count 8 becomes the token 3::

    cells                     | a b a b | c a b |     positions of (a, b): 1, 3, 7
    `collect`                 left neighbours: c with the count 2; 3 with the count 3, as the occurrence at 3 directly follows that at 1, so
                              `between` is 3; no right neighbours
    `update_pairs`            new pairs (c, 3) with the count 2 and (3, 3) with 3; (c, a) falls from 2 to 0, and (b, a) from 3 to 0
    `write`                   | 3 3 3 3 | c 3 3 |     the first and the last cell of each token; a third cell would be `INSIDE`
                              positions of (3, 3): 1; of (c, 3): 6
    `forget`                  the counts of the neighbours c and 3 are 0 again
"""

from __future__ import annotations

import numpy as np

from fst.compile.train.merges.heap import may_merge
from fst.compile.train.merges.merging import BY_TEXT, CAREFUL, INSIDE, LEAST, LONGEST, NONE, POOL, RECORDS, SYMBOLS, TIES, USED
from fst.core.jit import inlined, part
from fst.core.prefetch import prefetch
from fst.machines.bpe.merge_list import EMPTY
from fst.machines.bpe.pairs import ONE, home_of, key_of, slot_of

AHEAD = 12  # the number of positions between the one that is read and the one whose cells are prefetched


@inlined
def count_of(key, pairs):
    """The count of a pair that is in the hash table."""
    return np.int64(pairs[slot_of(key, pairs) + ONE])


@inlined
def id_of(cell, careful, state):
    """The id of a cell; a negative cell is returned unchanged."""
    return state.ids[cell] if careful and cell >= 0 else cell


@part
def expand(record, left, right, state):
    """In a careful run, find all occurrences of a pair in the words of its record.

    Positions are written to `pool` after the entries in use; the caller increases `POOL`.

    Returns:
        The number of occurrences; -1 if `pool` is too short.
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
    """The number of cells of the token at a position and of the token after it."""
    first = state.lengths[state.cells[at]]
    return first + state.lengths[state.cells[at + first]]


@inlined
def load_position(place, begin, end, state):
    """Prefetch the cells and the word of the position `AHEAD` places after a place in `pool`, and the count of the word halfway to it."""
    ahead, halfway = place + AHEAD, place + AHEAD // 2
    if ahead < end:
        at = np.uint64(state.pool[ahead])
        prefetch(state.cells, at)
        prefetch(state.words, at)
    if begin <= halfway < end:
        prefetch(state.counts, np.uint64(state.words[state.pool[halfway]]))


@inlined
def load_pairs(old, new, occurrences, state):
    """Prefetch the slots of an old and a new pair of a neighbour, if it is met for the first time in a merge."""
    if occurrences == 0:
        prefetch(state.pairs, home_of(old, state.pairs))
        prefetch(state.pairs, home_of(new, state.pairs))


@inlined
def note(neighbour, count, sums, touched, used):
    """Count one more occurrence of a token next to the current pair; return the number of distinct neighbours so far."""
    if sums[2 * neighbour + 1] == 0:
        touched[used] = neighbour
        used += 1
    sums[2 * neighbour] += count
    sums[2 * neighbour + 1] += 1
    return used


@part
def collect(begin, end, left, right, made, state):
    """Count the tokens before and after the occurrences of a pair, and drop stale positions. The words are not changed, so the call can be
    repeated.

    Args:
        begin, end: the bounds of a block of `pool`. The block is shortened in place; of overlapping occurrences, only the first is kept.
        left, right, made: the ids of the pair and of the merged token.

    Returns:
        The new end of the block; the numbers of distinct left and right neighbours; the count of all occurrences; and the count of
        occurrences that directly follow another occurrence. In two adjacent occurrences, `made` is counted as the left neighbour of the
        second, and no right neighbour is counted for the first.
    """
    cells, pool, words = state.cells, state.pool, state.words
    careful = state.numbers[CAREFUL] != 0
    middle = len(state.touched) >> 1
    rights = state.touched[middle:]
    width = np.int64(state.lengths[left])
    size = width + state.lengths[right]
    kept, lefts, used, last = begin, 0, 0, -1
    count, total, between = np.int64(0), np.int64(0), np.int64(0)
    for place in range(begin - AHEAD, end):
        load_position(place, begin, end, state)
        if place < begin:
            continue
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
                load_pairs(key_of(right, after), key_of(made, after), state.right[2 * after + 1], state)
                used = note(after, count, state.right, rights, used)
        count = state.counts[words[at]]
        total += count
        if follows:
            neighbour = made
            between += count
        if neighbour >= 0:
            load_pairs(key_of(neighbour, left), key_of(neighbour, made), state.left[2 * neighbour + 1], state)
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
    """Set the counts of all neighbours to 0, for the next merge."""
    middle = len(state.touched) >> 1
    for place in range(lefts):
        neighbour = state.touched[place]
        state.left[2 * neighbour], state.left[2 * neighbour + 1] = 0, 0
    for place in range(rights):
        neighbour = state.touched[middle + place]
        state.right[2 * neighbour], state.right[2 * neighbour + 1] = 0, 0


@part
def add_pair(key, count, occurrences, state):
    """Increase the count of a new pair, and create a record for its positions. Returns the start of the record's block in `pool`."""
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
    """Decrease the count of a pair, if the pair is in the hash table."""
    slot = slot_of(key, pairs)
    if pairs[slot] != EMPTY:
        pairs[slot + ONE] -= np.uint64(count)


@inlined
def is_counted(left, right, count, state):
    """In a run that is not careful, whether a new pair may be merged later, and so needs a record."""
    numbers = state.numbers
    if numbers[TIES] == BY_TEXT:
        return may_merge(left, right, state)
    return count >= numbers[LEAST] and np.int64(state.lengths[left]) + state.lengths[right] < numbers[LONGEST]


@part
def update_pairs(left, right, made, lefts, rights, between, state):
    """Increase the counts of new pairs, then decrease the counts of old pairs. The order matters, since the same pair may be new and old.

    In `left` and `right`, the number of occurrences of each neighbour is replaced by the index in `pool` for the next position of the
    neighbour's new pair, or by `NONE` if this pair gets no record.

    Args:
        left, right, made: the ids of the pair and of the merged token.
        lefts, rights: the numbers of distinct neighbours.
        between: the count of occurrences that directly follow another occurrence.

    Returns:
        Whether the pair (made, made) has one record for its occurrences on both sides; and the index in `pool` for one position of the pair
        (made, left), or `NONE`. For two adjacent occurrences, SentencePiece adds the pair (made, left) even if it never occurs.
    """
    numbers, pairs, touched = state.numbers, state.pairs, state.touched
    middle = len(touched) >> 1
    careful = numbers[CAREFUL] != 0
    both = careful and state.left[2 * made + 1] > 0 and state.right[2 * made + 1] > 0  # (made, made) gets one record for both sides
    for place in range(lefts):
        other = np.int64(touched[place])
        count, occurrences = state.left[2 * other], state.left[2 * other + 1]
        if other == made and both:
            count, occurrences = count + state.right[2 * made], occurrences + state.right[2 * made + 1]
        kept = careful or is_counted(other, made, count, state)
        state.left[2 * other + 1] = add_pair(key_of(other, made), count, occurrences, state) if kept else NONE
    for place in range(rights):
        other = np.int64(touched[middle + place])
        if other == made and both:
            continue
        count, occurrences = state.right[2 * other], state.right[2 * other + 1]
        kept = careful or is_counted(made, other, count, state)
        state.right[2 * other + 1] = add_pair(key_of(made, other), count, occurrences, state) if kept else NONE
    never = NONE
    if between and numbers[TIES] == BY_TEXT and state.right[2 * left + 1] == 0 and may_merge(made, left, state):
        never = add_pair(key_of(made, left), 0, 1, state)
    for place in range(lefts):
        other = touched[place]
        take_off(key_of(other, left), state.left[2 * other] - (between if other == made else 0), pairs)
    for place in range(rights):
        other = touched[middle + place]
        take_off(key_of(right, other), state.right[2 * other], pairs)
    if between:
        take_off(key_of(right, left), between, pairs)
    return both, never


@inlined
def symbol_of(made, size, careful, state):
    """The symbol of an id for the length of `size` cells; if there is none yet, a new symbol is added."""
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
def write(begin, end, made, size, both, never, state):
    """Write the merged token over all occurrences, and write the positions of the new pairs. `both` and `never` are from `update_pairs`."""
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
        if place + 1 < end and pool[place + 1] == at + size:
            if never != NONE:
                pool[never] = at
            continue
        if cells[at + size] < 0:
            continue
        other = id_of(cells[at + size], careful, state)
        sums = state.left if both and other == made else state.right
        put = sums[2 * other + 1]
        if put != NONE:
            pool[put] = at
            sums[2 * other + 1] = put + 1
