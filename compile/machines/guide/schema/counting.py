"""How many items of arrays meet conditions, such as ``contains``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from fst.compile.machines.guide.schema.lazy_values import Arrays, Values
from fst.errors import UnsupportedError

Contents = Callable[[Arrays, int], Iterable[tuple[int, Values]]]  # see `Algebra.contained`


class Counting:
    """How the items of arrays with conditions are counted. A state is a place, up to the number of first items, and a count for each
    condition, up to the last number that matters.

    Attributes:
        start: the first state.
        steps: for each state, pairs of the set of an item and the state after it; a final state can be reached from each state.
        missing: for each state, the smallest number of items up to a final state.
        finals: the states in which all conditions are met.
        most: the largest number of items; None: no bound.
    """

    MAX_STATES = 1 << 10

    def __init__(self, start: Any, steps: dict[Any, list[tuple[Values, Any]]], missing: dict[Any, int], most: int | None) -> None:
        self.start, self.steps, self.missing, self.most = start, steps, missing, most
        self.finals = [state for state, count in missing.items() if count == 0]

    @classmethod
    def of(cls, contained: Contents, term: Arrays, is_possible: Callable[[Values], bool]) -> Counting | None:
        """The counting of a term; None if the term contains no array. `least` and `most` of the term are checked."""
        limits = [each.least if each.most is None else each.most + 1 for each in term.some]
        choices = {place: [*contained(term, place)] for place in range(len(term.first) + 1)}
        start = (0, *(0 for _ in term.some))
        steps: dict[Any, list[tuple[Values, Any]]] = {}
        waiting = [start]
        while waiting:
            state = waiting.pop()
            if state in steps:
                continue
            steps[state] = []
            if len(steps) > cls.MAX_STATES:
                raise UnsupportedError(f"the conditions on items have more than {cls.MAX_STATES:,} combinations of counts")
            for bits, values in choices[state[0]]:
                counts = [count + (bits >> bit & 1) for bit, count in enumerate(state[1:])]
                if any(each.most is not None and count > each.most for each, count in zip(term.some, counts, strict=True)):
                    continue
                after = (min(state[0] + 1, len(term.first)), *map(min, counts, limits))
                if is_possible(values):
                    steps[state].append((values, after))
                    waiting.append(after)
        finals = {state for state in steps if all(count >= each.least for each, count in zip(term.some, state[1:], strict=True))}
        missing = dict.fromkeys(finals, 0)
        before: dict[Any, list[Any]] = {}
        for state, each in steps.items():
            for _, after in each:
                before.setdefault(after, []).append(state)
        queue = [*finals]
        for state in queue:  # the loop appends to `queue`
            for earlier in before.get(state, ()):
                if earlier not in missing:
                    missing[earlier] = missing[state] + 1
                    queue.append(earlier)
        if start not in missing:
            return None
        kept = {state: [(values, after) for values, after in each if after in missing] for state, each in steps.items() if state in missing}
        return cls._bounded(term, start, kept, missing)

    @classmethod
    def _bounded(cls, term: Arrays, start: Any, steps: Any, missing: dict[Any, int]) -> Counting | None:
        """The counting with the largest number of items; None if it is smaller than the least number."""
        longest = cls._longest(start, steps)
        most = term.most if longest is None else longest if term.most is None else min(longest, term.most)
        if most is not None and max(term.least, missing[start]) > most:
            return None
        return cls(start, steps, missing, most)

    def is_even(self, least: int) -> bool:
        """Whether arrays of `least` items can be completed from every state, however it is reached."""
        if least < 2 or all(self._longest(state, self.steps) is None for state in self.steps):
            return True
        lengths: dict[Any, set[int]] = {self.start: {0}}
        queue = [self.start]
        for state in queue:
            for _, after in self.steps[state]:
                new = {min(count + 1, least) for count in lengths[state]} - lengths.setdefault(after, set())
                if new:
                    lengths[after] |= new
                    queue.append(after)
        for state, counts in lengths.items():
            longest = self._longest(state, self.steps)
            if longest is not None and any(count + longest < least for count in counts):
                return False
        return True

    @staticmethod
    def _longest(start: Any, steps: Any) -> int | None:
        """The largest number of items from a state on; None: no bound."""
        found: dict[Any, int | None] = {}
        stack = [(start, iter(steps[start]))]
        active = {start}
        best = {start: 0}
        while stack:
            state, rest = stack[-1]
            for _, after in rest:
                if after in active:
                    return None
                if after in found:
                    best[state] = max(best[state], 1 + (found[after] or 0))
                    continue
                active.add(after)
                best[after] = 0
                stack.append((after, iter(steps[after])))
                break
            else:
                stack.pop()
                active.discard(state)
                found[state] = best[state]
                if stack:
                    best[stack[-1][0]] = max(best[stack[-1][0]], 1 + best[state])
        return found[start]
