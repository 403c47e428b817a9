"""Check that kernels can safely run on a state of byte-pair encoding from a checkpoint file.

Anyone can write a checkpoint with the right digests, and kernels check no indices. So `prove` checks all assumptions of the kernels:

- All parts of the state that a run never changes are equal to the same parts of the first state: words, counts, limits, and strings known
  before training.
- The tokens of each word fill the word without gaps, and no token is longer than the longest word. Outside careful runs, each token in
  words and pairs is a single symbol or the result of a merge. No later merge makes the same token, so the token's length does not change.
- The records in the queue are distinct. The blocks of records in `pool` are ascending and do not overlap. Outside careful runs, a position
  whose cell contains the left token of its pair is the beginning of this token.
- Hash tables have enough free slots for all insertions before they are enlarged. Linked lists of symbols have no cycles.

Counts are not checked: wrong counts only change the order of merges.

Example: the words "abab" and "cab" with a = 0, b = 1, c = 2, after the merge of a and b into 3, see `fst.compile.train.merges.step`. `|` is
`WORD_END`::

    index of cell                 0  1  2  3  4  5  6  7  8  9
    cells                         |  3  3  3  3  |  2  3  3  |       lengths 1, 1, 1, 2
    beginnings of tokens             1     3        6  7             found by `find_starts`, which needs whole tokens between `|`
    positions of (b, a)                 2                            cell 2 is 3, not b: stale, so it may be inside of a token
    positions of (c, ab)                            6                cell 6 is c: it must be a beginning, and it is

If cell 3 were 0, the word would be "ab", "a" and half of "ab", so the state is refused. So is the position 4 of a pair (ab, ab): cell 4 is
ab, but no beginning, and a kernel would read past the word.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fst.compile.train.merges.merging import (
    ASK,
    BY_TEXT,
    CAREFUL,
    FLOOR,
    HAS_PAIRS,
    HEAP,
    KNOWN,
    LEAST,
    LONGEST,
    MERGES,
    NONE,
    NUMBERS,
    POOL,
    QUEUED,
    RECORDS,
    SIZE,
    SPACE,
    SYMBOLS,
    TIES,
    TOKENS,
    USED,
    WORD_END,
    Merging,
)
from fst.core.jit import Deferred
from fst.errors import VocabularyError
from fst.machines.bpe.merge_list import EMPTY

find_starts = Deferred("fst.compile.train.merges.start", "find_starts")

FIXED = [SIZE, LONGEST, CAREFUL, TIES, SPACE, FLOOR]  # numbers that a run never changes
Checks = Iterator[tuple[str, bool]]  # the name of an array, and whether the array passed the check


def prove(state: Merging, first: Merging) -> None:
    """Raise an error if kernels cannot safely run on a state from a file. `first`: the first state of the run."""
    if len(state.numbers) != NUMBERS:
        raise VocabularyError("the checkpoint is of another version of fst; expected one of this version; remove it and start again")
    for checks in (_fixed_parts, _numbers, _lengths, _tables, _indices, _merges, _records):
        for name, holds in checks(state, first):
            if not holds:
                raise VocabularyError(f"{name} of the checkpoint is out of range; the file is damaged; remove it and start again")
    starts = np.zeros(len(state.cells), bool)
    if not find_starts.call(state.cells, state.lengths, starts) or not _are_starts(state, starts):
        raise VocabularyError("cells of the checkpoint is not made of whole tokens; the file is damaged; remove it and start again")


def longest_word(cells: NDArray[np.int32]) -> int:
    """The number of cells of the longest word, at least 1."""
    return int(max(np.diff(np.flatnonzero(cells == WORD_END)).max(initial=0) - 1, 1))


def _fixed_parts(state: Merging, first: Merging) -> Checks:
    """Check that the arrays that a run never changes are equal to the arrays of the first state."""
    yield "numbers", np.array_equal(state.numbers[FIXED], first.numbers[FIXED])
    for name in ("words", "word_starts", "counts", "letters", *([] if state.numbers[TIES] == BY_TEXT else ["suspects"])):
        yield name, np.array_equal(getattr(state, name), getattr(first, name))
    yield "cells", np.array_equal(state.cells == WORD_END, first.cells == WORD_END)


def _numbers(state: Merging, first: Merging) -> Checks:
    """Check that the entries of `numbers` are possible in a state between two rounds."""
    numbers = state.numbers
    yield "numbers", bool(np.all(numbers[: MERGES + 1] >= 0) and first.numbers[TOKENS] <= numbers[TOKENS] <= numbers[SIZE])
    yield "numbers", bool(numbers[HAS_PAIRS] == 1 and numbers[KNOWN] == ASK and numbers[LEAST] >= numbers[FLOOR])
    if numbers[CAREFUL] or numbers[TIES] == BY_TEXT:  # these runs never count pairs again
        yield "numbers", bool(numbers[LEAST] == numbers[FLOOR])
    if not numbers[CAREFUL]:
        yield "numbers", bool(numbers[SYMBOLS] == numbers[TOKENS])


def _lengths(state: Merging, first: Merging) -> Checks:
    """Check that the lengths of the arrays are consistent with each other."""
    numbers = state.numbers
    capacity, records, symbols = len(first.made), len(state.keys), len(state.lengths)
    for name, size in [("made", capacity), ("heads", capacity), *((name, 2 * capacity) for name in ("left", "right", "touched"))]:
        yield name, len(getattr(state, name)) == size
    yield "lengths", capacity <= symbols and numbers[SYMBOLS] <= symbols
    for name in ("ids", "firsts", *(["others"] if numbers[CAREFUL] else [])):
        yield name, len(getattr(state, name)) == symbols
    for name in ("kinds", "hashes"):
        yield name, len(getattr(state, name)) == len(getattr(first, name))
    yield "records", len(state.records) >= 2 * records
    for name in ("heap_counts", "heap_records"):
        yield name, len(getattr(state, name)) == records
    yield "heap", bool(numbers[HEAP] <= numbers[QUEUED] <= numbers[RECORDS] <= records)
    yield "pool", bool(numbers[POOL] <= len(state.pool))
    yield "merges", bool(numbers[MERGES] <= len(state.merges) // 3)
    for name in ("left", "right"):
        yield name, not getattr(state, name).any()


def _tables(state: Merging, first: Merging) -> Checks:
    """Check that hash tables have enough free slots for the kernels."""
    slots = len(state.pairs) // 2
    yield "pairs", slots > 0 and slots & (slots - 1) == 0 and len(state.pairs) == 2 * slots
    used = int(np.count_nonzero(state.pairs[::2] != EMPTY))
    yield "pairs", used == state.numbers[USED] and used < slots
    if state.numbers[TIES] == BY_TEXT:
        yield "suspects", len(state.suspects) == len(first.suspects)
        yield "suspects", bool(np.count_nonzero(state.suspects[::2] != EMPTY) <= state.numbers[MERGES])


def _within(array: NDArray[np.integer], least: int, end: int) -> bool:
    return len(array) == 0 or bool(int(array.min()) >= least and int(array.max()) < end)


def _indices(state: Merging, first: Merging) -> Checks:
    """Check that all indices in use are within their arrays."""
    tokens, symbols, size = int(state.numbers[TOKENS]), int(state.numbers[SYMBOLS]), len(state.cells)
    yield "cells", _within(state.cells, -2, symbols)
    yield "ids", _within(state.ids[:symbols], 0, tokens)
    yield "lengths", _within(state.lengths[:symbols], 1, longest_word(first.cells) + 1)
    yield "heap", _within(state.heap_records[: state.numbers[QUEUED]], 0, int(state.numbers[RECORDS]))
    yield "pool", _within(state.pool[: state.numbers[POOL]], 1, size - 1)
    lefts, rights = _parts(state)
    yield "keys", _within(lefts, 0, tokens) and _within(rights, 0, tokens)
    if not state.numbers[CAREFUL]:
        yield "firsts", _within(state.firsts[:symbols], 0, tokens)
        return
    heads, others, ids = state.heads, state.others[:symbols], state.ids
    yield "heads", _within(heads, NONE, symbols) and bool(np.all(heads[tokens:] == NONE))
    yield "heads", bool(np.all(ids[heads[heads >= 0]] == np.flatnonzero(heads >= 0)))
    yield "others", _within(others, NONE, symbols) and bool(np.all(others < np.arange(symbols)))
    yield "others", bool(np.all(ids[others[others >= 0]] == ids[:symbols][others >= 0]))


def _parts(state: Merging) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The ids of the left and the right token of each record."""
    keys = state.keys[: state.numbers[RECORDS]]
    return (keys >> np.uint64(32)).astype(np.int64), (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)


def _merges(state: Merging, first: Merging) -> Checks:
    """Check that each merge joins two earlier ids into the next id or an earlier id, and that tokens are made before they are merged."""
    count, tokens, before = int(state.numbers[MERGES]), int(state.numbers[TOKENS]), int(first.numbers[TOKENS])
    merges = state.merges[: 3 * count].reshape(-1, 3)
    ends = np.maximum.accumulate(np.append(before, merges[:, 2] + np.int64(1)))  # number of ids before each merge, and at the end
    yield "merges", bool(np.all((merges >= 0) & (merges < ends[:-1, None] + [0, 0, 1]))) and ends[-1] == tokens
    if state.numbers[TIES] == BY_TEXT:
        yield "merges", count == tokens - before
    if state.numbers[CAREFUL]:
        return
    exists = np.zeros(tokens, bool)
    exists[first.cells[first.cells >= 0]] = exists[merges[:, 2]] = True
    yield "cells", bool(np.all(exists[state.cells[state.cells >= 0]]))
    yield "keys", all(bool(np.all(exists[part])) for part in _parts(state))


def _records(state: Merging, first: Merging) -> Checks:
    """Check that the records of the queue are distinct, and that the blocks of all records are ascending and do not overlap."""
    bounds, heap = state.records[: 2 * state.numbers[RECORDS]], state.heap_records[: state.numbers[QUEUED]]
    begins, ends = bounds[::2], bounds[1::2]
    yield "heap", len(np.unique(heap)) == len(heap)
    yield "records", _within(bounds, 0, int(state.numbers[POOL]) + 1)
    yield "records", bool(np.all(begins < ends) and np.all(ends[:-1] <= begins[1:]))
    falls = np.flatnonzero(state.pool[1 : state.numbers[POOL]] <= state.pool[: max(state.numbers[POOL] - 1, 0)])
    yield "pool", bool(np.all(np.searchsorted(falls, begins[heap]) == np.searchsorted(falls, ends[heap] - 1)))
    if not state.numbers[CAREFUL]:
        sizes = sum(state.lengths[part[heap]].astype(np.int64) for part in _parts(state))
        yield "pool", bool(np.all(state.pool[begins[heap]] + sizes <= len(first.cells)))


def _are_starts(state: Merging, starts: NDArray[np.bool_]) -> bool:
    """Whether all positions with unchanged cells are beginnings of tokens. True in careful runs, which use positions only to find words."""
    if state.numbers[CAREFUL]:
        return True
    bounds = state.records[: 2 * state.numbers[RECORDS]]
    lefts = np.full(len(bounds), NONE, np.int32)  # for each block, `NONE` for the dropped positions before it, and its left token
    lefts[1::2] = _parts(state)[0]
    lefts = np.repeat(lefts, np.diff(bounds, prepend=0))
    places = state.pool[: len(lefts)]
    return bool(np.all(starts[places] | (state.cells[places] != lefts)))
