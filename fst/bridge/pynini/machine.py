"""The machine of pynini: a holder of a machine that its methods replace."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from fst.bridge.pynini import files
from fst.bridge.pynini.errors import FstArgError, FstOpError, as_operation
from fst.bridge.pynini.labels import TokenType, labels_of, string_of
from fst.bridge.pynini.paths import StringPathIterator
from fst.bridge.pynini.properties import is_string
from fst.bridge.pynini.states import States
from fst.bridge.pynini.weights import WeightLike, weight_of
from fst.compile.algebra import rational, shortest
from fst.compile.algebra.arcs import Arcs, make
from fst.compile.algebra.choices import prune
from fst.compile.algebra.connect import connect
from fst.compile.algebra.expressions import Chain, Expression, Machine, chain, closure, concatenate, union
from fst.compile.algebra.forms.epsilon import remove_epsilon
from fst.compile.algebra.forms.minimize import minimize_any
from fst.errors import not_one_of

if TYPE_CHECKING:
    from types import EllipsisType

    from fst.compile.algebra.machine import Fst as PublicFst

FstLike = Union["Fst", str]
SIDES = ("input", "output")


class Fst(States):
    """A machine that can be changed. Labels are numbers: bytes, code points, or generated symbols.

    `union`, `concat` and `closure` only note the operation; all arcs are made together when they are first needed.

    Examples:
        >>> from fst.bridge.pynini.operations import accep
        >>> (accep("a") + accep("b").ques).optimize().num_states()
        3
    """

    __hash__ = None  # type: ignore[assignment] # machines that are changed cannot be keys

    @classmethod
    def of(cls, expression: Expression | Arcs, arc_type: str = "standard") -> Fst:
        """The holder of an expression or a machine."""
        result = object.__new__(cls)
        result._arc_type, result._draft, result._symbols = arc_type, None, [None, None]
        result._expression = Machine(expression) if isinstance(expression, Arcs) else expression
        return result

    @classmethod
    def from_pywrapfst(cls, fst: Fst) -> Fst:
        """A copy."""
        return fst.copy()

    @classmethod
    def read(cls, filename: str | Path) -> Fst:
        """Read a file of OpenFst.

        Raises:
            FstIOError: the file cannot be read.
        """
        return cls.of(files.read(filename))

    @classmethod
    def read_from_string(cls, state: bytes) -> Fst:
        """Read the bytes of a file of OpenFst.

        Raises:
            FstIOError: the bytes are not a machine.
        """
        return cls.of(files.from_bytes(state))

    def write(self, filename: str | Path) -> None:
        """Write a file of OpenFst (vector, standard arcs).

        Raises:
            FstIOError: the file cannot be written.
        """
        files.write(self.table, filename)

    def write_to_string(self) -> bytes:
        """The bytes of the file that `write` writes."""
        return files.to_bytes(self.table)

    def __reduce__(self) -> tuple[Any, ...]:
        return Fst.of, (self.table, self._arc_type)

    @property
    def fst(self) -> PublicFst:
        """The machine as a `fst.Fst`. Its labels are bytes of UTF-8, or code points if there are labels above 255, and generated symbols
        such as "[tag]".
        """
        return files.public(self.table)

    def _set(self, found: Expression | Arcs) -> Fst:
        self._expression = Machine(found) if isinstance(found, Arcs) else found
        self._draft = None
        return self

    def _summed(self) -> Arcs:
        """The arcs, for an operation that adds weights of paths.

        Raises:
            FstOpError: the arcs are not standard arcs.
        """
        if self._arc_type != "standard":
            found = f"the machine has arcs of type {self._arc_type!r}; expected 'standard'"
            raise FstOpError(f"{found}; machines with other arcs can only be joined and composed")
        return self.table

    def copy(self) -> Fst:
        """A copy, which shares the arcs."""
        result = Fst.of(self.expression, self._arc_type)
        result._symbols = [*self._symbols]
        return result

    # Joining machines.

    def compiled(self, other: FstLike) -> Fst:
        """A machine, or the acceptor of a string, with arcs of the same type.

        Raises:
            FstOpError: the arcs have another type.
        """
        if not isinstance(other, Fst):
            return Fst.of(chain((label, label) for label in labels_of(other)), self._arc_type)
        if other._arc_type != self._arc_type:
            raise FstOpError(f"the types of arcs are {self._arc_type!r} and {other._arc_type!r}; expected machines of one type")
        return other

    def closure(self, lower: int = 0, upper: int = 0) -> Fst:
        """Repeat `lower` to `upper` times; 0 for `upper`: any number of times.

        Raises:
            FstOpError: a bound is negative or too large, or `lower` is above `upper`.
        """
        if lower < 0 or upper < 0 or 0 < upper < lower:
            raise FstOpError(f"the bounds are {lower} and {upper}; expected 0 ≤ lower ≤ upper")
        with as_operation():
            return self._set(closure(self.expression, lower, upper or None))

    def concat(self, fst2: FstLike) -> Fst:
        """Append a machine."""
        return self._set(concatenate([self.expression, self.compiled(fst2).expression]))

    def union(self, *fsts2: FstLike) -> Fst:
        """Add the paths of machines."""
        return self._set(union([self.expression, *(self.compiled(other).expression for other in fsts2)]))

    @property
    def plus(self) -> Fst:
        """One or more repetitions, as a new machine."""
        return self.copy().closure(1)

    @property
    def ques(self) -> Fst:
        """The machine or nothing, as a new machine."""
        return self.copy().closure(0, 1)

    @property
    def star(self) -> Fst:
        """Any number of repetitions, as a new machine."""
        return self.copy().closure()

    def __add__(self, other: FstLike) -> Fst:
        return self.copy().concat(other)

    def __radd__(self, other: str) -> Fst:
        return self.compiled(other).copy().concat(self)

    def __iadd__(self, other: FstLike) -> Fst:
        return self.concat(other)

    def __or__(self, other: FstLike) -> Fst:
        return self.copy().union(other)

    def __ror__(self, other: str) -> Fst:
        return self.compiled(other).copy().union(self)

    def __ior__(self, other: FstLike) -> Fst:
        return self.union(other)

    def __pow__(self, count: int | tuple[int, int | EllipsisType]) -> Fst:
        if isinstance(count, int):
            return self.copy().closure(count, count) if count else Fst.of(chain(()), self._arc_type)
        lower, upper = count
        return self.copy().closure(lower) if isinstance(upper, type(...)) else self.copy().closure(lower, upper)

    def __matmul__(self, other: FstLike) -> Fst:
        from fst.bridge.pynini.operations import compose

        return compose(self, other)

    def __rmatmul__(self, other: str) -> Fst:
        from fst.bridge.pynini.operations import compose

        return compose(other, self)

    def __sub__(self, other: FstLike) -> Fst:
        from fst.bridge.pynini.operations import difference

        return difference(self, other)

    def __rsub__(self, other: str) -> Fst:
        from fst.bridge.pynini.operations import difference

        return difference(other, self)

    def __eq__(self, other: object) -> bool:
        from fst.bridge.pynini.operations import equal

        return equal(self, other) if isinstance(other, (Fst, str)) else NotImplemented

    # Changing a machine without changing its paths, or all of them.

    def optimize(self, compute_props: bool = False) -> Fst:
        """Remove ε-arcs, determinize and minimize. Properties are always computed.

        Raises:
            FstOpError: the machine is too large.
        """
        with as_operation():
            return self._set(minimize_any(self._summed()))

    def minimize(self, delta: float = 0, allow_nondet: bool = False) -> Fst:
        """The same as `optimize`; the machine need not be deterministic."""
        return self.optimize()

    def rmepsilon(self, queue_type: str = "auto", connect: bool = True, weight: WeightLike | None = None, **_: Any) -> Fst:
        """Remove the arcs that read and write nothing.

        Raises:
            FstArgError: the type of the queue is unknown.
            FstOpError: `weight` belongs to another semiring, or the result is too large.
        """
        need_queue(queue_type)
        weight_of(weight, self._arc_type)
        with as_operation():
            return self._set(remove_epsilon(self._summed()))

    def push(self, delta: float = 0, remove_total_weight: bool = False, reweight_type: str = "to_initial", **_: Any) -> Fst:
        """Move weights to the beginning."""
        with as_operation():
            return self._set(shortest.push(self._summed()))

    def connect(self) -> Fst:
        """Remove states that are on no path."""
        return self._set(connect(self.table))

    def invert(self) -> Fst:
        """Exchange inputs and outputs."""
        self._symbols.reverse()
        if isinstance(self.expression, Chain):
            return self._set(chain(((write, read) for read, write in self.expression.pairs), self.expression.weight))
        return self._set(rational.invert(self.table))

    def project(self, project_type: str) -> Fst:
        """The acceptor of the inputs, or of the outputs.

        Raises:
            FstArgError: the type is not "input" or "output".
        """
        if project_type not in SIDES:
            raise FstArgError(not_one_of("project type", project_type, SIDES))
        side = SIDES.index(project_type)
        self._symbols = [self._symbols[side]] * 2
        if isinstance(self.expression, Chain):
            return self._set(chain(((pair[side], pair[side]) for pair in self.expression.pairs), self.expression.weight))
        return self._set(rational.project(self.table, "output" if side else "input"))

    def arcsort(self, sort_type: str = "ilabel") -> Fst:
        """Arcs are always sorted by the label that they read.

        Raises:
            FstArgError: the type is not "ilabel" or "olabel".
        """
        if sort_type not in ("ilabel", "olabel"):
            raise FstArgError(not_one_of("sort type", sort_type, ("ilabel", "olabel")))
        return self

    def topsort(self) -> Fst:
        """Number the states in an order of the arcs, if there are no cycles."""
        arcs = connect(self.table)
        order = shortest.topological_order(arcs)
        if order is None:
            return self
        numbers = np.empty(arcs.states, np.int64)
        numbers[order] = np.arange(arcs.states)
        columns = numbers[arcs.sources], arcs.ilabel, arcs.olabel, numbers[arcs.target], arcs.weight
        return self._set(make(*columns, arcs.final[order], 0) if arcs.states else arcs)

    def prune(self, delta: float = 0, nstate: int = -1, weight: WeightLike | None = None) -> Fst:
        """Keep paths that are at most `weight` heavier than the best path (None: all), on at most `nstate` states (-1: on all).

        Raises:
            FstOpError: `weight` belongs to another semiring, or a cycle has a negative weight.
        """
        most = None if weight is None else weight_of(weight, self._arc_type)
        with as_operation():
            return self._set(prune(self._summed(), most, None if nstate < 0 else nstate))

    def relabel_pairs(
        self, ipairs: Iterable[tuple[int, int]] | None = None, opairs: Iterable[tuple[int, int]] | None = None
    ) -> Fst:
        """Replace labels by others, in inputs and in outputs."""
        arcs = self.table
        read, write = (
            files.relabelled(labels, dict(pairs or ())) for labels, pairs in ((arcs.ilabel, ipairs), (arcs.olabel, opairs))
        )
        return self._set(make(arcs.sources, read, write, arcs.target, arcs.weight, arcs.final, arcs.start))

    # Strings.

    def string(self, token_type: TokenType | None = None) -> str:
        """The string that the only path of a machine writes.

        Raises:
            FstOpError: the machine is not one path from state 0 to the last state.
        """
        if isinstance(self.expression, Chain):
            return string_of((write for _, write in self.expression.pairs), token_type)
        if not is_string(self.table):
            raise FstOpError("the machine is not one string; call shortestpath first, or paths()")
        return string_of(self.table.olabel.tolist(), token_type)

    def paths(self, input_token_type: TokenType | None = None, output_token_type: TokenType | None = None) -> StringPathIterator:
        """An iterator over all paths of a machine without cycles.

        Raises:
            FstArgError: a type of tokens is unknown.
            FstOpError: the machine has a cycle.
        """
        return StringPathIterator(self.table, self._arc_type, input_token_type, output_token_type)

    def __repr__(self) -> str:
        return f"<vector Fst at {id(self):#x}>"


def need_queue(queue_type: str) -> None:
    """Refuse an unknown type of queue; the order of a search has no effect here."""
    known = ("auto", "fifo", "lifo", "shortest", "state", "top")
    if queue_type not in known:
        raise FstArgError(not_one_of("queue type", queue_type, known))
