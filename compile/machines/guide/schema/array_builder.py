"""A builder of parts for the texts of arrays."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from decimal import Decimal
from fractions import Fraction
from math import ceil, comb, floor
from typing import Any

from fst.compile.machines.guide.schema import number_sets, string_sets
from fst.compile.machines.guide.schema.counting import Counting
from fst.compile.machines.guide.schema.document import LocatedError
from fst.compile.machines.guide.schema.lazy_values import Arrays, Values
from fst.compile.machines.guide.schema.value_builder import ValueBuilder
from fst.errors import UnsupportedError
from fst.machines.guide.parts import UNLIMITED, Part

MAX_SETS = 1 << 12  # maximum number of sets of different items in an array whose items are at certain places


class ArrayBuilder(ValueBuilder):
    """A builder of the part of a term of arrays."""

    def arrays(self, term: Arrays) -> Part | None:
        """The part; None if it has no text."""
        start, last, end = self.state(), self.state(), self.state()
        begun = self.mark(start, b"[")
        if term.differ:
            self._add_different(term, begun, last)
        elif term.some:
            self._add_counted(term, begun, last)
        else:
            self._add_items(term, begun, last)
        self.text(last, b"]", end)
        return self.part(start, [end])

    def _add_items(self, term: Arrays, start: int, end: int) -> None:
        """Add items up to the state before the closing bracket."""
        state, count = start, len(term.first)
        for place, values in enumerate(term.first):
            if place >= term.least:
                self.skip(state, end)
            if not self.algebra.has_values(values):
                return
            after = self.state()
            self.values(values, self.mark(state, b",") if place else state, after)
            state = self.space(after)
        least, most = max(term.least - count, 0), None if term.most is None else term.most - count
        if least == 0:
            self.skip(state, end)
        if most == 0 or not self.algebra.has_values(term.rest):
            return
        before, after = self.state(), self.state()  # of an item
        self.values(term.rest, before, after)
        after = self.space(after)
        if least < 2 and most is None:
            self.skip(self.mark(state, b",") if count else state, before)
            self.skip(self.mark(after, b","), before)
            self.skip(after, end)
            return
        entered, counted = self.state(), self.state()
        self.enter(state, max(least, 1), UNLIMITED if most is None else most, entered)
        if count:
            self.skip(entered, after)
        else:
            self.count(entered, before)
        self.count(after, counted)
        self.skip(self.mark(counted, b","), before)
        self.exit(after, end)

    def _add_counted(self, term: Arrays, start: int, end: int) -> None:
        """Add items that meet conditions. Between items, a state is one of `Counting`."""
        counting = Counting.of(self.algebra.contained, term, self.algebra.has_values)
        if counting is None:
            return
        if not counting.is_even(term.least):
            raise UnsupportedError("a combination of conditions on the items of an array is not supported; simplify it")
        is_tallied = counting.most is not None or term.least > counting.missing[counting.start]
        if is_tallied:
            entered = self.state()
            self.enter(start, term.least, UNLIMITED if counting.most is None else counting.most, entered)
            start = entered
        after = {state: self.state() for state in counting.steps}
        spaced = {state: self.space(each) for state, each in after.items()}
        for state, steps in counting.steps.items():
            sources = [(spaced[state], True), *([(start, False)] if state == counting.start else [])]
            for following in dict.fromkeys(each for _, each in steps):
                before = self.state()
                for source, needs_comma in sources:
                    at = source
                    if is_tallied:
                        missed, at = self.state(), self.state()
                        self.miss(source, counting.missing[following], missed)
                        self.count(missed, at)
                    self.skip(self.mark(at, b",") if needs_comma else at, before)
                for values, each in steps:
                    if each == following:
                        self.values(values, before, after[following])
        for state in counting.finals:
            for source in (spaced[state], start) if state == counting.start else (spaced[state],):
                if is_tallied:
                    self.exit(source, end)
                else:
                    self.skip(source, end)

    def _add_different(self, term: Arrays, start: int, end: int) -> None:
        """Add items that differ; each has one of few values, which are the keys of a tally."""
        places = [*term.first, *([term.rest] if term.most is None or term.most > len(term.first) else [])]
        single = {key: each for values in places for key, each in self._single(values, term.differ).items()}
        if term.first or term.some:
            self._add_different_at(term, single, start, end)
            return
        if len(single) < term.least:
            return
        entered, first, before, after = (self.state() for _ in range(4))
        self.enter(start, term.least, len(single) if term.most is None else min(term.most, len(single)), entered)
        self.count(entered, first)
        self.skip(first, before)
        for key, values in enumerate(single.values()):
            used = self.state()
            self.use(before, key, False, used)
            self.values(values, used, after)
        spaced, counted = self.space(after), self.state()
        self.count(spaced, counted)
        self.skip(self.mark(counted, b","), before)
        for state in (entered, spaced):
            self.exit(state, end)

    def _add_different_at(self, term: Arrays, single: dict[Any, Values], start: int, end: int) -> None:
        """Add items that differ and depend on their places. A state is the number of items and, as bits, the values and conditions met."""
        most = len(single) if term.most is None else min(term.most, len(single))
        if sum(comb(len(single), count) for count in range(most + 1)) > MAX_SETS:
            what = f"for more than {MAX_SETS:,} sets of items; use a smaller maxItems, or remove it"
            raise LocatedError(f"{term.differ} is not supported {what}")
        if any(each.most is not None or each.least > 1 for each in term.some):
            raise LocatedError(f"{term.differ} is not supported together with minContains and maxContains; remove it")
        needed = ((1 << len(term.some)) - 1) << len(single)
        states = {(0, 0): start}
        waiting = [(0, 0)]
        for count, met in waiting:  # the loop appends to `waiting`
            state = states[count, met]
            if count >= term.least and met & needed == needed:
                self.skip(state, end)
            if count == most:
                continue
            before = self.mark(state, b",") if count else state
            for bit, values in enumerate(single.values()):
                if met >> bit & 1 or not self._meets(values, term.item(count)):
                    continue
                some = sum(1 << which for which, each in enumerate(term.some) if count >= each.place and self._meets(values, each.values))
                following = count + 1, met | 1 << bit | some << len(single)
                after = self.state()
                self.values(values, before, after)
                if following not in states:
                    states[following] = self.state()
                    waiting.append(following)
                self.skip(self.space(after), states[following])

    def _meets(self, values: Values, other: Values) -> bool:
        return self.algebra.has_values(self.algebra.intersection(values, other))

    @staticmethod
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
