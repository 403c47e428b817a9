"""Kernels for the first state of byte-pair encoding in training; see `fst.compile.train.merges.merging`."""

from __future__ import annotations

import numpy as np

from fst.compile.train.merges.heap import LOW, may_merge, push
from fst.compile.train.merges.merging import (
    ADJACENT,
    BY_TEXT,
    CAREFUL,
    HEAP,
    LEAST,
    LONGEST,
    NEAR,
    NONE,
    POOL,
    QUEUED,
    RECORDS,
    TIES,
    USED,
    WORD_END,
)
from fst.core.jit import inlined, kernel
from fst.machines.bpe.merge_list import EMPTY
from fst.machines.bpe.pairs import HALF, ONE, insert, key_of, slot_of


@inlined
def code_of(at, begin, end, letters, width, continuing, last):
    """The code of a letter, which depends on its position in the word; see `fst.train.symbols.Forms`."""
    return ((continuing if at > begin else 0) + (last if at + 1 == end else 0)) * width + letters[at]


@kernel
def count_letters(letters, ends, counts, width, continuing, last, sums):
    """Count the occurrences of each letter, separately for each of its forms with and without prefix and suffix.

    Args:
        letters: int32[n], below `width`.
        ends: int64[words], the end of each word in `letters`, in ascending order; the last end is n.
        counts: int64[words].
        width, continuing, last: `fst.train.symbols.Forms.numbers`.
        sums: output, int64[forms * width], initially 0.
    """
    begin = 0
    for word in range(len(ends)):
        for at in range(begin, ends[word]):
            sums[code_of(at, begin, ends[word], letters, width, continuing, last)] += counts[word]
        begin = ends[word]


@kernel
def spell(letters, ends, width, continuing, last, ids, breaks, cells, words):
    """Write the symbols of all words.

    Args:
        letters, ends, width, continuing, last: as in `count_letters`.
        ids: int32[forms * width], the symbol of each code; a negative number means that the letter is deleted.
        breaks: whether a word is split at a deleted letter.
        cells: output, int32[n + words + 1], with `WORD_END` before, between and after words.
        words: output, int32[n + words + 1], the word of each cell.

    Returns:
        The number of cells.
    """
    cells[0], words[0], put, begin = WORD_END, 0, 1, 0
    for word in range(len(ends)):
        for at in range(begin, ends[word]):
            symbol = ids[code_of(at, begin, ends[word], letters, width, continuing, last)]
            if symbol >= 0 or breaks:
                cells[put], words[put] = symbol, word
                put += 1
        cells[put], words[put] = WORD_END, word
        put += 1
        begin = ends[word]
    return put


@inlined
def is_short(left, right, state):
    """Whether a pair is shorter than the limit, or consists of two single symbols, which are always allowed."""
    size = np.int64(state.lengths[left]) + state.lengths[right]
    return size < state.numbers[LONGEST] or size == 2


@kernel
def count_pairs(state, sizes):
    """Count the pairs of neighbouring tokens. `state`: `Merging`. `pairs`, empty before, is filled with counts; `USED` and `ADJACENT` of
    `numbers` are set. `sizes`: output, int64[slots], initially 0: the number of occurrences of each pair, at the pair's slot in `pairs`.
    Returns False if `pairs` is too small: at most half of its slots may be used.
    """
    cells, words, counts, pairs, lengths = state.cells, state.words, state.counts, state.pairs, state.lengths
    used, adjacent, at = 0, 0, 1
    while at < len(cells) - 1:
        if cells[at] < 0:
            at += 1
            continue
        first, after = at, at + np.int64(lengths[cells[at]])
        at = after
        if cells[after] < 0 or not is_short(cells[first], cells[after], state):
            continue
        key = key_of(cells[first], cells[after])
        slot = slot_of(key, pairs)
        adjacent += 1
        if pairs[slot] == EMPTY:
            used += 1
            if 2 * used >= len(sizes):
                return False
            pairs[slot], pairs[slot + ONE] = key, np.uint64(0)
        pairs[slot + ONE] += np.uint64(counts[words[first]])
        sizes[slot >> ONE] += 1
    state.numbers[USED], state.numbers[ADJACENT] = used, adjacent
    return True


@kernel
def record_pairs(state, sizes):
    """Create a record for each pair that `count_pairs` counted, and build the heap. `state`: a `Merging` with enough capacity in `pool`,
    `records`, `keys` and the heap, which the kernel fills. `sizes`: from `count_pairs`; overwritten.
    """
    numbers, cells, pairs = state.numbers, state.cells, state.pairs
    record, place = 0, 0
    for slot in range(len(sizes)):
        if sizes[slot] == 0:
            continue
        count = np.int64(pairs[2 * slot + 1])
        key = pairs[2 * slot]
        never = numbers[TIES] == BY_TEXT and not may_merge(key >> HALF, key & LOW, state)
        if never or (count < numbers[LEAST] and numbers[CAREFUL] == 0):
            sizes[slot] = NONE
            continue
        state.keys[record] = key
        state.records[2 * record], state.records[2 * record + 1] = place, place + sizes[slot]
        sizes[slot], place = place, place + sizes[slot]
        record += 1
    numbers[RECORDS], numbers[POOL] = record, place
    at = 1
    while at < len(cells) - 1:
        first = at
        at += np.int64(state.lengths[cells[at]]) if cells[at] >= 0 else 1
        if cells[first] >= 0 and cells[at] >= 0 and is_short(cells[first], cells[at], state):
            slot = slot_of(key_of(cells[first], cells[at]), pairs) >> ONE
            if sizes[slot] != NONE:
                state.pool[sizes[slot]] = first
                sizes[slot] += 1
    numbers[HEAP], numbers[QUEUED], numbers[NEAR] = 0, 0, np.int64(1) << 62
    for record in range(numbers[RECORDS]):
        push(np.int64(pairs[slot_of(state.keys[record], pairs) + ONE]), record, state)


@kernel
def move_pairs(old, new):
    """Copy the pairs of a hash table into a larger, empty hash table."""
    for slot in range(0, len(old), 2):
        if old[slot] != EMPTY:
            insert(old[slot], old[slot + 1], new)


@kernel
def find_starts(cells, lengths, starts):
    """Find the first cell of each token, and check that tokens fill their words. `cells`: int32[n], symbols or negative numbers; the last
    cell is `WORD_END`. `lengths`: int32[symbols], from 1 to n. `starts`: output, bool[n], initially False. Returns whether every token is
    inside one word and has its symbol in its last cell.
    """
    at = 0
    while at < len(cells):
        symbol = cells[at]
        if symbol == WORD_END:
            at += 1
            continue
        if symbol < 0 or at + lengths[symbol] >= len(cells):
            return False
        for cell in range(at, at + lengths[symbol]):
            if cells[cell] == WORD_END:
                return False
        starts[at] = True
        at += lengths[symbol]
        if cells[at - 1] != symbol:
            return False
    return True
