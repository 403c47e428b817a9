"""Threads, which are the places at which a program may continue, in the order in which backtracking would try them; and the effect of a
symbol on threads.

A thread consists of a place and the undecided look-aheads on which the thread depends. The look-aheads read the same text as the thread.
"""

from __future__ import annotations

from dataclasses import dataclass

from fst.compile.patterns.budget import Budget
from fst.compile.pretokens.program import NOWHERE, Ahead, Behind, Fork, Inner, Instruction, Match, Program, Read
from fst.errors import UnsupportedError

NESTED = "the pattern has a look-ahead inside another over more than one character"


@dataclass(frozen=True)
class Pending:
    """A look-ahead that is not yet decided: the places that it has reached, and whether it is negative."""

    places: frozenset[int]
    negative: bool


Undecided = frozenset[Pending]
DECIDED: Undecided = frozenset()
Thread = tuple[int, Undecided]


@dataclass(frozen=True)
class Step:
    """The effect of one symbol on threads.

    Attributes:
        threads: the threads after the symbol, in order of preference.
        ends: for each match that ends before the symbol, the number of threads that are preferred to the match, and the undecided
            look-aheads on which the match depends.
    """

    threads: tuple[Thread, ...]
    ends: tuple[tuple[int, Undecided], ...]


class Stepper:
    """Computes the effect of symbols on the threads of a program; each step is computed only once. The budget counts stepped threads and
    visited places.
    """

    def __init__(self, program: Program, budget: Budget) -> None:
        self._instructions, self._budget = program.instructions, budget
        self._reached: dict[tuple[int, int | None, int], Step] = {}
        self._decisions: dict[tuple[Pending, int | None, int], Pending | bool] = {}

    def step(self, threads: tuple[Thread, ...], before: int | None, symbol: int) -> Step:
        """The effect of a symbol on threads, up to the first match that does not depend on look-aheads. `before` is the class of the
        previous symbol; None if it is unknown.
        """
        reached: dict[Thread, None] = {}
        ends: list[tuple[int, Undecided]] = []
        self._budget.take(1 + len(threads))
        for place, undecided in threads:
            left = self.advance(undecided, before, symbol)
            if left is None:
                continue
            step = self._reach(place, before, symbol)
            for count, pending in step.ends:
                reached.update(dict.fromkeys((target, more | left) for target, more in step.threads[:count]))
                ends.append((len(reached), pending | left))
                if not ends[-1][1]:
                    return Step(tuple(reached), tuple(ends))
            reached.update(dict.fromkeys((target, more | left) for target, more in step.threads))
        return Step(tuple(reached), tuple(ends))

    def _reach(self, place: int, before: int | None, symbol: int) -> Step:
        """The threads and matches that result from the thread at a place when a symbol is read."""
        key = place, before, symbol
        if key not in self._reached:
            self._reached[key] = self._search(place, before, symbol)
        return self._reached[key]

    def _search(self, start: int, before: int | None, symbol: int) -> Step:
        """Follow the instructions that read no symbol, depth first, in order of preference."""
        reached: dict[Thread, None] = {}
        ends: list[tuple[int, Undecided]] = []
        seen: set[Thread] = set()
        stack: list[Thread] = [(start, DECIDED)]
        while stack:
            place, undecided = thread = stack.pop()
            if thread in seen:
                continue
            seen.add(thread)
            self._budget.take(1)
            instruction = self._instructions[place]
            if isinstance(instruction, Match):
                ends.append((len(reached), undecided))
                if not undecided:
                    break
            elif (target := _read(instruction, symbol)) != NOWHERE:
                reached[target, undecided] = None
            else:
                stack += reversed(self._follow(instruction, undecided, before, symbol))
        return Step(tuple(reached), tuple(ends))

    def _follow(self, instruction: Instruction, undecided: Undecided, before: int | None, symbol: int) -> list[Thread]:
        """The threads to which an instruction leads without reading the symbol, in order of preference."""
        if isinstance(instruction, Fork):
            return [(place, undecided) for place in instruction.places]
        if isinstance(instruction, Ahead):
            decided = self._decide(Pending(frozenset([instruction.start]), instruction.negative), before, symbol)
            if isinstance(decided, Pending):
                return [(instruction.following, undecided | {decided})]
            return [(instruction.following, undecided)] if decided else []
        if isinstance(instruction, Behind):
            if before is None:
                raise UnsupportedError(f"the pattern has {instruction.name} at the beginning of a match")
            return [(instruction.following, undecided)] if (before in instruction.classes) != instruction.negative else []
        if isinstance(instruction, Inner) and instruction.leaves[symbol]:
            return [(instruction.following, undecided)]
        return []

    def advance(self, undecided: Undecided, before: int | None, symbol: int) -> Undecided | None:
        """The look-aheads that are still undecided after a symbol; None if one of them fails."""
        left = set()
        for pending in undecided:
            decided = self._decide(pending, before, symbol)
            if decided is False:
                return None
            if decided is not True:
                left.add(decided)
        return frozenset(left)

    def _decide(self, pending: Pending, before: int | None, symbol: int) -> Pending | bool:
        """The result of a look-ahead after a symbol: True or False, or the look-ahead's new state if it is still undecided."""
        key = pending, before, symbol
        if key not in self._decisions:
            steps = [self._reach(place, before, symbol) for place in pending.places]
            if any(undecided for step in steps for _, undecided in (*step.threads, *step.ends)):
                raise UnsupportedError(NESTED)
            places = frozenset(place for step in steps for place, _ in step.threads)
            if any(step.ends for step in steps) or any(map(self._accepts, places)):
                self._decisions[key] = not pending.negative
            else:
                self._decisions[key] = Pending(places, pending.negative) if places else pending.negative
        return self._decisions[key]

    def _accepts(self, place: int) -> bool:
        """Whether a match ends at a place, for any symbols around it."""
        seen, stack = {place}, [place]
        while stack:
            instruction = self._instructions[stack.pop()]
            if isinstance(instruction, Match):
                return True
            if isinstance(instruction, Fork):
                stack += set(instruction.places) - seen
                seen.update(instruction.places)
        return False


def _read(instruction: Instruction, symbol: int) -> int:
    """The place after an instruction that reads a symbol; NOWHERE if the instruction does not match this symbol."""
    if isinstance(instruction, Read) and symbol in instruction.classes:
        return instruction.following
    return instruction.reads[symbol] if isinstance(instruction, Inner) else NOWHERE
