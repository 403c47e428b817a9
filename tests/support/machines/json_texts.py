"""Whether an automaton accepts a JSON value in some text: in any order of properties, and in any usual form of its numbers."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from support.machines.byte_automata import state_after

from fst.compile.machines.guide.automaton import ByteAutomaton

MAX_TRIED = 60  # sets of properties of an object that are tried at most; a property that leaves the others possible comes first

States = frozenset[int]


def accepts_value(automaton: ByteAutomaton, value: Any) -> bool:
    """Whether an automaton accepts a value in some text without whitespace."""
    return any(automaton.is_final[state] for state in _after(automaton, frozenset([0]), value))


def _after(automaton: ByteAutomaton, states: States, value: Any) -> States:
    """The states after a value."""
    if isinstance(value, dict):
        return _after_object(automaton, states, value)
    if isinstance(value, list):
        states = _read(automaton, states, "[")
        for place, item in enumerate(value):
            states = _after(automaton, _read(automaton, states, "," if place else ""), item)
        return _read(automaton, states, "]")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return frozenset().union(*(_read(automaton, states, text) for text in _texts_of(value)))
    return _read(automaton, states, json.dumps(value, ensure_ascii=False))


def _after_object(automaton: ByteAutomaton, states: States, value: dict[str, Any]) -> States:
    """The states after an object. Orders of properties are tried until `MAX_TRIED` sets of properties have been read."""
    keys = {name: json.dumps(name, ensure_ascii=False) + ":" for name in value}
    tried: set[tuple[frozenset[str], States]] = set()

    def after(left: frozenset[str], found: States) -> States:
        """The states after the properties that are left."""
        if not left or (left, found) in tried or len(tried) > MAX_TRIED:
            return found if not left else frozenset()
        tried.add((left, found))
        comma = "," if len(left) < len(value) else ""
        begun = {name: _after(automaton, _read(automaton, found, comma + keys[name]), value[name]) for name in sorted(left)}
        possible = [name for name, reached in begun.items() if reached]
        lost = {name: sum(not _read(automaton, begun[name], "," + keys[other]) for other in possible) for name in possible}
        return frozenset().union(*(after(left - {name}, begun[name]) for name in sorted(possible, key=lost.__getitem__)))

    return _read(automaton, after(frozenset(value), _read(automaton, states, "{")), "}")


def _read(automaton: ByteAutomaton, states: States, text: str) -> States:
    data = text.encode("utf-8", "surrogatepass")
    return frozenset(after for state in states if (after := state_after(automaton, data, state)) >= 0)


def _texts_of(number: float) -> set[str]:
    decimal = Decimal(str(number))
    plain = f"{decimal:f}"
    whole = {plain.partition(".")[0]} if decimal == int(decimal) else set()
    return {json.dumps(number), plain} | whole
