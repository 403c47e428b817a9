"""The arguments of the kernels of the best path: the arrays of a table, and the working arrays of a thread."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fst.automata.rows import Array

BYTES = 256
LAYERS, ITEMS, BACKS, CLOCK, START = range(5)  # indices into `Work.counts`
ROW, FILLED, AT, STATE, REPORT = PLACE = range(5)  # indices in a place, see `fst.runtime.machines.best_path.kernels.rewriting`
DEAD, FIRST = 1, 2  # numbers of two layers: the layer without states; the first other layer
MIN_LAYERS, MIN_ITEMS, MIN_BACKS, MIN_TRAIL = 1 << 13, 1 << 20, 1 << 21, 1 << 18
MAX_GROWTH = 1 << 5
DONE, FULL, NEEDS_OUTPUT, NO_PATH, TOO_WIDE = range(5)  # results of the kernel


class Arguments(NamedTuple):
    """The arrays of a table, see `fst.machines.best_path.table.BestPathTable`, and two scalars:

    Attributes:
        start: uint64[1], the first state.
        copies: bool[1], whether texts without a path are copied.
    """

    row_start: Array
    labels: Array
    targets: Array
    weights: Array
    outputs: Array
    finals: Array
    string_bytes: Array
    string_ends: Array
    start: Array
    copies: Array


class Work(NamedTuple):
    """The working arrays of one thread. The arrays keep layers from call to call.

    A *layer* has an *item* for each of its states. The *back* of an item is ``item before 32 | arc 32``, from the highest bit: the last arc
    of the best path to the item, and the item before this arc, numbered from 0 in its layer. The item before the arc is in the same layer
    if the arc reads nothing, else in the layer before.

    Attributes:
        counts: uint64[5]. `LAYERS`, `ITEMS`, `BACKS`: the numbers of layers, items and backs in use. `CLOCK`: the number of layers that
            were made so far, which marks elements of `stamps` and `marks` as current. `START`: the entry of `moves` for the layer at the
            start of a text; 0 if this layer does not exist yet.
        moves: uint64[256 * layers], for each layer and byte the next layer and its first back, ``layer 32 | index into backs 32``; 0 if the
            next layer is not known yet.
        begins: uint32[layers + 1], the first item of each layer.
        ends: uint32[layers], for each layer, 1 + the item at which the best path ends if the text ends in this layer; 0 if no path ends
            there.
        hashes: uint64[layers]; table: uint32[2 * layers], the layers by their hashes, 0 for free slots.
        states: uint32[items], the state of each item; weights: int64[items], its weight minus the least weight of its layer.
        backs: uint64[backs], the backs of the items of a layer, for each move to this layer.
        trail: uint32[bytes], for each byte of the current text after the last certain item, the index of the first back of the byte's
            layer.
        stamps, marks: uint64[states], see `CLOCK`; slots: uint32[states], the item of each state that is marked in `stamps`.
        fresh: uint64[states], for each state, the back in the layer that is being made.
        queue: uint32[n], n a power of two; is_waiting: uint8[states], whether the item of each state is in the queue.
    """

    counts: Array
    moves: Array
    begins: Array
    ends: Array
    hashes: Array
    table: Array
    states: Array
    weights: Array
    backs: Array
    trail: Array
    stamps: Array
    marks: Array
    slots: Array
    fresh: Array
    queue: Array
    is_waiting: Array


def work_of(states: int, growth: int = 1) -> Work:
    """Allocate the working arrays for a number of states; `growth` multiplies the sizes of arrays that grow with texts."""
    layers, items = MIN_LAYERS * growth, max(MIN_ITEMS, 4 * states) * growth
    work = Work(
        counts=np.zeros(5, np.uint64),
        moves=np.zeros(BYTES * layers, np.uint64),
        begins=np.zeros(layers + 1, np.uint32),
        ends=np.zeros(layers, np.uint32),
        hashes=np.zeros(layers, np.uint64),
        table=np.zeros(2 * layers, np.uint32),
        states=np.empty(items, np.uint32),
        weights=np.empty(items, np.int64),
        backs=np.empty(max(MIN_BACKS, 8 * states) * growth, np.uint64),
        trail=np.empty(MIN_TRAIL * growth, np.uint32),
        stamps=np.zeros(states, np.uint64),
        marks=np.zeros(states, np.uint64),
        slots=np.empty(states, np.uint32),
        fresh=np.empty(states, np.uint64),
        queue=np.empty(1 << states.bit_length(), np.uint32),
        is_waiting=np.zeros(states, np.uint8),
    )
    work.counts[LAYERS] = FIRST
    return work
