"""Arrays whose items depend on each other: items are counted by conditions such as ``contains``, or must all be different.

Items that must be different come from finite sets of strings, numbers and literals.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from math import ceil, comb, floor
from typing import Any, Protocol

from fst.compile.machines.guide.schema import number_sets, string_sets
from fst.compile.machines.guide.schema.document import LocatedError
from fst.compile.machines.guide.schema.lazy_values import Arrays, Values
from fst.errors import UnsupportedError

MAX_SETS = 1 << 12  # maximum number of sets of different items in an array whose items depend on their places

State = tuple[int, int]  # the number of items; as bits, the values that they have and the conditions that they meet

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


class _Algebra(Protocol):
    def has_values(self, values: Values) -> bool: ...

    def intersection(self, *sets: Values) -> Values: ...


class Different:
    """The arrays of a term whose items must differ.

    Attributes:
        single: the set of each value that an item may have, by key.
        most: the largest number of items.
        steps: if items depend on their places: for each state, pairs of the set of an item and the state after it; a final state can be
            reached from each state. Otherwise empty.
        finals: the states in which an array may end.
        exists: whether there is such an array.
    """

    def __init__(self, algebra: _Algebra, term: Arrays) -> None:
        self._algebra, self._term = algebra, term
        places = [*term.first, *([term.rest] if term.most is None or term.most > len(term.first) else [])]
        self.single = {key: each for values in places for key, each in _single(values, term.differ).items()}
        self.most = len(self.single) if term.most is None else min(term.most, len(self.single))
        self.steps: dict[State, list[tuple[Values, State]]] = {}
        self.finals: list[State] = []
        if term.first or term.some:
            self._walk()
            self.exists = (0, 0) in self.steps
        else:
            self.exists = self.most >= term.least

    def _walk(self) -> None:
        term = self._term
        if sum(comb(len(self.single), count) for count in range(self.most + 1)) > MAX_SETS:
            what = f"for more than {MAX_SETS:,} sets of items; use a smaller maxItems, or remove it"
            raise LocatedError(f"{term.differ} is not supported {what}")
        if any(each.most is not None or each.least > 1 for each in term.some):
            raise LocatedError(f"{term.differ} is not supported together with minContains and maxContains; remove it")
        needed = ((1 << len(term.some)) - 1) << len(self.single)
        steps: dict[State, list[tuple[Values, State]]] = {(0, 0): []}
        for state in (waiting := [(0, 0)]):  # the loop appends to `waiting`
            count, met = state
            if count == self.most:
                continue
            for bit, values in enumerate(self.single.values()):
                if met >> bit & 1 or not self._meets(values, term.item(count)):
                    continue
                some = sum(1 << which for which, each in enumerate(term.some) if count >= each.place and self._meets(values, each.values))
                following = count + 1, met | 1 << bit | some << len(self.single)
                steps[state].append((values, following))
                if following not in steps:
                    steps[following] = []
                    waiting.append(following)
        self.finals = [state for state in steps if state[0] >= term.least and state[1] & needed == needed]
        ending = {*self.finals}
        for state in reversed(waiting):  # a step leads to a state that was found later
            if any(after in ending for _, after in steps[state]):
                ending.add(state)
        self.steps = {
            state: [(values, after) for values, after in each if after in ending] for state, each in steps.items() if state in ending
        }

    def _meets(self, values: Values, other: Values) -> bool:
        return self._algebra.has_values(self._algebra.intersection(values, other))


def _single(values: Values, path: str) -> dict[Hashable, Values]:
    """The set of each single value of a set, by key."""
    if values.arrays or values.objects or any(each.listed is None for each in values.strings) or not all(map(_is_few, values.numbers)):
        what = "for items other than a few strings, numbers and literals; list them by enum, or remove it"
        raise LocatedError(f"{path} is not supported {what}")
    found: dict[Hashable, Values] = {("", each): Values.of(frozenset([each])) for each in sorted(values.literals)}
    numbers = {number for term in values.numbers for number in _members(term)}
    found |= {number: Values.of(numbers=number_sets.listed([number])) for number in sorted(numbers)}
    texts = sorted({text for term in values.strings for text in term.listed or ()})
    return found | {text: Values.of(strings=string_sets.listed([text])) for text in texts}


def _is_few(term: number_sets.Numbers) -> bool:
    """Whether a term has few numbers."""
    return term.listed is not None or (term.is_integral and None not in (term.least, term.most))


def _members(term: number_sets.Numbers) -> Iterator[Decimal]:
    """The numbers of a term that has few."""
    if term.listed is not None:
        yield from term.listed
        return
    first, last = ceil(Fraction(term.least or 0)), floor(Fraction(term.most or 0))
    for count, number in enumerate(map(Decimal, range(first, last + 1))):
        if count > MAX_SETS:
            raise UnsupportedError(f"the items of an array that must differ have more than {MAX_SETS:,} values")
        if term.has(number):
            yield number
