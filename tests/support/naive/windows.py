"""The windows that decide where pre-tokens begin, by a plain simulation of the splitter; see `fst.compile.pretokens.boundaries`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.compile.pretokens.automata import Automaton
from fst.pretokens.boundaries import AROUND, BEGINS, INSIDE, MAX_WINDOW, UNDECIDED
from fst.text.splitter import DEAD, START

Moves = Sequence[Sequence[Sequence[int]]]


def decisions(moves: NDArray[np.uint16], symbols: NDArray[np.uint8], steps: Iterator[int]) -> NDArray[np.uint8]:
    """The decisions of the windows that fit into `MAX_WINDOW` bits, see `Windows`."""
    count, bits = int(symbols[-1]) + 1, int(symbols[-1]).bit_length()
    table = np.full((1 << bits,) * (MAX_WINDOW // bits), INSIDE, np.uint8)
    simulation = Simulation(moves, symbols, steps)
    end, begin = symbols[-AROUND:].tolist()
    for asked, following in product(range(count), repeat=2):
        if asked not in (begin, end) and following != begin:
            _decide(table, simulation, (asked, following), begin, end)
    table[..., begin, :, :] = INSIDE  # at the start of a text, a kernel begins a pre-token without looking up a window
    return table.ravel()


def _decide(table: NDArray[np.uint8], simulation: Simulation, known: tuple[int, ...], begin: int, end: int) -> None:
    """Decide all windows that end with the symbols `known`. If these symbols do not suffice to decide, each possible symbol is added before
    them.
    """
    decided = simulation.decide(known, len(known) - 2)
    if decided != UNDECIDED or len(known) == table.ndim or simulation.is_over:
        table[_ending(known)] = decided
        return
    for symbol in range(max(begin, end) + 1):
        if known[0] == begin:  # only BEGIN can precede BEGIN
            table[_ending(known)] = decided
        elif symbol != end:
            _decide(table, simulation, (symbol, *known), begin, end)


def _ending(known: tuple[int, ...]) -> Any:
    """The index of all windows that end with the symbols `known`."""
    return ..., *known


class Simulation:
    """Simulations of a splitter over windows.

    Attributes:
        is_over: whether all simulation steps are used up, so that all further windows remain undecided.
    """

    def __init__(self, moves: NDArray[np.uint16], symbols: NDArray[np.uint8], steps: Iterator[int]) -> None:
        self._steps, self.is_over = steps, False
        self._end, self._begin = int(symbols[-2]), int(symbols[-1])
        members = [np.flatnonzero(symbols[:-1] == symbol) for symbol in range(int(symbols.max()) + 1)]
        self._surely_ends = Automaton.of(moves).surely_ends().tolist()
        self._moves: Moves = [[sorted(set(row[own].tolist())) for own in members] for row in moves]
        # The states, after the first symbol of a window, of searches that began before the window: few, if this symbol determines moves.
        before = self._moves[START + 1 :]
        self._reached = [sorted({move >> 1 for row in before for move in row[at]} - {DEAD}) for at in range(len(members))]

    def decide(self, window: Sequence[int], asked: int) -> int:
        """Decide whether a pre-token begins before the symbol at index `asked`."""
        text = [symbol for symbol in window if symbol != self._begin]
        asked -= len(window) - len(text)
        answers = set()
        for answer in self._simulate(text, asked, len(text) < len(window)):
            answers.add(answer)
            if len(answers) > 1:
                break
        if len(answers) > 1 or self.is_over:
            return UNDECIDED
        return BEGINS if answers.pop() else INSIDE

    def _simulate(self, text: Sequence[int], asked: int, at_begin: bool) -> Iterator[bool]:
        """Yield, for all searches that can read the window, whether a pre-token begins before the symbol at index `asked`.

        One search begins with the window. If the window does not begin with BEGIN, earlier searches may reach the window in any state.
        """
        yield from self._search(text, asked, 0)
        if not at_begin:
            for state in self._reached[text[0]]:
                yield from self._go_on(text, asked, state, 1, None, None)

    def _search(self, text: Sequence[int], asked: int, begin: int) -> Iterator[bool]:
        """Simulate a search that begins at an index."""
        if begin >= asked or begin >= len(text):
            yield begin == asked
        else:
            yield from self._go_on(text, asked, START, begin, begin, None)

    def _go_on(self, text: Sequence[int], asked: int, state: int, at: int, begin: int | None, end: int | None) -> Iterator[bool]:
        """Simulate a search from a state to its end.

        Args:
            text, asked: as in `decide`.
            state, at: the state of the search, before the symbol at index `at`.
            begin: the index at which the search began; None: before the window.
            end: the end of the last match; None: no match, or a match that ends before the window.
        """
        if next(self._steps, None) is None:
            self.is_over = True
            return
        if at == len(text):
            yield False  # the search may find a match that ends after the window
            if not self._surely_ends[state]:
                yield from self._restart(text, asked, begin, end)
            return
        for move in self._moves[state][text[at]]:
            match = at if move & 1 else end
            if move >> 1 == DEAD:
                yield from self._restart(text, asked, begin, match)
            else:
                yield from self._go_on(text, asked, move >> 1, at + 1, begin, match)

    def _restart(self, text: Sequence[int], asked: int, begin: int | None, end: int | None) -> Iterator[bool]:
        """Simulate the next search: from the end of the match or, without a match, from one symbol after the previous start."""
        if end is None and begin is not None:
            end = begin + 1
        # A search cannot reach the window if it began and ended before the window.
        if end is not None and (end > 0 or begin is not None):
            yield from self._search(text, asked, end)
