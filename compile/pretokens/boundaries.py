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
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.compile.pretokens.automata import Automaton
from fst.compile.pretokens.products import products
from fst.core.jit import Deferred
from fst.pretokens.boundaries import AROUND, INSIDE, MAX_WINDOW, UNDECIDED
from fst.text.splitter import DEAD, START, Splitter

SYMBOL_BITS = (3, 4, 5, 6)  # the numbers of bits per symbol that are tried
MAX_STEPS = 8_000_000  # maximum of simulation steps, about 0.2 s; o200k's pattern takes 1.6 million, most patterns under half a million
KEPT = 16  # number of splitters whose windows are kept, at most 1 MiB each; windows of o200k take 2 s to compute, mostly their products
ROUNDS = 50  # rounds of power iteration, which are enough because a text leaves most states within a few characters
# The expected share of each ASCII character of a string among the characters of a text, in percent. The first string that contains a
# character is used. Only speed depends on these shares.
FREQUENCIES = ((" etaoinshrdlu", 5.0), ("cmfwypvbgkjqxz", 1.0), (".,\n", 1.0), ("0123456789'\"-()", 0.2), ("", 0.05))

decide_windows = Deferred("fst.compile.pretokens.simulation", "decide_windows")


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
    """The windows of a splitter, from its moves and the classes of ASCII characters, after at most `most` steps of simulation; windows
    depend on nothing else.
    """
    table = np.frombuffer(moves, np.uint16).reshape(-1, columns)
    prior = _prior(ascii_classes, columns - 1)
    merges, steps = _merges(table, prior), np.array([most])
    tables = ((symbols, _decisions(table, symbols, steps)) for symbols in _candidates(merges))
    symbols, decisions = min(tables, key=lambda found: _share_of_undecided(found[0], found[1], prior))
    bits = _bits_of(symbols)
    found = Windows(symbols, bits, decisions, products(symbols, decisions, bits, prior))
    for array in (found.symbols, found.decisions, found.products):
        array.flags.writeable = False  # tables with the same splitter share these arrays
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


class Simulated(NamedTuple):
    """A splitter over symbols, for `fst.compile.pretokens.simulation`. A *cell* is a pair of a state and a symbol, with the number
    ``state * symbols + symbol``.

    Attributes:
        move_ends: int64[cells + 1], for each cell the start of its moves in `moves`; the next number is their end.
        moves: int64[n], for each cell, the distinct moves of the classes of its symbol, in ascending order.
        reached_ends: int64[symbols + 1], like `move_ends`, for `reached` and symbols.
        reached: int64[n], for each symbol, the possible states after it of a search that began before it; these are few if the symbol
            determines moves.
        surely_ends: bool[states], see `fst.compile.pretokens.automata.Automaton.surely_ends`.
    """

    move_ends: NDArray[np.int64]
    moves: NDArray[np.int64]
    reached_ends: NDArray[np.int64]
    reached: NDArray[np.int64]
    surely_ends: NDArray[np.bool_]

    @classmethod
    def of(cls, moves: NDArray[np.uint16], symbols: NDArray[np.uint8]) -> Simulated:
        """The arrays of a splitter; `symbols` contains the symbol of each class, of END and of BEGIN."""
        members = [np.flatnonzero(symbols[:-1] == symbol) for symbol in range(int(symbols[-1]) + 1)]
        of_cells = [sorted({*row[own].tolist()}) for row in moves for own in members]
        before = of_cells[(START + 1) * len(members) :]
        reached = [sorted({move >> 1 for cell in before[at :: len(members)] for move in cell} - {DEAD}) for at in range(len(members))]
        return cls(*_listed(of_cells), *_listed(reached), Automaton.of(moves).surely_ends())


def _listed(rows: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The ends of the rows, after a 0; and the rows, concatenated."""
    return np.cumsum([0, *map(len, rows)]), np.array([*chain.from_iterable(rows)], np.int64)


def _decisions(moves: NDArray[np.uint16], symbols: NDArray[np.uint8], steps: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The decisions of the windows that fit into `MAX_WINDOW` bits, see `Windows`; `steps` contains the number of remaining steps."""
    bits, (end, begin) = _bits_of(symbols), symbols[-AROUND:].tolist()
    width, splitter = MAX_WINDOW // bits, Simulated.of(moves, symbols)
    # A chain of searches over a window has at most (width + 1) * (width + 2) / 2 steps; each step puts the other moves of its cell on the
    # stack.
    items = 2 + len(splitter.reached) + (width + 1) * (width + 2) // 2 * int(np.diff(splitter.move_ends).max())
    table = np.full(1 << width * bits, INSIDE, np.uint8)
    window, text = np.empty((2, width), np.int64)
    decide_windows.call(splitter, end, begin, bits, window, text, np.empty((items, 4), np.int64), steps, table)
    table.reshape((1 << bits,) * width)[..., begin, :, :] = INSIDE  # where a text begins, a kernel begins a pre-token without a window
    return table
