"""Automata of splitters without gaps. Without gaps means that there is no text between matches, so consecutive matches are all pre-tokens
of a text.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fst.automata.rows import CODE_POINTS
from fst.compile.patterns import code_points
from fst.compile.patterns.budget import Budget
from fst.compile.pretokens.subsets import minimal
from fst.errors import UnsupportedError, quoted
from fst.text.normalizer import EDGE
from fst.text.splitter import DEAD, MAX_CLASSES, START, Splitter

MAX_SITUATIONS = 20_000
SEEN = 1_000  # number of characters of a class from which a legible one is chosen for a message

Situation = TypeVar("Situation", bound=Hashable)
Step = tuple[int, bool]  # the next state, and whether a match ends before the symbol


@dataclass(frozen=True, eq=False)
class Automaton:
    """The transitions of a splitter as two arrays; see `fst.text.splitter.Splitter`.

    Attributes:
        targets: int64[states, classes + 1], the next state.
        ends: bool[states, classes + 1], whether a match ends before the symbol.
    """

    targets: NDArray[np.int64]
    ends: NDArray[np.bool_]

    @classmethod
    def of(cls, moves: NDArray[np.uint16]) -> Automaton:
        """Unpack the transitions of a `fst.text.splitter.Splitter`."""
        return cls((moves >> 1).astype(np.int64), moves & 1 > 0)

    def steps(self) -> list[list[Step]]:
        """The steps, by state and class."""
        rows = zip(self.targets.tolist(), self.ends.tolist(), strict=True)
        return [[*zip(targets, ends, strict=True)] for targets, ends in rows]

    def surely_ends(self) -> NDArray[np.bool_]:
        """For each state, whether a match ends later, for every text that follows."""
        found: NDArray[np.bool_] = np.arange(len(self.targets)) != DEAD
        while True:
            fewer = found & (self.ends | found[self.targets]).all(axis=1)
            if np.array_equal(fewer, found):
                return found
            found = fewer


def explored(
    begin: Callable[[int], tuple[Situation, bool]],
    step: Callable[[Situation, int], tuple[Situation, bool]],
    over: Situation,
    symbols: int,
    budget: Budget,
    classes: NDArray[Any] | None = None,
) -> Automaton:
    """Build an automaton whose states are the situations that a search can reach.

    Args:
        begin: a function that returns the situation after the first symbol of a search, and False.
        step: a function that returns, for a situation and a symbol, the next situation and whether a match ends before the symbol.
        over: the situation in which a search is over.
        symbols: the number of symbols; the last one is the end of a text.
        classes: the symbol of each code point, for the text in the message if `step` refuses a symbol; None: no text.
    """
    numbers: dict[Situation, int] = {over: DEAD}
    waiting: list[Situation] = []

    def row(step: Callable[[int], tuple[Situation, bool]]) -> list[Step]:
        steps = []
        budget.take(symbols)
        for symbol in range(symbols):
            try:
                following, ends = step(symbol)
            except UnsupportedError as error:
                raise UnsupportedError(f"{error}{as_in(classes, [*_path(rows), symbol])}") from None
            fresh = len(numbers) + 1  # the state START is in the numbering, too
            if numbers.setdefault(following, fresh) == fresh:
                waiting.append(following)
            steps.append((numbers[following], ends))
        return steps

    rows = [[(DEAD, False)] * symbols]
    rows.append(row(begin))
    for situation in waiting:  # the loop appends to `waiting`
        rows.append(row(partial(step, situation)))
        if len(rows) > MAX_SITUATIONS:
            raise UnsupportedError(f"a pre_tokenizer that needs more than {MAX_SITUATIONS:,} states")
    pairs = np.array(rows, np.int64)
    return Automaton(pairs[:, :, 0], pairs[:, :, 1] > 0)


def _path(rows: Sequence[Sequence[Step]]) -> list[int]:
    """The symbols of a shortest text that leads to the state after the last of `rows`."""
    before = dict[int, tuple[int, int]]()  # the state before a state, and the symbol between the two
    for state, steps in enumerate(rows):
        for symbol, (following, _) in enumerate(steps):
            before.setdefault(following, (state, symbol))
    path, state = list[int](), len(rows)
    while state > START:
        state, symbol = before[state]
        path.insert(0, symbol)
    return path


def as_in(classes: NDArray[Any] | None, symbols: Sequence[int]) -> str:
    """The end of a message, with a text of these symbols; without a text if a symbol has no character. `classes`: as in `explored`."""
    codes = [np.flatnonzero(classes == symbol)[:SEEN].tolist() for symbol in symbols] if classes is not None else []
    codes = codes if not codes or codes[-1] else codes[:-1]  # the end of a text
    if not codes or not all(codes):
        return ""
    return f", as in {quoted(''.join(chr(min(each, key=_legibility)) for each in codes))}"


def _legibility(code: int) -> tuple[bool, bool, int]:
    return not chr(code).isalnum(), not chr(code).isprintable(), code


def reduced(classes: NDArray[Any], automaton: Automaton, drops: NDArray[np.bool_]) -> Splitter:
    """The splitter with the fewest states and classes that makes the same pre-tokens as an automaton. A pre-token is dropped if it begins
    with a character of a class in `drops`.
    """
    # Remove each reported end that a later reported end of the same match always replaces.
    targets, ends = minimal(automaton.targets, automaton.ends & ~automaton.surely_ends()[automaton.targets])
    moves = (targets * 2 + ends).astype(np.uint16)
    merged, columns = code_points.distinct(np.vstack([moves[:, :-1], drops]))
    count = columns.shape[1]
    if count > MAX_CLASSES:
        raise UnsupportedError(f"pre_tokenizers that tell apart {count} classes of characters; at most {MAX_CLASSES} are supported")
    dropped = frozenset(np.flatnonzero(columns[-1]).tolist())
    return Splitter(merged.astype(np.uint8)[classes], np.column_stack([columns[:-1], moves[:, -1]]), dropped=dropped)


def whole() -> Splitter:
    """The splitter that makes each text one pre-token."""
    moves = np.array([[DEAD, DEAD], [START + 1, DEAD], [START + 1, DEAD]]) * 2
    moves[-1, -1] += 1
    return Splitter(np.zeros(CODE_POINTS, np.uint8), moves.astype(np.uint16))


def at_edges() -> Splitter:
    """The splitter that cuts a text at each character `fst.text.normalizer.EDGE`, and drops these characters."""
    classes = np.zeros(CODE_POINTS, np.uint8)
    classes[ord(EDGE)] = 1
    in_piece, behind_edge = START + 1, START + 2
    targets = np.array([[DEAD] * 3, [in_piece, behind_edge, DEAD], [in_piece, DEAD, DEAD], [DEAD] * 3])
    ends = np.array([[False] * 3, [False] * 3, [False, True, True], [True] * 3])
    return Splitter(classes, (targets * 2 + ends).astype(np.uint16), dropped=frozenset([1]))
