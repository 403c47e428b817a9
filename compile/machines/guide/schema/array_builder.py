"""A builder of parts for the texts of arrays."""

from __future__ import annotations

from fst.compile.machines.guide.schema.item_conditions import Counting, Different
from fst.compile.machines.guide.schema.lazy_values import Arrays
from fst.compile.machines.guide.schema.value_builder import ValueBuilder
from fst.errors import UnsupportedError
from fst.machines.guide.parts import UNLIMITED, Part


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
        """Add items that differ; each has one of few values, which are the keys of a tally if items do not depend on their places."""
        found = Different(self.algebra, term)
        if found.steps:
            self._add_different_at(found, start, end)
            return
        entered, first, before, after = (self.state() for _ in range(4))
        self.enter(start, term.least, found.most, entered)
        self.count(entered, first)
        self.skip(first, before)
        for key, values in enumerate(found.single.values()):
            used = self.state()
            self.use(before, key, False, used)
            self.values(values, used, after)
        spaced, counted = self.space(after), self.state()
        self.count(spaced, counted)
        self.skip(self.mark(counted, b","), before)
        for state in (entered, spaced):
            self.exit(state, end)

    def _add_different_at(self, found: Different, start: int, end: int) -> None:
        states = {state: self.state() for state in found.steps}
        self.skip(start, states[0, 0])
        for state, steps in found.steps.items():
            before = self.mark(states[state], b",") if state[0] else states[state]
            for values, following in steps:
                after = self.state()
                self.values(values, before, after)
                self.skip(self.space(after), states[following])
        for state in found.finals:
            self.skip(states[state], end)
