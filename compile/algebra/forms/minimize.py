"""Minimization, and the optimization of machines by ε-removal, determinization and minimization."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.compile.algebra.arcs import Arcs
from fst.compile.algebra.connect import connect, grouped, incoming
from fst.compile.algebra.forms.determinize import determinize, encoded, is_deterministic
from fst.compile.algebra.shortest import push

QUANTA = 2.0**17  # weights are equal if they are equal in units of 2⁻¹⁷


class _Partition(NamedTuple):
    """See the kernel."""

    elements: NDArray[np.int64]
    place: NDArray[np.int32]
    set_of: NDArray[np.int32]
    first: NDArray[np.int32]
    end: NDArray[np.int32]
    marked: NDArray[np.int32]
    touched: NDArray[np.int32]
    counts: NDArray[np.int64]


def minimize(arcs: Arcs) -> Arcs:
    """The deterministic machine with the fewest states; see `determinize`. Weights are pushed towards the start."""
    arcs = push(arcs if is_deterministic(arcs) else determinize(arcs))
    return _merged(arcs, _arc_labels(arcs)) if arcs.states else arcs


def merge_states(arcs: Arcs) -> Arcs:
    """The trimmed machine with states merged that have the same arcs. It has the same paths, and never more states, also where
    determinization would be too large.

    Arcs that read and write nothing count as other arcs. The arcs of a state with the same labels are distinguished by their order, so some
    states with the same paths are not merged.
    """
    arcs = connect(arcs)
    if not arcs.states:
        return arcs
    labels, sources = _arc_labels(arcs).astype(np.int64), arcs.sources
    order = np.lexsort((arcs.target, labels, sources))
    firsts = np.flatnonzero(np.diff(sources[order], prepend=-1) | np.diff(labels[order], prepend=-1))
    ranks = np.empty(arcs.arcs, np.int64)
    ranks[order] = np.arange(arcs.arcs) - np.repeat(firsts, np.diff(firsts, append=arcs.arcs))
    return _merged(arcs, np.unique(labels << 32 | ranks, return_inverse=True)[1].astype(np.int32))


def _merged(arcs: Arcs, labels: NDArray[np.int32]) -> Arcs:
    """The machine with equivalent states merged. No state has two arcs with the same number in `labels`, and all states are trimmed."""
    blocks = _blocks(arcs, labels)
    representatives, numbers = first_of(blocks)
    kept = np.zeros(arcs.states, np.bool_)
    kept[representatives] = True
    kept_arcs = kept[arcs.sources]
    counts = np.diff(arcs.row_start)[representatives]
    weight = arcs.weights[kept_arcs]
    return Arcs(
        np.concatenate([[0], np.cumsum(counts)]),
        arcs.ilabel[kept_arcs],
        arcs.olabel[kept_arcs],
        numbers[arcs.target[kept_arcs]],
        weight if weight.any() else None,
        arcs.final[representatives],
        int(numbers[arcs.start]),
        arcs.symbols,
        arcs.unit,
    )


def first_of(blocks: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The first state of each block, ascending; and int32[states], the number of its block in this order."""
    _, first, of_state = np.unique(blocks, return_index=True, return_inverse=True)
    order = np.argsort(first)
    ranks = np.empty(len(order), np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return first[order], ranks[of_state]


def _blocks(arcs: Arcs, labels: NDArray[np.int32]) -> NDArray[np.int32]:
    """int32[states], the block of equivalent states of each state."""
    from fst.compile.algebra.kernels.minimize import refine

    finals = np.unique(_quantized(arcs.final), return_inverse=True)[1].astype(np.int32)
    blocks, cords = partition(finals), partition(labels)
    refine(blocks, cords, arcs.sources, *incoming(arcs))
    return blocks.set_of


def _arc_labels(arcs: Arcs) -> NDArray[np.int32]:
    """int32[arcs], a number for each pair of labels and weight."""
    labels = encoded(arcs).labels
    if arcs.weight is None:
        return labels
    weights = np.unique(_quantized(arcs.weight), return_inverse=True)[1]
    numbers: NDArray[np.int32] = np.unique(labels.astype(np.int64) << 32 | weights, return_inverse=True)[1].astype(np.int32)
    return numbers


def _quantized(weights: NDArray[np.float32]) -> NDArray[np.float64]:
    return np.floor(weights.astype(np.float64) * QUANTA + 0.5)


def partition(keys: NDArray[np.int32]) -> _Partition:
    """The partition of indices by key; keys without indices have no set."""
    starts, order = grouped(keys, int(keys.max(initial=0)) + 1)
    first, end = (column[np.diff(starts) > 0].astype(np.int32) for column in (starts[:-1], starts[1:]))
    sets = len(first)
    place = np.empty(len(keys), np.int32)
    place[order] = np.arange(len(keys), dtype=np.int32)
    set_of = np.empty(len(keys), np.int32)
    set_of[order] = np.repeat(np.arange(sets, dtype=np.int32), end - first)
    room = [np.zeros(len(keys) + 1, np.int32) for _ in range(4)]
    room[0][:sets], room[1][:sets] = first, end
    return _Partition._make([order, place, set_of, *room, np.array([sets, 0])])


def optimize(arcs: Arcs) -> Arcs:
    """A smaller machine with the same paths: without ε-arcs, deterministic and minimal, each pair of labels counting as one label."""
    return minimize(arcs)
