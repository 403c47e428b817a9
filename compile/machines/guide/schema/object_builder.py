"""A builder of parts for the texts of objects."""

from __future__ import annotations

from typing import NamedTuple

from fst.compile.machines.guide.schema.lazy_algebra import Algebra
from fst.compile.machines.guide.schema.lazy_values import Objects, Others, Values
from fst.compile.machines.guide.schema.string_parts import json_text
from fst.compile.machines.guide.schema.value_builder import ValueBuilder
from fst.errors import UnsupportedError
from fst.machines.guide.parts import UNLIMITED, Part

FEW = 8  # with more named properties, values that are not evaluated yet become parts of their own, evaluated when needed
MAX_COUNTED = 1 << 12  # maximum number of copies of properties for the bounds of their number


class ObjectBuilder(ValueBuilder):
    """A builder of the part of a term of objects."""

    def objects(self, term: Objects) -> Part | None:
        """The part of the texts of a term; None if it has none."""
        start, last, end = self.state(), self.state(), self.state()
        algebra = self.algebra
        self._is_large = len(term.named) > FEW
        properties = [(each.is_listed, _Key(name, each.values, each.is_required)) for name, each in term.named.items()]
        properties = [(is_listed, key) for is_listed, key in properties if algebra.has_values(key.values)]
        rest = _Rest(algebra, term)
        most = term.most
        if most is not None and not rest.has_any and most >= len(properties):
            most = None
        named = [] if self.maker.has_any_order else [key for is_listed, key in properties if is_listed]
        keys = [key for _, key in properties if key not in named] + rest.keys
        begun = self.mark(start, b"{")
        if not named:
            self._add_unordered(_Section(keys, rest, term.least, most), begun, None, last)
        elif term.least > sum(key.is_required for _, key in properties) or most is not None:
            self._add_limited(named, keys, rest, (term.least, most), begun, last)
        else:
            self._add_named(named, keys, rest, begun, last)
        self.text(last, b"}", end)
        return self.part(start, [end])

    def _add_named(self, named: list[_Key], keys: list[_Key], rest: _Rest, start: int, end: int) -> None:
        """Add properties in their order, then others, up to the state before the closing brace."""
        last_required = max((place for place, each in enumerate(named) if each.is_required), default=-1)
        first: int | None = start  # the state before a property, at the beginning of the object
        tail = self.state()  # the state after the last property
        comma: int | None = None  # the state before a property, after a comma
        for place, (name, values, is_required) in enumerate(named):
            before, after, following = self.state(), self.state(), self.state()
            if comma is not None:
                self.skip(comma, before)
            if first is not None:
                self.skip(first, before)
            self._add_property(name, values, before, after)
            spaced = self.space(after)
            self.skip(self.mark(spaced, b","), following)
            if place >= last_required:
                self.skip(spaced, tail)
            if is_required:
                first = None
            elif comma is not None:
                self.skip(comma, following)
            comma = following
        section = _Section(keys, rest, 0, None)
        self._add_unordered(section, first, tail, end, comma)

    def _add_limited(
        self, named: list[_Key], keys: list[_Key], rest: _Rest, bounds: tuple[int, int | None], start: int, end: int
    ) -> None:
        """Add properties in their order, then others, where the number of properties has bounds. A state is a place and the number of
        properties so far; the number is only counted as far as bounds need it.
        """
        least, most = bounds
        limit = min(len(named), least if most is None else most)
        if limit * len(named) > MAX_COUNTED:
            what = f"take more than {MAX_COUNTED:,} copies of properties"
            raise UnsupportedError(f"bounds of the number of properties {what}; use order='any', or remove them")
        states = {(0, 0): start}
        for place, (name, values, is_required) in enumerate(named):
            counts = [count for at, count in states if at == place]
            for count in counts:
                before = states[place, count]
                following = min(count + 1, limit) if most is None else count + 1
                if following <= limit:
                    states.setdefault((place + 1, following), -1)
                    if states[place + 1, following] < 0:
                        states[place + 1, following] = self.state()
                    done = self.state()
                    self._add_property(name, values, self.mark(before, b",") if count else before, done)
                    self.skip(self.space(done), states[place + 1, following])
                if not is_required:
                    if (place + 1, count) not in states:
                        states[place + 1, count] = self.state()
                    self.skip(before, states[place + 1, count])
        for (place, count), state in states.items():
            if place == len(named):
                left, more = max(least - count, 0), None if most is None else most - count
                section = _Section(keys, rest, left, more)
                if section.is_possible:
                    self._add_unordered(section, None if count else state, state if count else None, end)

    def _add_unordered(
        self, section: _Section, first: int | None, begun: int | None, end: int, comma: int | None = None
    ) -> None:
        """Add properties in any order, up to the state before the closing brace.

        Args:
            section: the properties.
            first: the state at the beginning of an object; None: there is none.
            begun: the state after an earlier property; None: there is none.
            end: the state before the closing brace.
            comma: the state after an earlier property and a comma, if there is one.
        """
        if not section.is_tallied:
            self._add_loop(section, first, begun, end, comma)
            return
        least, most = section.least, section.most
        is_limited = most is not None
        entered = {}
        for name, state in (("first", first), ("begun", begun)):
            if state is None:
                continue
            entered[name] = ready = self._tallied(section, state)
            self.exit(ready, end)
        after = self.state()  # after a property
        spaced = self.space(after)
        self.exit(spaced, end)
        counts = is_limited or least > 0
        free = self.state()  # before a property, after its comma
        before_comma = [state for name, state in entered.items() if name == "begun"] + [spaced]
        sources = [(entered["first"], False)] if "first" in entered else []
        sources += [(state, True) for state in before_comma]
        for source, needs_comma in sources:
            at = source
            if is_limited:
                at = self.state()
                self.count(source, at)
            self.skip(self.mark(at, b",") if needs_comma else at, free)
        for number, key in enumerate(section.keys):
            if is_limited and key.is_required:
                text = self.state()
                for source, needs_comma in sources:
                    used, counted = self.state(), self.state()
                    self.use(source, number, True, used)
                    self.count(used, counted)
                    self.skip(self.mark(counted, b",") if needs_comma else counted, text)
            else:
                text = self.state()
                self.use(free, number, key.is_required, text)
                if counts and not is_limited:
                    counted = self.state()
                    self.count(text, counted)
                    text = counted
            self._add_property(key.name, key.values, text, after)
        for each in section.rest.others:
            text = free
            if counts and not is_limited:
                text = self.state()
                self.count(free, text)
            self._add_other(each, text, after)
        for numbers, each in section.witnesses:
            text = self.state()
            for source, needs_comma in sources if is_limited else [(free, False)]:
                at = source
                for number in numbers:
                    used = self.state()
                    self.use(at, number, True, used)
                    at = used
                if counts:
                    counted = self.state()
                    self.count(at, counted)
                    at = counted
                self.skip(self.mark(at, b",") if needs_comma else at, text)
            self._add_other(each, text, after)

    def _tallied(self, section: _Section, start: int) -> int:
        """Begin a tally with each plan of a section; return the state after these moves."""
        ready = self.state()
        for plan in section.plans:
            tally = self.state() if plan.barred or plan.missing else ready
            self.enter(start, section.least, UNLIMITED if section.most is None else section.most, tally)
            for number in plan.barred:
                used = self.state()
                self.use(tally, number, False, used)
                tally = used
            if tally != ready:
                self.miss(tally, plan.missing, ready)
        return ready

    def _add_loop(
        self, section: _Section, first: int | None, begun: int | None, end: int, comma: int | None
    ) -> None:
        """Add any number of properties that are neither counted nor used as keys; arguments as in `_add_unordered`."""
        before, after = self.state(), self.state()
        for each in section.rest.others:
            self._add_other(each, before, after)
        spaced = self.space(after)
        self.skip(self.mark(spaced, b","), before)
        self.skip(spaced, end)
        if first is not None:
            self.skip(first, before)
            self.skip(first, end)
        if begun is not None:
            self.skip(begun, end)
            if comma is None:
                self.skip(self.mark(begun, b","), before)
        if comma is not None:
            self.skip(comma, before)

    def _add_property(self, name: str, values: Values, start: int, end: int) -> None:
        text = json_text(name)
        colon = self.text(start, text + b":") if self.maker.space is None else self.mark(self.space(self.text(start, text)), b":")
        self.values(values, colon, end, is_late=self._is_large)

    def _add_other(self, other: Others, start: int, end: int) -> None:
        """Add a property that is not named."""
        name = self.state()
        self.terms(other.names, other.values.path, start, name)
        self.values(other.values, self.mark(self.space(name), b":"), end)


class _Key(NamedTuple):
    """A property with a certain name."""

    name: str
    values: Values
    is_required: bool


class _Rest:
    """The properties of a term of objects that are not named.

    Attributes:
        keys: properties whose names are listed one by one, but not in `named`; none if the term has `some`.
        others: properties whose names are in sets, without the names of `keys` and of named properties.
        some: pairs: elements of the term's `some`, as bits, and properties that meet them.
        count: the number of elements of the term's `some`.
    """

    def __init__(self, algebra: Algebra, term: Objects) -> None:
        allowed = [each for each in term.others if algebra.has_values(each.values)]
        known = set(term.named)
        self.keys: list[_Key] = []
        if not term.some:
            for each in allowed:
                for name in sorted(algebra.names_left(term, each)):
                    self.keys.append(_Key(name, each.values, is_required=False))
                    known.add(name)
        self.others = []
        for each in allowed:
            names = tuple(term.but(known) for term in each.names if term.listed is None or term.listed - known)
            names = tuple(one for one in names if not one.is_empty)
            if names:
                self.others.append(Others(names, each.values))
        self.some = [
            (bits, Others(tuple(name.but(term.named) for name in each.names), each.values))
            for bits, each in algebra.chosen(term)
            if algebra.has_values(each.values)
        ]
        self.count = len(term.some)

    @property
    def has_any(self) -> bool:
        """Whether there are such properties."""
        return bool(self.keys or self.others)


class _Plan(NamedTuple):
    """A way to meet the elements of a term's `some`.

    Attributes:
        barred: numbers of keys that are not used.
        missing: the number of keys that must be used.
    """

    barred: tuple[int, ...]
    missing: int


class _Section:
    """The properties of an object that are written in any order.

    Attributes:
        keys: properties with certain names.
        rest: other properties.
        least, most: the bounds of their number; None: no bound.
        witnesses: pairs: the numbers of the keys that a property uses because it meets elements of the term's `some`, and the property.
        plans: a tally begins with one of the plans, each of which needs some keys. Without `most`, each element of `some` has a key, and
            the only plan needs all of them. With `most`, the number of missing keys must be the number of properties that are still needed:
            each set of elements that one property can meet has a key, and a plan needs the keys of sets that contain each element once.
        is_tallied: whether a tally counts the properties, or notes their keys as used.
    """

    def __init__(self, keys: list[_Key], rest: _Rest, least: int, most: int | None) -> None:
        self.keys, self.rest = keys, rest
        required = sum(each.is_required for each in keys)
        if not rest.others and keys:
            most = len(keys) if most is None else min(most, len(keys))
        self.is_tallied = bool(keys or rest.count or least or most is not None)
        self.least, self.most = least if least > required else 0, most
        if most is None or not rest.count:
            bits = {each: tuple(len(keys) + bit for bit in range(rest.count) if each >> bit & 1) for each, _ in rest.some}
            plans = [_Plan((), required + rest.count)]
        else:
            bits = {each: (number,) for number, each in enumerate(dict.fromkeys(each for each, _ in rest.some), len(keys))}
            plans = [
                _Plan(tuple(number for each, (number,) in bits.items() if each not in chosen), required + len(chosen))
                for chosen in _partitions((1 << rest.count) - 1, [*bits])
            ]
        self.plans = [each for each in plans if most is None or each.missing <= most]
        self.witnesses = [(bits[each], other) for each, other in rest.some]

    @property
    def is_possible(self) -> bool:
        """Whether the bounds can be met."""
        if not self.rest.others and len(self.keys) < self.least:
            return False
        return bool(self.plans) and (self.most is None or self.least <= self.most)


def _partitions(whole: int, sets: list[int]) -> list[list[int]]:
    """The ways to choose from `sets`, given as bits, so that each element of `whole` is in exactly one chosen set."""
    if not whole:
        return [[]]
    lowest = whole & -whole
    return [[each, *more] for each in sets if each & lowest and not each & ~whole for more in _partitions(whole & ~each, sets)]
