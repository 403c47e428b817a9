"""Schemas in a document, and references between them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from fst.compile.algebra.connect import components
from fst.errors import UnsupportedError, VocabularyError, quoted

# Keywords whose value is a schema, a list of schemas, or an object of schemas.
ONE = frozenset(
    [
        *("additionalProperties", "additionalItems", "contains", "contentSchema", "else", "if", "items", "not", "propertyNames", "then"),
        *("unevaluatedItems", "unevaluatedProperties"),
    ]
)
LISTS = frozenset(["allOf", "anyOf", "oneOf", "prefixItems", "items"])
MAPS = frozenset(["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"])
TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
DEFINITIONS = frozenset(["$defs", "definitions"])
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
SCHEMAS = (dict, bool, list)  # the types of the value of a keyword in `ONE` or `MAPS`: a list is one of names or of schemas
NUMBERS = frozenset([int, float, Decimal, bool])  # a boolean in draft 4
COUNTS = frozenset([int, float, Decimal])
KINDS = {
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), NUMBERS),
    **dict.fromkeys(("multipleOf", "minLength", "maxLength", "minItems", "maxItems", "minContains", "maxContains"), COUNTS),
    **dict.fromkeys(("minProperties", "maxProperties"), COUNTS),
    **dict.fromkeys(("pattern", "$ref"), frozenset([str])),
    **dict.fromkeys(("enum", "allOf", "anyOf", "oneOf", "prefixItems"), frozenset([list])),
    **dict.fromkeys(("properties", "patternProperties", "dependentSchemas", "dependentRequired"), frozenset([dict])),
    "type": frozenset([str, list]),
}  # the types of the values of keywords
# Keywords that may be refused, or take long to evaluate: whether they do is found before the first text.
SUSPECT = frozenset(["uniqueItems", "multipleOf", "format", "pattern", "patternProperties", "unevaluatedItems", "unevaluatedProperties"])
OF_DRAFT_3 = ("extends", "disallow", "divisibleBy")
NAMING = frozenset(["$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor"])  # keywords that give a schema a name
OLD_DRAFTS = ("draft-03", "draft-04", "draft-05", "draft-06", "draft-07")
ANNOTATING_DRAFTS = ("2019-09", "2020-12")  # in these drafts, ``format`` is an annotation


class LocatedError(UnsupportedError):
    """An error whose message contains the path of a schema."""


def joined(path: str, *names: str | int) -> str:
    """The path of a schema below another schema, as a JSON pointer.

    Examples:
        >>> joined("#", "properties", "a/b")
        '#/properties/a~1b'
    """
    for name in names:
        text = str(name)
        path += "/" + (text.replace("~", "~0").replace("/", "~1") if "~" in text or "/" in text else text)
    return path


Place = tuple["Place | None", tuple[str | int, ...]]  # the place of the schema around a schema, and the names from there on


def path_of(place: Place | None) -> str:
    """The path of a schema."""
    names: list[str | int] = []
    while place is not None:
        names[:0] = place[1]
        place = place[0]
    return joined("#", *names)


def is_usual(name: str, value: Any) -> bool:
    """Whether the value of a keyword of `KINDS` has a type that it may have; a name of a type may be wrong."""
    return type(value) in KINDS[name] and (name != "type" or type(value) is list or value in TYPES)


class Document:
    """A schema with the schemas below it, by URI and by path."""

    def __init__(self, schema: Any) -> None:
        self.schema = schema
        self._by_uri: dict[str, tuple[Any, Place | None]] = {"": (schema, None)}
        self._root = ""
        self._found: dict[tuple[str, str], tuple[Any, str]] = {}  # for base URIs and references: the schema and its path
        self._bases: dict[int, str] = {}  # the base URI of each schema, by id, unless it is that of the document
        self.dynamic: dict[str, dict[str, tuple[Any, str]]] = {}  # for each base URI, the schemas and paths of its dynamic anchors
        draft = schema.get("$schema") if isinstance(schema, dict) else None
        self.draft = draft = draft if isinstance(draft, str) else ""
        self.is_old = any(name in draft for name in OLD_DRAFTS)
        self.annotates_formats = any(name in draft for name in ANNOTATING_DRAFTS)
        self.suspects: list[tuple[Any, Place | None]] = []  # schemas that may be malformed or refused
        self._walk(schema)

    def reached(self) -> set[int]:
        """The ids of the schemas that the document applies to a value, directly or by references."""
        return {*self._applied()}

    def recursive(self) -> dict[int, frozenset[int]]:
        """For each schema, by id, that the document applies inside itself, the schemas that it applies and that apply it."""
        applied = self._applied()
        numbers = {schema: number for number, schema in enumerate(applied)}
        following = [[numbers[each] for each in every] for every in applied.values()]
        schemas = [*applied]
        groups = [group for group in components(following) if len(group) > 1 or group[0] in following[group[0]]]
        return {schemas[number]: frozenset(schemas[each] for each in group) for group in groups for number in group}

    def _applied(self) -> dict[int, list[int]]:
        """For each schema, by id, that the document applies to a value, the schemas that it applies."""
        found: dict[int, list[int]] = {}
        waiting = [self.schema]
        while waiting:
            schema = waiting.pop()
            if id(schema) not in found:
                below = [*self._below(schema)] if type(schema) is dict else []
                found[id(schema)] = [*map(id, below)]
                waiting += below
        return found

    def _below(self, schema: dict[str, Any]) -> Iterator[Any]:
        """The schemas that a schema applies to a value or to its items and properties."""
        for name, value in schema.items():
            if name in REFERENCES and isinstance(value, str):
                with suppress(UnsupportedError, VocabularyError):
                    yield self.found(value, schema, "#", name)[0]
                if name != "$ref":
                    yield from (target for anchors in self.dynamic.values() for target, _ in anchors.values())
            elif type(value) is list and name in LISTS:
                yield from value
            elif type(value) is dict and name in MAPS and name not in DEFINITIONS:
                yield from value.values()
            elif name in ONE:
                yield value

    def _walk(self, schema: Any) -> None:
        """Find the names of all schemas in the document."""
        seen: set[int] = set()
        is_draft_3 = "draft-03" in self.draft
        waiting: list[tuple[Any, Place | None, str]] = [(schema, None, "")]
        while waiting:
            each, place, base = waiting.pop()
            if type(each) is not dict or id(each) in seen:
                if type(each) not in SCHEMAS:
                    self.suspects.append((each, place))
                continue
            seen.add(id(each))
            if not NAMING.isdisjoint(each):
                base = self._named(each, place, base)
                if place is None:
                    self._root = base
            if base != self._root:
                self._bases[id(each)] = base
            if not SUSPECT.isdisjoint(each) or (is_draft_3 and any(name in each for name in OF_DRAFT_3)):
                self.suspects.append((each, place))
            for name, value in each.items():
                kind = type(value)
                if kind is dict:
                    if name in ONE:
                        waiting.append((value, (place, (name,)), base))
                    elif name in MAPS:
                        waiting += [(below, (place, (name, key)), base) for key, below in value.items()]
                elif kind is list and name in LISTS:
                    waiting += [(below, (place, (name, number)), base) for number, below in enumerate(value)]
                if name in KINDS and not is_usual(name, value):
                    self.suspects.append((each, place))

    def _named(self, schema: dict[str, Any], place: Place | None, base: str) -> str:
        """Store the names by which a schema can be referenced; return its base URI."""
        own = schema.get("$id", schema.get("id") if self.is_old else None)
        if isinstance(own, str) and not (self.is_old and "$ref" in schema):
            uri, fragment = urldefrag(resolved(base, own))
            if fragment:  # the name of a schema in drafts up to 7
                self._by_uri.setdefault(f"{uri}#{fragment}", (schema, place))
            else:
                base = uri
                self._by_uri.setdefault(base, (schema, place))
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(schema.get(keyword), str):
                self._by_uri.setdefault(f"{base}#{schema[keyword]}", (schema, place))
        if isinstance(schema.get("$dynamicAnchor"), str):
            self.dynamic.setdefault(base, {}).setdefault(schema["$dynamicAnchor"], (schema, path_of(place)))
        if schema.get("$recursiveAnchor") is True:
            self.dynamic.setdefault(base, {}).setdefault("", (schema, path_of(place)))
        return base

    def base(self, schema: Any) -> str:
        """The base URI of a schema."""
        return self._bases.get(id(schema), self._root)

    def found(self, reference: str, schema: dict[str, Any], path: str, keyword: str = "$ref") -> tuple[Any, str]:
        """The schema that a reference in a schema refers to, and its path."""
        key = self.base(schema), reference
        if key not in self._found:
            self._found[key] = self._target(*key, joined(path, keyword))
        return self._found[key]

    def _target(self, base: str, reference: str, place: str) -> tuple[Any, str]:
        uri, fragment = urldefrag(resolved(base, reference))
        fragment = unquote(fragment)
        whole = f"{uri}#{fragment}"
        if fragment and whole in self._by_uri:
            return self._by_uri[whole][0], path_of(self._by_uri[whole][1])
        if uri not in self._by_uri:
            raise LocatedError(f"{place} is {quoted(reference)}, which is not in the document; put it under $defs")
        at, found = self._by_uri[uri][0], path_of(self._by_uri[uri][1])
        if fragment and not fragment.startswith("/"):
            raise VocabularyError(f"{place} is {quoted(reference)}; expected the name or the path of a schema")
        for name in fragment.split("/")[1:]:
            name = name.replace("~1", "/").replace("~0", "~")
            if isinstance(at, dict) and name in at:
                at = at[name]
            elif isinstance(at, list) and name.isdecimal() and int(name) < len(at):
                at = at[int(name)]
            else:
                raise VocabularyError(f"{place} is {quoted(reference)}; expected the path of a schema in the document")
            found = joined(found, name)
            if isinstance(at, dict) and uri != self._root:
                self._bases.setdefault(id(at), uri)
        return at, found


def resolved(base: str, reference: str) -> str:
    """A reference as a URI. The base may have any scheme, such as ``urn``, which `urljoin` does not join.

    Examples:
        >>> resolved("urn:a:b", "#c"), resolved("http://a/b", "c#d")
        ('urn:a:b#c', 'http://a/c#d')
    """
    return urldefrag(base)[0] + reference if reference.startswith("#") else urljoin(base, reference)
