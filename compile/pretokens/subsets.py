"""Convert programs to automata by ordered subset construction. A state is the list of threads that backtracking would try, in order of
preference.

Threads that are less preferred than a match are dropped. So the match that backtracking finds is the last match before the automaton
reaches the dead state.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fst.automata.refinement import classes_of
from fst.compile.patterns.budget import Budget
from fst.compile.pretokens.program import Behind, Moves, Program
from fst.compile.pretokens.threads import DECIDED, Stepper, Thread, Undecided
from fst.errors import UnsupportedError

MAX_STATES = 4096
FAR = "the pattern has a look-ahead that depends on more than one character after the match"


@dataclass(frozen=True)
class State:
    """A list of threads, and the class of the last symbol read (None if unknown)."""

    threads: tuple[Thread, ...]
    before: int | None


DEAD = State((), 0)


class Construction:
    """The subset construction for a program. The number of classes is also the symbol for the end of the text."""

    def __init__(self, program: Program, classes: int, budget: Budget) -> None:
        self._stepper = Stepper(program, budget)
        self._classes = classes
        self._contexts = _contexts(program, classes)
        self._start = State(((program.start, DECIDED),), None)

    def moves(self) -> Moves:
        """The moves of each state, in the order of discovery: for each class, the next state, and whether a match ends."""
        numbers = {DEAD: 0, self._start: 1}
        moves: Moves = []
        states = [DEAD, self._start]
        for state in states:  # the loop appends to `states`
            row = []
            for symbol in range(self._classes + 1):
                target, ends = self._next(state, symbol)
                if numbers.setdefault(target, len(states)) == len(states):
                    states.append(target)
                row.append((numbers[target], ends))
            moves.append(row)
            if len(states) > MAX_STATES:
                raise UnsupportedError(f"the pattern needs more than {MAX_STATES:,} states")
        return moves

    def _next(self, state: State, symbol: int) -> tuple[State, bool]:
        """The state after a symbol, and whether a match ends before it."""
        step = self._stepper.step(state.threads, state.before, symbol)
        for preferred, undecided in step.ends:
            if undecided and not self._superseded(undecided, step.threads[:preferred], symbol):
                raise UnsupportedError(FAR)
        ends = any(not undecided for _, undecided in step.ends)
        return (State(_distinct(step.threads), self._contexts[symbol]) if step.threads else DEAD), ends

    def _superseded(self, undecided: Undecided, threads: tuple[Thread, ...], symbol: int) -> bool:
        """Whether `threads` have a match in every text in which the look-aheads hold.

        If so, the automaton never uses a match that depends on these look-aheads, because `threads` are preferred to this match.
        """
        seen = set()
        stack = [(undecided, threads, symbol)]
        while stack:
            if (situation := stack.pop()) in seen:
                continue
            seen.add(situation)
            undecided, threads, before = situation
            for following in range(self._classes + 1):
                left = self._stepper.advance(undecided, self._contexts[before], following)
                step = self._stepper.step(threads, self._contexts[before], following)
                if left is None or any(not others for _, others in step.ends):
                    continue
                if following == self._classes:
                    return False
                stack.append((left, _distinct(step.threads), following))
        return True


def _contexts(program: Program, classes: int) -> list[int]:
    """For each class, the first class that no look-behind distinguishes from this class. For the end of the text, class 0 is used."""
    sets = [each.classes for each in program.instructions if isinstance(each, Behind)]
    firsts: dict[tuple[bool, ...], int] = {}
    return [firsts.setdefault(tuple(number in each for each in sets), number) for number in range(classes)] + [0]


def _distinct(threads: tuple[Thread, ...]) -> tuple[Thread, ...]:
    """Drop a thread if a preferred thread at the same place depends on the same look-aheads or on fewer of them."""
    kept: dict[int, list[Undecided]] = {}
    found = []
    for place, undecided in threads:
        others = kept.setdefault(place, [])
        if not any(other <= undecided for other in others):
            others.append(undecided)
            found.append((place, undecided))
    return tuple(found)


def minimal(targets: NDArray[np.int64], ends: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The automaton with the fewest states that reports the same ends.

    State 0 is the dead state, and state 1 the first state; other states are numbered in the order in which they are reached. The caller may
    then merge symbols with equal columns. The arrays are those of `fst.compile.pretokens.automata.Automaton`.
    """
    states, symbols = targets.shape
    sources = np.repeat(np.arange(states, dtype=np.int32), symbols)
    labels = np.arange(symbols) * 2 + ends
    firsts, numbers = classes_of(np.zeros(states, np.int32), sources, labels.ravel().astype(np.int32), targets.ravel().astype(np.int32))
    return _numbered(numbers[targets[firsts]], ends[firsts], int(numbers[1]))


def _numbered(targets: NDArray[np.int32], ends: NDArray[np.bool_], start: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Number states in the order in which they are reached; the dead state is 0.

    If a pattern never matches, its first state is a copy of the dead state.
    """
    order = [0, start]
    seen = {0, start}
    for state in order:  # the loop appends to `order`
        fresh = [target for target in dict.fromkeys(targets[state].tolist()) if target not in seen]
        order += fresh
        seen.update(fresh)
    numbers = np.zeros(len(targets), np.int64)
    numbers[order] = np.arange(len(order))
    numbers[0] = 0
    return numbers[targets[order]], ends[order]
