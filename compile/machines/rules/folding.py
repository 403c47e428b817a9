"""Transducers whose arcs read one character each; arcs that read nothing are folded into the arcs after them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from fst.compile.algebra.machine import Fst
from fst.errors import UnsupportedError

MAX_ARCS = 1 << 20  # maximum number of arcs without ε


class Arc(NamedTuple):
    """An arc that reads one character, and writes a string."""

    text: str
    target: int


class Machine(NamedTuple):
    """A transducer whose arcs read one character each.

    Attributes:
        arcs: for each state, its arcs by character.
        finals: the string that each final state writes.
        start: the first state.
    """

    arcs: Sequence[dict[str, list[Arc]]]
    finals: dict[int, str]
    start: int


def folded_arcs(machine: Fst, turn: Literal[1, -1] = 1) -> Machine:
    """Fold the arcs that read nothing into the arcs after them, and into finals; if `turn` is -1, reverse the characters of each label."""
    if not machine.states:
        return Machine([{}], {}, 0)
    arcs: list[dict[str, list[Arc]]] = [{} for _ in range(machine.states)]
    finals, count = dict[int, str](), 0
    for state in range(machine.states):
        for reached, before in _closure(machine, state, turn).items():
            if np.isfinite(machine.final[reached]):
                finals[state] = before
            for read, written, target, _ in machine.arcs_of(reached):
                if read:
                    arcs[state].setdefault(chr(read), []).append(Arc(before + machine.text_of([written])[::turn], target))
                    count += 1
        if count > MAX_ARCS:
            raise UnsupportedError(f"the transducer has more than {MAX_ARCS:,} arcs without those that read nothing")
    return Machine(arcs, finals, machine.start)


def _closure(machine: Fst, state: int, turn: int) -> dict[int, str]:
    """The states that can be reached without reading, each with the string written on the way, which is unique in a functional machine."""
    found, waiting = {state: ""}, [state]
    while waiting:
        reached = waiting.pop()
        for read, written, target, _ in machine.arcs_of(reached):
            if not read and target not in found:
                found[target] = found[reached] + machine.text_of([written])[::turn]
                waiting.append(target)
    return found
