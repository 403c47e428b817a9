"""Schemas in a document, and references between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from fst.errors import UnsupportedError, VocabularyError, quoted

# Keywords whose value is a schema, a list of schemas, or an object of schemas.
ONE = (
    *("additionalProperties", "additionalItems", "contains", "contentSchema", "else", "if", "items", "not", "propertyNames", "then"),
    *("unevaluatedItems", "unevaluatedProperties"),
)
LISTS = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
MAPS = ("$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties")
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
    return "/".join([path, *(str(name).replace("~", "~0").replace("/", "~1") for name in names)])


def subschemas(schema: dict[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    """The schemas directly below a schema, and their paths."""
    for name, value in schema.items():
        if name in ONE and isinstance(value, dict | bool):
            yield joined(path, name), value
        elif name in LISTS and isinstance(value, list):
            yield from ((joined(path, name, place), each) for place, each in enumerate(value))
        elif name in MAPS and isinstance(value, dict):
            yield from ((joined(path, name, key), each) for key, each in value.items())


class Document:
    """A schema with the schemas below it, by URI and by path."""

    def __init__(self, schema: Any) -> None:
        self.schema = schema
        self._by_uri: dict[str, tuple[Any, str]] = {"": (schema, "#")}
        self._bases: dict[int, str] = {}
        self.dynamic: dict[str, dict[str, tuple[Any, str]]] = {}  # for each base URI, the schemas and paths of its dynamic anchors
        draft = schema.get("$schema") if isinstance(schema, dict) else None
        draft = draft if isinstance(draft, str) else ""
        self.is_old = any(name in draft for name in OLD_DRAFTS)
        self.annotates_formats = any(name in draft for name in ANNOTATING_DRAFTS)
        waiting = [("#", schema, "")]
        for path, each, base in waiting:  # the loop appends to `waiting`
            if isinstance(each, dict) and id(each) not in self._bases:
                base = self._named(each, path, base)
                waiting += [(*found, base) for found in subschemas(each, path)]

    def _named(self, schema: dict[str, Any], path: str, base: str) -> str:
        """Store the names by which a schema can be referenced; return its base URI."""
        own = schema.get("$id", schema.get("id") if self.is_old else None)
        if isinstance(own, str) and not (self.is_old and "$ref" in schema):
            uri, fragment = urldefrag(resolved(base, own))
            if fragment:  # the name of a schema in drafts up to 7
                self._by_uri.setdefault(f"{uri}#{fragment}", (schema, path))
            else:
                base = uri
                self._by_uri.setdefault(base, (schema, path))
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(schema.get(keyword), str):
                self._by_uri.setdefault(f"{base}#{schema[keyword]}", (schema, path))
        if isinstance(schema.get("$dynamicAnchor"), str):
            self.dynamic.setdefault(base, {}).setdefault(schema["$dynamicAnchor"], (schema, path))
        if schema.get("$recursiveAnchor") is True:
            self.dynamic.setdefault(base, {}).setdefault("", (schema, path))
        self._bases[id(schema)] = base
        return base

    def base(self, schema: Any) -> str:
        """The base URI of a schema."""
        return self._bases.get(id(schema), "")

    def found(self, reference: str, schema: dict[str, Any], path: str, keyword: str = "$ref") -> tuple[Any, str]:
        """The schema that a reference in a schema refers to, and its path."""
        uri, fragment = urldefrag(resolved(self.base(schema), reference))
        fragment = unquote(fragment)
        whole = f"{uri}#{fragment}"
        if fragment and whole in self._by_uri:
            return self._by_uri[whole]
        place = joined(path, keyword)
        if uri not in self._by_uri:
            raise LocatedError(f"{place} is {quoted(reference)}, which is not in the document; put it under $defs")
        at, found = self._by_uri[uri]
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
            if isinstance(at, dict):
                self._bases.setdefault(id(at), uri)
        return at, found


def resolved(base: str, reference: str) -> str:
    """A reference as a URI. The base may have any scheme, such as ``urn``, which `urljoin` does not join.

    Examples:
        >>> resolved("urn:a:b", "#c"), resolved("http://a/b", "c#d")
        ('urn:a:b#c', 'http://a/c#d')
    """
    return urldefrag(base)[0] + reference if reference.startswith("#") else urljoin(base, reference)
