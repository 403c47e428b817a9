"""Schemas in cases that differ in the properties and items that their keywords evaluate, for ``unevaluatedProperties`` and
``unevaluatedItems``.

More evaluated properties only allow more values. So a case may leave out a schema that a value also meets, such as another schema of
``anyOf``, because the case with this schema is in the union, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any, NamedTuple, Protocol

from fst.compile.machines.guide.schema import number_sets, string_sets
from fst.compile.machines.guide.schema.document import LocatedError, joined
from fst.compile.machines.guide.schema.lazy_algebra import Algebra
from fst.compile.machines.guide.schema.lazy_values import ANY, LITERALS, NOTHING, Arrays, Objects, Others, Property, Values
from fst.compile.machines.guide.schema.string_sets import Strings, pattern_of

MAX_CASES = 256
OBJECTS = frozenset(["properties", "patternProperties", "required", "minProperties", "maxProperties", "propertyNames"])


class Scope(NamedTuple):
    """What the meaning of a schema depends on.

    Attributes:
        anchors: pairs of a dynamic anchor and the id of the schema that it means.
        opened: the ids of the recursive schemas around the schema, if recursion has bounds.
    """

    anchors: tuple[tuple[str, int], ...] = ()
    opened: tuple[int, ...] = ()


class Reader(Protocol):
    """What cases need of `fst.compile.machines.guide.schema.reader.Reader`."""

    algebra: Algebra
    is_old: bool
    evaluates_contained: bool

    def values(self, schema: Any, path: str, scope: Scope, *, in_place: bool = False) -> Values:
        """The set of a schema."""

    def inside(self, schema: dict[str, Any], scope: Scope) -> Scope:
        """The scope inside a schema."""

    def order(self, schema: dict[str, Any]) -> list[str]:
        """The keywords of a schema, in the order of their evaluation."""

    def typed(self, schema: dict[str, Any], path: str, scope: Scope) -> Values:
        """The set from the keywords of single types."""

    def referenced(self, schema: dict[str, Any], keyword: str, path: str, scope: Scope) -> tuple[Any, str, Scope]:
        """The schema of a reference, its path and its scope."""

    def each_alone(self, sets: list[Values]) -> list[Values]:
        """For each set, the values that are in none of the others."""

    def absent(self, name: str) -> Values:
        """The values that have no property of a name."""

    def meaning(self, keyword: str, schema: dict[str, Any], path: str, scope: Scope) -> list[Values]:
        """The sets of values that a keyword allows."""


class Case(NamedTuple):
    """A set of values, and what the keywords evaluate in these values.

    Attributes:
        values: the set.
        names: the names of the evaluated properties.
        items: the number of evaluated items; None: all.
        contained: sets; every item in one of them is evaluated.
        has_objects: whether keywords of objects are used.
    """

    values: Values
    names: tuple[Strings, ...] = ()
    items: int | None = 0
    contained: tuple[Values, ...] = ()
    has_objects: bool = False


class Cases:
    """The cases of the schemas of a reader."""

    def __init__(self, reader: Reader) -> None:
        self._reader, self._algebra = reader, reader.algebra
        self._active: set[int] = set()  # the schemas, by id, whose cases are being found

    def closed(self, schema: dict[str, Any], path: str, scope: Scope, *, strict: bool) -> Values:
        """The set of a schema. With `strict`, objects have no unevaluated properties."""
        return self._algebra.union(*(each.values for each in self._of(schema, path, scope, strict=strict)))

    def _of(self, schema: Any, path: str, scope: Scope, *, strict: bool = False) -> list[Case]:
        """The cases of a schema that applies to the same value as another."""
        if not isinstance(schema, dict):
            return [Case(self._reader.values(schema, path, scope, in_place=True))]
        if id(schema) in self._active:
            raise LocatedError(f"{path} is a reference to itself; expected a schema with keywords")
        self._active.add(id(schema))
        scope = self._reader.inside(schema, scope)
        found = [self._own(schema, path, scope)]
        for keyword in self._reader.order(schema):
            if keyword != "type":
                found = self._both(found, self._applied(keyword, schema, path, scope), path)
        below = joined(path, "unevaluatedItems")
        if "unevaluatedItems" in schema:
            found = [self._without_items(each, self._reader.values(schema["unevaluatedItems"], below, scope)) for each in found]
        below = joined(path, "unevaluatedProperties")
        if "unevaluatedProperties" in schema:
            found = [self._without_names(each, self._reader.values(schema["unevaluatedProperties"], below, scope)) for each in found]
        elif strict:
            found = [self._without_names(each, NOTHING) if each.has_objects else each for each in found]
        self._active.discard(id(schema))
        return found

    def _own(self, schema: dict[str, Any], path: str, scope: Scope) -> Case:
        """The case of the keywords of single types."""
        types = schema.get("type", ())
        has_objects = not OBJECTS.isdisjoint(schema) or "object" in ((types,) if isinstance(types, str) else types)
        if self._reader.is_old and "$ref" in schema:
            return Case(ANY)
        names: list[Strings] = []
        if "additionalProperties" in schema:
            names = [string_sets.EVERY]
        else:
            names += string_sets.listed(schema.get("properties", ()))
            names += [Strings(patterns=(pattern_of(pattern),)) for pattern in schema.get("patternProperties", ())]
        items = schema.get("items")
        first = items if isinstance(items, list) else schema.get("prefixItems", ())
        is_all = "additionalItems" in schema if isinstance(items, list) else "items" in schema
        contained: tuple[Values, ...] = ()
        if "contains" in schema and self._reader.evaluates_contained:
            contained = (self._reader.values(schema["contains"], joined(path, "contains"), scope),)
        return Case(self._reader.typed(schema, path, scope), tuple(names), None if is_all else len(first), contained, has_objects)

    def _applied(self, keyword: str, schema: dict[str, Any], path: str, scope: Scope) -> list[Case]:
        """The cases of a keyword with schemas that apply to the same value."""
        reader = self._reader
        if keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            return self._of(*reader.referenced(schema, keyword, path, scope))
        if keyword in ("allOf", "anyOf", "oneOf"):
            each_of = [self._of(each, joined(path, keyword, place), scope) for place, each in enumerate(schema[keyword])]
            if keyword == "anyOf":
                return self._any(each_of, path)
            if keyword == "oneOf":
                sets = reader.each_alone([self._algebra.union(*(case.values for case in cases)) for cases in each_of])
                return [self._case(values, case) for values, cases in zip(sets, each_of, strict=True) for case in cases]
            found = [Case(ANY)]
            for cases in each_of:
                found = self._both(found, cases, path)
            return found
        if keyword == "if":
            condition = self._of(schema["if"], joined(path, "if"), scope)
            yes, no = (self._of(schema.get(name, True), joined(path, name), scope) for name in ("then", "else"))
            outside = self._algebra.complement(self._algebra.union(*(case.values for case in condition)))
            return [*self._both(condition, yes, path), *(self._case(outside, case) for case in no)]
        if keyword in ("dependentSchemas", "dependencies"):
            found = [Case(ANY)]
            for name, needed in schema[keyword].items():
                if isinstance(needed, list):
                    continue
                present = Values.of(objects=(Objects({name: Property(ANY, is_required=True)}, ANY.objects[0].others),))
                cases = [self._case(present, case) for case in self._of(needed, joined(path, keyword, name), scope)]
                found = self._both(found, [Case(reader.absent(name)), *cases], path)
            rest = {name: needed for name, needed in schema[keyword].items() if isinstance(needed, list)}
            lists = self._algebra.intersection(*reader.meaning(keyword, {keyword: rest}, path, scope))
            return [self._case(lists, case) for case in found]
        return [Case(self._algebra.intersection(*reader.meaning(keyword, schema, path, scope)))]

    def _case(self, values: Values, case: Case) -> Case:
        """A case with fewer values."""
        return case._replace(values=self._algebra.intersection(case.values, values))

    def _both(self, first: list[Case], second: list[Case], path: str) -> list[Case]:
        """The cases in which a value is in both of two lists of cases."""
        return self._few([self._joined((one, other)) for one in first for other in second], path)

    def _any(self, each_of: list[list[Case]], path: str) -> list[Case]:
        """The cases in which a value is in one or more of several lists of cases; a case that evaluates no more than others is left out."""
        cases = [case for each in each_of for case in each]
        found: list[Case] = []
        seen: list[tuple[frozenset[int], tuple[Any, ...]]] = []
        for count in range(1, len(cases) + 1):
            for chosen in combinations(range(len(cases)), count):
                case = self._joined([cases[place] for place in chosen])
                if not any(known <= frozenset(chosen) and evaluated == case[1:] for known, evaluated in seen):
                    seen.append((frozenset(chosen), case[1:]))
                    found.append(case)
            self._few(found, path)
        return found

    def _joined(self, cases: Iterable[Case]) -> Case:
        every = [*cases]
        names: tuple[Strings, ...] = ()
        for case in every:
            names = string_sets.either(names, case.names)
        items = None if any(case.items is None for case in every) else max(case.items or 0 for case in every)
        contained = tuple(dict.fromkeys(each for case in every for each in case.contained))
        values = self._algebra.intersection(*(case.values for case in every))
        return Case(values, names, items, contained, any(case.has_objects for case in every))

    @staticmethod
    def _few(cases: list[Case], path: str) -> list[Case]:
        if len(cases) > MAX_CASES:
            raise LocatedError(f"{path}: unevaluated values depend on more than {MAX_CASES} combinations of schemas; simplify it")
        return cases

    def _without_names(self, case: Case, values: Values) -> Case:
        """A case whose unevaluated properties are in a set."""
        outside = string_sets.complement(case.names)
        if outside and values is not ANY:
            others = tuple(Others(names, each) for names, each in ((case.names, ANY), (outside, values)) if names)
            case = self._case(Values.of(LITERALS, number_sets.ALL, string_sets.ALL, ANY.arrays, (Objects({}, others),)), case)
        return case._replace(names=string_sets.ALL)

    def _without_items(self, case: Case, values: Values) -> Case:
        """A case whose unevaluated items are in a set."""
        if case.items is None or values is ANY:
            return case._replace(items=None)
        term = Arrays((ANY,) * case.items, self._algebra.union(values, *case.contained))
        closed = Values.of(LITERALS, number_sets.ALL, string_sets.ALL, (term,), ANY.objects)
        return self._case(closed, case)._replace(items=None)
