"""Sets of JSON values that are evaluated when they are first looked at, so that schemas may be recursive.

A set is a union of terms of one type each; a term of arrays or objects restricts items or properties one by one. Results of operations are
kept by their operands, so an operation on recursive sets, which comes back to its operands, has a finite number of different results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from fst.compile.machines.guide.schema import number_sets, string_sets
from fst.compile.machines.guide.schema.document import LocatedError
from fst.compile.machines.guide.schema.number_sets import Numbers
from fst.compile.machines.guide.schema.string_sets import Strings
from fst.errors import UnsupportedError

LITERALS = frozenset(["null", "true", "false"])
MAX_TERMS = 400
MAX_SOME = 4
FIELDS = ("literals", "numbers", "strings", "arrays", "objects", "is_cut")

Term = TypeVar("Term", bound="Arrays | Objects")


class Values:
    """A set of JSON values.

    Attributes:
        literals: the elements of "null", "true" and "false" that are in the set.
        numbers, strings: terms of numbers and of strings.
        arrays, objects: terms; the set contains the arrays and objects of each term.
        is_cut: whether values are left out because a table enters a recursive schema only to some depth; such a set has no complement.
        path: the path of the schema that the set comes from.
        operands: the sets whose intersection the set is; empty: it is not an intersection.
        opposite: the complement, if the set is one.
        has_values: whether the set contains a value; None: not known yet.
        is_being_made: whether the set is being evaluated now.
    """

    literals: frozenset[str]
    numbers: tuple[Numbers, ...]
    strings: tuple[Strings, ...]
    arrays: tuple[Arrays, ...]
    objects: tuple[Objects, ...]
    is_cut: bool

    def __init__(self, path: str, make: Callable[[], Values] | None) -> None:
        self.path = path
        self.operands: tuple[Values, ...] = ()
        self.opposite: Values | None = None
        self.has_values: bool | None = None
        self._make, self.is_being_made = make, False

    @property
    def is_made(self) -> bool:
        """Whether the set is evaluated."""
        return self._make is None

    @classmethod
    def of(
        cls,
        literals: frozenset[str] = frozenset(),
        numbers: tuple[Numbers, ...] = (),
        strings: tuple[Strings, ...] = (),
        arrays: tuple[Arrays, ...] = (),
        objects: tuple[Objects, ...] = (),
        *,
        is_cut: bool = False,
    ) -> Values:
        """A set that is known already."""
        found = cls("#", None)
        found.literals, found.numbers, found.strings, found.arrays, found.objects = literals, numbers, strings, arrays, objects
        found.is_cut = is_cut
        return found

    def __getattr__(self, name: str) -> Any:
        """Evaluate the set when one of `FIELDS` is looked up for the first time."""
        if name not in FIELDS or self._make is None:
            raise AttributeError(name)
        if self.is_being_made:
            raise LocatedError(f"{self.path} is a reference to itself; expected a schema with keywords")
        self.is_being_made = True
        try:
            made = self._make()
            for each in FIELDS:
                setattr(self, each, getattr(made, each))
        except LocatedError:
            raise
        except UnsupportedError as error:
            raise LocatedError(f"{self.path}: {error}") from None
        finally:
            self.is_being_made = False
        self._make = None
        return self.__dict__[name]


@dataclass(frozen=True, eq=False)
class Contained:
    """A condition on arrays: `least` to `most` of the items at or after a place are in a set."""

    place: int
    values: Values
    least: int = 1
    most: int | None = None


@dataclass(frozen=True, eq=False)
class Arrays:
    """Arrays of `least` to `most` items. Item k is in ``first[k]``; if `first` is too short, in `rest`.

    Attributes:
        some: conditions on the items.
        unlike: terms; an array of one of them is not in this term.
        differ: the path of a schema by which all items must be different; empty: items may be equal.
    """

    first: tuple[Values, ...]
    rest: Values
    least: int = 0
    most: int | None = None
    some: tuple[Contained, ...] = ()
    differ: str = ""
    unlike: tuple[Arrays, ...] = ()

    def item(self, place: int) -> Values:
        """The set for the item at a position."""
        return self.first[place] if place < len(self.first) else self.rest


class Property(NamedTuple):
    """A property with a certain name. A property that is not required may be absent; a property whose set is empty is absent. Listed
    properties have a place in the order of the schema.
    """

    values: Values
    is_required: bool = False
    is_listed: bool = False


class Others(NamedTuple):
    """Properties whose names are in a set."""

    names: tuple[Strings, ...]
    values: Values


@dataclass(frozen=True, eq=False)
class Objects:
    """Objects of `least` to `most` properties.

    Attributes:
        named: the properties with certain names, in the order in which they are written.
        others: the properties with other names; their sets of names are disjoint, except for the names in `named`, which they may contain
            without meaning them. A property whose name is in no set is absent.
        some: elements that each need at least one property; their names may also be in `named` without meaning them.
        unlike: terms; an object of one of them is not in this term.
    """

    named: dict[str, Property]
    others: tuple[Others, ...]
    least: int = 0
    most: int | None = None
    some: tuple[Others, ...] = field(default=())
    unlike: tuple[Objects, ...] = field(default=())

    def values_of(self, name: str) -> Values:
        """The set of the values of a property."""
        if name in self.named:
            return self.named[name].values
        return next((each.values for each in self.others if string_sets.has(each.names, name)), NOTHING)


def arrays(
    first: Iterable[Values], rest: Values, least: int, most: int | None, some: tuple[Contained, ...] = (), differ: str = ""
) -> Arrays | None:
    """A term; None if it plainly contains no array."""
    _need_few(some)
    first = tuple(first)
    empty = next((place for place, values in enumerate(first) if values is NOTHING), len(first))
    if empty < len(first) or rest is NOTHING:
        most = smaller(most, empty)
    least = max([least, *(each.place + each.least for each in some if each.least)])
    if (most is not None and least > most) or any(each.values is NOTHING for each in some if each.least):
        return None
    return Arrays(first if most is None else first[:most], rest, least, most, some, "" if most is not None and most < 2 else differ)


def objects(
    named: dict[str, Property], others: tuple[Others, ...], least: int = 0, most: int | None = None, some: tuple[Others, ...] = ()
) -> Objects | None:
    """A term; None if it plainly contains no object."""
    _need_few(some)
    required = sum(each.is_required for each in named.values())
    if any(each.is_required and each.values is NOTHING for each in named.values()) or (some and not others):
        return None
    return None if most is not None and max(least, required) > most else Objects(named, others, max(least, required), most, some)


def _need_few(some: tuple[object, ...]) -> None:
    if len(some) > MAX_SOME:
        raise UnsupportedError(f"a combination of schemas needs more than {MAX_SOME} items or properties of its own")


def smaller(first: int | None, second: int | None) -> int | None:
    """The smaller of two upper bounds; None: no bound."""
    return second if first is None else first if second is None else min(first, second)


def kept(terms: Iterable[Term | None]) -> tuple[Term, ...]:
    """The terms, each once; a term that contains all arrays, or all objects, replaces the others."""
    found = tuple({id(term): term for term in terms if term is not None}.values())
    everything = [term for term in found if term is ALL_ARRAYS or term is ALL_OBJECTS]
    if len(found) > MAX_TERMS:
        raise UnsupportedError(f"a combination of schemas has more than {MAX_TERMS} alternatives")
    return (everything[0],) if everything else found


def _everything() -> Values:
    """The set of all values; its arrays and objects contain values of the same set."""
    values = Values.of(LITERALS, number_sets.ALL, string_sets.ALL)
    values.has_values = True
    values.arrays = (Arrays((), values),)
    values.objects = (Objects({}, (Others(string_sets.ALL, values),)),)
    return values


def is_all(values: Values) -> bool:
    """Whether a set is known to contain all values."""
    return values is ANY or (values.is_made and all(getattr(values, each) is getattr(ANY, each) for each in FIELDS))


def levels(count: int) -> Values:
    """The set of all values with at most a number of levels of arrays and objects."""
    found = Values.of(LITERALS, number_sets.ALL, string_sets.ALL)
    for _ in range(count):
        found.has_values = True
        found = Values.of(
            LITERALS, number_sets.ALL, string_sets.ALL, (Arrays((), found),), (Objects({}, (Others(string_sets.ALL, found),)),)
        )
    found.has_values, found.path = True, "a value without a schema"
    return found


NOTHING, CUT = Values.of(), Values.of(is_cut=True)
NOTHING.has_values = CUT.has_values = False
ANY = _everything()
ALL_ARRAYS, ALL_OBJECTS = ANY.arrays[0], ANY.objects[0]
