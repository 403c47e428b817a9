"""Proof that kernels may run on a state of byte-pair encoding from a file."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from fst.compile.train.merge_state import BY_TEXT, CAREFUL, HEAP, MERGES, NUMBERS, POOL, RECORDS, SIZE, SYMBOLS, TOKENS, WORD_END, Merging
from fst.errors import VocabularyError
from fst.jit import Deferred
from fst.merge_list import EMPTY

find_starts = Deferred("fst.compile.train.merge_start", "find_starts")


def prove(state: Merging) -> None:
    """Raise an error if an index is out of range, or if tokens do not fill their words.

    Raises:
        VocabularyError: the message names the array.
    """
    for checks in (_lengths, _numbers_in_range, _positions):
        for name, holds in checks(state):
            if not holds:
                raise VocabularyError(f"{name} of the checkpoint is out of range; the file is damaged; remove it and start again")


def _lengths(state: Merging) -> Iterator[tuple[str, bool]]:
    """Whether the lengths of the arrays fit together."""
    yield "numbers", len(state.numbers) == NUMBERS and bool(np.all(state.numbers[: MERGES + 1] >= 0))
    numbers = state.numbers
    room, records = len(state.made), len(state.keys)
    yield "size", int(numbers[TOKENS]) <= int(numbers[SIZE]) < room
    yield "made", len(state.left) == len(state.right) == len(state.touched) == 2 * room and len(state.heads) == room
    symbols = len(state.lengths)
    yield "lengths", symbols >= room and len(state.ids) == symbols and len(state.firsts) == symbols and int(numbers[SYMBOLS]) <= symbols
    yield "kinds", not numbers[BY_TEXT] or (
        len(state.kinds) >= room and len(state.hashes) >= room and len(state.letters) == len(state.cells)
    )
    yield "others", len(state.others) == symbols or not numbers[CAREFUL]
    yield "records", len(state.records) >= 2 * records and len(state.heap_counts) >= records and len(state.heap_records) >= records
    yield "heap", int(numbers[HEAP]) <= int(numbers[RECORDS]) <= records
    yield "pool", int(numbers[POOL]) <= len(state.pool)
    yield "merges", 3 * int(numbers[MERGES]) <= len(state.merges)
    yield "cells", len(state.cells) == len(state.words) >= 1
    yield "left", not state.left.any() and not state.right.any()
    for name, table in (("pairs", state.pairs), ("suspects", state.suspects)):
        slots = len(table) // 2
        yield name, slots > 0 and slots & (slots - 1) == 0 and bool(np.any(table[::2] == EMPTY))


def _within(array: NDArray[np.integer], least: int, end: int) -> bool:
    return len(array) == 0 or bool(int(array.min()) >= least and int(array.max()) < end)


def _numbers_in_range(state: Merging) -> Iterator[tuple[str, bool]]:
    """Whether all indices in use are within their arrays."""
    numbers = state.numbers
    tokens, symbols, cells = int(numbers[TOKENS]), int(numbers[SYMBOLS]), len(state.cells)
    keys = state.keys[: numbers[RECORDS]]
    yield "cells", _within(state.cells, -2, symbols) and state.cells[0] == state.cells[-1] == WORD_END
    yield "words", _within(state.words, 0, max(len(state.counts), 1))
    yield "ids", _within(state.ids[:symbols], 0, tokens)
    yield "lengths", _within(state.lengths[:symbols], 1, cells + 1)
    yield "firsts", bool(numbers[CAREFUL]) or _within(state.firsts[:symbols], 0, tokens)  # a careful run reads none
    yield "heads", _within(state.heads[:tokens], -1, symbols)
    yield "keys", bool(np.all(keys >> np.uint64(32) < tokens) and np.all(keys & np.uint64(0xFFFFFFFF) < tokens))
    yield "heap", _within(state.heap_records[: numbers[HEAP]], 0, int(numbers[RECORDS]))
    yield "merges", _within(state.merges[: 3 * numbers[MERGES]], 0, tokens)
    yield "records", _within(state.records[: 2 * numbers[RECORDS]], 0, int(numbers[POOL]) + 1)
    yield "pool", _within(state.pool[: numbers[POOL]], 1, cells - 1)
    if numbers[CAREFUL]:
        yield "others", bool(np.all(state.others[:symbols] < np.arange(symbols))) and _within(state.others[:symbols], -1, symbols)
        yield "word_starts", len(state.word_starts) == len(state.counts) and _within(state.word_starts, 1, cells + 1)
        yield "word_starts", bool(np.all(state.cells[state.word_starts - 1] == WORD_END))


def _positions(state: Merging) -> Iterator[tuple[str, bool]]:
    """Whether tokens fill their words, and each position that is not stale is the beginning of a token."""
    starts = np.zeros(len(state.cells), bool)
    yield "cells", bool(find_starts.call(state.cells, state.lengths, starts))
    if state.numbers[CAREFUL]:
        return
    lefts = (state.keys >> np.uint64(32)).astype(np.int64)
    for record in state.heap_records[: state.numbers[HEAP]].tolist():
        places = state.pool[state.records[2 * record] : state.records[2 * record + 1]]
        yield "pool", bool(np.all(starts[places] | (state.cells[places] != lefts[record])))
