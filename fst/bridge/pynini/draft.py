"""A machine whose states and arcs are changed one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf

from fst.bridge.pynini.errors import FstIndexError
from fst.bridge.pynini.weights import OF_ARCS, Weight, WeightLike, weight_of
from fst.compile.algebra.arcs import Arcs, empty, make

NO_STATE_ID = NO_LABEL = -1


@dataclass
class Arc:
    """An arc: the labels that it reads and writes, its weight, and the state after it."""

    ilabel: int
    olabel: int
    weight: WeightLike
    nextstate: int


class ArcIterator:
    """The arcs of a state, as a Python iterator, and with the methods of OpenFst."""

    def __init__(self, arcs: list[Arc]) -> None:
        self._arcs, self._place = arcs, 0

    def __iter__(self) -> Iterator[Arc]:
        while not self.done():
            yield self.value()
            self.next()

    def done(self) -> bool:
        """Whether all arcs have been passed."""
        return self._place >= len(self._arcs)

    def next(self) -> None:
        """Go to the next arc."""
        self._place += 1

    def reset(self) -> None:
        """Go back to the first arc."""
        self._place = 0

    def position(self) -> int:
        """The place of the current arc."""
        return self._place

    def seek(self, place: int) -> None:
        """Go to a place."""
        self._place = place

    def value(self) -> Arc:
        """The current arc.

        Raises:
            FstIndexError: there is none.
        """
        self._need_arc()
        return self._arcs[self._place]

    def _need_arc(self) -> None:
        if not 0 <= self._place < len(self._arcs):
            raise FstIndexError(f"the place is {self._place}; expected a place below {len(self._arcs)}, the number of arcs")


class MutableArcIterator(ArcIterator):
    """The arcs of a state, which can be replaced.

    Args:
        row: the arcs of the state in a draft.
        arc_type: the type of the arcs.
    """

    def __init__(self, row: list[tuple[int, int, int, float]], arc_type: str) -> None:
        super().__init__(arcs_in(row, arc_type))
        self._row, self._arc_type = row, arc_type

    def set_value(self, arc: Arc) -> None:
        """Replace the current arc.

        Raises:
            FstIndexError: there is none.
            FstOpError: the weight belongs to another semiring.
        """
        self._need_arc()
        self._row[self._place] = arc.ilabel, arc.olabel, arc.nextstate, weight_of(arc.weight, self._arc_type)
        self._arcs[self._place] = arc


def arcs_in(row: list[tuple[int, int, int, float]], arc_type: str) -> list[Arc]:
    """The arcs of a state, from their labels, targets and weights."""
    return [Arc(read, write, Weight(OF_ARCS[arc_type], weight), target) for read, write, target, weight in row]


@dataclass
class Draft:
    """States with final weights and arcs, in lists."""

    start: int = NO_STATE_ID
    final: list[float] = field(default_factory=list)
    rows: list[list[tuple[int, int, int, float]]] = field(default_factory=list)  # label read, label written, target, weight

    @classmethod
    def of(cls, arcs: Arcs) -> Draft:
        """The draft of a machine."""
        return cls(arcs.start, arcs.final.tolist(), [[*arcs.arcs_of(state)] for state in range(arcs.states)])

    def add_state(self) -> int:
        """Add a state."""
        self.final.append(inf)
        self.rows.append([])
        return len(self.rows) - 1

    def delete_states(self, states: set[int]) -> None:
        """Delete states, with the arcs that lead to them."""
        kept = [state for state in range(len(self.rows)) if state not in states]
        numbers = {state: number for number, state in enumerate(kept)}
        self.start = numbers.get(self.start, NO_STATE_ID)
        self.final = [self.final[state] for state in kept]
        self.rows = [
            [(read, write, numbers[target], weight) for read, write, target, weight in self.rows[state] if target in numbers]
            for state in kept
        ]

    def frozen(self) -> Arcs:
        """The machine of the draft. Without a start it has no path."""
        if self.start == NO_STATE_ID:
            return empty()
        every = [(source, *arc) for source, row in enumerate(self.rows) for arc in row]
        source, read, write, target, weight = zip(*every, strict=True) if every else ((),) * 5
        return make(source, read, write, target, weight, self.final, self.start)
