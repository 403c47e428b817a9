"""Parts of late guides from JSON Schemas, read by a plain interpreter."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from support.machines.json_schemas import SCHEMAS
from support.naive.parts import Parts, assert_sound
from support.shared_data import SHARED, needs_shared

from fst.compile.machines.guide.schema.parts import SchemaParts
from fst.errors import UnsupportedError, VocabularyError
from fst.machines.guide.parts import Part

FOLDER = SHARED / "oracles" / "schemas"


class Sound:
    """The parts of a schema, each of which is asserted to be sound when it is made."""

    def __init__(self, schema: Any, **options: Any) -> None:
        self._parts = SchemaParts(schema, **options)
        self._checked: set[int] = set()

    def part(self, number: int) -> Part:
        """A part."""
        found = self._parts.part(number)
        if number not in self._checked:
            self._checked.add(number)
            assert_sound(found)
        return found


def reads(schema: Any, text: str, **options: Any) -> bool:
    """Whether a text is a text of the parts of a schema."""
    return Parts(Sound(schema, **options).part).reads(text.encode())[1]


def written(value: Any) -> Any:
    """A value whose numbers are integers where they can be."""
    if isinstance(value, float) and value == int(value):
        return int(value)
    if isinstance(value, list):
        return [written(each) for each in value]
    return {name: written(each) for name, each in value.items()} if isinstance(value, dict) else value


def texts(value: Any) -> Iterator[str]:
    """Usual texts of a value."""
    for separators in ((",", ":"), (", ", ": ")):
        yield json.dumps(written(value), ensure_ascii=False, separators=separators)


@pytest.mark.parametrize(("schema", "valid", "invalid"), SCHEMAS, ids=lambda value: json.dumps(value)[:50])
@pytest.mark.parametrize("order", ["schema", "any"])
def test_parts_read_exactly_the_valid_values(schema: Any, valid: list[Any], invalid: list[Any], order: str) -> None:
    """Each valid value is read in its usual texts, and no invalid value."""
    parts = Parts(Sound(schema, order=order).part)
    for value in valid + invalid:
        assert {parts.reads(text.encode())[1] for text in texts(value)} == {value in valid}


@pytest.mark.parametrize("levels", [1, 5, 40])
def test_recursion_has_no_depth(levels: int) -> None:
    """A value of a recursive schema, and a value without a schema, may have any number of levels."""
    nested = "[" * levels + "]" * levels
    assert reads({"type": "array", "items": {"$ref": "#"}, "maxItems": 1}, nested)
    assert not reads({"type": "array", "items": {"$ref": "#"}, "maxItems": 1}, f"[{nested},1]")
    assert reads({}, nested)
    linked = {"type": "object", "properties": {"v": {"type": "null"}, "n": {"$ref": "#"}}, "required": ["v"], "additionalProperties": False}
    assert reads(linked, '{"v":null,"n":' * levels + '{"v":null}' + "}" * levels)


def test_a_recursive_schema_without_a_finite_value_is_refused() -> None:
    """A schema that needs a value inside itself without end has no value, and a schema that is only a reference to itself is an error."""
    with pytest.raises(UnsupportedError, match="allows no value"):
        SchemaParts({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]})
    circle = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
    for schema in ({"$ref": "#"}, {"allOf": [{"$ref": "#"}]}, circle):
        with pytest.raises(UnsupportedError, match="reference to itself"):
            SchemaParts(schema)


# A schema, values that it allows, and values that it does not allow.
MORE: list[tuple[Any, list[Any], list[Any]]] = [
    (
        {"type": "object", "allOf": [{"properties": {"a": {}}}], "properties": {"b": {}}, "unevaluatedProperties": False},
        [{}, {"a": 1, "b": 2}],
        [{"c": 1}, {"a": 1, "c": 1}],
    ),
    (
        {
            "anyOf": [{"properties": {"a": {"const": 1}}, "required": ["a"]}, {"properties": {"b": {"const": 1}}, "required": ["b"]}],
            "unevaluatedProperties": {"type": "null"},
        },
        [{"a": 1}, {"a": 1, "b": 1}, {"a": 1, "b": None}, {"a": 1, "c": None}, 3],
        [{}, {"a": 1, "b": 2}, {"a": 2, "b": 2}, {"a": 1, "c": 1}],
    ),
    (
        {"type": "array", "prefixItems": [{"type": "string"}], "contains": {"type": "null"}, "unevaluatedItems": {"const": 1}},
        [["a", None], ["a", 1, None, 1]],
        [["a"], ["a", None, 2], [None]],
    ),
    (
        {
            "if": {"properties": {"a": {"const": 1}}, "required": ["a"]},
            "then": {"properties": {"b": {}}},
            "else": {"properties": {"c": {}}},
            "unevaluatedProperties": False,
        },
        [{"a": 1, "b": 1}, {"c": 1}, {}],
        [{"a": 1, "c": 1}, {"b": 1}, {"a": 2, "c": 1}],
    ),
    (
        {"type": "array", "contains": {"type": "integer"}, "minContains": 2, "maxContains": 3, "maxItems": 4},
        [[1, 2], ["a", 1, 2, "b"], [1, 2, 3, "a"]],
        [[1], [1, 2, 3, 4], [1, "a", "a", "a"], [1, 2, "a", "a", "a"]],
    ),
    ({"type": "array", "uniqueItems": True, "items": {"enum": [*"abcdefghijklmnopqrstuvwxyz"]}}, [[*"zyx"], []], [["a", "b", "a"]]),
    (
        {
            "$dynamicRef": "#node",
            "$defs": {
                "tree": {"$dynamicAnchor": "node", "type": "object", "properties": {"next": {"$dynamicRef": "#node"}}, "maxProperties": 1}
            },
        },
        [{}, {"next": {"next": {}}}, {"x": 1}],
        [{"next": 1}, {"next": {"next": 1}}],
    ),
    (
        {
            "$id": "http://example.com/strict",
            "$dynamicAnchor": "node",
            "$ref": "tree",
            "unevaluatedProperties": False,
            "$defs": {
                "tree": {
                    "$id": "tree",
                    "$dynamicAnchor": "node",
                    "type": "object",
                    "properties": {"data": True, "children": {"type": "array", "items": {"$dynamicRef": "#node"}}},
                }
            },
        },
        [{"children": [{"data": 1}]}],
        [{"children": [{"daat": 1}]}, {"daat": 1}],
    ),
    ({"$id": "urn:example:a", "items": {"$ref": "#/$defs/x"}, "$defs": {"x": {"type": "null"}}}, [[None]], [[1]]),
    (
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "items": {"$ref": "#here"},
            "definitions": {"x": {"$id": "#here", "type": "null"}},
        },
        [[None]],
        [[1]],
    ),
    ({"const": 12345678901234567890123}, [12345678901234567890123], [12345678901234567890124]),
    ({"type": "integer", "minimum": 10**30, "maximum": 10**30 + 1}, [10**30, 10**30 + 1], [10**30 - 1, 10**30 + 2]),
    ({"type": "object", "maxProperties": 2, "required": ["b"], "properties": {"a": {}}}, [{"b": 1}, {"a": 1, "b": 1}], [{"a": 1, "c": 1}]),
    ({"type": "object", "minProperties": 2, "properties": {"a": {}, "b": {}}, "additionalProperties": False}, [{"a": 1, "b": 2}], [{}]),
    ({"type": "string", "pattern": "^ab*c$", "maxLength": 3}, ["ac", "abc"], ["abbc", "ab", ""]),
    ({"type": "string", "pattern": "^[ab]+$", "minLength": 2, "maxLength": 40}, ["ab", "a" * 40], ["a", "a" * 41, "abc"]),
    ({"type": "string", "maxLength": 65535}, ["a" * 70], [1]),
    ({"type": "number", "multipleOf": 750, "minimum": -3000}, [0, 750, -3000, 7500], [751, -3750, 0.5]),
    ({"not": {"anyOf": [{"required": [f"a{count}"]} for count in range(60)]}}, [{}, {"b": 1}], [{"a1": 1}, {"b": 1, "a59": 1}]),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), MORE, ids=lambda value: json.dumps(value)[:50])
def test_keywords_that_only_late_guides_read(schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    """Each valid value is read, and no invalid value; `jsonschema` agrees."""
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    parts = Parts(Sound(schema, order="any").part)
    judge = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)(schema)
    for value in valid + invalid:
        assert {parts.reads(text.encode())[1] for text in texts(value)} == {value in valid} == {judge.is_valid(value)}


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        (
            {"type": "object", "properties": {"a": {"type": "object"}, "b": {"type": "array", "items": {"properties": {"c": {}}}}}},
            [{"a": {}}, {"b": [{"c": 1}]}],
            [{"x": 1}, {"a": {"x": 1}}, {"b": [{"x": 1}]}],
        ),
        ({"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}, [{"a": 1, "b": 1}], [{"c": 1}]),
        ({"type": "object", "additionalProperties": {"properties": {"a": {}}}}, [{"x": {"a": 1}}, {"x": 1}], [{"x": {"b": 1}}]),
        ({"properties": {"a": {}}, "items": {}}, [{"a": {"x": 1}}, [{"x": 1}]], [{"x": 1}]),
    ],
)
def test_strict_closes_objects(schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    """With `strict`, objects have only the properties that their schemas mention, unless a schema is about other properties."""
    parts = Parts(Sound(schema, strict=True).part)
    for value in valid + invalid:
        assert {parts.reads(text.encode())[1] for text in texts(value)} == {value in valid}


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"uniqueItems": True}, "^#/properties/a/uniqueItems is not supported for items other than"),
        ({"format": "regex"}, "^#/properties/a/format is 'regex', which is not supported"),
        ({"pattern": "^((?!a).)*$"}, "^#/properties/a/pattern: .* an assertion in a repeat"),
        ({"patternProperties": {name: {"type": "null"} for name in "abcdefghi"}}, "^#/properties/a/patternProperties splits the names"),
        ({"multipleOf": 0.1234567}, "^#/properties/a/multipleOf: multiples of 0.1234567 have more than"),
        ({"type": "text"}, "^#/properties/a/type: "),
        ({"minLength": "1"}, "^#/properties/a/minLength is '1'; expected"),
        ({"not": {"items": {"enum": [1]}, "uniqueItems": True}}, None),
        ({"anyOf": [{"properties": {"b": 1}}]}, "^#/properties/a/anyOf/0/properties/b is 1; expected a schema"),
    ],
)
def test_refusals_come_before_the_first_text(schema: Any, message: str | None) -> None:
    """A keyword that is refused is found when the parts are made, with its path, unless no value meets its schema."""
    if message is not None:
        with pytest.raises((UnsupportedError, VocabularyError), match=message):
            SchemaParts({"properties": {"a": schema}})
    SchemaParts({"type": "object", "additionalProperties": False, "$defs": {"a": schema}})


def test_keywords_of_draft_3_are_refused() -> None:
    """A keyword that only draft 3 has is refused in a schema of this draft, and an annotation in others."""
    schema = {"items": {"disallow": "string"}}
    assert reads(schema, '["a"]')
    with pytest.raises(UnsupportedError, match=r"^#/items/disallow is not supported"):
        SchemaParts({"$schema": "http://json-schema.org/draft-03/schema#", **schema})


def refusal(case: dict[str, Any], order: str) -> str:
    """The keyword by which a schema is refused; empty if it is not, and exactly the valid instances are read."""
    try:
        parts = Parts(SchemaParts(case["schema"], order=order).part)
        for test in case["tests"]:
            assert {parts.reads(text.encode())[1] for text in texts(test["data"])} == {test["valid"]}, (case["case_id"], test["data"])
    except UnsupportedError as error:
        if "allows no value" in str(error) and not any(test["valid"] for test in case["tests"]):
            return ""
        return str(error).partition(" ")[0].rpartition("/")[2]
    return ""


@needs_shared
@pytest.mark.mostly_slow
@pytest.mark.parametrize("order", ["any"])
def test_the_test_suite_is_followed(order: str) -> None:
    """Exactly the valid instances of the JSON Schema Test Suite are read; other schemas are refused by keyword."""
    with gzip.open(FOLDER / "json_schema_test_suite.jsonl.gz", "rt") as lines:
        refused = Counter(refusal(json.loads(line), order) for line in lines)
    assert refused == {"": 219, "$ref": 2, "multipleOf:": 1, "uniqueItems": 2}
