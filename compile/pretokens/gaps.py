"""Convert splitters with gaps (text between matches) to splitters without gaps, whose transitions include the splitter's behavior.

A behavior (`fst.text.splitter.Behavior`) may keep a gap as a pre-token, drop gaps or matches, join a gap with the match before or after it,
or join adjacent matches. For most behaviors, one character must determine whether a match begins: a gap then consists of the characters
that begin no match. Patterns of one string are exempt from this condition, unless matches or gaps are dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fst.compile.patterns.budget import Budget
from fst.compile.pretokens.automata import Automaton, Step, as_in, explored, reduced
from fst.errors import UnsupportedError
from fst.text.splitter import DEAD, START, Splitter

UNCLEAR = "a Split that leaves text between its matches, and more than one character decides whether a match begins"
MIXED = "a Split that joins matches with the text after them, and whose matches hold characters with which no match begins"
JOINED_WITH_GAP_BEFORE = {("merged_with_previous", False), ("merged_with_next", True)}
JOINED_WITH_GAP_AFTER = {("merged_with_previous", True), ("merged_with_next", False)}
GAP, MATCHES, MATCHED, FIRST = -1, -2, -3, -4  # values in place of a state of the pattern's automaton


def total(split: Splitter, budget: Budget | None = None) -> Splitter:
    """Convert a splitter to a splitter without gaps that makes the same pre-tokens."""
    automaton, budget = Automaton.of(split.moves), budget or Budget()
    begins = automaton.targets[START, :-1] != DEAD
    drops = (begins != split.invert) & (split.behavior == "removed")
    return replace(reduced(split.classes, _behaving(split, automaton, begins, budget), drops), runs=split.runs)


def is_unclear(split: Splitter) -> bool:
    """Whether `total` refuses a splitter whose gaps are pre-tokens."""
    try:
        _Gaps(Automaton.of(split.moves)).automaton(Budget(), None)
    except UnsupportedError:
        return True
    return False


def _behaving(split: Splitter, automaton: Automaton, begins: NDArray[np.bool_], budget: Budget) -> Automaton:
    """The automaton without gaps of a splitter and its behavior. `begins`: bool[classes], whether a match begins with the class."""
    classes = None if split.runs else split.classes
    if split.behavior == "isolated":
        return _Gaps(automaton).automaton(budget, classes)
    asked, string = (split.behavior, split.invert), _string(automaton)
    if len(string) > 1 and split.behavior != "removed":
        return _of_string(string, automaton.targets.shape[1], asked, budget, classes)
    unsure = begins & ~automaton.surely_ends()[automaton.targets[START, :-1]]
    if unsure.any():
        raise UnsupportedError(f"{UNCLEAR}{as_in(classes, [int(unsure.argmax())])}")
    if asked in JOINED_WITH_GAP_BEFORE:
        return _joined_with_gap(automaton, begins, budget, before=True)
    inside = automaton.targets[:, :-1].any(axis=0) & ~begins  # the characters that can be in a match but cannot begin one
    are_apart = not inside.any()
    if split.behavior == "removed":  # adjacent dropped matches may be joined
        return _Gaps(automaton).automaton(budget, classes) if split.invert or not are_apart else _joined_matches(begins, budget)
    if not are_apart:
        raise UnsupportedError(f"{MIXED}{as_in(classes, [int(inside.argmax())])}")
    if asked in JOINED_WITH_GAP_AFTER:
        return _joined_with_gap(automaton, begins, budget, before=False)
    return _joined_matches(begins, budget)


def _string(automaton: Automaton) -> Sequence[int]:
    """The symbols of the only string that a pattern matches; empty if the pattern matches several strings or has a look-ahead."""
    steps, symbols, state = automaton.steps(), list[int](), START
    while not any(ends for _, ends in steps[state]):
        leading = [symbol for symbol, (following, _) in enumerate(steps[state]) if following != DEAD]
        if len(leading) != 1 or len(symbols) > len(steps):
            return []
        symbols += leading
        state = steps[state][leading[0]][0]
    return symbols if all(step == (DEAD, True) for step in steps[state]) else []


def _of_string(
    string: Sequence[int], symbols: int, asked: tuple[str, bool], budget: Budget, classes: NDArray[np.uint8] | None
) -> Automaton:
    """The automaton without gaps for a pattern of one string, if the behavior joins matches with gaps or with each other."""
    found = _String(string, symbols - 1, joins=asked[0] == "contiguous")
    step = found.step_to_end if asked in JOINED_WITH_GAP_BEFORE else found.step
    return explored(lambda symbol: (step(_Read(), symbol)[0], False), step, OVER, symbols, budget, classes)


def _joined_with_gap(automaton: Automaton, begins: NDArray[np.bool_], budget: Budget, *, before: bool) -> Automaton:
    """The automaton for the behaviors that join each match with the gap before it, or with the gap after it."""
    steps, in_gap = automaton.steps(), [*(~begins).tolist(), False]

    def begin(symbol: int) -> Step:
        return GAP if in_gap[symbol] else steps[START][symbol][0], False

    def step_before(now: int, symbol: int) -> Step:
        if now != GAP:
            return steps[now][symbol]
        return begin(symbol) if symbol < len(begins) else (DEAD, True)

    def step_after(now: int, symbol: int) -> Step:
        following, ends = steps[now][symbol] if now != GAP else (DEAD, True)
        return (GAP, False) if ends and in_gap[symbol] else (following, ends)

    return explored(begin, step_before if before else step_after, DEAD, len(in_gap), budget)


def _joined_matches(begins: NDArray[np.bool_], budget: Budget) -> Automaton:
    """The automaton for the behavior that joins adjacent matches: each run of characters with which matches begin is one pre-token."""
    kinds = [*np.where(begins, MATCHES, GAP).tolist(), DEAD]
    return explored(
        lambda symbol: (kinds[symbol], False),
        lambda now, symbol: (now, False) if kinds[symbol] == now else (DEAD, True),
        DEAD,
        len(kinds),
        budget,
    )


class _Read(NamedTuple):
    """The state of a search for the only string that a pattern matches.

    Attributes:
        matched: the length of the prefix of the string that was just read.
        kind: the position of this prefix: after a match, at the beginning of the pre-token, or in a gap, with an end already reported
            before it.
    """

    matched: int = 0
    kind: int = FIRST


OVER = _Read(-1)


@dataclass(frozen=True)
class _String:
    """A search for the only string that a pattern matches.

    Attributes:
        symbols: the string.
        end: the symbol for the end of a text.
        joins: whether adjacent matches are one pre-token; otherwise the gap after a match is part of its pre-token.
    """

    symbols: Sequence[int]
    end: int
    joins: bool

    def step_to_end(self, now: _Read, symbol: int) -> tuple[_Read, bool]:
        """The next state, and whether a match ends, in the search for a pre-token that ends after its first match."""
        if symbol == self.end or now.matched == len(self.symbols):
            return OVER, True
        return _Read(self._longest(now.matched, symbol)), False

    def step(self, now: _Read, symbol: int) -> tuple[_Read, bool]:
        """The next state, and whether a match ends, in the search for a pre-token that ends before the next match or, if matches are
        joined, after the last adjacent match.
        """
        count, kind = now
        if count < len(self.symbols) and symbol == self.symbols[count]:
            return self._read(count + 1, kind), not count and kind != FIRST
        if kind == MATCHED and self.joins:
            return OVER, not count
        if symbol == self.end:
            return OVER, True
        longest = self._longest(count, symbol)
        if longest > 1:  # the string may begin before this symbol, where no end is reported yet
            raise UnsupportedError(UNCLEAR)
        return _Read(longest, GAP), longest == 1

    def _read(self, count: int, kind: int) -> _Read:
        """The state of the search after one more symbol is read."""
        if count < len(self.symbols):
            return _Read(count, kind)
        return OVER if kind == GAP else _Read(0, MATCHED if self.joins else GAP)

    def _longest(self, count: int, symbol: int) -> int:
        """The length of the longest prefix of the string that is a suffix of its first `count` symbols followed by `symbol`."""
        read = (*self.symbols[:count], symbol)
        return next((size for size in range(len(read), 0, -1) if read[-size:] == tuple(self.symbols[:size])), 0)


class _Gap(NamedTuple):
    """The state of a search in a gap, or in text that may become a gap.

    Attributes:
        search: the state of the pattern's search that began at the last reported end of the gap; DEAD: this search has failed.
        later: the states of the searches that began at later positions; or only MATCHED, if one of these searches has a match or will have
            one in every text.
        is_first: whether `search` began at the beginning of the gap, so the gap may still turn out to be a match.
    """

    search: int = DEAD
    later: frozenset[int] = frozenset()
    is_first: bool = False


class _Gaps:
    """Builds the automaton without gaps from a pattern's automaton.

    A gap ends at the first position from which the pattern matches, but the match is found only later. The automaton therefore reports an
    end of the gap at the first possible position; if the search from there fails, the gap continues. The true end of the gap may then lie
    before the current symbol, unreported, so a pattern is refused if a search from a later position is still alive.
    """

    def __init__(self, automaton: Automaton) -> None:
        self._steps, self._surely = automaton.steps(), automaton.surely_ends().tolist()
        self._symbols = automaton.targets.shape[1]

    def automaton(self, budget: Budget, classes: NDArray[np.uint8] | None) -> Automaton:
        """The automaton without gaps. A situation is a `_Gap`, or the state of a search that has a match or will have one in every text.
        `classes`: as in `explored`.
        """
        over: int | _Gap = DEAD
        return explored(self._begin, self._next, over, self._symbols, budget, classes)

    def _begin(self, symbol: int) -> tuple[int | _Gap, bool]:
        """The first step: it begins a match, a gap, or text that may be either."""
        search, _ = self._steps[START][symbol]
        is_known = self._surely[search] or symbol == self._symbols - 1
        return search if is_known else _Gap(search, is_first=search != DEAD), False

    def _next(self, now: int | _Gap, symbol: int) -> tuple[int | _Gap, bool]:
        """The next situation after any situation and a symbol."""
        if isinstance(now, int):
            return self._steps[now][symbol]
        search, ends = self._steps[now.search][symbol]
        if ends or self._surely[search]:
            return (search, ends) if now.is_first else (DEAD, False)
        if search != DEAD:
            return _Gap(search, self._moved(now.later | {START}, symbol), now.is_first), False
        if self._moved(now.later, symbol):
            raise UnsupportedError(UNCLEAR)
        return self._resumed(symbol)

    def _moved(self, searches: frozenset[int], symbol: int) -> frozenset[int]:
        """The searches that are still alive after a symbol."""
        steps = [self._steps[state][symbol] for state in searches - {MATCHED}]
        if MATCHED in searches or any(ends or self._surely[state] for state, ends in steps):
            return frozenset([MATCHED])
        return frozenset(state for state, _ in steps) - {DEAD}

    def _resumed(self, symbol: int) -> tuple[int | _Gap, bool]:
        """The step of a gap that may end directly before this symbol, but not earlier."""
        search, _ = self._steps[START][symbol]
        if self._surely[search] or symbol == self._symbols - 1:
            return DEAD, True
        return _Gap(search), search != DEAD
