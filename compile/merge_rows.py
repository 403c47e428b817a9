"""Lay out the automaton of a merge list as rows of entries that are displaced into each other, in the form of `fst.merging`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fst.compile.item_sets import States
from fst.compile.merges import Spelled
from fst.errors import UnsupportedError
from fst.jit import Deferred
from fst.merging import FINISH, FREE, LABEL_SHIFT, LABELS, MAX_LENGTH, MAX_SLOTS, ROOT, ROW
from fst.trie import Ints

ODD = np.uint64(0x9E3779B97F4A7C15)
WORDS_AT_A_TIME, WORD_BITS = 8, 64
KIND_BITS = 4
place, count_visits = Deferred("fst.compile.displacement", "place"), Deferred("fst.compile.closure", "count_visits")


@dataclass(frozen=True, eq=False)
class MergeRows:
    """The arrays of `fst.merging`.

    Attributes:
        entries: uint32[slots].
        lengths: uint16[highest id + 1].
        depths: uint16[states], in the order of their slots.
        slots: int64[states], the slot of each state.
    """

    entries: NDArray[np.uint32]
    lengths: NDArray[np.uint16]
    depths: NDArray[np.uint16]
    slots: Ints


def lay_out(tokens: Spelled, states: States) -> MergeRows:
    """Lay out the rows.

    Raises:
        UnsupportedError: the rows take more slots than an entry can name.
    """
    starts, labels, targets = _with_whole_root(states)
    kept = labels < LABELS
    starts, labels, targets = np.append(0, np.cumsum(kept))[starts], labels[kept], targets[kept]
    slots = _place(starts, labels, _order(tokens, states))
    size = int(slots.max()) + ROW
    if size > MAX_SLOTS:
        raise UnsupportedError(f"the automaton of these merges takes {size} slots: a table has room for {MAX_SLOTS}")
    entries = np.full(size, FREE)
    sources = np.repeat(slots, np.diff(starts))
    entries[sources + 1 + labels] = labels << LABEL_SHIFT | slots[targets]
    ids = tokens.ids[states.last]
    ids[ROOT] = 0
    entries[slots] = FINISH << LABEL_SHIFT | ids
    lengths = np.zeros(int(tokens.ids.max()) + 1, np.uint16)
    lengths[tokens.ids] = tokens.lengths
    depths = np.minimum(states.depths[np.argsort(slots)], MAX_LENGTH).astype(np.uint16)
    return MergeRows(entries, lengths, depths, slots)


def _with_whole_root(states: States) -> tuple[Ints, Ints, NDArray[np.int32]]:
    """The transitions, the root's completed to one for every label. Bytes that are no token, which no text has, lead where byte 0 leads."""
    held = int(states.starts[1])
    labels = states.labels.astype(np.int64)
    lacking = np.setdiff1d(np.arange(LABELS), labels[:held])
    to = states.targets[:held][labels[:held] == 0]
    starts = states.starts.astype(np.int64)
    starts[1:] += len(lacking)
    return starts, np.concatenate([lacking, labels]), np.concatenate([np.repeat(to, len(lacking)), states.targets])


def _order(tokens: Spelled, states: States) -> Ints:
    """The states in the order in which their rows are placed: the root, then by expected visits, the most first, and then long rows first.

    The visits of a state are estimated by the tokens that pass it, each weighted by Zipf's law: low ids are frequent tokens.
    """
    visits = np.zeros(len(states.last))
    weights = 1 / (1.0 + tokens.ids)
    of_states = states.starts, states.labels, states.targets
    count_visits.call(tokens.symbols, tokens.starts, tokens.lengths, weights, *of_states, visits)
    visits[ROOT] = np.inf
    return np.lexsort((-np.diff(states.starts), -visits))


def _place(starts: Ints, labels: Ints, order: Ints) -> Ints:
    """A slot for every state."""
    bases = np.empty(len(order), np.int64)
    shapes = _shapes(starts, labels)
    tried, free = np.zeros(int(shapes.max()) + 1, np.int64), np.empty(WORDS_AT_A_TIME, np.uint64)
    room = len(labels) + len(order) + 2 * ROW
    while True:
        room *= 2
        occupied = np.zeros((room + 2 * ROW) // WORD_BITS + WORDS_AT_A_TIME + 4, np.uint64)
        tried[:] = 0
        if place.call(order, starts, 1 + labels, shapes, bases, occupied, tried, free) >= 0:
            return bases


def _shapes(starts: Ints, labels: Ints) -> Ints:
    """A number for each state: the length of its row, and `KIND_BITS` of a hash, equal for rows with the same labels.

    Rows with the same number are placed from left to right, each search going on where the last one ended, though the rows may differ. This
    misses a few free slots, and saves time: o200k takes 2 s and 12.4 million slots, instead of 9 s and 11.8 million.
    """
    powers = np.cumprod(np.full(LABELS, ODD))  # a random number a label
    before = np.append(np.uint64(0), np.cumsum(powers[labels]))
    kinds = (before[starts[1:]] - before[starts[:-1]]) * ODD >> np.uint64(64 - KIND_BITS)
    shapes: Ints = np.diff(starts) << KIND_BITS | kinds.astype(np.int64)
    return shapes
