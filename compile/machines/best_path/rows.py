"""The rows of a machine over bytes, which the steps of the compiler pass on: the arcs of each state.

A character becomes the bytes of its UTF-8: an arc that reads several bytes becomes a path, and arcs of one state share the first bytes of
their paths. A symbol of several characters is read and written as its characters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fst.automata.graph import leading_to
from fst.compile.algebra.arcs import FIRST_SYMBOL, Arcs
from fst.errors import VocabularyError, quoted
from fst.machines.best_path.table import EPSILON, WEIGHT_BITS

WHOLE_BITS = 36  # maximum number of bits of a machine's weights, as whole numbers


class Arc(NamedTuple):
    """An arc of a machine over bytes.

    Attributes:
        byte: the byte that the arc reads, or `EPSILON`.
        output: the bytes that the arc writes.
        weight: the weight of the arc, a whole number.
        target: the state after the arc.
    """

    byte: int
    output: bytes
    weight: int
    target: int

    def then(self, after: Arc) -> Arc:
        """The arc that replaces two consecutive arcs, if one of them reads nothing."""
        return Arc(min(self.byte, after.byte), self.output + after.output, self.weight + after.weight, after.target)


class Machine(NamedTuple):
    """A machine over bytes.

    Attributes:
        rows: the arcs of each state.
        finals: the weight of ending in each final state.
        start: the first state.
        exponent: a weight is stored as a whole number, the weight times ``2 ** exponent``.
    """

    rows: list[list[Arc]]
    finals: dict[int, int]
    start: int
    exponent: int


def machine_of(arcs: Arcs) -> Machine:
    """The machine over bytes of an arc table that has states; states that are on no path are left out."""
    ends = arcs.final[np.isfinite(arcs.final)]
    largest = float(np.abs(np.concatenate([arcs.weights, ends])).max(initial=0))
    exponent = WHOLE_BITS - int(np.frexp(largest)[1])
    finals = {int(state): _whole(float(arcs.final[state]), exponent) for state in np.flatnonzero(np.isfinite(arcs.final))}
    spelled = _spelled(arcs)
    rows: list[list[Arc]] = [[] for _ in range(arcs.states)]
    for state in range(arcs.states):
        inner: dict[bytes, int] = {}
        for read, written, target, weight in arcs.arcs_of(state):
            data, output = spelled[read], spelled[written]
            if output is None:
                raise VocabularyError(f"an arc of state {state} writes {quoted(_name(arcs, written))}, which is not text")
            if data is not None:
                _add(rows, inner, state, data, Arc(EPSILON, output, _whole(weight, exponent), target))
    return trimmed(Machine(rows, finals, arcs.start, exponent))


def _whole(weight: float, exponent: int) -> int:
    return round(float(np.ldexp(weight, exponent)))


def _spelled(arcs: Arcs) -> dict[int, bytes | None]:
    """The bytes of each label; None if the label's text has no UTF-8."""
    found: dict[int, bytes | None] = {0: b""}
    for label in np.unique(np.concatenate([arcs.ilabel, arcs.olabel])).tolist():
        if label and label < FIRST_SYMBOL and arcs.unit == "utf-8":
            found[label] = bytes([label])
        elif label:
            try:
                found[label] = _name(arcs, label).encode()
            except UnicodeEncodeError:
                found[label] = None
    return found


def _name(arcs: Arcs, label: int) -> str:
    return chr(label) if label < FIRST_SYMBOL else arcs.symbols[label - FIRST_SYMBOL]


def _add(rows: list[list[Arc]], inner: dict[bytes, int], state: int, data: bytes, last: Arc) -> None:
    """Add the path of an arc that reads `data`. `inner` contains the state after the first bytes of the paths of one state."""
    for size in range(1, len(data)):
        following = inner.setdefault(data[:size], len(rows))
        if following == len(rows):
            rows.append([])
            rows[state].append(Arc(data[size - 1], b"", 0, following))
        state = following
    rows[state].append(last._replace(byte=data[-1] if data else EPSILON))


def trimmed(machine: Machine) -> Machine:
    """Drop the arcs of states that the start does not reach, and arcs to states that reach no end."""
    edges = [(state, arc.target) for state, row in enumerate(machine.rows) for arc in row]
    ending = leading_to(machine.finals, edges)
    reached = leading_to([machine.start], ((target, state) for state, target in edges if target in ending))
    rows = [[arc for arc in row if arc.target in ending] if state in reached else [] for state, row in enumerate(machine.rows)]
    return machine._replace(rows=rows, finals={state: weight for state, weight in machine.finals.items() if state in reached})


def need_in_range(machine: Machine) -> None:
    """Refuse weights that are out of range after cycles are broken."""
    for state, row in enumerate(machine.rows):
        if any(abs(arc.weight) >> WEIGHT_BITS for arc in row):
            raise VocabularyError(f"arcs after state {state} that read nothing have a very large weight together; scale the weights")
