"""Lay out the automaton of a merge list as rows of entries that are displaced into each other, in the form of
`fst.machines.bpe.automaton`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import BYTE_ROW, ROOT
from fst.automata.trie import Ints
from fst.compile.layout.rows import filled, placed
from fst.compile.machines.bpe.canonical import Spelled
from fst.compile.machines.bpe.item_sets import States
from fst.core.jit import Deferred
from fst.machines.bpe.automaton import ENTRY, FINISH, LABELS, MAX_LENGTH

count_visits = Deferred("fst.compile.machines.bpe.closure", "count_visits")


@dataclass(frozen=True, eq=False)
class MergeRows:
    """The arrays of `fst.machines.bpe.automaton`.

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
    slots = placed(ENTRY, starts, labels, _order(tokens, states))
    ids = tokens.ids[states.last]
    ids[ROOT] = 0
    entries = filled(ENTRY, slots, BYTE_ROW, ENTRY.pack(FINISH, ids), "the automaton of these merges")
    entries[np.repeat(slots, np.diff(starts)) + ENTRY.first + labels] = ENTRY.pack(labels, slots[targets])
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
