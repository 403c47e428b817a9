"""The parts of a late guide in arrays, which grow as walks reach calls of new parts."""

from __future__ import annotations

from threading import RLock

import numpy as np

from fst.automata.hashing import longer
from fst.core.jit import Deferred
from fst.machines.guide.item_arguments import Parts
from fst.machines.guide.parts import CALL, Part, Texts

FIRST_PARTS, FIRST_ROWS = 1 << 5, 1 << 9  # room at first

add_part = Deferred("fst.machines.guide.kernels.part_store", "add_part")


class PartStore:
    """The parts of a guide. Threads read `parts` without a lock: its arrays only grow, and a part is complete in the first `parts` that
    contains its start.

    Attributes:
        parts: the arrays.
        used: the numbers of positions, arcs and moves; position 0 accepts a text.
    """

    def __init__(self, texts: Texts) -> None:
        self._texts, self._lock = texts, RLock()
        none = np.full((FIRST_PARTS, 2), -1, np.int32)
        self.parts = Parts(none, *(np.zeros((FIRST_ROWS, width), np.int32) for width in (3, 3, 4)))
        self.used = 1, 0, 0

    def start_of(self, number: int) -> int:
        """The position of the start of a part. It is made if necessary, together with the parts that it calls before it reads a byte."""
        with self._lock:
            if not self._is_made(number):
                self._make(number)
            return int(self.parts.starts[number, 0])

    def _make(self, number: int) -> None:
        bases, callees, waiting = dict[int, int](), dict[int, list[int]](), [number]
        while waiting:  # a part is finished after the parts that it calls, when it is on top again
            each = waiting[-1]
            if each not in callees:
                bases[each], callees[each] = self._add(self._texts.part(each))
                waiting += (callee for callee in callees[each] if not self._is_made(callee) and callee not in callees)
                continue
            waiting.pop()
            if not self._is_made(each):
                starts = self.parts.starts.copy()  # other threads read the old array
                starts[each] = bases[each], 1 + max((int(starts[callee, 1]) for callee in callees[each]), default=0)
                self.parts = self.parts._replace(starts=starts)

    def _is_made(self, number: int) -> bool:
        return number < len(self.parts.starts) and self.parts.starts[number, 0] >= 0

    def _add(self, part: Part) -> tuple[int, list[int]]:
        """Add the positions, arcs and moves of a part; return its first position, and the parts that it calls before it reads a byte."""
        base, first_arc, first_move = self.used
        states, arcs, moves = len(part.flags), len(part.arcs), len(part.moves)
        if moves:
            self._need_starts(int((part.moves[:, 2] * (part.moves[:, 1] == CALL)).max()) + 1)
        self._need_room("positions", base + states + 1)  # one more position contains the ends
        self._need_room("arcs", first_arc + arcs)
        self._need_room("moves", first_move + moves)
        called = np.empty(moves, np.int32)
        work = np.empty(states, np.int32), np.zeros(states, np.uint8), called
        count = add_part.call(part, base, first_arc, first_move, self.parts, *work)
        self.used = base + states, first_arc + arcs, first_move + moves
        return base, [*dict.fromkeys(called[:count].tolist())] if count else []

    def _need_starts(self, count: int) -> None:
        """Enlarge the array of starts if it has fewer rows."""
        before = self.parts.starts
        if count > len(before):
            starts = np.full((2 * count, 2), -1, np.int32)
            starts[: len(before)] = before
            self.parts = self.parts._replace(starts=starts)

    def _need_room(self, name: str, count: int) -> None:
        """Enlarge an array if it has fewer rows."""
        array = getattr(self.parts, name)
        if count > len(array):
            self.parts = self.parts._replace(**{name: longer(array, 2 * count)})
