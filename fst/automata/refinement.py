"""Equivalent states of deterministic automata."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.core.jit import Deferred

group, refine = (Deferred("fst.automata.kernels.refinement", name) for name in ("group", "refine"))


class Partition(NamedTuple):
    """A partition of the numbers below n into sets.

    Attributes:
        elements: int64[n], the numbers; the numbers of a set are next to each other, its marked numbers first.
        place: int32[n], the place of each number in `elements`; set_of: int32[n], the set of each number.
        first, end: int32[n + 1], the places in `elements` of each set; marked: int32[n + 1], how many numbers of each set are marked.
        touched: int32[n + 1], the sets with marked numbers.
        counts: int64[2], the number of sets, and the number of sets with marked numbers.
    """

    elements: NDArray[np.int64]
    place: NDArray[np.int32]
    set_of: NDArray[np.int32]
    first: NDArray[np.int32]
    end: NDArray[np.int32]
    marked: NDArray[np.int32]
    touched: NDArray[np.int32]
    counts: NDArray[np.int64]

    @classmethod
    def by(cls, keys: NDArray[np.int32]) -> Partition:
        """The partition of the indices of `keys` into sets with equal keys."""
        starts, order = grouped(keys, int(keys.max(initial=0)) + 1)
        has_keys = starts[1:] > starts[:-1]
        first, end = starts[:-1][has_keys].astype(np.int32), starts[1:][has_keys].astype(np.int32)
        sets = len(first)
        place, set_of = np.empty((2, len(keys)), np.int32)
        place[order] = np.arange(len(keys), dtype=np.int32)
        set_of[order] = np.repeat(np.arange(sets, dtype=np.int32), end - first)
        room = np.zeros((4, len(keys) + 1), np.int32)
        room[0, :sets], room[1, :sets] = first, end
        return cls._make([order, place, set_of, *room, np.array([sets, 0])])


def grouped(keys: NDArray[np.int32], groups: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sort indices stably by key. Return int64[groups + 1], the first place of each group; and int64[n], the indices."""
    starts, order = np.zeros(groups + 2, np.int64), np.empty(len(keys), np.int64)
    group.call(keys, starts, order)
    return starts[:-1], order


def classes_of(
    kinds: NDArray[np.int32], sources: NDArray[np.int32], labels: NDArray[np.int32], targets: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The classes of equivalent states. States are equivalent if their kind is the same, and their arcs have the same labels and lead to
    equivalent states.

    Args:
        kinds: int32[states], the kind of each state, from 0, such as whether it is final.
        sources, labels, targets: int32[arcs]; labels are from 0, and no state has two arcs with the same label.

    Returns:
        int64[classes], the first state of each class, ascending; int32[states], the number of the class of each state.

    Examples:
        >>> firsts, numbers = classes_of(*(np.array(column, np.int32) for column in ([0, 1, 1], [0, 0], [7, 8], [1, 2])))
        >>> firsts.tolist(), numbers.tolist()
        ([0, 1], [0, 1, 1])
    """
    blocks = Partition.by(kinds)
    refine.call(blocks, Partition.by(labels), sources, *grouped(targets, len(kinds)))
    _, firsts, of_state = np.unique(blocks.set_of, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    ranks = np.empty(len(order), np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return firsts[order], ranks[of_state]
