"""From a schema to the set of its values, keyword by keyword. A set is evaluated when it is first looked at."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, TypeVar

from fst.compile.machines.guide.schema import formats, number_sets, string_sets
from fst.compile.machines.guide.schema.document import (
    KINDS,
    OF_DRAFT_3,
    REFERENCES,
    TYPES,
    Document,
    LocatedError,
    is_usual,
    joined,
    path_of,
)
from fst.compile.machines.guide.schema.keyword_values import count_of, decimal_of, expected_of, number_of
from fst.compile.machines.guide.schema.lazy_algebra import Algebra
from fst.compile.machines.guide.schema.lazy_values import (
    ANY,
    CUT,
    LITERALS,
    NOTHING,
    Arrays,
    Contained,
    Objects,
    Others,
    Property,
    Values,
    arrays,
    objects,
)
from fst.compile.machines.guide.schema.number_sets import INTEGERS, Numbers
from fst.compile.machines.guide.schema.numbers import MAX_REMAINDERS
from fst.compile.machines.guide.schema.recursion import Recursion
from fst.compile.machines.guide.schema.string_sets import Pattern, Strings, pattern_of
from fst.compile.machines.guide.schema.unevaluated import Cases, Scope
from fst.errors import UnsupportedError, VocabularyError, not_one_of, quoted

BOUNDS = {"minimum": "least", "exclusiveMinimum": "least", "maximum": "most", "exclusiveMaximum": "most"}
FOR_TYPES = (  # keywords of single types
    *("type", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "pattern", "format", "items", "prefixItems", "additionalItems", "minItems", "maxItems", "contains"),
    *("minContains", "maxContains", "uniqueItems", "properties", "patternProperties", "additionalProperties", "required"),
    *("minProperties", "maxProperties", "propertyNames"),
)
TYPED = frozenset(FOR_TYPES)
COMBINING = (*REFERENCES, "allOf", "anyOf", "oneOf", "not", "if", "dependentRequired", "dependentSchemas", "dependencies")
UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")
MEANINGFUL = frozenset([*TYPED, *COMBINING, *UNEVALUATED, *OF_DRAFT_3])  # a schema without them allows all values

# Patterns that may contain assertions or constructs that are not supported.
ASSERTING = re.compile(r"\(\?[^:]|\\[bBkpP1-9]|[*+?}][+]")
FEW_DIGITS = 6  # of a divisor
KEYWORDS_OF_SETS = frozenset([*UNEVALUATED, "uniqueItems"])
MAX_SPLIT = 256  # maximum number of sets of names that patterns distinguish
MAX_LEVELS = 20  # of required properties that are looked at without an evaluation
# Keywords that may exclude values in ways that only an evaluation finds; and others, for each type.
UNCERTAIN = frozenset([*COMBINING, *UNEVALUATED, "const"])
BOUNDED_STRINGS = frozenset(["minLength", "maxLength", "pattern", "format"])
BOUNDED_ARRAYS = frozenset(["minItems", "contains"])
BOUNDED_NUMBERS = frozenset(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"])
BOUNDED_OBJECTS = frozenset(["minProperties", "maxProperties", "patternProperties", "propertyNames"])

# The sets of schemas with no keyword with a meaning but ``type``.
RESTRICTING = frozenset([*TYPED, *COMBINING, *UNEVALUATED, *OF_DRAFT_3]) - {"type"}
WHOLE_TYPES = {
    "string": Values.of(strings=string_sets.ALL),
    "number": Values.of(numbers=number_sets.ALL),
    "integer": Values.of(numbers=(INTEGERS,)),
    "boolean": Values.of(frozenset(["true", "false"])),
    "null": Values.of(frozenset(["null"])),
}
for _each in WHOLE_TYPES.values():
    _each.has_values = True

Result = TypeVar("Result")


class Reader:
    """The sets of values of the schemas in a document.

    Args:
        document: the document.
        asserts_formats: whether ``format`` restricts strings.
        strict: whether objects have no properties that their schemas do not mention.
        recursion: the bounds of recursive schemas in a table; None: no bounds.
    """

    def __init__(
        self, document: Document, asserts_formats: bool, *, strict: bool = False, recursion: Recursion | None = None
    ) -> None:
        self._document, self._asserts_formats, self._strict, self._recursion = document, asserts_formats, strict, recursion
        self.algebra = Algebra()
        self.is_old, self._draft_3 = document.is_old, "draft-03" in document.draft
        self.evaluates_contained = not document.is_old and "2019-09" not in document.draft
        self._kept: dict[tuple[int, Scope, bool], Values] = {}
        self._targets: dict[int, tuple[Any, str]] = {}  # of dynamic anchors, by id
        self._plain: dict[int, bool] = {}  # whether each schema, by id, plainly allows a value

    def whole(self) -> Values:
        """The set of the document."""
        return self.values(self._document.schema, "#", self._entered(self._document.base(self._document.schema), Scope()))

    def check(self) -> bool:
        """Raise the errors of single keywords, wherever the document applies them; return whether others may arise in later evaluations."""
        suspects = [(schema, place) for schema, place in self._document.suspects if self._is_suspect(schema)]
        reached = self._document.reached() if suspects else set()
        found = [(schema, path_of(place)) for schema, place in suspects if id(schema) in reached]
        for schema, path in found:
            if not isinstance(schema, dict):
                self.values(schema, path, Scope())
            elif not self.is_old or "$ref" not in schema:
                self.typed(schema, path, Scope())
                if "pattern" in schema:
                    _at(joined(path, "pattern"), lambda pattern: pattern_of(pattern).language, schema["pattern"])
        return any(isinstance(schema, dict) and not KEYWORDS_OF_SETS.isdisjoint(schema) for schema, _ in found)

    def _is_suspect(self, schema: Any) -> bool:
        """Whether a schema that the document marks may be refused."""
        if not isinstance(schema, dict) or any(name in KINDS and not is_usual(name, value) for name, value in schema.items()):
            return True
        if self._draft_3 and any(name in schema for name in OF_DRAFT_3):
            return True
        if any(schema.get(name, True) is not True for name in UNEVALUATED) or len(str(schema.get("multipleOf", ""))) > FEW_DIGITS:
            return True
        if isinstance(schema.get("patternProperties"), dict) and 1 << len(schema["patternProperties"]) > MAX_SPLIT:
            return True
        if self._asserts_formats and schema.get("format") in formats.NOT_REGULAR:
            return True
        if "pattern" in schema and ASSERTING.search(schema["pattern"]):
            return True
        items = schema.get("items")
        is_finite = isinstance(items, dict) and (
            items.get("type") in ("boolean", "null")
            or ("enum" in items and not any(isinstance(each, list | dict) for each in items["enum"]))
            or ("const" in items and not isinstance(items["const"], list | dict))
        )
        return schema.get("uniqueItems") is True and not is_finite and schema.get("maxItems") not in (0, 1)

    def values(self, schema: Any, path: str, scope: Scope, *, in_place: bool = False) -> Values:
        """The set of a schema; `in_place`: the schema applies to the same value as the schema that contains it."""
        seen: set[int] = set()
        while True:
            if isinstance(schema, bool):
                return ANY if schema else NOTHING
            if not isinstance(schema, dict):
                raise VocabularyError(f"{path} is {quoted(schema)}; expected a schema, which is an object or a boolean")
            kind = schema.get("type")
            if isinstance(kind, str) and kind in WHOLE_TYPES and RESTRICTING.isdisjoint(schema):
                return WHOLE_TYPES[kind]
            scope = self.inside(schema, scope)
            if "$ref" not in schema or not (self._document.is_old or self._is_reference(schema)):
                break
            if id(schema) in seen:
                raise LocatedError(f"{path} is a reference to itself; expected a schema with keywords")
            seen.add(id(schema))
            schema, path, scope = self.referenced(schema, "$ref", path, scope)
        if MEANINGFUL.isdisjoint(schema):
            return ANY
        if self._recursion is not None:
            opened = self._recursion.entered(schema, path, scope.opened)
            if opened is None:
                return CUT
            scope = scope._replace(opened=opened)
        in_place &= self._strict
        key = id(schema), scope, in_place
        if key not in self._kept:
            found = self._kept[key] = self.algebra.lazy(path, lambda: self._evaluated(schema, path, scope, in_place=in_place))
            if self._has_values(schema):
                found.has_values = True
        return self._kept[key]

    def _has_values(self, schema: Any, levels: int = MAX_LEVELS) -> bool:
        """Whether a schema plainly allows a value, so that it need not be evaluated to know this."""
        if not isinstance(schema, dict):
            return schema is True
        if id(schema) not in self._plain:
            self._plain[id(schema)] = False  # while it is looked at
            self._plain[id(schema)] = levels > 0 and self._allows(schema, levels - 1)
        return self._plain[id(schema)]

    def _allows(self, schema: dict[str, Any], levels: int) -> bool:
        if not UNCERTAIN.isdisjoint(schema):
            return False
        names = schema.get("type", TYPES)
        names = (names,) if isinstance(names, str) else names
        if "enum" in schema:
            values = schema["enum"]
            return isinstance(values, list) and TYPED.isdisjoint(schema.keys() - {"enum", "type"}) and any(
                isinstance(value, str) for value in values
            ) and "string" in names
        if "boolean" in names or "null" in names:
            return True
        if "string" in names and BOUNDED_STRINGS.isdisjoint(schema):
            return True
        if "array" in names and BOUNDED_ARRAYS.isdisjoint(schema):
            return True
        if ("number" in names or "integer" in names) and BOUNDED_NUMBERS.isdisjoint(schema):
            return True
        if "object" not in names or not BOUNDED_OBJECTS.isdisjoint(schema):
            return False
        properties, required = schema.get("properties", {}), schema.get("required", ())
        if not isinstance(properties, dict) or not isinstance(required, list | tuple):
            return False
        others = schema.get("additionalProperties", True)
        return all(self._has_values(properties.get(name, others), levels) for name in required if isinstance(name, str))

    @staticmethod
    def _is_reference(schema: dict[str, Any]) -> bool:
        """Whether a schema has no keyword with a meaning besides ``$ref``."""
        return not any(name in TYPED or name in COMBINING[1:] or name in ("then", "else", *UNEVALUATED) for name in schema)

    # References.

    def referenced(self, schema: dict[str, Any], keyword: str, path: str, scope: Scope) -> tuple[Any, str, Scope]:
        """The schema of a reference, its path and its scope."""
        reference = expected_of(schema, keyword, str, path, "a string")
        found, place = self._document.found(reference, schema, path, keyword)
        base = self._document.base(found)
        if keyword != "$ref":
            name = found.get("$dynamicAnchor") if isinstance(found, dict) and keyword == "$dynamicRef" else ""
            if keyword == "$dynamicRef" and (not isinstance(name, str) or not reference.endswith(f"#{name}")):
                return found, place, self._entered(base, scope)  # as ``$ref``
            if name not in self._document.dynamic.get(base, {}):
                return found, place, self._entered(base, scope)
            for known, target in scope.anchors:
                if known == name:
                    found, place = self._targets[target]
                    break
        return found, place, self._entered(self._document.base(found), scope)

    def inside(self, schema: dict[str, Any], scope: Scope) -> Scope:
        """The scope inside a schema."""
        return self._entered(self._document.base(schema), scope) if "$id" in schema else scope

    def _entered(self, base: str, scope: Scope) -> Scope:
        """The scope inside a resource: outer resources determine the meaning of dynamic anchors first."""
        for name, target in self._document.dynamic.get(base, {}).items():
            if all(known != name for known, _ in scope.anchors):
                self._targets[id(target[0])] = target
                scope = scope._replace(anchors=(*scope.anchors, (name, id(target[0]))))
        return scope

    # Schemas.

    def _evaluated(self, schema: dict[str, Any], path: str, scope: Scope, *, in_place: bool) -> Values:
        if any(schema.get(name, True) is not True for name in UNEVALUATED) or (self._strict and not in_place):
            return Cases(self).closed(schema, path, scope, strict=self._strict and not in_place)
        found: list[Values] = []
        for keyword in self.order(schema):
            found += self.meaning(keyword, schema, path, scope)
        return self.algebra.intersection(*found)

    def order(self, schema: dict[str, Any]) -> list[str]:
        """The keywords that restrict values, in their order in the schema; the keywords of single types count as one, which is in the place
        of ``properties``, or else of the first of them.
        """
        names = [name for name in schema if name in TYPED or name in COMBINING]
        if "properties" in schema:
            return ["type" if name == "properties" else name for name in names if name == "properties" or name not in TYPED]
        return [*dict.fromkeys("type" if name in TYPED else name for name in names)]

    def meaning(self, keyword: str, schema: dict[str, Any], path: str, scope: Scope) -> list[Values]:
        """The sets of values that a keyword allows, if they are no keywords of other sets."""

        def at(*names: str | int) -> Values:
            below: Any = schema
            for name in names:
                below = below[name]
            return self.values(below, joined(path, *names), scope, in_place=True)

        algebra = self.algebra
        if keyword == "type":
            return [self.typed(schema, path, scope)]
        if keyword in REFERENCES:
            return [self.values(*self.referenced(schema, keyword, path, scope), in_place=True)]
        if keyword in ("allOf", "anyOf", "oneOf"):
            listed = expected_of(schema, keyword, list, path, "an array")
            each_of = [at(keyword, place) for place in range(len(listed))]
            if keyword == "allOf":
                return each_of
            return [algebra.union(*each_of)] if keyword == "anyOf" else [algebra.union(*self.each_alone(each_of))]
        if keyword == "not":
            return [algebra.complement(at("not"))]
        if keyword == "if":
            yes, no = (at(name) if name in schema else ANY for name in ("then", "else"))
            if yes is ANY and no is ANY:
                return []
            condition = at("if")
            return [algebra.union(algebra.intersection(condition, yes), algebra.intersection(algebra.complement(condition), no))]
        return [algebra.union(self.absent(name), values) for name, values in self.dependencies(keyword, schema, path, scope)]

    def each_alone(self, sets: list[Values]) -> list[Values]:
        """For each set, the values that are in none of the others."""
        if len(sets) < 2:
            return sets
        algebra = self.algebra
        others = [algebra.union(*(each for other, each in enumerate(sets) if other != place)) for place in range(len(sets))]
        return [algebra.intersection(values, algebra.complement(other)) for values, other in zip(sets, others, strict=True)]

    # The values of one type.

    def typed(self, schema: dict[str, Any], path: str, scope: Scope) -> Values:
        """The set from the keywords of single types, from ``enum`` and from ``const``."""
        for name in OF_DRAFT_3 if self._draft_3 else ():
            if name in schema:
                raise LocatedError(f"{joined(path, name)} is not supported; write the schema for a later draft")
        names = schema.get("type", TYPES)
        names = [names] if isinstance(names, str) else names
        if not isinstance(names, list | tuple):
            raise VocabularyError(f"{joined(path, 'type')} is {quoted(names)}; expected the name of a type")
        for name in names:
            if name not in TYPES:
                raise VocabularyError(f"{joined(path, 'type')}: {not_one_of('type', name, TYPES)}")
        literals = frozenset(({"null"} if "null" in names else set()) | ({"true", "false"} if "boolean" in names else set()))
        numbers: tuple[Numbers, ...] = ()
        if "number" in names or "integer" in names:
            numbers = self._numbers(schema, number_sets.ALL if "number" in names else (INTEGERS,), path)
        strings = self._strings(schema, path) if "string" in names else ()
        found_arrays = self._arrays(schema, path, scope) if "array" in names else ()
        found_objects = self._objects(schema, path, scope) if "object" in names else ()
        found = Values.of(literals, numbers, strings, found_arrays, found_objects)
        if (
            literals == LITERALS
            and numbers is number_sets.ALL
            and strings is string_sets.ALL
            and found_arrays is ANY.arrays
            and found_objects is ANY.objects
        ):
            found = ANY
        if "enum" in schema:
            listed = self.listed(expected_of(schema, "enum", list, path, "an array"), joined(path, "enum"))
            found = self.algebra.intersection(found, listed)
        if "const" in schema:
            found = self.algebra.intersection(found, self.listed([schema["const"]], joined(path, "const")))
        return found

    def _numbers(self, schema: dict[str, Any], numbers: tuple[Numbers, ...], path: str) -> tuple[Numbers, ...]:
        for keyword, side in BOUNDS.items():
            if keyword not in schema or isinstance(schema[keyword], bool):
                continue
            bound = number_of(schema, keyword, path)
            is_open = keyword.startswith("exclusive") or schema.get(f"exclusive{keyword.capitalize()}") is True  # of draft 4
            numbers = number_sets.both(
                numbers, (Numbers(least=bound, above=is_open) if side == "least" else Numbers(most=bound, below=is_open),)
            )
        if "multipleOf" in schema:
            of = number_of(schema, "multipleOf", path)
            if of <= 0:
                raise VocabularyError(f"{joined(path, 'multipleOf')} is {of}; expected a positive number")
            if int("".join(map(str, of.as_tuple().digits))) > MAX_REMAINDERS:
                what = f"have more than {MAX_REMAINDERS:,} remainders; choose a number with fewer digits"
                raise LocatedError(f"{joined(path, 'multipleOf')}: multiples of {of} {what}")
            numbers = number_sets.both(numbers, (Numbers(divisors=frozenset([of])),))
        return numbers

    def _strings(self, schema: dict[str, Any], path: str) -> tuple[Strings, ...]:
        least, most = count_of(schema, "minLength", path) or 0, count_of(schema, "maxLength", path)
        patterns = list[Pattern]()
        if "pattern" in schema:
            patterns.append(_pattern(expected_of(schema, "pattern", str, path, "a string"), joined(path, "pattern")))
        name = schema.get("format")
        if self._asserts_formats and isinstance(name, str):
            if name in formats.NOT_REGULAR:
                raise LocatedError(f"{joined(path, 'format')} is {quoted(name)}, which is not supported; remove it")
            if name in formats.PATTERNS:
                patterns.append(pattern_of(name, is_format=True))
                longest = formats.LONGEST.get(name) if self._recursion is None else None  # counts take too many states of a table
                most = longest if most is None else most if longest is None else min(most, longest)
        if not least and most is None and not patterns:
            return string_sets.ALL
        return () if most is not None and least > most else (Strings(patterns=tuple(patterns), least=least, most=most),)

    def _arrays(self, schema: dict[str, Any], path: str, scope: Scope) -> tuple[Arrays, ...]:
        items, rest = schema.get("items", True), "items"
        first, prefix = schema.get("prefixItems", []), "prefixItems"
        if isinstance(items, list):  # as in drafts before 2020-12
            first, items, rest, prefix = items, schema.get("additionalItems", True), "additionalItems", "items"
        if not isinstance(first, list):
            raise VocabularyError(f"{joined(path, prefix)} is {quoted(first)}; expected an array")
        least, most = count_of(schema, "minItems", path) or 0, count_of(schema, "maxItems", path)
        some: tuple[Contained, ...] = ()
        if "contains" in schema:
            few, many = count_of(schema, "minContains", path), count_of(schema, "maxContains", path)
            few = 1 if few is None else few
            if few or many is not None:
                some = (Contained(0, self.values(schema["contains"], joined(path, "contains"), scope), few, many),)
        sets = [self.values(each, joined(path, prefix, place), scope) for place, each in enumerate(first)]
        others = self.values(items, joined(path, rest), scope)
        differ = joined(path, "uniqueItems") if schema.get("uniqueItems") is True else ""
        if not sets and others is ANY and not least and most is None and not some and not differ:
            return ANY.arrays
        found = arrays(sets, others, least, most, some, differ)
        return () if found is None else (found,)

    def _objects(self, schema: dict[str, Any], path: str, scope: Scope) -> tuple[Objects, ...]:
        listed = expected_of(schema, "properties", dict, path, "an object", {})
        patterns = expected_of(schema, "patternProperties", dict, path, "an object", {})
        required = schema.get("required", [])
        # A boolean in draft 3.
        needed = dict.fromkeys(each for each in required if isinstance(each, str)) if isinstance(required, list) else {}
        least, most = count_of(schema, "minProperties", path) or 0, count_of(schema, "maxProperties", path)
        free = self.values(schema.get("additionalProperties", True), joined(path, "additionalProperties"), scope)
        names = string_sets.ALL
        if "propertyNames" in schema:
            names = self.values(schema["propertyNames"], joined(path, "propertyNames"), scope._replace(opened=())).strings
        if not listed and not patterns and not needed and not least and most is None and free is ANY and names is string_sets.ALL:
            return ANY.objects
        matching = {
            _pattern(pattern, joined(path, "patternProperties", pattern)): self.values(
                each, joined(path, "patternProperties", pattern), scope
            )
            for pattern, each in patterns.items()
        }
        named: dict[str, Property] = {}
        for name in dict.fromkeys((*listed, *needed)):
            found = [self.values(listed[name], joined(path, "properties", name), scope)] if name in listed else []
            found += [values for pattern, values in matching.items() if pattern.matches(name)]
            values = found[0] if len(found) == 1 else self.algebra.intersection(*found) if found else free
            named[name] = Property(values if string_sets.has(names, name) else NOTHING, name in needed, name in listed)
        others = self._others(matching, free, path)
        if names is not string_sets.ALL:
            others = [Others(string_sets.both(each.names, names), each.values) for each in others]
        allowed = tuple(each for each in others if each.names and each.values is not NOTHING)
        term = objects(named, allowed, least, most)
        return () if term is None else (term,)

    def _others(self, matching: Mapping[Pattern, Values], free: Values, path: str) -> list[Others]:
        """Disjoint sets of names, split by patterns, and the sets of the values of these properties."""
        found = [Others(string_sets.ALL, free)]
        for number, (pattern, values) in enumerate(matching.items()):
            inside, outside = (Strings(patterns=(pattern,)),), (Strings(excluded=(pattern,)),)
            split = []
            for place, each in enumerate(found):
                values_inside = values if place == 0 else self.algebra.intersection(each.values, values)
                split.append(Others(string_sets.both(each.names, outside), each.values))
                split.append(Others(string_sets.both(each.names, inside), values_inside))
            found = split if not number else [split[0], *(each for each in split[1:] if not string_sets.is_empty(each.names))]
            if len(found) > MAX_SPLIT:
                where = joined(path, "patternProperties")
                raise LocatedError(f"{where} splits the names into more than {MAX_SPLIT} sets; use fewer patterns")
        return found

    # Constants.

    def listed(self, constants: list[Any], path: str) -> Values:
        """The set of the given constants."""
        strings = [each for each in constants if isinstance(each, str)]
        numbers = [decimal_of(each, path) for each in constants if isinstance(each, int | float | Decimal) and not isinstance(each, bool)]
        literals = [{None: "null", True: "true", False: "false"}[each] for each in constants if each is None or isinstance(each, bool)]
        below = [self._constant(each, path) for each in constants if isinstance(each, list | dict)]
        found_arrays = tuple(term for each in below for term in each.arrays)
        found_objects = tuple(term for each in below for term in each.objects)
        return Values.of(frozenset(literals), number_sets.listed(numbers), string_sets.listed(strings), found_arrays, found_objects)

    def _constant(self, value: Any, path: str) -> Values:
        if isinstance(value, list):
            items = tuple(self._constant(each, path) for each in value)
            return Values.of(arrays=(Arrays(items, NOTHING, len(items), len(items)),))
        if isinstance(value, dict):
            named = {name: Property(self._constant(each, path), is_required=True, is_listed=True) for name, each in value.items()}
            return Values.of(objects=(Objects(named, (), len(named), len(named)),))
        return self.listed([value], path)

    # Dependencies.

    def dependencies(self, keyword: str, schema: dict[str, Any], path: str, scope: Scope) -> Iterator[tuple[str, Values]]:
        """Names of properties, and for each name the set of objects that are allowed if they have this property."""
        for name, needed in expected_of(schema, keyword, dict, path, "an object").items():
            place = joined(path, keyword, name)
            if isinstance(needed, list):
                term = objects({each: Property(ANY, is_required=True) for each in needed if isinstance(each, str)}, ANY.objects[0].others)
                yield name, Values.of(LITERALS, number_sets.ALL, string_sets.ALL, ANY.arrays, (term,) if term is not None else ())
            else:
                yield name, self.values(needed, place, scope, in_place=True)

    def absent(self, name: str) -> Values:
        """The values that have no property of a name."""
        term = Objects({name: Property(NOTHING)}, ANY.objects[0].others)
        return Values.of(LITERALS, number_sets.ALL, string_sets.ALL, ANY.arrays, (term,))


def _pattern(pattern: str, path: str) -> Pattern:
    return _at(path, pattern_of, pattern)


def _at(path: str, function: Callable[[str], Result], pattern: str) -> Result:
    """The result of a function; an error's message gets the path as a prefix."""
    try:
        return function(pattern)
    except UnsupportedError as error:
        raise LocatedError(f"{path}: {error}") from None
