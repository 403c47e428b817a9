"""Automata over bytes from JSON Schemas: keywords, texts and refusals."""

from __future__ import annotations

import json
import math
from itertools import product
from typing import Any

import pytest
from support.machines.byte_automata import accepted, accepts, of_texts
from support.machines.json_schemas import SCHEMAS
from support.machines.json_texts import accepts_value

from fst.compile.machines.guide import texts
from fst.errors import UnsupportedError, VocabularyError


@pytest.mark.mostly_slow
@pytest.mark.parametrize(("schema", "valid", "invalid"), SCHEMAS, ids=lambda value: json.dumps(value)[:50])
def test_an_automaton_accepts_exactly_the_valid_values(schema: Any, valid: list[Any], invalid: list[Any]) -> None:
    """Each valid value is accepted in some text, and no invalid value in any."""
    automaton = of_texts(schema=schema)
    assert [value for value in valid + invalid if accepts_value(automaton, value)] == valid


@pytest.mark.parametrize(
    "schema",
    [
        {"items": {"enum": [0, 1.5, "0", "a\"", None, False]}, "minItems": 2},
        {"prefixItems": [{"enum": [0, "0"]}, {"type": "boolean"}], "items": {"enum": [0, True, "a\""]}, "maxItems": 3},
        {"items": {"type": "integer", "minimum": 0, "maximum": 2}, "contains": {"minimum": 2}, "not": {"contains": {"const": 1}}},
    ],
)
def test_the_items_of_an_array_may_have_to_differ(schema: dict[str, Any]) -> None:
    """With ``uniqueItems`` and items from a finite set, the arrays with different items are accepted, as in jsonschema."""
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    schema = {"type": "array", "uniqueItems": True, **schema}
    judge, automaton = jsonschema.Draft202012Validator(schema), of_texts(schema=schema)
    values = [0, 1.5, "0", 'a"', None, False, True, 2, []]
    arrays = [[*items] for count in range(4) for items in product(values, repeat=count)]
    assert [items for items in arrays if accepts_value(automaton, items)] == [items for items in arrays if judge.is_valid(items)]


@pytest.mark.parametrize(
    ("whitespace", "texts"),
    [
        ("", ['{"a":[1,1],"b":1}']),
        ("[ ]?", ['{"a":[1,1],"b":1}', '{"a": [1, 1], "b": 1}', '{ "a" : [ 1 , 1 ] , "b" : 1 }']),
        ("\\s*", ['{"a":[1,1],"b":1}', '{"a": [1, 1], "b": 1}', '{ "a" : [ 1 , 1 ] , "b" : 1 }', '{\n\t"a":[1,1],\r\n  "b":1\n}']),
    ],
)
def test_whitespace_follows_its_pattern(whitespace: str, texts: list[str]) -> None:
    """Whitespace may be between all tokens of JSON, but only as the pattern for whitespace allows."""
    one = {"const": 1}
    schema = {
        "properties": {"a": {"type": "array", "items": one}, "b": one},
        "required": ["a"],
        "additionalProperties": False,
        "type": "object",
    }
    every = [
        '{"a":[1,1],"b":1}',
        '{"a": [1, 1], "b": 1}',
        '{ "a" : [ 1 , 1 ] , "b" : 1 }',
        '{\n\t"a":[1,1],\r\n  "b":1\n}',
        '{"b":1,"a":[]}',
    ]
    assert accepted(of_texts(schema=schema, whitespace=whitespace.replace("\\s", "[ \\n\\r\\t]")), every) == texts


def test_strings_without_a_pattern_may_have_any_escape() -> None:
    """If all characters lead to one state, every escape of JSON is accepted as a character; halves of surrogate pairs are refused."""
    automaton = of_texts(schema={"type": "string", "maxLength": 1})
    texts = ['"\\u00e9"', '"\\uDBff\\uDfdD"', '"\\ud7dD"', '"\\u0041"', '"\\/"', '"\\ud83d\\ude00"', '"\\""', '"\\n"', '"é"', '""']
    assert accepted(automaton, [*texts, '"\\ud83d"', '"\\ude00"', '"\\x"', '"\n"', '"ab"', '"\\u00e9\\u00e9"']) == texts


def test_other_strings_have_one_text() -> None:
    """If characters lead to different states, only characters that must be escaped have escapes."""
    automaton = of_texts(schema={"enum": ['a"\n\u0001\u007fé']})
    assert accepted(automaton, ['"a\\"\\n\\u0001\u007fé"', '"\\u0061\\"\\n\\u0001\u007fé"', '"a\\"\\n\\u0001\u007f\\u00e9"']) == [
        '"a\\"\\n\\u0001\u007fé"'
    ]


def test_the_values_of_a_recursive_schema_have_the_depth_that_is_asked_for() -> None:
    """A recursive schema is entered again `depth` times."""
    schema = {"type": "array", "items": {"$ref": "#"}}
    automaton = of_texts(schema=schema, depth=2)
    assert [accepts(automaton, b"[" * levels + b"]" * levels) for levels in range(1, 6)] == [True, True, True, False, False]


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"properties": {"a": {"items": {"uniqueItems": True}}}}, "^#/properties/a/items/uniqueItems is not supported for items .*enum"),
        ({"items": {"enum": [*range(20)]}, "uniqueItems": True}, "^#: the automaton has more than 65,536 states"),
        ({"not": {"items": {"enum": [1]}, "uniqueItems": True}}, "^#: a schema with uniqueItems has no complement"),
        ({"properties": {"a": {"$ref": "#"}}}, "^# is recursive; pass a depth"),
        ({"$ref": "http://example.com/s"}, r"^#/\$ref is 'http://example.com/s', which is not in the document"),
        ({"properties": {"a": {"maxLength": 999_999}}}, "^#: the automaton has more than .* largest part is #/properties/a$"),
        ({"properties": {"a": {"pattern": "(a|b)*a(a|b){20}"}}}, "^#: the automaton has more than .* largest part is #/properties/a$"),
        ({"prefixItems": [{}, {"type": "string", "pattern": "^((?!a).)*$"}]}, "^#/prefixItems/1/pattern: .* an assertion in a repeat"),
        ({"properties": {"a": {"type": "array", "items": {"maxLength": 900}, "minItems": 99}}}, "^#: .* part is #/properties/a/items$"),
        ({"format": "regex"}, "^#/format is 'regex', which is not supported"),
        ({"type": "string", "enum": [1]}, "allows no value"),
        ({"type": "array", "contains": {"const": 1}, "items": {"type": "string"}}, "allows no value"),
        pytest.param(
            {"type": "array", "items": {"type": "string"}, "maxItems": 10_000_000},
            "^#: the automaton has more than .* states",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_schema_is_refused_by_keyword_and_path(monkeypatch: pytest.MonkeyPatch, schema: Any, message: str) -> None:
    """The message for a keyword that is not supported, or takes too many states, begins with the keyword's path."""
    for name in ("FEW_STATES", "MAX_STATES"):
        monkeypatch.setattr(texts, name, 1 << 16)
    with pytest.raises(UnsupportedError, match=message):
        of_texts(schema=schema)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ('{"type": ', "not JSON"),
        ({"properties": {"a": 1}}, "^#/properties/a is 1; expected a schema"),
        ({"type": "text"}, "^#/type: "),
        ({"maxLength": -1}, "^#/maxLength is -1; expected"),
        ({"multipleOf": 0}, "^#/multipleOf is 0; expected a positive number"),
        ('{"maximum": NaN}', "^#/maximum is nan; expected a number of JSON"),
        ({"const": math.inf}, "^#/const is inf; expected a number of JSON"),
        ({"$ref": "#/$defs/x"}, r"^#/\$ref is '#/\$defs/x'; expected the path of a schema"),
    ],
)
def test_a_malformed_schema_is_refused_by_path(schema: Any, message: str) -> None:
    """The message for a malformed schema begins with the path of the fault."""
    with pytest.raises(VocabularyError, match=message):
        of_texts(schema=schema)


def test_formats_are_annotations_where_the_draft_says_so() -> None:
    """Drafts 2019-09 and 2020-12 do not restrict strings by their format, unless the caller does."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "string", "format": "uuid"}
    assert accepts(of_texts(schema=schema), b'"a"')
    assert not accepts(of_texts(schema=schema, formats=True), b'"a"')
    assert accepts(of_texts(schema={"format": "uuid"}, formats=False), b'"a"')


def test_integers_beyond_floats_are_exact() -> None:
    """An integer of a schema that no float holds has exactly its own text."""
    number = 10**400
    assert accepts(of_texts(schema={"const": number}), str(number).encode())
    assert not accepts(of_texts(schema={"const": number}), str(number + 1).encode())
