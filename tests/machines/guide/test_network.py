"""Networks of automata that call each other, compared with the automaton in which copies replace all calls."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from support.conformance.ways import table_of

import fst
from fst.compile import guide, wordpiece
from fst.compile.machines.guide.languages import ByteAutomaton, Language, difference
from fst.compile.machines.guide.network import expanded, states_of
from fst.compile.machines.guide.schema import compiler
from fst.compile.machines.guide.schema.compiler import WHITESPACE, from_schema
from fst.compile.machines.guide.schema.document import Document
from fst.compile.machines.guide.schema.evaluate import Evaluator
from fst.compile.machines.guide.schema.network_writer import NetworkWriter
from fst.errors import UnsupportedError
from fst.machines.guide.arguments import NO_STATE

DIFFERENT = {"items": {"type": "boolean"}, "uniqueItems": True}
NAMED = {"type": "object", "properties": {"a": {"maxLength": 2}, "b": DIFFERENT}, "required": ["a"]}
SCHEMAS: list[dict[str, Any]] = [
    {"type": "array", "items": {**NAMED, "additionalProperties": False}, "maxItems": 3},
    {"type": ["string", "array", "null"], "maxLength": 3, "items": {"enum": ["a", "\u00e9\"", 12, [], {"a": [1]}]}},
    {"type": "array", "items": {"type": ["array", "string"], "maxItems": 1}, "contains": {"const": ["a"]}, "maxItems": 2},
    {"type": "object", "properties": {"a": {}, "b": {"pattern": "^[a\u00e9]*$"}}, "minProperties": 1, "additionalProperties": False},
    {"type": "object", "patternProperties": {"^a": {"type": "array", "maxItems": 1}}, "additionalProperties": {"type": "integer"}},
]
VALUES = ['[{"a":"ab"},{"a":"a"}]', '"a\\u00e9"', '[["a"],"a"]', '{"a":[[1,{"b":null}]]}', '{"aa":[[]],"b":12}']
TOKENS = [*'"[]{},:', "##[", "##{", *"ab12", '"a', '":', "],", "##],", '"]},', '##"]},{"', '":"', '##":"', '##]}', '##","', "true", "null"]
WORDS = ["[UNK]", "[SEP]", *TOKENS, *(f"##{each}" for each in '"]},:ab12')]


def networks(schema: Any, depth: int = 2) -> Any:
    """The network of a schema, in which every part that can be an automaton of its own is called."""
    evaluator = Evaluator(Document(schema), None, True)
    writer = NetworkWriter(evaluator.algebra, WHITESPACE, 1 << 20)
    writer.at_depth(depth)
    return writer.parts(evaluator.values(schema, "#"))


def language(automaton: ByteAutomaton) -> Language:
    """The texts of an automaton."""
    return Language(automaton.classes, automaton.by_class, automaton.is_final)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every schema becomes a network; in these tests, values without a schema have two levels."""
    monkeypatch.setattr(compiler, "FEW_STATES", 1)
    monkeypatch.setattr(compiler, "FREE_DEPTHS", (2,))


@pytest.mark.mostly_slow
@pytest.mark.parametrize("schema", SCHEMAS)
def test_calls_are_replaced(monkeypatch: pytest.MonkeyPatch, schema: dict[str, Any]) -> None:
    """A network whose calls are replaced reads the texts of the automaton, and its size is known before."""
    monkeypatch.setattr(compiler, "FREE_DEPTHS", (2,))
    parts, expected = networks(schema), from_schema(schema)
    found = expanded(parts)
    assert len(found.is_final) == states_of(parts)
    assert difference(language(found), language(expected)).is_empty
    assert difference(language(expected), language(found)).is_empty
    assert len(parts) > 1


@pytest.mark.mostly_slow
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", ["words", "bpe missing bytes", "unigram model and bytes"])
@pytest.mark.parametrize("place", range(len(SCHEMAS)))
def test_masks_are_those_of_the_automaton(name: str, place: int) -> None:
    """A late guide has the masks, ends and steps of a table, and a mask contains exactly the tokens that `step` allows."""
    tok = fst.Tokenizer(wordpiece(WORDS) if name == "words" else table_of(name))
    end_id = 1 if name == "words" else None
    found = fst.Guide(tok, schema=SCHEMAS[place], end_id=end_id)
    expected = fst.Guide(guide(tok, schema=SCHEMAS[place], end_id=end_id))
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


@pytest.mark.usefixtures("small")
def test_late_guides_are_guides() -> None:
    """Late guides can be pickled but not saved; a state that is not found yet is refused, and only the end follows the end."""
    tok = fst.Tokenizer(wordpiece(WORDS))
    found = fst.Guide(tok, schema={"const": ["a"]}, end_id=1)
    ids = found.forced(found.advance(found.start, [WORDS.index("[")]))
    assert ids == []
    last = found.advance(found.start, [WORDS.index(each) for each in ("[", '##"', "##a", '##"', "##]")])
    assert (found.is_final(last), found.forced(last)) == (True, [1])
    assert found.forced(found.step(last, 1)) == []
    assert found.step(found.step(last, 1), 1) == found.step(last, 1)
    again = pickle.loads(pickle.dumps(found))
    assert again.allowed(again.start).tolist() == found.allowed(found.start).tolist()
    assert copy.copy(found) is found
    with pytest.raises(ValueError, match="a state is 999"):
        found.mask(999)
    with pytest.raises(UnsupportedError, match="makes masks late"):
        found.save("guide.npz")


def test_large_schemas_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A schema whose automaton has too many states for a table is refused, and the error contains the remedy."""
    monkeypatch.setattr(compiler, "FEW_STATES", 1 << 10)
    monkeypatch.setattr(compiler, "MAX_STATES", 1 << 15)
    schema = {"type": "array", "items": {"properties": {"a": {"type": "string", "maxLength": 500}}}, "minItems": 9, "maxItems": 9}
    with pytest.raises(UnsupportedError, match=r"^#: the automaton has more than 32,768 states; .* make its masks late: fst\.Guide"):
        from_schema(schema)
