"""Readers of regular expressions, schemas and grammars as targets of fuzzing."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from support.conformance.samples import CANONICAL
from support.fuzz.reader import Reader

import fst
from fst.compile import wordpiece

REGEX = (r"(?i:a[b-e&&[^c]]|\p{L}{2,3}|(?:é|\x41|\u{4e16})*)\d+?$", r"^(ab?|[^\s\w])+\.\*x{3}", "12*")
SCHEMA: dict[str, Any] = {
    "$defs": {
        "tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/tree"}, "value": {"type": "integer"}}, "required": ["value"]}
    },
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 5, "pattern": "^[a-c]+$"},
        "age": {"type": "integer", "minimum": 0, "maximum": 150, "multipleOf": 5},
        "kind": {"enum": ["a", 1, None]},
        "when": {"type": "string", "format": "date"},
        "tree": {"$ref": "#/$defs/tree"},
        "list": {
            "type": "array",
            "items": {"anyOf": [{"const": 1.5}, {"type": "boolean"}]},
            "minItems": 1,
            "maxItems": 3,
            "uniqueItems": True,
        },
    },
    "patternProperties": {"^x": {"type": "number", "exclusiveMinimum": -1}},
    "required": ["name"],
    "additionalProperties": False,
}
FOUND_SCHEMAS = (
    b'{"type": "object", "properties": {"a": {"$ref": "#"}}, "required": [{"a": 1}]}',
    b'{"type": "object", "required": ["a", {"a": 1}]}',
    b'{"type": "object", "required": ["\\ud800"], "patternProperties": {"^x": {"type": "number"}}}',
    b'{"type": "object", "dependentRequired": {"a": ["b", {}]}}',
)
LARK = (
    '%import common.INT\n%ignore /[ \\t]+/\nstart: item ("," item)* | "(" start ")"\n'
    'item: NAME "=" (INT | "a".."c")~1..3 -> x\nNAME: /[a-z]+/i\n'
)
GBNF = 'root ::= item+ [^a-c] # x\nitem ::= "a"{2,3} | ("b" | root)? "\\x41"\n'
EBNF = 'root ::= ("a" root "b") | [0-9a-f]* item {2}\nitem ::= "\\u0041"\n'
TAGS = {
    "type": "structural_tag",
    "format": {
        "type": "triggered_tags",
        "triggers": ["<"],
        "tags": [
            {"type": "tag", "begin": "<a>", "content": {"type": "json_schema", "json_schema": {"type": "boolean"}}, "end": "</a>"},
            {"type": "tag", "begin": "<b>", "content": {"type": "regex", "pattern": "a+"}, "end": ["</b>", "!"]},
        ],
    },
}


@cache
def _tokenizer() -> Any:
    return fst.Tokenizer(wordpiece([*dict.fromkeys(CANONICAL), *'{}[]":,.0123456789-+e'], unk_token="[UNK]"))


def _guided(**options: Any) -> Callable[[Path], Any]:
    """A function that makes a guide of the text in a file, and takes a few steps. `options` of the guide may be functions of this text."""

    def read(folder: Path) -> None:
        data = (folder / "input").read_bytes()
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return
        guide = fst.Guide(_tokenizer(), **{name: value(text) if callable(value) else value for name, value in options.items()})
        state = guide.start
        for _ in range(4):
            allowed = guide.allowed(state)
            if not len(allowed):
                break
            state = guide.step(state, int(allowed[len(allowed) // 2]))

    return read


def _grammar(syntax: str, seed: str) -> Reader:
    return Reader(_guided(grammar=str, syntax=syntax), lambda: [seed.encode()])


def _machine(folder: Path) -> None:
    """Make the automaton of a regular expression."""
    text = (folder / "input").read_bytes().decode(errors="replace")
    fst.Fst.from_regex(text, "abcé1")


READERS: Mapping[str, Reader] = {
    "regex": Reader(_guided(regex=str), lambda: [pattern.encode() for pattern in REGEX]),
    "regex of a machine": Reader(_machine, lambda: [b"a(b|c)*[^d-f]{2,3}\\p{L}?"]),
    "schema": Reader(_guided(schema=str), lambda: [json.dumps(SCHEMA).encode()], found=FOUND_SCHEMAS),
    "lark": _grammar("lark", LARK),
    "gbnf": _grammar("gbnf", GBNF),
    "ebnf": _grammar("ebnf", EBNF),
    "structural tag": _grammar("structural_tag", json.dumps(TAGS))._replace(found=[b'{"type": "structural_tag", "format": {"type": {}}}']),
}
