"""JSON Schemas with values that they allow, and values that they do not allow."""

from __future__ import annotations

from typing import Any

# A schema, values that it allows, and values that it does not allow.
SCHEMAS: list[tuple[Any, list[Any], list[Any]]] = [
    ({"type": ["integer", "null"]}, [0, -7, 10**30, None], [1.5, "1", True, [], {}]),
    ({"minimum": -1.5, "exclusiveMaximum": 100}, [-1.5, 0, 99.999, "a"], [-1.51, 100, 1000]),
    ({"type": "integer", "multipleOf": 7}, [0, 49, -7], [1, 48]),
    ({"type": "number", "multipleOf": 0.25}, [0.5, 1, -2.75], [0.3, 0.125]),
    ({"minLength": 2, "maxLength": 3}, ["é€", "a\nb", '""'], ["", "x", "abcd"]),
    ({"pattern": "^(?!a)\\w+$"}, ["b1"], ["ab", "é", "", "b "]),
    ({"type": "string", "pattern": "(?m:^a$)"}, ["a", "b\na\nc"], ["ba", "a b"]),
    ({"format": "date"}, ["2024-02-29"], ["2023-02-29", "2024-2-1"]),
    ({"enum": ["a", 1, {"k": [None]}]}, ["a", 1, {"k": [None]}], ["b", 2, {"k": []}, {}]),
    (
        {"prefixItems": [{"const": 1}], "items": {"const": 2}, "minItems": 2, "maxItems": 3},
        [[1, 2], [1, 2, 2]],
        [[1], [2, 2], [1, 2, 2, 2]],
    ),
    ({"type": "array", "contains": {"type": "null"}}, [[None], [1, None, 2]], [[], [1]]),
    ({"type": "array", "items": {"enum": [1, 2]}, "maxItems": 2, "uniqueItems": False}, [[], [1, 1]], [[3]]),
    (
        {"properties": {"a": {"const": 1}, "b": {"type": "null"}}, "required": ["b"], "additionalProperties": {"type": "string"}},
        [{"b": None}, {"a": 1, "b": None, "c": "x"}],
        [{}, {"a": 2, "b": None}, {"b": None, "c": 1}],
    ),
    (
        {
            "type": "object",
            "patternProperties": {"^x": {"type": "null"}, "y$": {"type": ["null", "string"]}},
            "additionalProperties": False,
        },
        [{}, {"x": None}, {"ay": "s"}, {"xy": None}],
        [{"xy": "s"}, {"a": None}],
    ),
    (
        {"type": "object", "propertyNames": {"maxLength": 1}, "maxProperties": 2},
        [{}, {"a": 1, "b": 2}],
        [{"ab": 1}, {"a": 1, "b": 2, "c": 3}],
    ),
    ({"type": "object", "minProperties": 2, "properties": {"a": {}}}, [{"a": 1, "b": 2}, {"b": 1, "c": 2}], [{}, {"a": 1}, {"b": 1}]),
    ({"oneOf": [{"type": "integer"}, {"minimum": 2}]}, [1, 2.5, "a"], [3, 1.5]),
    ({"type": "string", "not": {"enum": ["a", "b"]}}, ["", "ab", "c"], ["a", "b"]),
    ({"type": "object", "not": {"required": ["a"]}, "minProperties": 1}, [{"b": 1}], [{"a": 1}, {}]),
    (
        {
            "type": "object",
            "maxProperties": 2,
            "not": {"anyOf": [{"additionalProperties": {"type": each}} for each in ("integer", "string")]},
        },
        [{"a": None}, {"a": 1, "b": "x"}, {"a": "x", "b": None}, {"a": None, "b": 1}],
        [{}, {"a": 1}, {"a": 1, "b": 2}, {"a": 1, "b": "x", "c": None}, {"a": 1, "b": 2, "c": "x"}],
    ),
    (
        {
            "type": "object",
            "properties": {"k": {"type": "integer"}},
            "required": ["k"],
            "maxProperties": 3,
            "not": {"anyOf": [{"patternProperties": {"^x": {"enum": [each]}}, "additionalProperties": True} for each in (1, 2, 3)]},
        },
        [{"k": 1, "x": 4}, {"k": 2, "x1": 1, "x2": 2}, {"k": 1, "x1": 1, "x2": 3}, {"k": 1, "x": 4, "y": 5}],
        [{"k": 1}, {"k": 1, "x": 1}, {"k": 1, "x": 2, "y": 2}, {"x": 4}, {"k": 1, "x": 4, "y": 5, "z": 6}],
    ),
    ({"type": "array", "not": {"items": {"type": "null"}}}, [[None, 1]], [[], [None]]),
    ({"allOf": [{"minLength": 1}, {"maxLength": 2}], "type": "string"}, ["a", "ab"], ["", "abc"]),
    ({"if": {"type": "string"}, "then": {"maxLength": 1}, "else": {"type": "null"}}, ["a", None], ["ab", 1]),
    ({"dependentRequired": {"a": ["b"]}}, [{}, {"b": 1}, {"a": 1, "b": 1}], [{"a": 1}]),
    ({"$ref": "#/$defs/x", "maximum": 3, "$defs": {"x": {"type": "integer"}}}, [3], [4, "a"]),
    ({"type": "string", "not": {"pattern": "a.b"}, "pattern": "a", "minLength": 2, "maxLength": 4}, ["aé", "baba"], ["a", "acb", "bbb"]),
    (
        {"type": "string", "pattern": "^([ab][cd])*$", "not": {"pattern": "ad"}, "minLength": 3, "maxLength": 5},
        ["acbd"],
        ["ac", "bdad", "acbcac"],
    ),
    (
        {"type": "string", "allOf": [{"anyOf": [{"pattern": f"{one}{two}"} for two in "abc"]} for one in "abc"], "maxLength": 5},
        ["abcb", "aabcc"],
        ["abc", "aaabc", "aabbcc"],
    ),
]
