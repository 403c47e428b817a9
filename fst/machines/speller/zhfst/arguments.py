"""The arrays that the kernel of spellers with an error model reads and writes; see `fst.machines.speller.zhfst.table`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fst.automata.hashing import Pool
from fst.automata.rows import Array
from fst.core.fields import Fields, Scalar

NODES = 1 << 12  # capacity for nodes at first
MAX_NODES = 1 << 23  # maximum number of nodes of a search, which take 60 bytes each
MAX_WORD = 1 << 9  # maximum number of symbols of a word
REGISTERS = 1 << 8  # capacity for different registers at first


class Lexicon(NamedTuple):
    """The lexicon, as in the table.

    Attributes:
        starts, labels, targets, weights, finals, distances: see the table.
        operations: uint32[flags + 1]; element 0 is unused.
        features: uint64[1], the number of features.
        characters: uint32[n], the code points of all labels, concatenated.
        character_starts: uint32[labels + 1], the first code point of each label; 0 for ε and flag diacritics.
    """

    starts: Array
    labels: Array
    targets: Array
    weights: Array
    finals: Array
    distances: Array
    operations: Array
    features: Array
    characters: Array
    character_starts: Array


class Model(NamedTuple):
    """An error model, as in the table."""

    starts: Array
    reads: Array
    writes: Array
    targets: Array
    weights: Array
    finals: Array
    distances: Array


class State(Fields):
    """The state of a search."""

    nodes: Scalar  # number of nodes
    heap: Scalar  # number of items in the heap
    found: Scalar  # number of complete strings that were found
    is_full: Scalar  # 1 if an array is too small


class Work(NamedTuple):
    """The working arrays of a search.

    Attributes:
        state: see `State`.
        nodes: uint64[capacity, 2], the two words of each node.
        weights: float32[capacity], the least weight of the paths to each node.
        is_done: uint8[capacity], whether each node was expanded with this weight; and whether it was found, as bits.
        node_slots: int32[2ⁿ], 1 + the node in each slot of a table of hashes, or 0.
        heap: uint64[2 * capacity], a binary heap of nodes: ``0xffffffff - node 32 | bound 32``, from the lowest bit.
        string_keys: int64[capacity], a tree of strings: the key of a string is ``code point 32 | the string without it 32``, from the
            lowest bit. String 0 is empty, and its key is -1.
        string_counts: int64[1], the number of strings.
        string_slots: int32[2ⁿ], as `node_slots`.
        registers: the different registers of features, as rows.
        row: uint16[features], registers that change.
        found: int32[capacity], the nodes of complete strings, in the order in which they were found.
    """

    state: State
    nodes: Array
    weights: Array
    is_done: Array
    node_slots: Array
    heap: Array
    string_keys: Array
    string_counts: Array
    string_slots: Array
    registers: Pool
    row: Array
    found: Array


def work_of(capacity: int, features: int) -> Work:
    """Working arrays for a number of nodes, a power of 2."""
    rows = max(REGISTERS, capacity >> 4)
    return Work(
        State(),
        nodes=np.empty((capacity, 2), np.uint64),
        weights=np.empty(capacity, np.float32),
        is_done=np.empty(capacity, np.uint8),
        node_slots=np.empty(2 * capacity, np.int32),
        heap=np.empty(2 * capacity, np.uint64),
        string_keys=np.full(capacity, -1, np.int64),
        string_counts=np.empty(1, np.int64),
        string_slots=np.empty(2 * capacity, np.int32),
        registers=Pool.of(rows, rows * features, np.uint16),
        row=np.empty(features, np.uint16),
        found=np.empty(capacity, np.int32),
    )


def empty(work: Work) -> None:
    """Remove the nodes, the strings and the registers of the last search."""
    for array in (work.state, work.node_slots, work.string_slots, work.registers.counts, work.registers.slots):
        array[:] = 0
    work.string_counts[:] = 1
