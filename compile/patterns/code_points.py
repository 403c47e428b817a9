"""Sets of code points as sorted arrays of edges, and the classes of code points that these sets distinguish."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CODE_POINTS

# int64[n], ascending: a code point is in the set if an odd number of edges are at or below it. Edges are stored instead of members, because
# a set has few runs but many members.
Set = NDArray[np.int64]

SURROGATES = (0xD800, 0xDFFF)
EMPTY: Set = np.empty(0, np.int64)


def of_runs(runs: Iterable[tuple[int, int]]) -> Set:
    """Make a set from runs (first and last code point), in any order; the runs may overlap.

    >>> of_runs([(98, 99), (97, 97), (65, 66)]).tolist()
    [65, 67, 97, 100]
    """
    edges: list[int] = []
    for first, last in sorted(runs):
        if edges and first <= edges[-1]:
            edges[-1] = max(edges[-1], last + 1)
        else:
            edges += (first, last + 1)
    return np.array(edges, np.int64)


def of_text(text: Iterable[str]) -> Set:
    """Make the set of the given characters."""
    return of_runs((ord(char), ord(char)) for char in text)


def has(edges: Set, codes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """bool[n], for each of the given code points, whether it is in the set."""
    inside: NDArray[np.bool_] = np.searchsorted(edges, codes, side="right") % 2 == 1
    return inside


def union(*sets: Set) -> Set:
    """The code points in at least one of the sets."""
    if len(sets) < 2:
        return sets[0] if sets else EMPTY
    return _combined(sets, np.logical_or)


def intersection(*sets: Set) -> Set:
    """The code points in all of the sets."""
    return sets[0] if len(sets) == 1 else _combined(sets, np.logical_and)


def complement(edges: Set) -> Set:
    """The code points that are not in a set."""
    if not len(edges):
        return np.array([0, CODE_POINTS], np.int64)
    begin, end = int(edges[0] == 0), len(edges) - int(edges[-1] == CODE_POINTS)
    return np.concatenate([[0][begin:], edges[begin:end], [CODE_POINTS][len(edges) - end :]]).astype(np.int64)


def difference(edges: Set, other: Set) -> Set:
    """The code points of a set that are not in another set."""
    return intersection(edges, complement(other))


def members(edges: Set) -> NDArray[np.int64]:
    """The code points of a set, ascending."""
    return np.concatenate([EMPTY, *(np.arange(first, end) for first, end in edges.reshape(-1, 2).tolist())])


def _combined(sets: Sequence[Set], operation: np.ufunc) -> Set:
    edges = _distinct(np.concatenate(sets))
    inside = operation.reduce([has(each, edges) for each in sets])
    return edges[inside != np.concatenate([[False], inside[:-1]])] if len(edges) else edges


def _distinct(edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """The distinct values, ascending. `numpy.unique` would import `numpy.ma`, which takes a fifth of the time of NumPy itself."""
    ordered = np.sort(edges)
    found: NDArray[np.int64] = ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]
    return found


@dataclass(frozen=True, eq=False)
class Classes:
    """Classes of code points, numbered in the order of their first code points.

    Attributes:
        starts: int64[runs], the first code point of each run, from 0.
        numbers: int64[runs], the class of each run.
        held: bool[sets, classes], whether each set contains each class.
    """

    starts: NDArray[np.int64]
    numbers: NDArray[np.int64]
    held: NDArray[np.bool_]

    @classmethod
    def of(cls, sets: Sequence[Set]) -> Classes:
        """Divide code points into classes: two code points are in the same class if each set contains both or neither.

        Surrogates, which occur in no text, share the class of the code point before them.
        """
        edges = _distinct(np.concatenate([[0, SURROGATES[1] + 1], *sets]).astype(np.int64))
        starts = edges[(edges < CODE_POINTS) & ((edges < SURROGATES[0]) | (edges > SURROGATES[1]))]
        held = np.array([has(each, starts) for each in sets], np.bool_).reshape(len(sets), len(starts))
        return cls(starts, *distinct(held))

    def renumbered(self, numbers: NDArray[np.int64]) -> NDArray[np.uint8]:
        """uint8[0x110000], the new class number of each code point."""
        return np.repeat(numbers.astype(np.uint8)[self.numbers], np.diff([*self.starts, CODE_POINTS]))


def distinct(columns: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """For each column, its index among the distinct columns; and the distinct columns in order of first occurrence.

    >>> numbers, columns = distinct(np.array([[7, 5, 7], [7, 6, 7]]))
    >>> numbers.tolist(), columns.tolist()
    ([0, 1, 0], [[7, 5], [7, 6]])
    """
    seen: dict[bytes, int] = {}
    rows = np.ascontiguousarray(columns.T)
    numbers = np.array([seen.setdefault(row.tobytes(), len(seen)) for row in rows], np.int64)
    return numbers, columns[:, np.unique(numbers, return_index=True)[1]]
