"""Properties of machines, with the names and bits of OpenFst."""

from __future__ import annotations

from enum import IntFlag

import numpy as np
from numpy.typing import NDArray

from fst.compile.algebra.arcs import Arcs
from fst.compile.algebra.connect import connect, is_accessible, is_coaccessible
from fst.compile.algebra.shortest import topological_order

# Each property with the bit of its opposite, the next one.
PAIRS = {
    "ACCEPTOR": ("NOT_ACCEPTOR", 16),
    "I_DETERMINISTIC": ("NON_I_DETERMINISTIC", 18),
    "O_DETERMINISTIC": ("NON_O_DETERMINISTIC", 20),
    "EPSILONS": ("NO_EPSILONS", 22),
    "I_EPSILONS": ("NO_I_EPSILONS", 24),
    "O_EPSILONS": ("NO_O_EPSILONS", 26),
    "I_LABEL_SORTED": ("NOT_I_LABEL_SORTED", 28),
    "O_LABEL_SORTED": ("NOT_O_LABEL_SORTED", 30),
    "WEIGHTED": ("UNWEIGHTED", 32),
    "CYCLIC": ("ACYCLIC", 34),
    "INITIAL_CYCLIC": ("INITIAL_ACYCLIC", 36),
    "TOP_SORTED": ("NOT_TOP_SORTED", 38),
    "ACCESSIBLE": ("NOT_ACCESSIBLE", 40),
    "COACCESSIBLE": ("NOT_COACCESSIBLE", 42),
    "STRING": ("NOT_STRING", 44),
    "WEIGHTED_CYCLES": ("UNWEIGHTED_CYCLES", 46),
}
BITS = {"EXPANDED": 0, "MUTABLE": 1, "ERROR": 2}
for _name, (_opposite, _bit) in PAIRS.items():
    BITS |= {_name: _bit, _opposite: _bit + 1}

FstProperties = IntFlag("FstProperties", {name: 1 << bit for name, bit in BITS.items()})  # type: ignore[misc]


def properties_of(arcs: Arcs) -> int:
    """All properties of a machine."""
    sources, accessible = arcs.sources, is_accessible(arcs)
    trimmed = connect(arcs)
    cyclic = topological_order(trimmed) is None
    reads_nothing, writes_nothing = arcs.ilabel == 0, arcs.olabel == 0
    holds = {
        "ACCEPTOR": arcs.is_acceptor,
        "I_DETERMINISTIC": _are_distinct(sources, arcs.ilabel),
        "O_DETERMINISTIC": _are_distinct(sources, arcs.olabel),
        "EPSILONS": (reads_nothing & writes_nothing).any(),
        "I_EPSILONS": reads_nothing.any(),
        "O_EPSILONS": writes_nothing.any(),
        "I_LABEL_SORTED": True,
        "O_LABEL_SORTED": (np.diff(sources.astype(np.int64) << 32 | arcs.olabel) >= 0).all(),
        "WEIGHTED": arcs.is_weighted,
        "CYCLIC": cyclic,
        "INITIAL_CYCLIC": cyclic and (trimmed.target == trimmed.start).any(),
        "TOP_SORTED": (sources < arcs.target).all(),
        "ACCESSIBLE": accessible.all(),
        "COACCESSIBLE": is_coaccessible(arcs).all(),
        "STRING": is_string(arcs),
        "WEIGHTED_CYCLES": cyclic and arcs.weight is not None,
    }
    found = (1 << BITS["EXPANDED"]) | (1 << BITS["MUTABLE"])
    for name, is_true in holds.items():
        found |= 1 << (PAIRS[name][1] + (0 if is_true else 1))
    return found


def is_string(arcs: Arcs) -> bool:
    """Whether a machine is one path: from each state to the next one, of which only the last is final."""
    count = arcs.states
    return (
        arcs.arcs == count - 1
        and arcs.start == 0
        and bool((arcs.sources == np.arange(count - 1)).all() and (arcs.target == np.arange(1, count)).all())
        and bool(np.isfinite(arcs.final[-1]) and not np.isfinite(arcs.final[:-1]).any())
    )


def _are_distinct(sources: NDArray[np.int32], labels: NDArray[np.int32]) -> bool:
    """Whether no state has two arcs with the same label."""
    keys = sources.astype(np.int64) << 32 | labels
    return len(np.unique(keys)) == len(keys)
