"""A complete machine in one file: a table, a compiler and a kernel that find strings in UTF-8, with 16-bit transitions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from fst.automata.picture import Automaton, Picture, Step, byte_label
from fst.automata.rows import Array
from fst.core.jit import kernel
from fst.tables.kernel_call import State
from fst.tables.proof import need, need_none
from fst.tables.table import Each, Table, member


class Arguments(NamedTuple):
    """The arguments of the kernel: the arrays of `Toy`."""

    transitions: Array
    ids: Array


class Work(NamedTuple):
    """The state that the kernel keeps between calls, and an empty array of symbols."""

    state: Array
    symbols: Array


@dataclass(frozen=True, eq=False)
class Toy(Table):
    """An automaton over bytes with 16-bit transitions; some states emit the id of a string.

    Attributes:
        transitions: uint16[states, 256], the next state for each byte.
        ids: int16[states], the id that a state emits, or -1.
    """

    kind: ClassVar[str] = "toy"
    unit: ClassVar[Literal["utf-8", "utf-16"]] = "utf-8"
    kernel: ClassVar[str] = "support.toy_machine"
    public_class: ClassVar[str] = "fst.runtime.encoder.Encoder"
    picture: ClassVar[str] = "support.toy_machine.picture_of"

    transitions: Array = member("<u2", axes=2)
    ids: Array = member("<i2")

    @property
    def ids_per_unit(self) -> int:
        """At most one id per byte."""
        return 1

    def run(self, text: str) -> list[int]:
        """The ids of the strings in a text, in the order of their ends."""
        state, found = 0, []
        for byte in text.encode():
            state = int(self.transitions[state, byte])
            found.append(int(self.ids[state]))
        return [number for number in found if number >= 0]

    def arguments(self) -> Arguments:
        """The arrays of the kernel."""
        return Arguments(self.transitions.astype(np.uint16), self.ids.astype(np.int16))

    def work(self) -> Work:
        """The state between calls, and an empty array of symbols."""
        return Work(State(), np.empty(0, np.uint8))

    def prove(self, each: Each = map) -> None:
        """Prove that all transitions lead to states."""
        super().prove(each)
        states, found = len(self.ids), self.transitions.shape
        need(found == (states, 256), f"transitions are for {found} states and bytes; expected {states} × 256")
        need_none(np.any(self.transitions >= states, axis=1), lambda state: f"state {state} leads to a state past the last, {states - 1}")


def toy(strings: Mapping[str, int]) -> Toy:
    """Make the automaton of strings, whose matches do not overlap."""
    edges: list[dict[int, int]] = [{}]
    ids = [-1]
    for string, number in strings.items():
        state = 0
        for byte in string.encode():
            if byte not in edges[state]:
                edges[state][byte] = len(edges)
                edges.append({})
                ids.append(-1)
            state = edges[state][byte]
        ids[state] = number
    rows = [[row.get(byte, edges[0].get(byte, 0)) for byte in range(256)] for row in edges]
    return Toy({"kind": "toy", "note": "été"}, np.array(rows, np.uint16), np.array(ids, np.int16))


def picture_of(table: Toy, text: str | None) -> Picture:
    """The states have their numbers; an arc has its byte and the id that the next state emits."""

    def step(state: Any, byte: Any) -> Step:
        after = int(table.transitions[state, byte])
        return Step(after, [str(table.ids[after])] if table.ids[after] >= 0 else [])

    automaton = Automaton(0, step, lambda state, *_: str(state), byte_label)
    return automaton.whole(range(256)) if text is None else automaton.around([text.encode()])


@kernel
def encode_rows(text: Any, starts: Any, more: Any, table: Any, output: Any, work: Any) -> Any:
    """Read each row with the automaton, and write the ids of the visited states."""
    state = work.state
    at = state.count
    node = state.kept if state.is_open else np.uint64(0)
    for row in range(len(starts) - 1):
        for place in range(starts[row], starts[row + 1]):
            node = np.uint64(table.transitions[node, text[place]])
            output.ids[at] = table.ids[node]
            at += np.uint64(table.ids[node] >= 0)
        if not more or row + 2 < len(starts):
            output.ends[row] = at
            node = np.uint64(0)
    state.count, state.kept, state.is_open = at, node, more
    return starts[-1]
