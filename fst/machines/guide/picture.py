"""Pictures of token masks: the automaton over bytes."""

from __future__ import annotations

from typing import Any

from fst.automata.picture import Automaton, Picture, Step, byte_label
from fst.machines.guide.arguments import NO_STATE
from fst.machines.guide.table import GuideTable


def picture_of(table: GuideTable, text: str | None) -> Picture:
    """The states of the automaton have their numbers, and an arc has the byte that it reads."""

    def step(state: Any, byte: Any) -> Step | None:
        target = int(table.targets[state, table.classes[byte]])
        return None if target == NO_STATE else Step(target)

    automaton = Automaton(0, step, lambda state, *_: str(state), byte_label, lambda state: bool(table.finals[state]))
    if text is None:
        return automaton.whole(range(256))
    inside, between = table.paths(text.encode())
    return automaton.around([*between.values()] or [*inside.values()] or [text.encode()])
