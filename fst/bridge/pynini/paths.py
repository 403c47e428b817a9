"""All paths of a machine without cycles, as pynini iterates over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from fst.bridge.pynini.errors import FstOpError
from fst.bridge.pynini.labels import TokenType, checked, string_of
from fst.bridge.pynini.weights import OF_ARCS, Weight
from fst.compile.algebra.arcs import Arcs
from fst.compile.algebra.connect import connect
from fst.compile.algebra.shortest import topological_order

Value = TypeVar("Value")
Path = tuple[list[int], list[int], float]


class StringPathIterator:
    """The paths of a machine: depth first, in the order of arcs; a path that ends comes before those that go on.

    Each method that returns an iterator passes the rest of the paths.
    """

    def __init__(
        self, arcs: Arcs, arc_type: str, input_token_type: TokenType | None = None, output_token_type: TokenType | None = None
    ) -> None:
        self._input, self._output = checked(input_token_type), checked(output_token_type)
        self._arcs, self._weights = connect(arcs), OF_ARCS[arc_type]
        if topological_order(self._arcs) is None:
            raise FstOpError("the machine has a cycle, and so infinitely many paths; call shortestpath(…, nshortest=n) first")
        self.reset()

    def reset(self) -> None:
        """Go back to the first path."""
        self._paths = _paths(self._arcs)
        self.next()

    def next(self) -> None:
        """Go to the next path."""
        self._path = next(self._paths, None)

    def done(self) -> bool:
        """Whether all paths have been passed."""
        return self._path is None

    def error(self) -> bool:
        """Whether an error occurred; errors are raised, so there is none."""
        return False

    def _current(self) -> Path:
        if self._path is None:
            raise FstOpError("all paths have been passed; call reset()")
        return self._path

    def ilabels(self) -> list[int]:
        """The labels that the path reads, without ε."""
        return [label for label in self._current()[0] if label]

    def olabels(self) -> list[int]:
        """The labels that the path writes, without ε."""
        return [label for label in self._current()[1] if label]

    def istring(self) -> str:
        """The string that the path reads."""
        return string_of(self._current()[0], self._input)

    def ostring(self) -> str:
        """The string that the path writes."""
        return string_of(self._current()[1], self._output)

    def weight(self) -> Weight:
        """The weight of the path."""
        return Weight(self._weights, self._current()[2])

    def istrings(self) -> Iterator[str]:
        """The strings that the paths read."""
        return self._every(self.istring)

    def ostrings(self) -> Iterator[str]:
        """The strings that the paths write."""
        return self._every(self.ostring)

    def weights(self) -> Iterator[Weight]:
        """The weights of the paths."""
        return self._every(self.weight)

    def items(self) -> Iterator[tuple[str, str, Weight]]:
        """The string read, the string written and the weight of each path."""
        return self._every(lambda: (self.istring(), self.ostring(), self.weight()))

    def _every(self, value: Callable[[], Value]) -> Iterator[Value]:
        while not self.done():
            yield value()
            self.next()


def _paths(arcs: Arcs) -> Iterator[Path]:
    """The labels read, the labels written and the weight of each path of a trimmed machine without cycles."""
    if not arcs.states:
        return
    read, written = list[int](), list[int]()
    stack = [(iter([(0, 0, arcs.start, 0.0)]), 0.0)]
    while stack:
        rest, before = stack[-1]
        arc = next(rest, None)
        if arc is None:
            stack.pop()
            if read:
                read.pop()
                written.pop()
            continue
        ilabel, olabel, state, cost = arc
        weight = before + cost
        read.append(ilabel)
        written.append(olabel)
        if np.isfinite(arcs.final[state]):
            yield [*read], [*written], weight + float(arcs.final[state])
        stack.append((arcs.arcs_of(state), weight))
