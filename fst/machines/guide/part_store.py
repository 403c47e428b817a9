"""The parts of a late guide in arrays, which grow as walks reach calls of new parts."""

from __future__ import annotations

from collections.abc import Sequence
from threading import RLock

import numpy as np
from numpy.typing import NDArray

from fst.automata.hashing import longer
from fst.machines.guide.item_arguments import FINAL, FREE, OPEN, RETURNS, Parts
from fst.machines.guide.parts import CALL, Part, Texts


class PartStore:
    """The parts of a guide. Threads read `parts` without a lock: its arrays only grow, and a part is complete in the first `parts` that
    contains its start.
    """

    def __init__(self, texts: Texts) -> None:
        self._texts, self._lock = texts, RLock()
        none = np.empty((0, 3), np.int32)
        self.parts = Parts(np.full((1, 2), -1, np.int32), np.zeros((2, 3), np.int32), none, np.empty((0, 4), np.int32))
        self._used = {"positions": 1, "arcs": 0, "moves": 0}  # position 0 accepts a text

    def start_of(self, number: int) -> int:
        """The position of the start of a part, which is made if necessary, together with the parts that are called where it begins."""
        with self._lock:
            if not self._is_made(number):
                self._make(number)
            return int(self.parts.starts[number, 0])

    def _make(self, number: int) -> None:
        made, callees, waiting = dict[int, Part](), dict[int, list[int]](), [number]
        while waiting:  # a part is finished after the parts that it calls, when it is on top again
            each = waiting[-1]
            if each not in callees:
                made[each] = self._texts.part(each)
                callees[each] = _called_first(made[each])
                waiting += (callee for callee in callees[each] if not self._is_made(callee) and callee not in callees)
                continue
            waiting.pop()
            if not self._is_made(each):
                self._add(each, made[each], 1 + max((int(self.parts.starts[callee, 1]) for callee in callees[each]), default=0))

    def _is_made(self, number: int) -> bool:
        return number < len(self.parts.starts) and self.parts.starts[number, 0] >= 0

    def _add(self, number: int, part: Part, rank: int) -> None:
        """Add the positions, arcs and moves of a part."""
        base = self._used["positions"]
        arcs, moves = _sorted(part.arcs, 4), _sorted(part.moves, 5)
        positions = self._room("positions", part.states + 1)  # one more row contains the ends
        states = np.arange(part.states + 1)
        positions[:, 0] = self._used["arcs"] + np.searchsorted(arcs[:, 0], states)
        positions[:, 1] = self._used["moves"] + np.searchsorted(moves[:, 0], states)
        is_last = (positions[1:, :2] == positions[:-1, :2]).all(axis=1)
        for flag, flagged in ((FINAL, part.finals), (FREE, part.free), (OPEN, part.open)):
            positions[[*flagged], 2] |= flag
        positions[:-1, 2] |= np.where(is_last & (positions[:-1, 2] == FINAL), RETURNS, 0)
        arcs[:, 3] += base
        moves[:, 4] += base
        self._room("arcs", len(arcs))[:] = arcs[:, 1:]
        self._room("moves", len(moves))[:] = moves[:, 1:]
        self._used = {"positions": base + part.states, "arcs": self._used["arcs"] + len(arcs), "moves": self._used["moves"] + len(moves)}
        most = max([number, *(move[2] for move in part.moves if move[1] == CALL)])
        starts = np.full((max(len(self.parts.starts), most + 1), 2), -1, np.int32)  # a copy: other threads read the old array
        starts[: len(self.parts.starts)] = self.parts.starts
        starts[number] = base, rank
        self.parts = self.parts._replace(starts=starts)

    def _room(self, name: str, count: int) -> NDArray[np.int32]:
        """The free rows of an array after the used ones, enlarged if necessary."""
        used, array = self._used[name], getattr(self.parts, name)
        if used + count > len(array):
            array = longer(array, 2 * (used + count))
            self.parts = self.parts._replace(**{name: array})
        found: NDArray[np.int32] = array[used : used + count]
        return found


def _called_first(part: Part) -> list[int]:
    """The parts that a part calls before it reads a byte."""
    moves = dict[int, list[tuple[int, int, int]]]()
    for state, kind, first, _, target in part.moves:
        moves.setdefault(state, []).append((kind, first, target))
    called, seen = dict[int, None](), {0}
    waiting = [0]
    for state in waiting:  # the loop appends to `waiting`
        for kind, first, target in moves.get(state, ()):
            if kind == CALL:
                called[first] = None
            elif target not in seen:
                seen.add(target)
                waiting.append(target)
    return [*called]


def _sorted(rows: Sequence[tuple[int, ...]], width: int) -> NDArray[np.int32]:
    """int32[n, width], rows sorted by their first number."""
    found = np.array(rows, np.int32).reshape(-1, width)
    return found[np.argsort(found[:, 0], kind="stable")]
