"""Operations on sets of JSON values that are evaluated when they are first looked at, and whether they contain a value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import reduce
from itertools import chain, combinations, product
from typing import Any

from fst.compile.machines.guide.schema import number_sets, string_sets
from fst.compile.machines.guide.schema.document import LocatedError
from fst.compile.machines.guide.schema.item_conditions import Counting, Different
from fst.compile.machines.guide.schema.lazy_values import (
    ALL_ARRAYS,
    ALL_OBJECTS,
    ANY,
    LITERALS,
    NOTHING,
    Arrays,
    Contained,
    Objects,
    Others,
    Property,
    Term,
    Values,
    arrays,
    kept,
    objects,
    smaller,
)
from fst.compile.machines.guide.schema.string_sets import Strings
from fst.errors import UnsupportedError


class Algebra:
    """Operations on sets; results are kept."""

    def __init__(self) -> None:
        self.path = "#"  # of the schema that is evaluated
        self._expansions: dict[int, tuple[Any, list[Any]]] = {}  # for each term, by id: the term and its expansion
        self._kept: dict[tuple[str, tuple[int, ...]], tuple[tuple[Values, ...], Values]] = {}

    def lazy(self, path: str, make: Callable[[], Values]) -> Values:
        """A set that is evaluated later."""

        def located() -> Values:
            before, self.path = self.path, path
            try:
                return make()
            finally:
                self.path = before

        return Values(path, located)

    def _found(self, name: str, operands: tuple[Values, ...], make: Callable[[], Values]) -> Values:
        key = name, tuple(map(id, operands))
        if key not in self._kept:
            self._kept[key] = operands, self.lazy(self.path, make)  # the operands are kept, so that no other object gets their ids
        return self._kept[key][1]

    # Sets.

    def intersection(self, *sets: Values) -> Values:
        """The values that are in all sets."""
        operands = {id(each): each for values in sets for each in values.operands or (values,) if each is not ANY}
        if id(NOTHING) in operands or any(each.opposite is not None and id(each.opposite) in operands for each in operands.values()):
            return NOTHING
        found = tuple(operands.values())
        if len(found) < 2:
            return found[0] if found else ANY
        values = self._found("intersection", found, lambda: reduce(self._both, found))
        values.operands = found
        return values

    def union(self, *sets: Values) -> Values:
        """The values that are in at least one of the sets."""
        found = tuple({id(each): each for each in sets if each is not NOTHING}.values())
        if any(each is ANY for each in found):
            return ANY
        if len(found) < 2:
            return found[0] if found else NOTHING
        return self._found("union", found, lambda: self._either(found))

    def complement(self, values: Values) -> Values:
        """The values that are not in a set."""
        if values is ANY or values is NOTHING:
            return NOTHING if values is ANY else ANY
        if values.opposite is not None:
            return values.opposite
        found = self._found("complement", (values,), lambda: self._complement(values))
        found.opposite = values
        return found

    def _both(self, first: Values, second: Values) -> Values:
        arrays = kept(self._both_arrays(one, other) for one, other in product(first.arrays, second.arrays))
        objects = kept(each for one, other in product(first.objects, second.objects) for each in self._both_objects(one, other))
        numbers, strings = number_sets.both(first.numbers, second.numbers), string_sets.both(first.strings, second.strings)
        return Values.of(first.literals & second.literals, numbers, strings, arrays, objects, is_cut=first.is_cut or second.is_cut)

    def _either(self, sets: tuple[Values, ...]) -> Values:
        literals = frozenset().union(*(each.literals for each in sets))
        numbers = reduce(number_sets.either, (each.numbers for each in sets))
        strings = reduce(string_sets.either, (each.strings for each in sets))
        arrays, objects = kept(term for each in sets for term in each.arrays), kept(term for each in sets for term in each.objects)
        return Values.of(literals, numbers, strings, arrays, objects, is_cut=any(each.is_cut for each in sets))

    def _complement(self, values: Values) -> Values:
        if values.is_cut:
            raise UnsupportedError("a recursive schema has no complement in a table; make its masks late: fst.Guide(tokenizer, schema=…)")
        numbers, strings = number_sets.complement(values.numbers), string_sets.complement(values.strings)
        arrays, objects = ALL_ARRAYS, ALL_OBJECTS
        if values.arrays:
            arrays = replace(ALL_ARRAYS, unlike=values.arrays)
        if values.objects:
            objects = replace(ALL_OBJECTS, unlike=values.objects)
        is_any = (values.arrays == ANY.arrays, values.objects == ANY.objects)
        return Values.of(LITERALS - values.literals, numbers, strings, () if is_any[0] else (arrays,), () if is_any[1] else (objects,))

    # Arrays.

    def _both_arrays(self, one: Arrays, other: Arrays) -> Arrays | None:
        """The arrays that are in both terms; None if there are plainly none."""
        if one is ALL_ARRAYS or other is ALL_ARRAYS:
            return other if one is ALL_ARRAYS else one
        count = max(len(one.first), len(other.first))
        first = [self.intersection(one.item(place), other.item(place)) for place in range(count)]
        rest, most = self.intersection(one.rest, other.rest), smaller(one.most, other.most)
        found = arrays(first, rest, max(one.least, other.least), most, one.some + other.some, one.differ or other.differ)
        unlike = tuple(dict.fromkeys(one.unlike + other.unlike))
        return found if found is None or not unlike else replace(found, unlike=unlike)

    def expanded_arrays(self, term: Arrays) -> list[Arrays]:
        """The arrays of a term as terms that are unlike none."""
        found = [replace(term, unlike=()) if term.unlike else term]
        for other in term.unlike:
            outside = [each for each in self._other_arrays(other) if each is not None]
            found = [each for one in found for each in self._outside_arrays(one, outside)]
        return list(kept(found))

    def _outside_arrays(self, term: Arrays, outside: list[Arrays]) -> list[Arrays]:
        """The arrays of a term that are also in other terms."""
        found = (self._both_arrays(term, each) for each in outside)
        return [each for each in found if each is not None and not any(map(self._is_plainly_empty, each.first[: each.least]))]

    def _is_plainly_empty(self, values: Values) -> bool:
        """Whether a set has no term."""
        if values is ANY or values.is_being_made:
            return False
        return not (values.literals or values.numbers or values.strings or values.arrays or values.objects)

    def _other_arrays(self, term: Arrays) -> list[Arrays | None]:
        """The arrays that are not in a term."""
        if term.unlike:
            return [*self._other_arrays(replace(term, unlike=())), *term.unlike]
        if term.differ:
            raise UnsupportedError("a schema with uniqueItems has no complement")
        implied = max((each.place + each.least for each in term.some if each.least and not each.place), default=0)
        found = [arrays((), ANY, 0, term.least - 1)] if term.least > implied else []
        if term.most is not None:
            found.append(arrays((), ANY, term.most + 1, None))
        for place, values in enumerate(term.first):
            found.append(arrays((*[ANY] * place, self.complement(values)), ANY, place + 1, None))
        if term.rest is not ANY and (term.most is None or term.most > len(term.first)):
            found.append(arrays((), ANY, 0, None, (Contained(len(term.first), self.complement(term.rest)),)))
        for each in term.some:
            if each.least:
                few = Contained(each.place, each.values, 0, each.least - 1)
                found.append(arrays([ANY] * each.place, self.complement(each.values), 0, None) if each.least == 1 else _containing(few))
            if each.most is not None:
                found.append(_containing(Contained(each.place, each.values, each.most + 1)))
        return found

    # Objects.

    def _both_objects(self, one: Objects, other: Objects) -> list[Objects | None]:
        """The objects that are in both terms."""
        if one is ALL_OBJECTS or other is ALL_OBJECTS:
            return [other if one is ALL_OBJECTS else one]
        ordered = [name for term in (one, other) for name, each in term.named.items() if each.is_listed]
        named: dict[str, Property] = {}
        for name in (*ordered, *one.named, *other.named):
            if name in named:
                continue
            found = [term.named[name] for term in (one, other) if name in term.named]
            values = self.intersection(one.values_of(name), other.values_of(name))
            named[name] = Property(values, any(each.is_required for each in found), any(each.is_listed for each in found))
        others = [
            Others(string_sets.both(first.names, second.names), self.intersection(first.values, second.values))
            for first, second in product(one.others, other.others)
        ]
        allowed = tuple(each for each in others if each.names and each.values is not NOTHING)
        least, most = max(one.least, other.least), smaller(one.most, other.most)
        term, unlike = objects(named, allowed, least, most), tuple(dict.fromkeys(one.unlike + other.unlike))
        return self._with_some(term if term is None or not unlike else replace(term, unlike=unlike), one.some + other.some)

    def expanded_objects(self, term: Objects) -> list[Objects]:
        """The objects of a term as terms that are unlike none."""
        found = [replace(term, unlike=()) if term.unlike else term]
        for other in term.unlike:
            meeting = [one for one in found if not self.differ(one, other)]
            if meeting:
                outside = [each for each in self._other_objects(other) if each is not None]
                found = [one for one in found if one not in meeting]
                found += [each for one in meeting for another in outside for each in self._meeting(one, another)]
        return list(kept(found))

    def _meeting(self, one: Objects, other: Objects) -> list[Objects]:
        """The objects that are in both terms, without terms that plainly contain none."""
        return [
            each
            for each in self._both_objects(one, other)
            if each is not None and not any(found.is_required and self._is_plainly_empty(found.values) for found in each.named.values())
        ]

    def differ(self, one: Objects, other: Objects) -> bool:
        """Whether objects of two terms plainly differ in a property that is required in one of them."""
        for term, against in ((one, other), (other, one)):
            for name, each in term.named.items():
                if each.is_required:
                    second = against.values_of(name)
                    if each.values is not second and self._are_disjoint(each.values, second):
                        return True
        return False

    def _are_disjoint(self, one: Values, other: Values) -> bool:
        """Whether two sets plainly have no common value."""
        if one is ANY or other is ANY or one.is_being_made or other.is_being_made:
            return one is NOTHING or other is NOTHING
        if one.is_cut or other.is_cut:
            return False
        if one.literals & other.literals or (one.arrays and other.arrays) or (one.objects and other.objects):
            return False
        return not string_sets.both(one.strings, other.strings) and not number_sets.both(one.numbers, other.numbers)

    def _with_some(self, term: Objects | None, some: Iterable[Others]) -> list[Objects | None]:
        """The objects of a term that have, for each element of `some`, at least one property of it, named or not."""
        found = [term]
        for each in some:
            found = [more for one in found if one is not None for more in self._with_one(one, each)]
        return found

    def _with_one(self, term: Objects, some: Others) -> Iterator[Objects | None]:
        rest = [each for each in some.names if each.listed is None]
        names = [name for name in term.named if string_sets.has(some.names, name)]
        names += sorted({name for each in some.names if each.listed is not None for name in each.listed if name not in term.named})
        for name in names:
            is_listed = name in term.named and term.named[name].is_listed
            changed = {**term.named, name: Property(self.intersection(term.values_of(name), some.values), True, is_listed)}
            yield _like(term, objects(changed, term.others, term.least, term.most, term.some))
        if rest and term.others:
            yield _like(term, objects(term.named, term.others, term.least, term.most, (*term.some, Others(tuple(rest), some.values))))

    def _other_objects(self, term: Objects) -> list[Objects | None]:
        """The objects that are not in a term."""
        if term.unlike:
            return [*self._other_objects(replace(term, unlike=())), *term.unlike]
        found: list[Objects | None] = []
        if term.least > sum(each.is_required for each in term.named.values()):
            found.append(objects({}, ALL_OBJECTS.others, 0, term.least - 1))
        if term.most is not None:
            found.append(objects({}, ALL_OBJECTS.others, term.most + 1, None))
        for name, (values, is_required, _) in term.named.items():
            if is_required or values is not ANY:
                found.append(objects({name: Property(self.complement(values), is_required=not is_required)}, ALL_OBJECTS.others))
        known = (Strings(without=frozenset(term.named)),) if term.named else string_sets.ALL
        left = known
        for other in term.others:
            left = string_sets.both(left, string_sets.complement(other.names))
            if other.values is not ANY:
                found += self._with_some(ALL_OBJECTS, [Others(string_sets.both(other.names, known), self.complement(other.values))])
        if not string_sets.is_empty(left):
            found += self._with_some(ALL_OBJECTS, [Others(left, ANY)])
        for some in term.some:  # every property whose name is in `some.names` has another value
            names = string_sets.both(some.names, known)
            free = Others(string_sets.complement(names), ANY)
            found.append(objects({}, (Others(names, self.complement(some.values)), free)))
        return found

    # Emptiness.

    def has_values(self, values: Values) -> bool:
        """Whether a set contains a value: a least fixpoint, because a value of a recursive set is finite."""
        return self._decided(values) if values.has_values is None else values.has_values

    def _decided(self, values: Values) -> bool:
        """Decide whether a set, and all sets that this depends on, contain values. A set that is being evaluated is taken to contain some;
        then nothing is stored.
        """
        waiting, found = [values], {id(values): values}
        order: list[Values] = []
        while waiting:
            each = waiting.pop()
            if each.is_being_made or self._has_plain_values(each):
                each.has_values = True
                continue
            order.append(each)
            for below in self._needed(each):
                if below.has_values is None and id(below) not in found:
                    found[id(below)] = below
                    waiting.append(below)
        changed = True
        while changed:
            changed = False
            for each in reversed(order):
                if not each.has_values and self._is_satisfied(each):
                    each.has_values = changed = True
        answer = bool(values.has_values)
        is_sure = not any(each.is_being_made for each in found.values())
        for each in found.values():
            each.has_values = bool(each.has_values) if is_sure else None
        return answer

    @staticmethod
    def _has_plain_values(values: Values) -> bool:
        """Whether a set contains a value other than arrays and objects, or all arrays or objects."""
        if values.literals or values.numbers:
            return True
        if any(not term.least and not term.some and not term.unlike for term in values.arrays) or any(
            not term.least and not term.some and not term.unlike and not any(each.is_required for each in term.named.values())
            for term in values.objects
        ):
            return True
        try:
            return not string_sets.is_empty(values.strings)
        except LocatedError:
            raise
        except UnsupportedError as error:
            raise LocatedError(f"{values.path}: {error}") from None

    def has_array(self, term: Arrays) -> bool:
        """Whether a term contains an array."""
        return term is ALL_ARRAYS or self._decided(Values.of(arrays=(term,)))

    def has_object(self, term: Objects) -> bool:
        """Whether a term contains an object."""
        return term is ALL_OBJECTS or self._decided(Values.of(objects=(term,)))

    def _needed(self, values: Values) -> Iterator[Values]:
        """The sets on which it depends whether a set contains an array or an object."""
        for array in (each for term in values.arrays for each in self.expanded(term) if not each.differ or each.least < 2):
            yield from (array.item(place) for place in range(min(array.least, len(array.first) + 1)))
            if array.some:
                yield from (each for place in range(len(array.first) + 1) for _, each in self.contained(array, place))
        for term in (each for one in values.objects for each in self.expanded(one)):
            yield from (each.values for each in term.named.values() if each.is_required)
            if term.least > sum(each.is_required for each in term.named.values()):
                yield from (each.values for each in term.named.values())
                yield from (each.values for each in term.others)
            for _, other in self.chosen(term):
                yield other.values

    def _is_satisfied(self, values: Values) -> bool:
        """Whether a set contains an array or object of values that are known to exist."""
        return any(self._has_array(each) for term in values.arrays for each in self.expanded(term)) or any(
            self._has_object(each) for term in values.objects for each in self.expanded(term)
        )

    def expanded(self, term: Term) -> list[Term]:
        """A term as terms that are unlike none; results are kept."""
        if not term.unlike:
            return [term]
        if id(term) not in self._expansions:
            self._expansions[id(term)] = term, self.expanded_arrays(term) if isinstance(term, Arrays) else self.expanded_objects(term)
        return self._expansions[id(term)][1]

    def _has_array(self, term: Arrays) -> bool:
        if term.differ and term.least > 1:
            return Different(self, term).exists
        if term.some:
            return Counting.of(self.contained, term, lambda values: bool(values.has_values)) is not None
        return all(term.item(place).has_values for place in range(min(term.least, len(term.first) + 1)))

    def _has_object(self, term: Objects) -> bool:
        required = sum(each.is_required for each in term.named.values())
        if not all(each.values.has_values for each in term.named.values() if each.is_required):
            return False
        if term.least > required:
            possible = sum(bool(each.values.has_values) for each in term.named.values())
            if possible < term.least and not any(self.is_open(term, each) for each in term.others if each.values.has_values):
                return possible + sum(len(self.names_left(term, each)) for each in term.others if each.values.has_values) >= term.least
        if not term.some:
            return True
        needed = self.covered(term, lambda each: bool(each.values.has_values))
        return needed is not None and (term.most is None or required + needed <= term.most)

    def is_open(self, term: Objects, other: Others) -> bool:
        """Whether an element of a term has names without end."""
        return any(each.listed is None and not each.but(term.named).is_empty for each in other.names)

    def names_left(self, term: Objects, other: Others) -> set[str]:
        """The listed names of an element of a term that are not in `named`."""
        return {name for each in other.names if each.listed is not None for name in each.listed if name not in term.named}

    def covered(self, term: Objects, is_possible: Callable[[Others], bool]) -> int | None:
        """The smallest number of properties that meet all elements of `some`; None if they cannot be met."""
        everything = (1 << len(term.some)) - 1
        sets = {bits for bits, other in self.chosen(term) if is_possible(other)}
        counts = {0: 0}
        for met in range(everything + 1):
            if met in counts:
                for bits in sets:
                    counts[met | bits] = min(counts.get(met | bits, everything), counts[met] + 1)
        return counts.get(everything)

    def chosen(self, term: Objects) -> Iterator[tuple[int, Others]]:
        """For each choice of elements of `some`, as bits: the properties that meet all of them and have a name left."""
        for bits in _subsets(range(len(term.some))):
            for each in term.others:
                names = reduce(string_sets.both, (term.some[bit].names for bit in bits), each.names)
                if any(not name.but(term.named).is_empty for name in names):
                    values = self.intersection(each.values, *(term.some[bit].values for bit in bits))
                    yield sum(1 << bit for bit in bits), Others(names, values)

    def contained(self, term: Arrays, place: int) -> Iterator[tuple[int, Values]]:
        """For each choice of conditions, as bits: the set of an item at a place that counts for exactly these conditions. An item may leave
        out a condition that it meets, unless the condition has a maximum.
        """
        bits = [bit for bit, each in enumerate(term.some) if place >= each.place]
        for chosen in chain([()], _subsets(bits)):
            inside = [term.some[bit].values for bit in chosen]
            outside = [self.complement(term.some[bit].values) for bit in bits if bit not in chosen and term.some[bit].most is not None]
            yield sum(1 << bit for bit in chosen), self.intersection(term.item(place), *inside, *outside)


def _like(term: Objects, found: Objects | None) -> Objects | None:
    """A term that is unlike the same terms as another."""
    return found if found is None or not term.unlike else replace(found, unlike=term.unlike)


def _containing(condition: Contained) -> Arrays | None:
    return arrays((), ANY, 0, None, (condition,))


def _subsets(bits: Iterable[int]) -> Iterator[tuple[int, ...]]:
    """The nonempty subsets."""
    every = [*bits]
    return chain.from_iterable(combinations(every, count) for count in range(1, len(every) + 1))
