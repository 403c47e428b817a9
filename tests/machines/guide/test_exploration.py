"""Automata of tables, compared with the walks and the sets of the parts that they are made from."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from support.conformance.ways import table_of
from support.machines.byte_automata import accepted, accepts, of_texts, state_after
from support.machines.drawn_grammars import GRAMMARS
from support.naive import equivalence as naive
from support.naive.parts import Parts

import fst
from fst.compile import guide, wordpiece
from fst.compile.machines.guide import exploration, texts
from fst.compile.machines.guide.equivalence import merged
from fst.compile.machines.guide.exploration import Explorer
from fst.compile.machines.guide.grammar.lark import read_lark
from fst.compile.machines.guide.grammar.parts import GrammarParts
from fst.compile.machines.guide.grammar.regular import RegularParts
from fst.compile.machines.guide.grammar.tree import Grammar
from fst.compile.machines.guide.regex import part_of_regex
from fst.compile.machines.guide.schema.parts import SchemaParts
from fst.compile.machines.guide.schema.recursion import Bounds
from fst.compile.machines.guide.texts import OnePart, automaton_of
from fst.errors import FstWarning, UnsupportedError, VocabularyError
from fst.machines.guide.arguments import NO_STATE
from fst.machines.guide.part_store import PartStore
from fst.machines.guide.parts import CALL, Texts

DIFFERENT = {"items": {"type": "boolean"}, "uniqueItems": True}
NAMED = {"type": "object", "properties": {"a": {"maxLength": 2}, "b": DIFFERENT}, "required": ["a"]}
SCHEMAS: list[dict[str, Any]] = [
    {"type": "array", "items": {**NAMED, "additionalProperties": False}, "maxItems": 3},
    {"type": ["string", "array", "null"], "maxLength": 3, "items": {"enum": ["a", "\u00e9\"", 12, [], {"a": [1]}]}},
    {"type": "array", "items": {"type": ["array", "string"], "maxItems": 1}, "contains": {"const": ["a"]}, "maxItems": 2},
    {"type": "object", "properties": {"a": {}, "b": {"pattern": "^[a\u00e9]*$"}}, "minProperties": 1, "additionalProperties": False},
    {"type": "object", "patternProperties": {"^a": {"type": "array", "maxItems": 1}}, "additionalProperties": {"type": "integer"}},
]
TOKENS = [*'"[]{},:', "##[", "##{", *"ab12", '"a', '":', "],", "##],", '"]},', '##"]},{"', '":"', '##":"', '##]}', '##","', "true", "null"]
WORDS = ["[UNK]", "[SEP]", *TOKENS, *(f"##{each}" for each in '"]},:ab12')]
EVERY = 1 << 40  # a number that no count of states exceeds


def all_made(parts: Texts) -> PartStore:
    """A store of all parts that part 0 calls, directly or through others."""
    store = PartStore(parts)
    waiting = [0]
    for number in waiting:  # the loop appends to `waiting`
        store.start_of(number)
        moves = parts.part(number).moves
        waiting += {*moves[moves[:, 1] == CALL, 2].tolist()}.difference(waiting)
    return store


def assert_merged(parts: Texts) -> None:
    """The arcs, moves and calls of merged parts lead to the first of equivalent positions, by the definition."""
    store = all_made(parts)
    count, arcs, moves = store.used
    firsts = np.array(naive.firsts(store.parts, count))
    found = merged(store.parts, store.used)
    assert (found.arcs == np.column_stack([store.parts.arcs[:arcs, :2], firsts[store.parts.arcs[:arcs, 2]]])).all()
    assert (found.moves[:, 3] == firsts[store.parts.moves[:moves, 3]]).all()
    calls = found.moves[:, 0] == CALL
    starts = store.parts.starts[store.parts.moves[:moves][calls, 1], 0]
    assert (found.starts[found.moves[calls, 1], 0] == firsts[starts]).all()
    assert len(np.unique(found.moves[calls, 1])) == len(np.unique(firsts[starts]))


@pytest.mark.mostly_slow
@settings(max_examples=60, deadline=None, derandomize=True)
@given(GRAMMARS)
def test_an_automaton_reads_what_the_walks_read(grammar: Grammar) -> None:
    """An automaton reads exactly the texts of the parts that it is made from, whether positions are merged first or not."""
    try:
        parts = RegularParts(grammar, lambda _: SchemaParts(False, bounds=Bounds(None, 0)))
    except (UnsupportedError, VocabularyError):
        reject()
    walks = Parts(cache(parts.part))
    assert_merged(parts)
    for few in (1, EVERY):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(exploration, "FEW_STATES", few)
            automaton = Explorer(parts).automaton(1 << 20)
        for text in (bytes(each) for length in range(5) for each in product(b"ab", repeat=length)):
            is_begun, is_read = walks.reads(text)
            assert (state_after(automaton, text) >= 0, accepts(automaton, text)) == (is_begun, is_read)


@pytest.mark.parametrize("place", range(len(SCHEMAS)))
def test_equivalent_positions_are_merged(place: int) -> None:
    """Positions are merged if and only if they are equivalent, and the automaton of the merged parts is the same."""
    parts = SchemaParts(SCHEMAS[place], bounds=Bounds(None, 1))
    assert_merged(parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exploration, "FEW_STATES", 1)
        found = Explorer(parts).automaton(1 << 20)
        patch.setattr(exploration, "FEW_STATES", EVERY)
        expected = Explorer(parts).automaton(1 << 20)
    assert found.targets.shape == expected.targets.shape
    assert (found.targets == expected.targets).all()


def test_merged_parts_of_recursive_rules() -> None:
    """Parts that call each other in cycles are merged, too."""
    grammar = 'start: "a" x "b" | "c"\nx: "a" start "b" | y\ny: "a" x "b" | "c"'
    assert_merged(GrammarParts(read_lark(grammar), lambda _: OnePart(part_of_regex("a"))))


@pytest.mark.mostly_slow
@pytest.mark.parametrize("name", ["words", "bpe missing bytes", "unigram model and bytes"])
@pytest.mark.parametrize("place", range(len(SCHEMAS)))
def test_masks_are_those_of_a_late_guide(name: str, place: int) -> None:
    """A late guide has the masks, ends and steps of a table, and a mask contains exactly the tokens that `step` allows."""
    tok = fst.Tokenizer(wordpiece(WORDS) if name == "words" else table_of(name))
    end_id = 1 if name == "words" else None
    found = fst.Guide(tok, schema=SCHEMAS[place], end_id=end_id)
    expected = fst.Guide(guide(tok, schema=SCHEMAS[place], end_id=end_id, depth=2))
    draw = np.random.default_rng(place)
    for _ in range(6):
        state, at = found.start, expected.start
        for count in range(30):
            stepped = [found.step(state, number) for number in range(found.size + 2)] if count < 2 else []
            allowed = expected.allowed(at)
            assert found.allowed(state).tolist() == allowed.tolist()
            assert found.is_final(state) == expected.is_final(at)
            if stepped:
                assert [number for number, after in enumerate(stepped) if after != NO_STATE] == allowed.tolist()
            if not len(allowed):
                break
            longest = max(allowed.tolist(), key=lambda number: len(tok.id_to_token(number) or ""))
            number = longest if draw.random() < 0.3 else int(draw.choice(allowed))
            state, at = found.step(state, number), expected.step(at, number)


def test_ambiguous_texts_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets with too many items are refused."""
    monkeypatch.setattr(exploration, "MAX_CELLS", 1 << 14)
    with pytest.raises(UnsupportedError, match=r"^texts can be read in too many ways; make"):
        automaton_of(grammar='start: ("a"~1..200 "b"?)~1..200', syntax="lark")


def test_large_schemas_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A schema whose automaton has too many states for a table is refused, and the error contains the remedy and the largest part."""
    for name in ("FEW_STATES", "MAX_STATES"):
        monkeypatch.setattr(texts, name, 1 << 15)
    schema = {"type": "array", "items": {"properties": {"a": {"type": "string", "maxLength": 500}}}, "minItems": 9, "maxItems": 9}
    expected = r"^#: the automaton has more than 32,768 states; .* make its masks late: fst\.Guide.*; its largest part is #/items"
    with pytest.raises(UnsupportedError, match=expected):
        of_texts(schema=schema)
    monkeypatch.setattr(exploration, "MAX_STATES", 1 << 10)
    with pytest.raises(UnsupportedError, match=r"^#: the automaton has more than 1,024 states; .*…\)$"):
        of_texts(schema={"enum": [f"{number:02}" * 50 for number in range(99)]})


def levels(automaton: Any) -> int:
    """The number of levels of arrays in the texts of an automaton."""
    return next(count for count in range(9) if not accepts(automaton, b"[" * (count + 1) + b"]" * (count + 1)))


def test_values_without_a_schema_have_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table warns of values without a schema that it leaves out, with the path and the number of levels, unless a depth is given."""
    closed = {"type": "object", "properties": {"a": {"type": "array"}}, "additionalProperties": False}
    found = "values without a schema have at most 4 levels of arrays and objects in a table; pass depth="
    for schema, path in (({}, "#"), (closed, "#/properties/a")):
        with pytest.warns(FstWarning, match=f"^{path}: {found}"):
            automaton_of(schema=schema)
    with pytest.warns(FstWarning, match=r"^the grammar, line 1, column 8: #: values without a schema have at most 4 levels"):
        assert levels(automaton_of(grammar="start: %json {}", syntax="lark")[0]) == 4
    assert levels(automaton_of(schema={}, depth=6)[0]) == 6
    assert not accepts(automaton_of(schema={}, depth=0)[0], b"{}")
    assert levels(of_texts(schema=True)) == 4
    assert levels(of_texts(schema={"type": "array"})) == 5
    with pytest.warns(FstWarning) as warned:
        guide(fst.Tokenizer(wordpiece(WORDS)), schema=closed)
    assert [each.filename for each in warned] == [__file__]
    monkeypatch.setattr(texts, "FEW_STATES", 1 << 10)
    with pytest.warns(FstWarning, match="at most 3 levels"):
        assert levels(automaton_of(schema={})[0]) == 3


@pytest.mark.parametrize(
    ("schema", "texts"),
    [
        ({"anyOf": [{"type": "null"}, {"type": "object", "properties": {"a": {"$ref": "#"}}}]}, ["null", "{}", '{"a":{}}', '{"a":null}']),
        ({"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"type": "array", "items": {"$ref": "#"}}}}, ["{}", '{"a":{"b":[]}}']),
        ({"not": {"type": "array", "items": False}, "type": "array", "items": {"$ref": "#"}, "minItems": 0}, []),
    ],
)
def test_recursive_schemas_are_entered_to_a_depth(schema: dict[str, Any], texts: list[str]) -> None:
    """A schema is entered inside itself as often as the depth allows, each schema counted by itself; what has no text then is left out."""
    schema = {**schema, "$defs": {}}
    every = ["null", "{}", '{"a":{}}', '{"a":null}', '{"a":{"a":{}}}', '{"a":{"b":[]}}', '{"a":{"b":[{}]}}', '{"b":[{"a":{}}]}']
    if not texts:
        with pytest.raises(UnsupportedError, match="the schema allows no value"):
            automaton_of(schema=schema, depth=1)
        return
    closed = {**schema, "unevaluatedProperties": False} if "anyOf" not in schema else schema
    automaton = automaton_of(schema=closed, depth=1)[0]
    assert {text for text in every if accepts(automaton, text.encode())} >= {*texts}
    assert not accepts(automaton, b'{"a":{"a":{}}}')


def test_a_table_may_have_any_order() -> None:
    """With few properties, a table takes them in any order; `strict` closes objects."""
    schema = {"type": "object", "properties": {"a": {"const": 1}, "b": {"const": 2}}, "required": ["a"]}
    every = ['{"a":1}', '{"a":1,"b":2}', '{"b":2,"a":1}', '{"b":2}', '{"a":1,"a":1}', '{"a":1,"c":3}']
    assert accepted(of_texts(schema=schema, order="any", strict=True), every) == every[:3]
    assert accepted(of_texts(schema=schema), every) == [every[0], every[1], every[5]]


def test_a_recursive_schema_has_no_complement() -> None:
    """Values beyond the depth must not become values of a complement, so such a schema is refused."""
    schema = {"$defs": {"a": {"type": "array", "items": {"$ref": "#/$defs/a"}}}, "not": {"$ref": "#/$defs/a"}}
    with pytest.raises(UnsupportedError, match="a recursive schema has no complement in a table; make its masks late"):
        automaton_of(schema=schema, depth=2)
