"""Functions of kernels that read a trie over UTF-16 units, see `fst.machines.segmentation.unit_trie`."""

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
    """Return the state that an entry leads to; `LEAF` for a state without transitions."""
    return entry & STATE


@inlined
def value_of(entry):
    """Return the value of the word that ends with an entry; 0 if no word ends there."""
    return entry >> VALUE_SHIFT & VALUE


@inlined
def leads(entry, label):
    """Whether an entry belongs to the transition on a label, and not to a different transition."""
    return entry >> LABEL_SHIFT == label


@inlined
def label_of(table, unit):
    """Return the label of a unit, which is the unit's number in the trie."""
    return np.uint64(table.units[unit]) & LABEL


@inlined
def kind_of(table, unit):
    """Return the kind of a unit, such as `fst.machines.segmentation.jieba.LETTER`."""
    return np.uint64(table.units[unit]) >> KIND_SHIFT
