"""The states and arcs of a machine, read and changed one by one, and its symbol tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from fst.bridge.pynini.draft import Arc, ArcIterator, Draft, MutableArcIterator, arcs_in
from fst.bridge.pynini.errors import FstArgError, FstIndexError, as_operation
from fst.bridge.pynini.missing import missing
from fst.bridge.pynini.properties import FstProperties, properties_of
from fst.bridge.pynini.symbols import SymbolTable
from fst.bridge.pynini.weights import OF_ARCS, Weight, WeightLike, weight_of
from fst.compile.algebra import expressions
from fst.compile.algebra.arcs import Arcs, empty
from fst.errors import FstError, not_one_of

Machine = TypeVar("Machine", bound="States")


class States:
    """A holder of an expression, or of a draft that is being changed."""

    def __init__(self, arc_type: str = "standard") -> None:
        if arc_type not in OF_ARCS:
            raise FstArgError(not_one_of("arc type", arc_type, OF_ARCS))
        self._arc_type = arc_type
        self._draft: Draft | None = None
        self._expression: expressions.Expression | None = expressions.Machine(empty())
        self._symbols: list[SymbolTable | None] = [None, None]

    @property
    def expression(self) -> expressions.Expression:
        """The machine as an expression."""
        if self._expression is None:
            assert self._draft is not None
            self._expression = expressions.Machine(self._draft.frozen())
        return self._expression

    @property
    def table(self) -> Arcs:
        """The arcs.

        Raises:
            FstOpError: an arc has an invalid label, or leads to no state.
        """
        with as_operation():
            return self.expression.arcs

    # States and arcs.

    def arc_type(self) -> str:
        """The type of arcs: "standard", "log" or "log64"."""
        return self._arc_type

    def weight_type(self) -> str:
        """The semiring of weights: "tropical", "log" or "log64"."""
        return OF_ARCS[self._arc_type]

    def fst_type(self) -> str:
        """The type of the machine."""
        return "vector"

    def start(self) -> int:
        """The start state; -1 if there is none."""
        return self._draft.start if self._draft else self.table.start

    def num_states(self) -> int:
        """The number of states."""
        return len(self._draft.rows) if self._draft else self.table.states

    def states(self) -> Iterable[int]:
        """The states."""
        return range(self.num_states())

    def final(self, state: int) -> Weight:
        """The final weight of a state.

        Raises:
            FstIndexError: the state does not exist.
        """
        self._need(state)
        return Weight(self.weight_type(), float(self._draft.final[state] if self._draft else self.table.final[state]))

    def arcs(self, state: int) -> ArcIterator:
        """The arcs of a state.

        Raises:
            FstIndexError: the state does not exist.
        """
        return ArcIterator(arcs_in(self._row(state), self._arc_type))

    def num_arcs(self, state: int) -> int:
        """The number of arcs of a state."""
        return len(self._row(state))

    def num_input_epsilons(self, state: int) -> int:
        """The number of arcs of a state that read nothing."""
        return sum(arc[0] == 0 for arc in self._row(state))

    def num_output_epsilons(self, state: int) -> int:
        """The number of arcs of a state that write nothing."""
        return sum(arc[1] == 0 for arc in self._row(state))

    def _row(self, state: int) -> list[tuple[int, int, int, float]]:
        self._need(state)
        return self._draft.rows[state] if self._draft else [*self.table.arcs_of(state)]

    def _need(self, *states: int) -> None:
        """Refuse a state that does not exist."""
        for state in states:
            if not 0 <= state < self.num_states():
                raise FstIndexError(f"the state is {state}; expected a state below {self.num_states()}")

    def _changing(self, *states: int) -> Draft:
        """The draft, which is about to be changed at some states."""
        self._need(*states)
        if self._draft is None:
            self._draft = Draft.of(self.table)
        self._expression = None
        return self._draft

    def add_state(self) -> int:
        """Add a state, and return its number."""
        return self._changing().add_state()

    def add_states(self, count: int) -> None:
        """Add states."""
        for _ in range(count):
            self._changing().add_state()

    def add_arc(self: Machine, state: int, arc: Arc) -> Machine:
        """Add an arc.

        Raises:
            FstIndexError: the state does not exist.
            FstOpError: the weight belongs to another semiring.
        """
        weight = weight_of(arc.weight, self._arc_type)
        self._changing(state).rows[state].append((arc.ilabel, arc.olabel, arc.nextstate, weight))
        return self

    def mutable_arcs(self, state: int) -> MutableArcIterator:
        """The arcs of a state, which can be replaced before anything else of the machine is used.

        Raises:
            FstIndexError: the state does not exist.
        """
        return MutableArcIterator(self._changing(state).rows[state], self._arc_type)

    def set_start(self: Machine, state: int) -> Machine:
        """Choose the start state.

        Raises:
            FstIndexError: the state does not exist.
        """
        self._changing(state).start = state
        return self

    def set_final(self: Machine, state: int, weight: WeightLike | None = None) -> Machine:
        """Set the final weight of a state; None: 0.

        Raises:
            FstIndexError: the state does not exist.
            FstOpError: the weight belongs to another semiring.
        """
        found = weight_of(weight, self._arc_type)
        self._changing(state).final[state] = found
        return self

    def delete_states(self: Machine, states: Iterable[int] | None = None) -> Machine:
        """Delete some states, or all.

        Raises:
            FstIndexError: a state does not exist.
        """
        deleted = {*(self.states() if states is None else states)}
        self._changing(*deleted).delete_states(deleted)
        return self

    def delete_arcs(self: Machine, state: int, count: int | None = None) -> Machine:
        """Delete the last arcs of a state, or all.

        Raises:
            FstIndexError: the state does not exist.
        """
        rows = self._changing(state).rows
        rows[state] = rows[state][:-count] if count else []
        return self

    def verify(self) -> bool:
        """Whether every arc has valid labels and leads to a state."""
        try:
            _ = self.table
        except FstError:
            return False
        return True

    def properties(self, mask: FstProperties, test: bool) -> FstProperties:
        """The properties of `mask` that hold. They are always tested."""
        return FstProperties(properties_of(self.table)) & mask

    # Symbol tables, which are only kept.

    def input_symbols(self) -> SymbolTable | None:
        """The symbol table of inputs."""
        return self._symbols[0]

    def output_symbols(self) -> SymbolTable | None:
        """The symbol table of outputs."""
        return self._symbols[1]

    def set_input_symbols(self: Machine, symbols: SymbolTable | None) -> Machine:
        """Attach a symbol table for inputs; None: none."""
        self._symbols[0] = symbols
        return self

    def set_output_symbols(self: Machine, symbols: SymbolTable | None) -> Machine:
        """Attach a symbol table for outputs; None: none."""
        self._symbols[1] = symbols
        return self

    def print(self, **_: Any) -> str:
        """The arcs and final states as text, one a line."""
        arcs, lines = self.table, list[str]()
        states = [arcs.start, *(state for state in range(arcs.states) if state != arcs.start)] if arcs.states else []
        for state in states:
            for read, write, target, weight in arcs.arcs_of(state):
                lines.append("\t".join(map(str, (state, target, read, write, *([Weight("tropical", weight)] if weight else ())))))
            if np.isfinite(arcs.final[state]):
                final = float(arcs.final[state])
                lines.append(f"{state}\t{Weight('tropical', final)}" if final else str(state))
        return "".join(f"{line}\n" for line in lines)

    def __str__(self) -> str:
        return self.print()

    if not TYPE_CHECKING:  # a type checker reports every missing name

        def __getattr__(self, name: str) -> Any:
            raise missing("a machine", name)
