"""Parts of kernels over tries of UTF-16 units, see `fst.machines.segmentation.unit_trie`."""

from __future__ import annotations

import numpy as np

from fst.core.jit import inlined
from fst.machines.segmentation import unit_trie

LABEL, STATE = np.uint64(unit_trie.FREE), np.uint64(unit_trie.LEAF)
STATE_SHIFT, VALUE_SHIFT, KIND_SHIFT = (np.uint64(n) for n in (unit_trie.STATE_SHIFT, unit_trie.VALUE_SHIFT, unit_trie.KIND_SHIFT))
ROOT, LEAF = np.uint64(unit_trie.ROOT), np.uint64(unit_trie.LEAF)


@inlined
def state_of(entry):
    """Where a walk goes on after an entry, or `LEAF`."""
    return entry >> STATE_SHIFT & STATE


@inlined
def value_of(entry):
    """The value of the word that ends with an entry; 0 for none."""
    return entry >> VALUE_SHIFT


@inlined
def label_of(machine, unit):
    """The label of a unit."""
    return np.uint64(machine.units[unit]) & LABEL


@inlined
def kind_of(machine, unit):
    """The kind of a unit."""
    return np.uint64(machine.units[unit]) >> KIND_SHIFT
