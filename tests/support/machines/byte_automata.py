"""Automata over bytes, read byte by byte."""

from __future__ import annotations

from collections.abc import Iterable

from fst.compile.machines.guide.automaton import ByteAutomaton


def state_after(automaton: ByteAutomaton, text: bytes, state: int = 0) -> int:
    """The state after a text; -1 if there is none."""
    for byte in text:
        if state >= 0:
            state = int(automaton.targets[state, byte])
    return state


def accepts(automaton: ByteAutomaton, text: bytes) -> bool:
    """Whether an automaton accepts a text."""
    state = state_after(automaton, text)
    return state >= 0 and bool(automaton.is_final[state])


def accepted(automaton: ByteAutomaton, texts: Iterable[str]) -> list[str]:
    """The texts that an automaton accepts."""
    return [text for text in texts if accepts(automaton, text.encode())]
