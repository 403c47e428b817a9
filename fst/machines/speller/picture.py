"""Pictures of the stems of a speller."""

from __future__ import annotations

from typing import Any

from fst.automata.picture import Automaton, Picture, Step
from fst.machines.speller.layout import ENTRY, SYMBOL
from fst.machines.speller.table import SpellerTable


def picture_of(table: SpellerTable, text: str | None) -> Picture:
    """The states of the tree of stems, in which equal ends are shared; an arc has a character, and ``.`` if a stem ends."""
    units = table.arguments().units

    def step(state: Any, unit: Any) -> Step | None:
        entry = ENTRY.step(table.entries, state, int(units[unit]) & SYMBOL)
        return Step(entry.target, ["."] if entry.value & 1 else []) if entry else None

    automaton = Automaton(0, step, lambda state, *_: str(state), lambda unit: chr(unit))
    if text is None:
        return automaton.whole([unit for unit in range(1 << 16) if units[unit] & SYMBOL])
    return automaton.around([[*memoryview(text.encode("utf-16-le")).cast("H")]])
