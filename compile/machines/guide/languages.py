"""Regular languages over bytes: minimal deterministic automata over classes of bytes, and the operations on them.

The operations are those of `fst.compile.algebra`. There, label 0 is ε, so class k is label k + 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.compile.algebra.arcs import EPSILON, Arcs, make
from fst.compile.algebra.forms.determinize import determinize
from fst.compile.algebra.forms.minimize import minimize
from fst.compile.machines.guide.automaton import ByteAutomaton
from fst.compile.machines.guide.builder import Builder

BYTES = 256
MAX_STATES = 1 << 16  # states of a deterministic automaton: 64 MB as a table over bytes
NOT_FINAL = np.float32(np.inf)


class Language(NamedTuple):
    """A set of strings of bytes, as the deterministic automaton with the fewest states. State 0 is the start.

    Attributes:
        classes: uint8[256], the class of each byte: bytes of one class are read alike in all states.
        targets: int32[states, classes], the next state of each state for each class; -1: none. A final state is reachable from every
            state, so the empty set has no states.
        is_final: bool[states].
    """

    classes: NDArray[np.uint8]
    targets: NDArray[np.int32]
    is_final: NDArray[np.bool_]

    @property
    def is_empty(self) -> bool:
        """Whether the set contains no string."""
        return len(self.is_final) == 0

    def __contains__(self, text: object) -> bool:
        """Whether the set contains a string of bytes."""
        assert isinstance(text, bytes)
        state = -1 if self.is_empty else 0
        for byte in text:
            if state < 0:
                return False
            state = int(self.targets[state, self.classes[byte]])
        return state >= 0 and bool(self.is_final[state])

    def over_bytes(self) -> ByteAutomaton:
        """The automaton with a column for each byte."""
        return ByteAutomaton(np.ascontiguousarray(self.targets[:, self.classes]), self.is_final)


def of_builder(builder: Builder, start: int, end: int) -> Language:
    """The language of all texts that lead from one state to another.

    Raises:
        UnsupportedError: the deterministic automaton has more than `MAX_STATES` states.
    """
    table = np.array(builder.arcs, np.int64).reshape(-1, 4)
    source, first, last, target = np.concatenate([table, *builder.blocks]).T
    classes = _classes([first, last + 1])
    begins = classes[first].astype(np.int64)
    counts = classes[last] - begins + 1
    offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    labels = np.repeat(begins, counts) + offsets + 1
    silent = np.array(builder.silent, np.int64).reshape(-1, 2)
    sources = np.concatenate([np.repeat(source, counts), silent[:, 0]])
    reads = np.concatenate([labels, np.full(len(silent), EPSILON)])
    final = np.full(builder.states, NOT_FINAL)
    final[end] = 0
    machine = make(sources, reads, reads, np.concatenate([np.repeat(target, counts), silent[:, 1]]), None, final, start)
    return _minimal(machine, classes)


def _classes(edges: Sequence[NDArray[np.int64]]) -> NDArray[np.uint8]:
    """uint8[256], classes of bytes, ascending: a class begins at each edge."""
    begins = np.zeros(BYTES + 1, np.bool_)
    for each in edges:
        begins[each] = True
    begins[0] = False
    return np.cumsum(begins[:BYTES]).astype(np.uint8)


def _minimal(machine: Arcs, classes: NDArray[np.uint8]) -> Language:
    """The language of a machine whose labels are classes."""
    machine = minimize(determinize(machine, MAX_STATES))
    targets = np.full((machine.states, int(classes.max()) + 1), -1, np.int32)
    targets[machine.sources, machine.ilabel - 1] = machine.target
    return _reduced(Language(classes, targets, np.isfinite(machine.final)))


def _reduced(language: Language) -> Language:
    """The same language with as few classes as possible, in the order of their first bytes."""
    columns = np.ascontiguousarray(language.targets.T)
    numbers: dict[bytes, int] = {}
    merged = np.array([numbers.setdefault(column.tobytes(), len(numbers)) for column in columns], np.uint8)
    firsts = np.unique(merged, return_index=True)[1]
    return Language(merged[language.classes], np.ascontiguousarray(columns[firsts].T), language.is_final)
