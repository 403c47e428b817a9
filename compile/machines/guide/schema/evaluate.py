"""From a schema to the set of its values, keyword by keyword."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import cache, reduce
from math import comb
from typing import Any

import numpy as np

from fst.compile.machines.guide.languages import Language, intersection
from fst.compile.machines.guide.regex import whole
from fst.compile.machines.guide.schema import formats
from fst.compile.machines.guide.schema.document import Document, LocatedError, joined
from fst.compile.machines.guide.schema.keyword_values import decimal_of, expected_of, number_of
from fst.compile.machines.guide.schema.numbers import all_numbers, compared, integers, multiples
from fst.compile.machines.guide.schema.patterns import anything, matching, nothing, of_length, of_strings
from fst.compile.machines.guide.schema.values import (
    ANY,
    LITERALS,
    NOTHING,
    Algebra,
    Arrays,
    Objects,
    Others,
    Property,
    Values,
    arrays,
    names_of,
    objects,
)
from fst.errors import UnsupportedError, VocabularyError, not_one_of, quoted

TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
ORDERS = {"minimum": (0, 1), "exclusiveMinimum": (1,), "maximum": (-1, 0), "exclusiveMaximum": (-1,)}
NOT_COVERED = ("$dynamicRef", "$recursiveRef", "maxContains", "unevaluatedItems", "unevaluatedProperties")
MAX_SETS = 1 << 12  # maximum number of sets of items; each becomes a state


def distinct(term: Arrays) -> Arrays | None:
    """The arrays of a term whose items are all different; None if there are no such arrays."""
    places = len(term.first) + 1 if term.most is None else term.most
    values = {key: each for place in range(min(places, len(term.first) + 1)) for key, each in _single(term.item(place)).items()}
    most = len(values) if term.most is None else min(term.most, len(values))
    if sum(comb(len(values), count) for count in range(most + 1)) > MAX_SETS:
        raise UnsupportedError(f"for more than {MAX_SETS:,} sets of items; use a smaller maxItems, or remove it")
    return arrays(term.first, term.rest, term.least, most, term.some, tuple(values.values()))


def _single(values: Values) -> dict[str | Decimal, Values]:
    """The set of each single value of a set, by key; a key is a literal, a decimal number, or a string of JSON after a quotation mark."""
    strings, numbers = _strings_of(values.strings), _strings_of(intersection(values.numbers, _shortest()))
    if strings is None or numbers is None or values.arrays or values.objects:
        raise UnsupportedError("for items other than a few strings, numbers and literals; list them by enum, or remove it")
    found: dict[str | Decimal, Values] = {literal: replace(NOTHING, literals=frozenset([literal])) for literal in values.literals}
    found |= {Decimal(number.decode()): replace(NOTHING, numbers=compared(Decimal(number.decode()), (0,))) for number in numbers}
    return found | {f'"{text.decode()}': replace(NOTHING, strings=of_strings([text.decode()])) for text in strings}


@cache
def _shortest() -> Language:
    """For each number, only its shortest decimal."""
    return whole(r"0|-?[1-9][0-9]*|-?(0|[1-9][0-9]*)\.[0-9]*[1-9]")


def _strings_of(language: Language) -> list[bytes] | None:
    """The strings of a language; None if there are more than `MAX_SETS`."""
    found = list[bytes]()
    waiting = [] if language.is_empty else [(0, b"")]  # prefixes of strings; none is a prefix of another
    while waiting:
        state, text = waiting.pop()
        if len(text) >= len(language.is_final) or len(found) + len(waiting) > MAX_SETS:  # a string of this length visits a state twice
            return None
        if language.is_final[state]:
            found.append(text)
        after = language.targets[state, language.classes]
        waiting += [(int(after[byte]), text + bytes([byte])) for byte in np.flatnonzero(after >= 0).tolist()]
    return found



class Evaluator:
    """The sets of values of the schemas in a document. A recursive schema may be entered inside itself up to `depth` times; None: it is
    refused.
    """

    def __init__(self, document: Document, depth: int | None, asserts_formats: bool) -> None:
        self._document, self._depth, self._asserts_formats = document, depth, asserts_formats
        self.algebra = Algebra()
        self._active: list[int] = []
        self._level = 0
        self._kept: dict[tuple[int, int], Values] = {}
        self.paths: dict[int, str] = {}  # the path of the schema of each set, by the set's id

    def values(self, schema: Any, path: str) -> Values:
        """The set of a schema."""
        if isinstance(schema, bool):
            return ANY if schema else NOTHING
        if not isinstance(schema, dict):
            raise VocabularyError(f"{path} is {quoted(schema)}; expected a schema, which is an object or a boolean")
        again = self._active.count(id(schema))
        if again and self._depth is None:
            raise LocatedError(f"{path} is recursive; pass a depth, or write it out")
        if again > (self._depth or 0):
            return replace(NOTHING, is_cut=True)
        self._level += again > 0
        key = id(schema), self._level
        if key not in self._kept:
            self._active.append(id(schema))
            self._kept[key] = self._evaluated(schema, path)
            self._active.pop()
            self.paths.setdefault(id(self._kept[key]), path)
        self._level -= again > 0
        return self._kept[key]

    def _evaluated(self, schema: dict[str, Any], path: str) -> Values:
        for keyword in NOT_COVERED:
            if keyword in schema and schema[keyword] is not True:
                raise LocatedError(f"{joined(path, keyword)} is not supported; remove it")
        found = ANY
        if "$ref" in schema:
            reference = expected_of(schema, "$ref", str, path, "a string")
            found = self.values(*self._document.found(reference, schema, path))
            if self._document.is_old:
                return found
        try:
            return self._combined(self._both(found, self._typed(schema, path)), schema, path)
        except LocatedError:
            raise
        except UnsupportedError as error:
            raise LocatedError(f"{path}: {error}") from None

    def _both(self, first: Values, second: Values) -> Values:
        return self.algebra.intersection(first, second)

    # The values of one type.

    def _typed(self, schema: dict[str, Any], path: str) -> Values:
        """The set from the keywords of single types, from ``enum`` and from ``const``."""
        names = schema.get("type", TYPES)
        names = [names] if isinstance(names, str) else names
        for name in names:
            if name not in TYPES:
                raise VocabularyError(f"{joined(path, 'type')}: {not_one_of('type', name, TYPES)}")
        literals = frozenset(({"null"} if "null" in names else set()) | ({"true", "false"} if "boolean" in names else set()))
        numbers = nothing()
        if "number" in names or "integer" in names:
            numbers = self._numbers(schema, all_numbers() if "number" in names else integers(), path)
        strings = self._strings(schema, path) if "string" in names else nothing()
        found_arrays = self._arrays(schema, path) if "array" in names else ()
        found_objects = self._objects(schema, path) if "object" in names else ()
        parts = (
            literals == LITERALS,
            numbers is ANY.numbers,
            strings is ANY.strings,
            found_arrays is ANY.arrays,
            found_objects is ANY.objects,
        )
        found = ANY if all(parts) else Values(literals, numbers, strings, found_arrays, found_objects, _is_cut(found_arrays, found_objects))
        if "enum" in schema:
            listed = expected_of(schema, "enum", list, path, "an array")
            found = self._both(found, self._listed(listed))
        if "const" in schema:
            found = self._both(found, self._listed([schema["const"]]))
        return found

    def _numbers(self, schema: dict[str, Any], numbers: Language, path: str) -> Language:
        for keyword, orders in ORDERS.items():
            bound = schema.get(keyword)
            if bound is None or isinstance(bound, bool):
                continue
            if schema.get(f"exclusive{keyword.capitalize()}") is True:  # of draft 4
                orders = orders[1:] if keyword == "minimum" else orders[:1]
            numbers = self.algebra.both(numbers, compared(number_of(schema, keyword, path), orders))
        if "multipleOf" in schema:
            of = number_of(schema, "multipleOf", path)
            if of <= 0:
                raise VocabularyError(f"{joined(path, 'multipleOf')} is {of}; expected a positive number")
            numbers = self.algebra.both(numbers, _at(multiples, joined(path, "multipleOf"), of))
        return numbers

    def _strings(self, schema: dict[str, Any], path: str) -> Language:
        strings = anything()
        least, most = _count(schema, "minLength", path) or 0, _count(schema, "maxLength", path)
        if least or most is not None:
            strings = (
                _at(of_length, joined(path, "minLength" if most is None else "maxLength"), least, most)
                if most is None or least <= most
                else nothing()
            )
        if "pattern" in schema:
            pattern = expected_of(schema, "pattern", str, path, "a string")
            strings = self.algebra.both(strings, _at(matching, joined(path, "pattern"), pattern))
        name = schema.get("format")
        if self._asserts_formats and name in formats.NOT_REGULAR:
            raise LocatedError(f"{joined(path, 'format')} is {quoted(name)}, which is not supported; remove it")
        if self._asserts_formats and name in formats.PATTERNS:
            strings = self.algebra.both(strings, formats.of_format(str(name)))
        return strings

    def _arrays(self, schema: dict[str, Any], path: str) -> tuple[Arrays, ...]:
        items, rest = schema.get("items", True), "items"
        first = schema.get("prefixItems", [])
        if isinstance(items, list):  # as in drafts before 2020-12
            first, items, rest, prefix = items, schema.get("additionalItems", True), "additionalItems", "items"
        else:
            prefix = "prefixItems"
        least, most = _count(schema, "minItems", path) or 0, _count(schema, "maxItems", path)
        some: tuple[tuple[int, Values], ...] = ()
        if "contains" in schema:
            needed = _count(schema, "minContains", path)
            if needed is not None and needed > 1:
                raise LocatedError(f"{joined(path, 'minContains')} is {needed}; expected at most 1")
            if needed != 0:
                some = ((0, self.values(schema["contains"], joined(path, "contains"))),)
        sets = [self.values(each, joined(path, prefix, place)) for place, each in enumerate(first)]
        others = self.values(items, joined(path, rest))
        differ = schema.get("uniqueItems") is True
        if not sets and others is ANY and not least and most is None and not some and not differ:
            return ANY.arrays
        found = arrays(sets, others, least, most, some)
        if differ and found is not None and (found.most is None or found.most > 1):
            try:
                found = distinct(found)
            except UnsupportedError as error:
                raise LocatedError(f"{joined(path, 'uniqueItems')} is not supported {error}") from None
        return () if found is None else (found,)

    def _objects(self, schema: dict[str, Any], path: str) -> tuple[Objects, ...]:
        listed = expected_of(schema, "properties", dict, path, "an object", {})
        patterns = expected_of(schema, "patternProperties", dict, path, "an object", {})
        required = schema.get("required", [])
        required = required if isinstance(required, list) else []  # ``required`` is a boolean in draft 3
        least, most = _count(schema, "minProperties", path) or 0, _count(schema, "maxProperties", path)
        free = self.values(schema.get("additionalProperties", True), joined(path, "additionalProperties"))
        names = anything()
        if "propertyNames" in schema:
            names = self.values(schema["propertyNames"], joined(path, "propertyNames")).strings
        if not listed and not patterns and not required and not least and most is None and free is ANY and names is ANY.strings:
            return ANY.objects
        others = self._others(patterns, free, path)
        everything = Objects({}, others)
        named = dict.fromkeys([*listed, *(name for name in required if name not in listed)], Property(NOTHING))
        for name in named:
            if name in listed:
                values = self.values(listed[name], joined(path, "properties", name))
                for pattern, each in patterns.items():
                    if name.encode() in _at(matching, joined(path, "patternProperties", pattern), pattern):
                        values = self._both(values, self.values(each, joined(path, "patternProperties", pattern)))
            else:
                values = everything.values_of(name)
            named[name] = Property(values if name.encode() in names else NOTHING, name in required)
        known = names_of(named)
        inside = [Others(self.algebra.both(each.names, names), each.values) for each in others if not each.values.is_empty]
        allowed = [Others(self.algebra.without(each.names, known), each.values) for each in inside]
        found = objects(named, tuple(each for each in allowed if not each.names.is_empty), least, most)
        return () if found is None else (found,)

    def _others(self, patterns: Mapping[str, Any], free: Values, path: str) -> tuple[Others, ...]:
        """Disjoint languages of names, split by patterns, and the sets of the values of these properties."""
        found = [Others(anything(), ANY)]
        matched = nothing()
        for pattern, schema in patterns.items():
            place = joined(path, "patternProperties", pattern)
            language, values = _at(matching, place, pattern), self.values(schema, place)
            matched = self.algebra.either(matched, language)
            inside = [Others(self.algebra.both(each.names, language), self._both(each.values, values)) for each in found]
            outside = [Others(self.algebra.without(each.names, language), each.values) for each in found]
            found = [each for each in (*inside, *outside) if not each.names.is_empty]
        inside = [Others(self.algebra.both(each.names, matched), each.values) for each in found]
        rest = Others(self.algebra.without(anything(), matched), free)
        return tuple(each for each in (*inside, rest) if not each.names.is_empty)

    # Constants.

    def _listed(self, constants: list[Any]) -> Values:
        """The set of the given constants."""
        strings = [each for each in constants if isinstance(each, str)]
        others = [self._constant(each) for each in constants if not isinstance(each, str)]
        found = replace(NOTHING, strings=of_strings(strings)) if strings else NOTHING
        return reduce(self.algebra.union, others, found)

    def _constant(self, value: Any) -> Values:
        if value is None or isinstance(value, bool):
            return replace(NOTHING, literals=frozenset([{None: "null", True: "true", False: "false"}[value]]))
        if isinstance(value, str):
            return replace(NOTHING, strings=of_strings([value]))
        if isinstance(value, list):
            items = [self._constant(each) for each in value]
            return replace(NOTHING, arrays=(Arrays(tuple(items), NOTHING, len(items), len(items)),))
        if isinstance(value, dict):
            named = {name: Property(self._constant(each), True) for name, each in value.items()}
            return replace(NOTHING, objects=(Objects(named, (), len(named), len(named)),))
        return replace(NOTHING, numbers=compared(decimal_of(value, "a constant"), (0,)))

    # Combinations of schemas.

    def _combined(self, found: Values, schema: dict[str, Any], path: str) -> Values:
        """The values of a set that the schemas below ``allOf``, ``anyOf``, ``oneOf``, ``not`` and ``if`` allow."""
        for place, each in enumerate(schema.get("allOf", [])):
            found = self._both(found, self.values(each, joined(path, "allOf", place)))
        if "anyOf" in schema:
            each_of = [self.values(each, joined(path, "anyOf", place)) for place, each in enumerate(schema["anyOf"])]
            found = self._both(found, reduce(self.algebra.union, each_of, NOTHING))
        if "oneOf" in schema:
            found = self._one_of(found, [self.values(each, joined(path, "oneOf", place)) for place, each in enumerate(schema["oneOf"])])
        if "not" in schema:
            found = self._both(found, self.algebra.complement(self.values(schema["not"], joined(path, "not"))))
        if "if" in schema:
            found = self._conditional(found, schema, path)
        for name, needed in self._dependencies(schema, path):
            absent = replace(ANY, objects=(Objects({name: Property(NOTHING)}, self._except(name)),))
            found = self._both(found, self.algebra.union(absent, needed))
        return found

    def _one_of(self, found: Values, each_of: list[Values]) -> Values:
        """The values of a set that are in exactly one of several other sets."""
        inside = [self._both(found, each) for each in each_of]
        result = NOTHING
        for place, values in enumerate(inside):
            for other, each in enumerate(inside):
                if other != place and not self._both(values, each).is_empty:
                    values = self._both(values, self.algebra.complement(each_of[other]))
            result = self.algebra.union(result, values)
        return result

    def _conditional(self, found: Values, schema: dict[str, Any], path: str) -> Values:
        condition = self.values(schema["if"], joined(path, "if"))
        yes, no = (self.values(schema.get(name, True), joined(path, name)) for name in ("then", "else"))
        if yes is ANY and no is ANY:
            return found
        chosen = self._both(self._both(found, condition), yes)
        return self.algebra.union(chosen, self._both(self._both(found, self.algebra.complement(condition)), no))

    def _dependencies(self, schema: dict[str, Any], path: str) -> list[tuple[str, Values]]:
        """Names of properties, and for each name the set of objects that are allowed if they have this property."""
        found = []
        for keyword in ("dependentRequired", "dependentSchemas", "dependencies"):
            for name, needed in schema.get(keyword, {}).items():
                if isinstance(needed, list):
                    values = self._evaluated({"required": needed}, joined(path, keyword, name))
                else:
                    values = self.values(needed, joined(path, keyword, name))
                found.append((name, values))
        return found

    def _except(self, name: str) -> tuple[Others, ...]:
        return (Others(self.algebra.without(anything(), names_of([name])), ANY),)


def _at(function: Callable[..., Language], path: str, *arguments: Any) -> Language:
    """The language that a function returns; an error's message gets the path as a prefix."""
    try:
        return function(*arguments)
    except UnsupportedError as error:
        raise LocatedError(f"{path}: {error}") from None


def _is_cut(found_arrays: tuple[Arrays, ...], found_objects: tuple[Objects, ...]) -> bool:
    """Whether a set in some terms is cut, see `Values`."""
    below = [values for term in found_arrays for values in (*term.first, term.rest, *(each for _, each in term.some))]
    below += [each.values for term in found_objects for each in term.named.values()]
    below += [each.values for term in found_objects for each in term.others]
    return any(values.is_cut for values in below)


def _count(schema: dict[str, Any], keyword: str, path: str) -> int | None:
    if keyword not in schema:
        return None
    value = schema[keyword]
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0 or value != int(value):
        raise VocabularyError(f"{joined(path, keyword)} is {quoted(value)}; expected a number of 0 or more, without a fraction")
    return int(value)
