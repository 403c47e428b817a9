"""Sets of JSON values: intersection, union and complement.

A set is a union of sets of one type each. Arrays and objects are unions of terms; a term restricts items or properties one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product
from typing import TypeVar

from fst.compile.machines.guide.builder import Block
from fst.compile.machines.guide.languages import Language, difference, intersection, union
from fst.compile.machines.guide.schema.numbers import all_numbers, decimals
from fst.compile.machines.guide.schema.patterns import anything, nothing, of_strings
from fst.errors import UnsupportedError

LITERALS = frozenset(["null", "true", "false"])
MAX_TERMS = 400
MAX_SOME = 4

Term = TypeVar("Term", bound="Arrays | Objects")


@dataclass(frozen=True, eq=False)
class Values:
    """A set of JSON values.

    Attributes:
        literals: the elements of "null", "true" and "false" that are in the set.
        numbers: the texts of the numbers: either all texts of all numbers, or decimals; see `fst.compile.machines.guide.schema.numbers`.
        strings: the strings.
        arrays, objects: terms; the set contains the arrays and objects of each term.
        is_cut: whether values are left out because a recursive schema is followed only to some depth; such a set has no complement.
    """

    literals: frozenset[str]
    numbers: Language
    strings: Language
    arrays: tuple[Arrays, ...]
    objects: tuple[Objects, ...]
    is_cut: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether the set contains no value."""
        return not (self.literals or self.arrays or self.objects) and self.numbers.is_empty and self.strings.is_empty


@dataclass(frozen=True, eq=False)
class Arrays:
    """Arrays of `least` to `most` items. Item k is in ``first[k]``; if `first` is too short, in `rest`.

    Attributes:
        some: pairs of a position and a set; at least one item at or after the position is in the set.
        distinct: if items must differ, the set of each single value that an item may have, and `most` is at most the number of these
            values; empty: items may be equal.
    """

    first: tuple[Values, ...]
    rest: Values
    least: int = 0
    most: int | None = None
    some: tuple[tuple[int, Values], ...] = ()
    distinct: tuple[Values, ...] = ()

    def item(self, place: int) -> Values:
        """The set for the item at a position."""
        return self.first[place] if place < len(self.first) else self.rest


@dataclass(frozen=True, eq=False)
class Property:
    """A property with a certain name. A property that is not required may be absent; a property whose set is empty is absent."""

    values: Values
    is_required: bool = False


@dataclass(frozen=True, eq=False)
class Others:
    """Properties whose names are in a language."""

    names: Language
    values: Values


@dataclass(frozen=True, eq=False)
class Objects:
    """Objects of `least` to `most` properties.

    Attributes:
        named: the properties with certain names, in the order in which they are written.
        others: the properties with other names; their languages are disjoint, and contain none of the names in `named`. Names in no
            language are absent.
        some: elements that each need at least one property; their languages contain none of the names in `named`.
    """

    named: dict[str, Property]
    others: tuple[Others, ...]
    least: int = 0
    most: int | None = None
    some: tuple[Others, ...] = field(default=())

    def values_of(self, name: str) -> Values:
        """The set of the values of a property."""
        if name in self.named:
            return self.named[name].values
        return next((each.values for each in self.others if name.encode() in each.names), NOTHING)


class Algebra:
    """Operations on sets; results of operations on languages are kept.

    Attributes:
        blocks: the automata of texts, by the id of a language and the kind of text; each language is kept, so that no other object gets its
            id.
    """

    def __init__(self) -> None:
        self.blocks: dict[tuple[int, str], tuple[Language, Block]] = {}
        self._kept: dict[tuple[str, int, int], tuple[Language, Language, Language]] = {}

    # Languages.

    def both(self, first: Language, second: Language) -> Language:
        """The strings of both languages; `all_numbers` contains every set of decimals."""
        for one, other in ((first, second), (second, first)):
            if one is other or one is anything() or one is all_numbers() or other.is_empty:
                return other
        return self._found("both", first, second, intersection)

    def without(self, first: Language, second: Language) -> Language:
        """The strings of the first language that are not in the second."""
        if first.is_empty or second.is_empty:
            return first
        if second is first or second is anything() or second is all_numbers():
            return nothing()
        return self._found("without", decimals() if first is all_numbers() else first, second, difference)

    def either(self, first: Language, second: Language) -> Language:
        """The strings of either language."""
        for one, other in ((first, second), (second, first)):
            if one is other or one is anything() or one is all_numbers() or other.is_empty:
                return one
        return self._found("either", first, second, union)

    def _found(self, name: str, first: Language, second: Language, operation: Callable[[Language, Language], Language]) -> Language:
        key = name, id(first), id(second)
        if key not in self._kept:
            self._kept[key] = first, second, operation(first, second)  # the operands are kept, so that no other object gets their ids
        return self._kept[key][2]

    # Sets of values.

    def intersection(self, first: Values, second: Values) -> Values:
        """The values that are in both sets."""
        for one, other in ((first, second), (second, first)):
            if one is ANY or one is other:
                return other
        arrays = _terms(self._arrays(one, other) for one, other in product(first.arrays, second.arrays))
        objects = _terms(each for one, other in product(first.objects, second.objects) for each in self._objects(one, other))
        literals, numbers = first.literals & second.literals, self.both(first.numbers, second.numbers)
        strings = self.both(first.strings, second.strings)
        return Values(literals, numbers, strings, arrays, objects, first.is_cut or second.is_cut)

    def union(self, first: Values, second: Values) -> Values:
        """The values that are in either set."""
        for one, other in ((first, second), (second, first)):
            if one is ANY or one is other or (other.is_empty and not other.is_cut):
                return one
        arrays, objects = _terms([*first.arrays, *second.arrays]), _terms([*first.objects, *second.objects])
        literals, numbers = first.literals | second.literals, self.either(first.numbers, second.numbers)
        return Values(literals, numbers, self.either(first.strings, second.strings), arrays, objects, first.is_cut or second.is_cut)

    def complement(self, values: Values) -> Values:
        """The values that are not in a set."""
        if values is ANY or values is NOTHING:
            return NOTHING if values is ANY else ANY
        if values.is_cut:
            raise UnsupportedError("a recursive schema has no complement")
        numbers, strings = self.without(all_numbers(), values.numbers), self.without(anything(), values.strings)
        literals = Values(LITERALS - values.literals, numbers, strings, ANY.arrays, ANY.objects)
        found = literals
        for arrays in values.arrays:
            found = self.intersection(found, replace(ANY, arrays=_terms(self._other_arrays(arrays))))
        for objects in values.objects:
            found = self.intersection(found, replace(ANY, objects=_terms(self._other_objects(objects))))
        return found

    # Arrays.

    def _arrays(self, one: Arrays, other: Arrays) -> Arrays | None:
        """The arrays that are in both terms; None if there are none."""
        if one is ALL_ARRAYS or other is ALL_ARRAYS:
            return other if one is ALL_ARRAYS else one
        count = max(len(one.first), len(other.first))
        first = tuple(self.intersection(one.item(place), other.item(place)) for place in range(count))
        rest = self.intersection(one.rest, other.rest)
        most = _smaller(one.most, other.most)
        return arrays(first, rest, max(one.least, other.least), most, one.some + other.some, one.distinct or other.distinct)

    def _other_arrays(self, term: Arrays) -> list[Arrays | None]:
        """The arrays that are not in a term."""
        if term.distinct:
            raise UnsupportedError("a schema with uniqueItems has no complement")
        found = [arrays((), ANY, 0, term.least - 1)] if term.least else []
        if term.most is not None:
            found.append(arrays((), ANY, term.most + 1, None))
        for place, values in enumerate(term.first):
            found.append(arrays((*[ANY] * place, self.complement(values)), ANY, place + 1, None))
        outside = self.complement(term.rest)
        if not outside.is_empty and (term.most is None or term.most > len(term.first)):
            found.append(arrays((), ANY, 0, None, ((len(term.first), outside),)))
        found += [arrays([ANY] * place, self.complement(values), 0, None) for place, values in term.some]
        return found

    # Objects.

    def _objects(self, one: Objects, other: Objects) -> list[Objects | None]:
        """The objects that are in both terms."""
        if one is ALL_OBJECTS or other is ALL_OBJECTS:
            return [other if one is ALL_OBJECTS else one]
        named: dict[str, Property] = {}
        for name in (*one.named, *(name for name in other.named if name not in one.named)):
            is_required = any(name in term.named and term.named[name].is_required for term in (one, other))
            values = self.intersection(one.values_of(name), other.values_of(name))
            if is_required and values.is_empty:
                return []
            named[name] = Property(values, is_required)
        added = names_of(named)
        others = [
            Others(self.without(self.both(first.names, second.names), added), self.intersection(first.values, second.values))
            for first, second in product(one.others, other.others)
        ]
        kept = tuple(each for each in others if not each.names.is_empty and not each.values.is_empty)
        least, most = max(one.least, other.least), _smaller(one.most, other.most)
        return self._with_some(objects(named, kept, least, most), one.some + other.some)

    def _with_some(self, term: Objects | None, some: Sequence[Others]) -> list[Objects | None]:
        """The objects of a term that have, for each element of `some`, at least one property of it, named or not."""
        found = [term]
        for each in some:
            found = [more for one in found if one is not None for more in self._with_one(one, each)]
        return found

    def _with_one(self, term: Objects, some: Others) -> list[Objects | None]:
        found: list[Objects | None] = []
        for name, each in term.named.items():
            if name.encode() in some.names:
                changed = {**term.named, name: Property(self.intersection(each.values, some.values), True)}
                found.append(objects(changed, term.others, term.least, term.most, term.some))
        rest = self.without(some.names, names_of(term.named))
        if not rest.is_empty:
            found.append(objects(term.named, term.others, term.least, term.most, (*term.some, Others(rest, some.values))))
        return found

    def _other_objects(self, term: Objects) -> list[Objects | None]:
        """The objects that are not in a term."""
        found: list[Objects | None] = []
        if term.least:
            found.append(objects({}, ALL_OBJECTS.others, 0, term.least - 1))
        if term.most is not None:
            found.append(objects({}, ALL_OBJECTS.others, term.most + 1, None))
        for name, each in term.named.items():
            others = (Others(self.without(anything(), names_of([name])), ANY),)
            if each.is_required:
                found.append(objects({name: Property(NOTHING)}, others))
            outside = self.complement(each.values)
            if not outside.is_empty:
                found.append(objects({name: Property(outside, True)}, others))
        left = self.without(anything(), names_of(term.named))
        for other in term.others:
            left = self.without(left, other.names)
            outside = self.complement(other.values)
            if not outside.is_empty:
                found += self._with_some(ALL_OBJECTS, [Others(other.names, outside)])
        if not left.is_empty:
            found += self._with_some(ALL_OBJECTS, [Others(left, ANY)])
        for some in term.some:  # every property whose name is in `some.names` has another value
            free = self.without(anything(), some.names)
            found.append(objects({}, (Others(some.names, self.complement(some.values)), Others(free, ANY))))
        return found


def arrays(
    first: Sequence[Values],
    rest: Values,
    least: int,
    most: int | None,
    some: tuple[tuple[int, Values], ...] = (),
    distinct: tuple[Values, ...] = (),
) -> Arrays | None:
    """A term; None if it contains no array."""
    _need_few(some)
    least = max([least, *(place + 1 for place, _ in some)])
    empty = next((place for place, values in enumerate(first) if values.is_empty), len(first))
    if empty < len(first) or rest.is_empty:
        most = _smaller(most, empty)
    if (most is not None and least > most) or any(values.is_empty for _, values in some):
        return None
    return Arrays(tuple(first[: len(first) if most is None else most]), rest, least, most, some, distinct)


def objects(
    named: dict[str, Property], others: tuple[Others, ...], least: int = 0, most: int | None = None, some: tuple[Others, ...] = ()
) -> Objects | None:
    """A term; None if it contains no object."""
    _need_few(some)
    required = sum(each.is_required for each in named.values())
    possible = sum(not each.values.is_empty for each in named.values()) if not others else None
    if any(each.is_required and each.values.is_empty for each in named.values()) or (some and not others):
        return None
    least, most = max(least, required), _smaller(most, possible)
    return None if most is not None and least > most else Objects(named, others, least, most, some)


def _need_few(some: Sequence[object]) -> None:
    if len(some) > MAX_SOME:
        raise UnsupportedError(f"a combination of schemas needs more than {MAX_SOME} items or properties of its own")


def names_of(names: Iterable[str]) -> Language:
    """The language that consists of the given names."""
    return _names_of(frozenset(names))


@lru_cache(maxsize=1 << 10)
def _names_of(names: frozenset[str]) -> Language:
    return of_strings(sorted(names)) if names else nothing()


def _smaller(first: int | None, second: int | None) -> int | None:
    return second if first is None else first if second is None else min(first, second)


def _terms(terms: Iterable[Term | None]) -> tuple[Term, ...]:
    """The nonempty terms; a term that contains all arrays, or all objects, replaces the others."""
    found = tuple(term for term in terms if term is not None)
    everything = [term for term in found if term is ALL_ARRAYS or term is ALL_OBJECTS]
    if len(found) > MAX_TERMS:
        raise UnsupportedError(f"a combination of schemas has more than {MAX_TERMS} alternatives")
    return (everything[0],) if everything else found


def _everything() -> Values:
    """The set of all values; its arrays and objects contain values of the same set."""
    values = Values(LITERALS, all_numbers(), anything(), (), ())
    object.__setattr__(values, "arrays", (Arrays((), values),))
    object.__setattr__(values, "objects", (Objects({}, (Others(anything(), values),)),))
    return values


NOTHING = Values(frozenset(), nothing(), nothing(), (), ())
ANY = _everything()
ALL_ARRAYS, ALL_OBJECTS = ANY.arrays[0], ANY.objects[0]
