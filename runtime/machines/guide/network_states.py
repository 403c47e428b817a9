"""The states of a recursive transition network, and the steps between them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fst.automata.rows import Array
from fst.core.jit import Deferred
from fst.machines.guide.arguments import NO_STATE
from fst.machines.guide.network import Network
from fst.machines.guide.scanning import add_bits
from fst.machines.guide.vocabulary import Vocabulary

State = tuple[int, ...]  # the states after the calls that have not returned, the innermost call last, and then the state of the network
NO_CELL = -1
BEFORE: State = (NO_STATE,)  # before the first token, if tokens have other bytes at the start of a text
KERNELS = "fst.runtime.machines.guide.kernels.network"

scan_network, walk_network = (Deferred(KERNELS, name) for name in ("scan_network", "walk_network"))


class Work(NamedTuple):
    """The path of a walk. A *cell* is a call that has not returned. Each byte may add one cell, and the number of this cell is the number
    of the byte. The cells of the state before the walk have the numbers from `longest` on.

    Attributes:
        states, cells: int32[longest + 1], the state of the network and the innermost cell after each number of bytes; -1: no cell.
        returns, parents: int32[cells], the state after each call, and the cell around the call.
    """

    states: Array
    cells: Array
    returns: Array
    parents: Array


class NetworkStates:
    """The states of a network.

    Args:
        network: the arrays.
        vocabulary: the vocabulary of the tokenizer.
    """

    kind = "calls"

    def __init__(self, network: Network, vocabulary: Vocabulary) -> None:
        self._network, self._vocabulary = network, vocabulary
        self.start: State = BEFORE if len(vocabulary.tokens.first_ends) else (0,)

    def is_alive(self, state: State) -> bool:
        """Whether a text can end after a state. This is true except for the empty state, since a final state is reachable from every other
        state.
        """
        return bool(state)

    def is_final(self, state: State) -> bool:
        """Whether a text may end in a state."""
        return len(state) == 1 and bool(self._network.finals[0 if state == BEFORE else state[0]])

    def step(self, state: State, number: int) -> State:
        """The state after a token; the empty state if the token is not allowed."""
        content, is_first = self._vocabulary.content(number), state == BEFORE
        if not state or not content:
            return ()
        content = self._vocabulary.content(number, is_first=is_first)
        if not content and self._vocabulary.tokens.keeps_first[0]:
            return state
        work = self._work(state, len(content))
        walk_network.call(self._network, work, np.frombuffer(content, np.uint8))
        return _state(work, len(content))

    def mask(self, state: State) -> Array:
        """uint32[words], the mask of a state, without the end of the text."""
        is_first = state == BEFORE
        trie = self._vocabulary.first if is_first else self._vocabulary.trie
        row = np.zeros(self._vocabulary.words + 1, np.uint32)
        scan_network.call(self._network, trie, self._work(state, trie.longest), row)
        if is_first:
            add_bits(row, self._vocabulary.silent)
        return row[:-1]

    def _work(self, state: State, longest: int) -> Work:
        """Working arrays for walks of at most `longest` bytes from a state."""
        *returns, last = (0,) if state == BEFORE else state
        states, cells = np.full((2, longest + 1), NO_STATE, np.int32)
        chain = np.arange(longest - 1, longest + len(returns), dtype=np.int32)
        chain[0] = NO_CELL
        states[0], cells[0] = last, chain[-1]
        added = np.zeros(longest, np.int32)
        return Work(states, cells, np.append(added, np.array(returns, np.int32)), np.append(added, chain[:-1]))


def _state(work: Work, depth: int) -> State:
    """The state after a number of bytes; the empty state if the bytes are not read."""
    if work.states[depth] == NO_STATE:
        return ()
    found, cell = [int(work.states[depth])], int(work.cells[depth])
    while cell != NO_CELL:
        found.append(int(work.returns[cell]))
        cell = int(work.parents[cell])
    return tuple(reversed(found))
