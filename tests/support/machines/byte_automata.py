"""Automata over bytes, read byte by byte."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from fst.compile.machines.guide.languages import ByteAutomaton
from fst.compile.machines.guide.texts import automaton_of
from fst.errors import FstWarning
from fst.machines.guide.arguments import Tokens
from fst.machines.guide.part_store import PartStore
from fst.machines.guide.parts import Texts
from fst.machines.guide.vocabulary import Vocabulary, trie_of
from fst.runtime.machines.guide.walker import Walker


def of_texts(**texts: Any) -> ByteAutomaton:
    """The automaton of a table; arguments as in `fst.compile.guide`. Warnings of values without a schema are ignored."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FstWarning)
        return automaton_of(**texts)[0]


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


class Sets:
    """The texts of parts, followed byte by byte.

    Args:
        texts: the parts.
    """

    def __init__(self, texts: Texts) -> None:
        none = np.empty(0, np.int64)
        tokens = Tokens(none.astype(np.uint8), none, none.astype(np.uint8), none, np.array([-1]), np.array([False]))
        trie = trie_of(tokens.token_bytes, tokens.token_ends)
        self._walker = Walker(PartStore(texts), Vocabulary(tokens, trie, trie, none, {}))
        self.start: State = (self._walker.first(0),)

    def after(self, state: State, text: bytes) -> State:
        """The state after a text."""
        found = self._walker.after(state[0], np.frombuffer(text, np.uint8)) if state else 0
        return (found,) if found else ()

    def is_final(self, state: State) -> bool:
        """Whether a text may end in a state."""
        return self._walker.is_final(state[0])
