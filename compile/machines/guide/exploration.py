"""From the parts of texts to the automaton of a table: all sets of items that texts lead to, made minimal."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from fst.automata.hashing import Pool, longer
from fst.automata.rows import Array
from fst.compile.machines.guide.builder import BYTES
from fst.compile.machines.guide.equivalence import merged
from fst.compile.machines.guide.languages import ByteAutomaton, minimal
from fst.core.jit import Deferred
from fst.errors import UnsupportedError
from fst.machines.guide.item_arguments import ACCEPT, FRAME_BITS, NO_ROOM, NO_ROW, OUTERMOST, Parts, Work
from fst.machines.guide.part_store import PartStore
from fst.machines.guide.parts import CALL, RETURNS, SKIP, Part

MAX_STATES = 1 << 21  # maximum number of states before equivalent ones are merged
FEW_STATES = 1 << 13  # with more states, a second search begins, after equivalent positions are merged
FIRST_ROOM = 1 << 8
MAX_CELLS = 1 << 25  # maximum number of items of all sets together

explore = Deferred("fst.compile.machines.guide.kernels.exploration", "explore")


class TableTexts(Protocol):
    """Texts with a finite number of states, as parts; see `fst.machines.guide.parts.Texts`."""

    @property
    def cut(self) -> str:
        """The place below which values without a schema are left out; empty if none are. It is complete once all parts are made."""

    def part(self, number: int) -> Part:
        """Part 0, or a part that is called by a part made before."""

    def place(self, number: int) -> str:
        """The place in the source of the texts that a part comes from."""


class Explorer:
    """Finds all states of texts.

    Args:
        texts: the texts, at least one. All their parts are made here.

    Raises:
        UnsupportedError: the parts have more than `MAX_STATES` states together.

    Examples:
        >>> from fst.compile.machines.guide.schema.parts import SchemaParts
        >>> from fst.compile.machines.guide.schema.recursion import Bounds
        >>> Explorer(SchemaParts({"type": "boolean"}, bounds=Bounds(None, 0))).automaton(99).targets.shape
        (8, 256)
    """

    def __init__(self, texts: TableTexts) -> None:
        self._texts, self._store = texts, PartStore(texts)
        missing = np.zeros(1, np.int64)
        while len(missing):
            for number in missing.tolist():
                self._store.start_of(number)
            positions, _, count = self._store.used
            if positions > MAX_STATES:
                raise UnsupportedError(self._too_many(MAX_STATES))
            starts, moves = self._store.parts.starts, self._store.parts.moves[:count]
            called = np.unique(moves[moves[:, 0] == CALL, 1])
            missing = called[starts[called, 0] < 0]

    def automaton(self, most: int) -> ByteAutomaton:
        """The minimal automaton, or with very many states a small one, see `fst.compile.machines.guide.languages.Language`.

        Args:
            most: the maximum number of states before equivalent states are merged.

        Raises:
            UnsupportedError: there are more states, or all sets together have more than `MAX_CELLS` items.
        """
        parts, used = self._store.parts, self._store.used
        search = _Search(parts, used, min(FEW_STATES, most))
        if not search.is_complete():
            search = _Search(merged(parts, used), used, most)
            if not search.is_complete():
                place = self._texts.place(search.largest_part(parts.starts[:, 0]))
                raise UnsupportedError(f"{self._too_many(most)}; its largest part is {place}")
        return search.automaton()

    def _too_many(self, most: int) -> str:
        remedy = "make it smaller, or make its masks late: fst.Guide(tokenizer, …)"
        return f"{self._texts.place(0)}: the automaton has more than {most:,} states; {remedy}"


class _Search:
    """The states of parts, in arrays that grow; see the kernel.

    Args:
        parts: parts that call only each other.
        used: the numbers of positions, arcs and moves.
        most: the maximum number of states, above 0.
    """

    def __init__(self, parts: Parts, used: tuple[int, int, int], most: int) -> None:
        self._most, room = most, min(FIRST_ROOM, most)
        arcs, self._classes = _over_classes(parts.arcs[: used[1]])
        self._parts = parts._replace(arcs=arcs, positions=_with_returns(parts, used[0], used[2]))
        self._pool, self._work = Pool.of(FIRST_ROOM, 4 * FIRST_ROOM, np.int64), Work.of(FIRST_ROOM)
        self._states = np.full(FIRST_ROOM, -1, np.int32)
        self._made, self._is_final = np.empty(room, np.int64), np.empty(room, np.bool_)
        self._targets = np.empty((room, int(self._classes[-1]) + 1), np.int32)
        self._pool.cells[:2] = ACCEPT, int(parts.starts[0, 0]) << FRAME_BITS | OUTERMOST
        self._pool.starts[:4] = 0, 0, 1, 2  # `DEAD`, `OUTERMOST`, and the set before a text
        self._pool.counts[:] = OUTERMOST + 2, 2

    def is_complete(self) -> bool:
        """Find all states, if there are at most `most`; return whether they are found.

        Raises:
            UnsupportedError: all sets together have more than `MAX_CELLS` items.
        """
        while failed := explore.call(
            OUTERMOST + 1, self._parts, self._pool, self._work, self._states, self._made, self._targets, self._is_final
        ):
            if failed == NO_ROW:
                if len(self._made) == self._most:
                    return False
                room = min(2 * len(self._made), self._most)
                self._made, self._targets, self._is_final = (longer(each, room) for each in (self._made, self._targets, self._is_final))
            elif int(self._pool.counts[1]) + len(self._work.found) > MAX_CELLS:
                raise UnsupportedError("texts can be read in too many ways; make the pattern, the schema or the grammar less ambiguous")
            elif failed == NO_ROOM:
                known = len(self._states)
                self._pool = self._pool.larger()
                self._states = longer(self._states, self._pool.room)
                self._states[known:] = -1
            else:
                self._work = self._work.larger()
        return True

    def automaton(self) -> ByteAutomaton:
        """The automaton of all states, with equivalent states merged."""
        states = int(self._work.counts.rows)
        return minimal(self._classes, self._targets[:states], self._is_final[:states]).over_bytes()

    def largest_part(self, starts: Array) -> int:
        """The number of the part with most states; `starts`: int32[parts], the position of each part's start."""
        order = np.argsort(starts)
        last_items = self._pool.cells[self._pool.starts[self._made + 1] - 1]
        return int(np.bincount(order[np.searchsorted(starts[order], last_items >> FRAME_BITS, side="right") - 1]).argmax())


def _over_classes(arcs: Array) -> tuple[Array, Array]:
    """A copy of arcs with classes instead of bytes; and uint8[256], the class of each byte: no arc begins or ends inside a class."""
    begins = np.zeros(BYTES + 1, np.bool_)
    begins[arcs[:, 0]] = begins[arcs[:, 1] + 1] = True
    classes = np.cumsum(begins[1:BYTES], dtype=np.uint8)
    classes = np.append(np.uint8(0), classes)
    return np.column_stack([classes[arcs[:, 0]], classes[arcs[:, 1]], arcs[:, 2]]).astype(np.int32), classes


def _with_returns(parts: Parts, count: int, moves: int) -> Array:
    """The positions, with the flag `RETURNS` also on those that can only skip to the end of their part. So a call at the end of a part
    needs no frame, and rules that call themselves there have a finite number of states.
    """
    positions, kinds, targets = parts.positions.copy(), parts.moves[:moves, 0], parts.moves[:moves, 3]
    sources = np.repeat(np.arange(count), np.diff(positions[: count + 1, 1]))
    returns = positions[1 : count + 1, 0] == positions[:count, 0]
    returns[ACCEPT], returns[sources[kinds != SKIP]] = False, False
    before = -1
    while before != (before := int(returns.sum())):
        returns[sources[(kinds == SKIP) & ~returns[targets]]] = False
    positions[:count][returns, 2] |= RETURNS
    return positions
