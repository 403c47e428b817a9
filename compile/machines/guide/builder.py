"""Nondeterministic automata over ranges of bytes, which are built arc by arc."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.compile.machines.guide.utf_8 import Fragment
from fst.errors import UnsupportedError

BYTES = 256
MAX_STATES = 1 << 19


class Block(NamedTuple):
    """States and arcs that are added together; state 0 is the first.

    Attributes:
        states: the number of states.
        arcs: int64[n, 4]: for each arc, the state before it, its first and its last byte, and the state after it.
        final: the final states.
        loops: for the texts of strings, the final states to which every character leads back.
    """

    states: int
    arcs: NDArray[np.int64]
    final: list[int]
    loops: Sequence[int] = ()


class Builder:
    """States and arcs. An arc reads one byte of a range; an ε-arc reads nothing. Methods that add states raise an UnsupportedError if there
    would be more than `most` states.
    """

    def __init__(self, most: int = MAX_STATES) -> None:
        self.states, self._most = 0, most
        self.arcs: list[tuple[int, int, int, int]] = []  # the state before the arc, its first and its last byte, and the state after it
        self.silent: list[tuple[int, int]] = []  # the states before and after each ε-arc
        self.blocks: list[NDArray[np.int64]] = []  # int64[n, 4], as `arcs`

    def state(self) -> int:
        """Add a state."""
        return self.room(1)

    def room(self, states: int) -> int:
        """Add a number of states; return the first of these states."""
        self.states += states
        if self.states > self._most:
            raise UnsupportedError(f"the automaton has more than {self._most:,} states; make it smaller")
        return self.states - states

    def read(self, start: int, first: int, last: int, end: int) -> None:
        """Add an arc."""
        self.arcs.append((start, first, last, end))

    def skip(self, start: int, end: int) -> None:
        """Add an ε-arc."""
        self.silent.append((start, end))

    def text(self, start: int, text: bytes, end: int | None = None) -> int:
        """Add arcs that read a nonempty text, up to a new state or to `end`; return the last state."""
        *firsts, last = text
        for byte in firsts:
            following = self.state()
            self.arcs.append((start, byte, byte, following))
            start = following
        following = self.state() if end is None else end
        self.arcs.append((start, last, last, following))
        return following

    def character(self, start: int, one: Fragment, end: int) -> None:
        """Add the arcs of a character between two states."""
        base = self.room(one.states - 2) - 2
        numbers = [start, end, *range(base + 2, base + one.states)]
        self.arcs += [(numbers[before], first, last, numbers[after]) for before, first, last, after in one.arcs.tolist()]

    def block(self, start: int, block: Block, end: int) -> None:
        """Add a block between two states."""
        base = self.room(block.states)
        self.blocks.append(block.arcs + np.array([base, 0, 0, base]))
        if block.states:
            self.skip(start, base)
        self.silent += [(base + state, end) for state in block.final]
