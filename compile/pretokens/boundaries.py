"""Windows of symbols that decide where pre-tokens begin, so that a kernel looks up windows instead of running the splitter.

The splitter (`fst.text.splitter`) is a state machine, so each step has to wait for the previous one. However, the characters around a
position decide most boundaries regardless of the state. For example, no English pre-token begins between two letters. Therefore, the
compiler simulates the splitter over each window, from every possible state, and for every possible end of a match after the window. If all
simulations agree whether a pre-token begins before the second-to-last symbol, the window decides; otherwise the kernel runs the splitter
there. After `MAX_STEPS` steps of simulation, all further windows remain undecided.

The symbols of windows are the splitter's classes. Some classes are merged, because with fewer distinct symbols, a window of the same number
of bits contains more symbols. For example, the letters of contractions such as ``'ll`` differ from other letters only after an apostrophe.
There are two more symbols: BEGIN before a text, and END after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fst.compile.pretokens.automata import Automaton
from fst.compile.pretokens.products import products
from fst.pretokens.boundaries import AROUND, BEGINS, INSIDE, MAX_WINDOW, UNDECIDED
from fst.text.splitter import DEAD, START, Splitter

SYMBOL_BITS = (3, 4, 5, 6)  # the numbers of bits per symbol that are tried
MAX_STEPS = 8_000_000  # maximum of simulation steps, about 10 s; o200k's pattern takes 1.6 million, most patterns under half a million
KEPT = 16  # splitters whose windows a process keeps, at most 1 MiB each; those of o200k take 3 s to compute
ROUNDS = 50  # rounds of power iteration, which are enough because a text leaves most states within a few characters
# The expected share of each ASCII character of a string among the characters of a text, in percent. The first string that contains a
# character is used. Only speed depends on these shares.
FREQUENCIES = ((" etaoinshrdlu", 5.0), ("cmfwypvbgkjqxz", 1.0), (".,\n", 1.0), ("0123456789'\"-()", 0.2), ("", 0.05))

Moves = Sequence[Sequence[Sequence[int]]]


@dataclass(frozen=True, eq=False)
class Windows:
    """The decision of each window.

    Attributes:
        symbols: uint8[classes + 2], the symbol of each class, of END and of BEGIN.
        bits: the number of bits of a symbol.
        decisions: uint8[1 << width * bits], `INSIDE`, `BEGINS` or `UNDECIDED` for each window. The last symbol read is in the lowest bits.
        products: uint8[PRODUCTS_SIZE], the products that describe the decisions, see `fst.pretokens.boundaries`.
    """

    symbols: NDArray[np.uint8]
    bits: int
    decisions: NDArray[np.uint8]
    products: NDArray[np.uint8]


def windows(splitter: Splitter) -> Windows:
    """The windows of a splitter. Classes are merged into symbols so that the expected share of undecided windows is smallest."""
    return _windows(splitter.moves.shape[1], splitter.moves.tobytes(), splitter.classes[:128].tobytes(), MAX_STEPS)


@lru_cache(maxsize=KEPT)
def _windows(columns: int, moves: bytes, ascii_classes: bytes, most: int) -> Windows:
    """The windows of a splitter with these moves, in which ASCII characters have these classes, after at most `most` steps of simulation;
    windows depend on nothing else.
    """
    table = np.frombuffer(moves, np.uint16).reshape(-1, columns)
    prior = _prior(ascii_classes, columns - 1)
    merges, steps = _merges(table, prior), iter(range(most))
    tables = ((symbols, _decisions(table, symbols, steps)) for symbols in _candidates(merges))
    symbols, decisions = min(tables, key=lambda found: _share_of_undecided(found[0], found[1], prior))
    bits = _bits_of(symbols)
    found = Windows(symbols, bits, decisions, products(symbols, decisions, bits, prior))
    for array in (found.symbols, found.decisions, found.products):
        array.flags.writeable = False  # tables with the same splitter share them
    return found


def _prior(ascii_classes: bytes, classes: int) -> NDArray[np.float64]:
    """The expected share of each class in a text."""
    weights = np.zeros(classes)
    for code, number in enumerate(ascii_classes):
        weights[number] += next(percent for chars, percent in FREQUENCIES if not chars or chr(code) in chars)
    weights = np.maximum(weights, FREQUENCIES[-1][1])
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


def _merges(moves: NDArray[np.uint16], prior: NDArray[np.float64]) -> list[tuple[int, int]]:
    """The pairs of classes to merge, in order; the second class is merged into the first class.

    The cost of a merge is the expected share of positions that become undecided: positions of the rarer class, in states in which the two
    classes have different moves.
    """
    visits = _visits(moves, prior)
    costs = {}
    for one, other in combinations(range(len(prior)), 2):
        costs[one, other] = float(visits[moves[:, one] != moves[:, other]].sum() * min(prior[one], prior[other]))
    return sorted(costs, key=lambda pair: (costs[pair], pair))


def _visits(moves: NDArray[np.uint16], prior: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each state, the expected share of a text's characters at which a search is in the state, computed by power iteration. The last
    symbol of a search is the first symbol of the next search.
    """
    targets = (moves[:, :-1] >> 1).astype(np.int64)
    targets = np.where(targets == DEAD, targets[START], targets)
    visits = np.eye(len(moves))[START]
    for _ in range(ROUNDS):
        visits = np.bincount(targets.ravel(), (visits[:, None] * prior).ravel(), len(moves))
    visits[START] += visits @ ((moves[:, :-1] >> 1) == DEAD) @ prior  # START is also the state at the end of each search
    shares: NDArray[np.float64] = visits / visits.sum()
    return shares


def _candidates(merges: Sequence[tuple[int, int]]) -> Iterator[NDArray[np.uint8]]:
    """For each number of bits, the symbols of the classes, of END and of BEGIN, after classes are merged until the symbols fit."""
    classes = 1 + max((other for _, other in merges), default=0)
    for bits in SYMBOL_BITS:
        symbols = np.arange(classes)
        for one, other in merges:
            if len(set(symbols.tolist())) + AROUND <= 1 << bits:
                break
            symbols[symbols == symbols[other]] = symbols[one]
        numbered = np.unique(symbols, return_inverse=True)[1]
        last = numbered.max()
        yield np.concatenate([numbered, [last + 1, last + 2]]).astype(np.uint8)
        if last + 1 == classes:
            return


def _share_of_undecided(symbols: NDArray[np.uint8], decisions: NDArray[np.uint8], prior: NDArray[np.float64]) -> float:
    """The expected share of undecided windows in a text."""
    shares = np.bincount(symbols[:-AROUND], prior, 1 << _bits_of(symbols))
    undecided = (decisions == UNDECIDED).astype(np.float64)
    while len(undecided) > 1:
        undecided = undecided.reshape(-1, len(shares)) @ shares
    return float(undecided[0])


def _bits_of(symbols: NDArray[np.uint8]) -> int:
    """The number of bits of a symbol; the highest symbol is BEGIN."""
    return int(symbols[-1]).bit_length()


def _decisions(moves: NDArray[np.uint16], symbols: NDArray[np.uint8], steps: Iterator[int]) -> NDArray[np.uint8]:
    """The decisions of the windows that fit into `MAX_WINDOW` bits, see `Windows`."""
    count, bits = int(symbols[-1]) + 1, _bits_of(symbols)
    table = np.full((1 << bits,) * (MAX_WINDOW // bits), INSIDE, np.uint8)
    simulation = _Simulation(moves, symbols, steps)
    end, begin = symbols[-AROUND:].tolist()
    for asked, following in product(range(count), repeat=2):
        if asked not in (begin, end) and following != begin:
            _decide(table, simulation, (asked, following), begin, end)
    table[..., begin, :, :] = INSIDE  # at the start of a text, a kernel begins a pre-token without looking up a window
    return table.ravel()


def _decide(table: NDArray[np.uint8], simulation: _Simulation, known: tuple[int, ...], begin: int, end: int) -> None:
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


class _Simulation:
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
