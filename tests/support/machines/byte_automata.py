"""Automata over bytes, read byte by byte."""

from __future__ import annotations

from collections.abc import Iterable

from fst.compile.machines.guide.languages import ByteAutomaton
from fst.machines.guide.network import RETURN, Network


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


State = tuple[int, ...]  # empty if the automaton does not read a text


class Direct:
    """An automaton, followed byte by byte.

    Args:
        automaton: the automaton.
    """

    start: State = (0,)

    def __init__(self, automaton: ByteAutomaton) -> None:
        self._automaton = automaton

    def after(self, state: State, text: bytes) -> State:
        """The state after a text."""
        found = state_after(self._automaton, text, state[0]) if state else -1
        return (found,) if found >= 0 else ()

    def is_final(self, state: State) -> bool:
        """Whether a text may end in a state."""
        return bool(self._automaton.is_final[state[0]])


class Calls:
    """A network, followed byte by byte. A state is a tuple: the states to which open calls return, and then a state of the network.

    Args:
        network: the network.
    """

    start: State = (0,)

    def __init__(self, network: Network) -> None:
        self._network = network

    def after(self, state: State, text: bytes) -> State:
        """The state after a text."""
        network = self._network
        for byte in text:
            if not state:
                break
            *returns, last = state
            target = int(network.targets[last, network.classes[byte]])
            if target >= len(network.targets):
                call = target - len(network.targets)
                returns, target = [*returns, int(network.after[call])], int(network.entered[call])
            while target == RETURN:
                target = returns.pop()
            state = () if target < 0 else (*returns, target)
        return state

    def is_final(self, state: State) -> bool:
        """Whether a text may end in a state."""
        return len(state) == 1 and bool(self._network.finals[state[0]])
