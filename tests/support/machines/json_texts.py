"""Whether an automaton accepts a JSON value in some text: in any order of properties, and in any usual form of its numbers."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from support.machines.byte_automata import Direct, Sets, State

from fst.compile.machines.guide.languages import ByteAutomaton
from fst.machines.guide.parts import Texts

MAX_TRIED = 60  # maximum number of sets of an object's properties; properties that exclude others come last

States = frozenset[State]
Steps = Sets | Direct


def accepts_value(texts: ByteAutomaton | Texts, value: Any) -> bool:
    """Whether an automaton, or parts, read a value in some text without whitespace."""
    steps = Direct(texts) if isinstance(texts, ByteAutomaton) else Sets(texts)
    return any(steps.is_final(state) for state in _after(steps, frozenset([steps.start]), value))


def _after(steps: Steps, states: States, value: Any) -> States:
    """The states after a value."""
    if isinstance(value, dict):
        return _after_object(steps, states, value)
    if isinstance(value, list):
        states = _read(steps, states, "[")
        for place, item in enumerate(value):
            states = _after(steps, _read(steps, states, "," if place else ""), item)
        return _read(steps, states, "]")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return frozenset().union(*(_read(steps, states, text) for text in _texts_of(value)))
    return _read(steps, states, json.dumps(value, ensure_ascii=False))


def _after_object(steps: Steps, states: States, value: dict[str, Any]) -> States:
    """The states after an object whose properties are in the first order that is accepted."""
    keys = {name: json.dumps(name, ensure_ascii=False) + ":" for name in value}
    tried: set[tuple[frozenset[str], States]] = set()

    def after(left: frozenset[str], found: States) -> States:
        """The states after the remaining properties and the end of the object."""
        if not left:
            return _read(steps, found, "}")
        if (left, found) in tried or len(tried) > MAX_TRIED + len(value):
            return frozenset()
        tried.add((left, found))
        begun = {name: _read(steps, found, ("," if len(left) < len(value) else "") + keys[name]) for name in value if name in left}
        readable = [name for name in begun if begun[name]]
        later: list[tuple[int, str, States]] = []
        for name in readable:
            reached = _after(steps, begun[name], value[name])
            lost = sum(not _read(steps, reached, "," + keys[other]) for other in readable if other != name)
            if reached and not lost and (ended := after(left - {name}, reached)):
                return ended
            if reached and lost:
                later.append((lost, name, reached))
        ends = (after(left - {name}, reached) for _, name, reached in sorted(later, key=lambda each: each[0]))
        return next((ended for ended in ends if ended), frozenset())

    return after(frozenset(value), _read(steps, states, "{"))


def _read(steps: Steps, states: States, text: str) -> States:
    data = text.encode("utf-8", "surrogatepass")
    return frozenset(after for state in states if (after := steps.after(state, data)))


def _texts_of(number: float) -> set[str]:
    decimal = Decimal(str(number))
    plain = f"{decimal:f}"
    whole = {plain.partition(".")[0]} if decimal == int(decimal) else set()
    return {json.dumps(number), plain} | whole
