"""A builder of parts for the texts of sets of values: it calls the parts of arrays, objects and long strings."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Literal, Protocol

from fst.compile.machines.guide.part_builder import PartBuilder
from fst.compile.machines.guide.schema import leap_seconds, number_parts, string_parts, string_sets
from fst.compile.machines.guide.schema.lazy_algebra import Algebra
from fst.compile.machines.guide.schema.lazy_values import ANY, Arrays, Objects, Values
from fst.compile.machines.guide.schema.string_parts import json_text
from fst.compile.patterns.tree import Node
from fst.machines.guide.parts import Part

SPACE = 0x20
MANY_TERMS = 3  # a set with more terms of arrays and objects is a part of its own


class Maker(Protocol):
    """The maker of parts.

    Attributes:
        algebra: the operations on sets.
        space: the whitespace between two tokens of JSON; None: none; "optional": one space or none.
        has_any_order: whether properties are in any order.
        in_table: whether a table needs few states.
    """

    algebra: Algebra
    space: Node | Literal["optional"] | None
    has_any_order: bool
    in_table: bool

    def number(self, key: Hashable, kept: object, path: str, make: Callable[[], Part | None]) -> int:
        """The number of the part with a key. `make` is called when the part is needed; an error's message gets the path of a schema as a
        prefix; what is kept gets no new id.
        """

    def bounded(self, values: Values) -> Values:
        """In a table, the set that replaces a set of all values; otherwise `ANY`. Other sets are returned as they are."""

    def of_values(self, values: Values) -> Part | None:
        """The part of a set; None if it has no text."""

    def of_arrays(self, term: Arrays) -> Part | None:
        """The part of a term of arrays."""

    def of_objects(self, term: Objects) -> Part | None:
        """The part of a term of objects."""


class ValueBuilder(PartBuilder):
    """A builder of a part in which values have a place."""

    def __init__(self, maker: Maker) -> None:
        super().__init__()
        self.maker, self.algebra = maker, maker.algebra

    def values(self, values: Values, start: int, end: int, *, is_late: bool = False) -> None:
        """Add the texts of a set, which contains values, between two states. With `is_late`, a set that is not evaluated yet is a part of
        its own, so it is not evaluated now.
        """
        found = self.maker.bounded(values)
        is_all, values = found is ANY or found is not values, found
        if is_all or (is_late and not values.is_made) or len(values.arrays) + len(values.objects) > MANY_TERMS:
            self.call(start, self.maker.number(("values", id(values)), values, values.path, partial(self.maker.of_values, values)), end)
        else:
            self.types(values, start, end)

    def types(self, values: Values, start: int, end: int) -> None:
        """Add the texts of the terms of a set between two states."""
        maker, values = self.maker, self.maker.bounded(values)
        for literal in sorted(values.literals):
            self.text(start, literal.encode(), end)
        for numbers in values.numbers:
            if number_parts.is_small(numbers):
                number_parts.add_numbers(self, numbers, start, end)
            else:
                self.call(start, maker.number(numbers, None, values.path, partial(number_parts.number_part, numbers)), end)
        self.terms(values.strings, values.path, start, end)
        for arrays in values.arrays:
            for array in self.algebra.expanded(arrays):
                if self.algebra.has_array(array):
                    self.call(start, maker.number(id(array), array, values.path, partial(maker.of_arrays, array)), end)
        for objects in values.objects:
            for term in self.algebra.expanded(objects):
                if self.algebra.has_object(term):
                    self.call(start, maker.number(id(term), term, values.path, partial(maker.of_objects, term)), end)

    def terms(self, terms: tuple[string_sets.Strings, ...], path: str, start: int, end: int) -> None:
        """Add the texts of a set of strings between two states."""
        for term in terms:
            if term.listed is not None and string_parts.is_small(term):
                self.strings(start, map(json_text, term.listed), end)
            elif leap_seconds.is_timed(term) and not self.maker.in_table:
                self.call(start, self.maker.number(term, None, path, partial(leap_seconds.timed_part, self.maker.number, term)), end)
            elif not term.is_empty:
                self.call(start, self.maker.number(term, None, path, partial(string_parts.string_part, term)), end)

    def space(self, start: int) -> int:
        """Add whitespace; return the state after it."""
        if self.maker.space == "optional":
            end = self.state()
            self.read(start, SPACE, SPACE, end)
            self.skip(start, end)
            return end
        return start if self.maker.space is None else self.node(self.maker.space, start)

    def mark(self, start: int, mark: bytes) -> int:
        """Add a bracket, a comma or a colon with whitespace after it; return the state after it."""
        return self.space(self.text(start, mark))
