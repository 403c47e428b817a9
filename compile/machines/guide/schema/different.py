"""Arrays whose items are all different, with items from finite sets of strings, numbers and literals."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from decimal import Decimal
from fractions import Fraction
from math import ceil, comb, floor
from typing import Protocol

from fst.compile.machines.guide.schema import number_sets, string_sets
from fst.compile.machines.guide.schema.document import LocatedError
from fst.compile.machines.guide.schema.lazy_values import Arrays, Values
from fst.errors import UnsupportedError

MAX_SETS = 1 << 12  # maximum number of sets of different items in an array whose items depend on their places

State = tuple[int, int]  # the number of items; as bits, the values that they have and the conditions that they meet


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
