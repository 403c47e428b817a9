"""Arrays that kernels fill: rows of new machines and tables of keys, which grow up to a cap."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.automata.hashing import hashes_of, longer, slots_of
from fst.compile.algebra.arcs import Arcs
from fst.errors import UnsupportedError

# Indices into `counts`, int64[5]: the numbers of things that a builder has made so far. A builder that is called again continues after the
# last complete state. `STATES` is also `fst.automata.kernels.hashing.ITEMS`.
STATES, ARCS, DONE, MEMBERS, BUFFER = range(5)
# Results of a builder.
COMPLETE, MORE_STATES, MORE_ARCS, MORE_MEMBERS, MORE_BUFFER, MORE_STEPS = range(6)
# Kinds of states of the first machine of a composition, by their arcs that write nothing; 0: there are no such arcs.
SOME_EPSILON, ONLY_EPSILON = 1, 2

MAX_STATES = 1 << 23
MAX_ARCS = 1 << 24  # also the limit for members of all sets of states; an arc takes 16 bytes, and another 16 while copied
REMEDY = "apply it to smaller machines, or to their optimize()"


class SizeError(UnsupportedError):
    """A machine is too large.

    Attributes:
        fault, remedy: the parts of the message, for callers that read a file.
    """

    def __init__(self, fault: str, remedy: str) -> None:
        super().__init__(f"{fault}; {remedy}")
        self.fault, self.remedy = fault, remedy


class Rows(NamedTuple):
    """The arcs of a machine for a kernel, as in `Arcs`."""

    row_start: NDArray[np.int64]
    ilabel: NDArray[np.int32]
    olabel: NDArray[np.int32]
    target: NDArray[np.int32]
    weight: NDArray[np.float32]


@contextmanager
def of_file(path: Path) -> Iterator[None]:
    """Add the file to the message of a `SizeError`, and replace the remedy for a machine by the remedy for a dictionary."""
    try:
        yield
    except SizeError as error:
        remedy = "split the dictionary" if error.remedy == REMEDY else error.remedy
        raise UnsupportedError(f"{path}: {error.fault}; {remedy}") from None


def rows_of(arcs: Arcs) -> Rows:
    """The arcs of a machine."""
    return Rows(arcs.row_start, arcs.ilabel, arcs.olabel, arcs.target, arcs.weights)


def empty_rows(states: int, arcs: int) -> Rows:
    """Room for the rows of a new machine."""
    labels = (np.empty(arcs, np.int32) for _ in range(3))
    return Rows._make([np.zeros(states + 1, np.int64), *labels, np.empty(arcs, np.float32)])


def counters() -> NDArray[np.int64]:
    """The counters of a builder, all 0."""
    return np.zeros(5, np.int64)


def grown(array: NDArray[Any], cap: int, what: str, counts: NDArray[np.int64], operation: str) -> NDArray[Any]:
    """A copy of an array with twice the length, at most `cap`.

    Args:
        array: the array to copy; zeros follow its elements.
        cap: the largest length of the copy.
    """
    if len(array) >= cap:
        made = f"{counts[STATES]:,} states and {counts[ARCS]:,} arcs"
        raise SizeError(f"the {operation} has {made} so far; expected at most {cap:,} {what}", REMEDY)
    return longer(array, min(2 * len(array), cap))


def more_states(
    keys: NDArray[np.int64], rows: Rows, counts: NDArray[np.int64], operation: str
) -> tuple[NDArray[np.int64], NDArray[np.int32], Rows]:
    """Twice the room for states: keys, the table of their numbers, and rows."""
    keys = grown(keys, MAX_STATES, "states", counts, operation)
    slots = slots_of(hashes_of(keys[: counts[STATES]]), 1 << (2 * len(keys) - 1).bit_length())
    return keys, slots, rows._replace(row_start=longer(rows.row_start, len(keys) + 1))


def more_arcs(rows: Rows, counts: NDArray[np.int64], operation: str) -> Rows:
    """Twice the room for arcs."""
    return Rows._make([rows.row_start, *(grown(column, MAX_ARCS, "arcs", counts, operation) for column in rows[1:])])
