"""Parts of kernels over tries of UTF-16 units, see `fst.machines.segmentation.unit_trie`."""

from __future__ import annotations

import numpy as np

from fst.automata import rows
from fst.core.jit import inlined
from fst.machines.segmentation import unit_trie
from fst.machines.segmentation.unit_trie import ENTRY

LABEL, STATE, VALUE = np.uint64(unit_trie.FREE), np.uint64(ENTRY.max_target), np.uint64(ENTRY.max_value)
VALUE_SHIFT, LABEL_SHIFT, KIND_SHIFT = np.uint64(ENTRY.value_shift), np.uint64(ENTRY.label_shift), np.uint64(unit_trie.KIND_SHIFT)
ROOT, LEAF = np.uint64(rows.ROOT), np.uint64(unit_trie.LEAF)


@inlined
def state_of(entry):
    """The state after an entry, or `LEAF`."""
    return entry & STATE


@inlined
def value_of(entry):
    """The value of the word that ends with an entry; 0 without a word."""
    return entry >> VALUE_SHIFT & VALUE


@inlined
def leads(entry, label):
    """Whether an entry is the transition on a label."""
    return entry >> LABEL_SHIFT == label


@inlined
def label_of(table, unit):
    """The label of a unit."""
    return np.uint64(table.units[unit]) & LABEL


@inlined
def kind_of(table, unit):
    """The kind of a unit."""
    return np.uint64(table.units[unit]) >> KIND_SHIFT
