"""Entries of a paradigm or a section → arcs.

Entries with the same beginning share arcs, as in a tree. An entry that ends in a paradigm leads into one copy of the paradigm, which all
such entries share; at other positions, a paradigm is copied for each beginning. So two entries share a state only if they continue in the
same way.

>>> entries = Entries(Budget())
>>> entries.add([Arc(ord("a"), ord("x"), 0.0), Arc(ord("b"), 0, 0.0)])
>>> entries.add([Arc(ord("a"), ord("x"), 0.0)])
>>> part = entries.part()
>>> [*zip(part.source.tolist(), part.read.tolist(), part.target.tolist())]
[(0, 97, 2), (2, 98, 1), (0, 97, 1)]
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fst.compile.algebra.arcs import EPSILON, Arcs, make
from fst.errors import UnsupportedError

START, END, INNER = 0, 1, 2  # the first state, the only final state, and the first of the other states
MAX_ARCS = 1 << 20  # maximum for all paradigms and sections together, including copies; Apertium's Hindi dictionary takes 102,611


class Arc(NamedTuple):
    """An arc of an entry."""

    read: int
    write: int
    weight: float


class Part(NamedTuple):
    """A finished machine. No arc enters `START`, and none leaves `END`.

    Attributes:
        source, target, read, write: int32[arcs].
        weight: float32[arcs].
        states: the number of states.
        has_entries: whether there is an entry; if not, entries that contain this part are dropped.
        reads_nothing: whether a path reads nothing.
    """

    source: NDArray[np.int32]
    target: NDArray[np.int32]
    read: NDArray[np.int32]
    write: NDArray[np.int32]
    weight: NDArray[np.float32]
    states: int
    has_entries: bool
    reads_nothing: bool


Step: TypeAlias = Arc | Part


class Budget:
    """The number of arcs that may still be added."""

    def __init__(self) -> None:
        self._left = MAX_ARCS

    def take(self, arcs: int) -> None:
        """Count new arcs."""
        self._left -= arcs
        if self._left < 0:
            raise UnsupportedError(f"the dictionary has more than {MAX_ARCS:,} arcs; expected fewer; use paradigms at the end of entries")


def reads_nothing(steps: Sequence[Step]) -> bool:
    """Whether a path of an entry reads nothing."""
    return all(step.reads_nothing if isinstance(step, Part) else step.read == EPSILON for step in steps)


class Entries:
    """The entries of a paradigm or a section, one by one."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._states = INNER
        self._arcs = array("i")  # source, target, read and write of each arc
        self._weights = array("f")
        self._copies: list[tuple[NDArray[np.int32], NDArray[np.float32]]] = []
        self._numbers: dict[int | Arc, int] = {}  # arc, or id of a part → its number
        self._following: dict[int, int] = {}  # ``state << 32 | number`` → the state after it; integers, because there are millions
        self._suffixes: dict[int, int] = {}  # id of a part → the first state of the copy of it that leads to `END`
        self._parts: list[Part] = []  # the parts are kept as long as their ids are used
        self._ends: set[int] = set()  # ``(state << 32 | number) << 32 | target`` of last arcs
        self._has_entries = self._reads_nothing = False

    def add(self, steps: Sequence[Step]) -> None:
        """Add an entry."""
        self._has_entries = True
        self._reads_nothing |= reads_nothing(steps)
        target, last = END, len(steps) - 1
        if steps and isinstance(steps[-1], Part):
            target, last = self._suffix(steps[-1]), last - 1
        state = START
        for step in steps[: max(last, 0)]:
            state = self._after(state, step)
        end = steps[last] if last >= 0 else None
        if isinstance(end, Part):
            state, end = self._after(state, end), None
        self._connect(state, end or Arc(EPSILON, EPSILON, 0.0), target)

    def part(self) -> Part:
        """The machine of the entries so far."""
        columns = np.concatenate([np.array(self._arcs, np.int32).reshape(-1, 4).T, *(copied for copied, _ in self._copies)], axis=1)
        source, target, read, write = columns
        weights = np.concatenate([np.array(self._weights, np.float32), *(weights for _, weights in self._copies)])
        return Part(source, target, read, write, weights, self._states, self._has_entries, self._reads_nothing)

    def machine(self, symbols: tuple[str, ...]) -> Arcs:
        """The machine of the entries so far, as a table of arcs."""
        part = self.part()
        final = np.full(part.states, np.inf, np.float32)
        final[END] = 0
        return make(part.source, part.read, part.write, part.target, part.weight, final, START, symbols)

    def _after(self, state: int, step: Step) -> int:
        """The state after a step; a new state is added."""
        key = self._key(state, id(step) if isinstance(step, Part) else step)
        found = self._following.get(key)
        if found is None:
            found = self._following[key] = self._state()
            if isinstance(step, Part):
                self._copy(step, state, found)
            else:
                self._arc(state, step, found)
        return found

    def _suffix(self, part: Part) -> int:
        """The first state of the copy of a part that leads to `END`."""
        found = self._suffixes.get(id(part))
        if found is None:
            found = self._suffixes[id(part)] = self._state()
            self._copy(part, found, END)
        return found

    def _connect(self, state: int, arc: Arc, target: int) -> None:
        """Add the last arc of an entry, if it is new."""
        key = self._key(state, arc) << 32 | target
        if key not in self._ends:
            self._ends.add(key)
            self._arc(state, arc, target)

    def _key(self, state: int, step: int | Arc) -> int:
        return state << 32 | self._numbers.setdefault(step, len(self._numbers))

    def _state(self) -> int:
        self._states += 1
        return self._states - 1

    def _arc(self, state: int, arc: Arc, target: int) -> None:
        self._budget.take(1)
        self._arcs.extend((state, target, arc.read, arc.write))
        self._weights.append(arc.weight)

    def _copy(self, part: Part, start: int, end: int) -> None:
        """Copy a part between two states."""
        self._budget.take(len(part.source))
        self._parts.append(part)
        numbers = np.concatenate([[start, end], np.arange(self._states, self._states + part.states - INNER)]).astype(np.int32)
        self._states += part.states - INNER
        self._copies.append((np.stack([numbers[part.source], numbers[part.target], part.read, part.write]), part.weight))


def part_of(machine: Arcs) -> Part:
    """A machine without weights as a part of entries."""
    ends = np.flatnonzero(np.isfinite(machine.final))
    inside = machine.states + INNER
    starts = [machine.start + INNER] if machine.states else []
    nothing = np.zeros(len(starts) + len(ends), np.int64)
    source = np.concatenate([np.full(len(starts), START), ends + INNER, machine.sources + INNER])
    target = np.concatenate([starts, np.full(len(ends), END), machine.target + INNER])
    read, write = (np.concatenate([nothing, labels]) for labels in (machine.ilabel, machine.olabel))
    source, target, read, write = (column.astype(np.int32) for column in (source, target, read, write))
    weight = np.zeros(len(source), np.float32)
    return Part(source, target, read, write, weight, inside, has_entries=True, reads_nothing=machine.start in ends)


def ordered(machine: Arcs, ranks: Mapping[tuple[int, int], int]) -> Arcs:
    """The machine in which arcs of the same state and label are in the order of their pairs' ranks, which is lt-comp's order of
    analyses.
    """
    pairs, numbers = np.unique(np.stack([machine.ilabel, machine.olabel]), axis=1, return_inverse=True)
    rank = np.array([ranks.get((read, write), 0) for read, write in pairs.T.tolist()], np.int64)[numbers.ravel()]
    order = np.lexsort((rank, machine.ilabel, machine.sources))
    weight = None if machine.weight is None else machine.weight[order]
    return replace(machine, ilabel=machine.ilabel[order], olabel=machine.olabel[order], target=machine.target[order], weight=weight)
