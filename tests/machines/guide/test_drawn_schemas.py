"""Late guides and tables of random schemas; `jsonschema` decides whether random values are valid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pytest
from support.machines.byte_automata import of_texts
from support.machines.json_texts import accepts_value
from support.tiers import sample

from fst.compile.machines.guide.languages import ByteAutomaton
from fst.compile.machines.guide.schema.parts import SchemaParts
from fst.errors import UnsupportedError
from fst.machines.guide.parts import Texts

SCHEMAS, PARTS, VALUES, LEVELS = 4_800, 4, 30, 3
NAMES = ["", "a", "b", "ab", "é"]
SCALARS = [None, True, False, 0, 1, -1, 10, -7, 2.5, 0.5, -0.25, "", "a", "b", "ab", "aé", "1"]
TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]
PATTERNS = ["a", "^a", "b$", "^[ab]+$", "^.$", "^(a|bc)?$", "é|1"]


class Drawn:
    """Schemas and values from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def value(self, levels: int = 2, known: Sequence[Any] = ()) -> Any:
        """A value with at most some levels of arrays and objects, which may contain some of `known`."""
        kind = self._random.choice(["known", "scalar", "array", "object"]) if levels else "scalar"
        if kind in ("known", "scalar"):
            fitting = [each for each in known if levels_of(each) <= levels] if kind == "known" else []
            return self._random.choice(fitting or SCALARS)
        if kind == "array":
            return self._list(lambda: self.value(levels - 1, known), 0, 3)
        return {name: self.value(levels - 1, known) for name in self._some(NAMES, 3)}

    def schema(self, levels: int = LEVELS) -> Any:
        """A schema of one to three groups of keywords, with some levels of schemas below it."""
        random = self._random
        if not levels:
            return random.choice([True, False, {"type": random.choice(TYPES)}, {"const": self.value(1)}])

        def below() -> Any:
            return self.schema(random.randrange(levels))

        def by(names: Sequence[str]) -> dict[str, Any]:
            return {name: below() for name in self._some(names, 3)}

        groups: list[Callable[[], dict[str, Any]]] = [
            lambda: {"type": random.choice([random.choice(TYPES), self._some(TYPES, 3) or "object"])},
            lambda: {"enum": self._list(self.value, 1, 4)},
            lambda: {"const": self.value()},
            lambda: {f"{random.choice(['min', 'max', 'exclusiveMin', 'exclusiveMax'])}imum": random.choice([-1, -0.5, 0, 1, 2.5, 10])},
            lambda: {"multipleOf": random.choice([0.5, 1, 2, 5])},
            lambda: self._bounds("Length"),
            lambda: {"pattern": random.choice(PATTERNS)},
            lambda: self._bounds("Items"),
            lambda: {"items": below()} | ({"prefixItems": self._list(below, 1, 2)} if random.random() < 0.5 else {}),
            lambda: {"contains": below()},
            lambda: {"uniqueItems": True, "items": {"enum": self._list(self.value, 1, 3)}},
            lambda: {"properties": by(NAMES), "required": self._some(NAMES, 2)},
            lambda: {"additionalProperties": below(), "properties": by(NAMES)},
            lambda: {"patternProperties": by(PATTERNS)},
            lambda: self._bounds("Properties"),
            lambda: {"propertyNames": below()},
            lambda: {"dependentRequired": {random.choice(NAMES): self._some(NAMES, 2)}, "dependentSchemas": by(NAMES)},
            lambda: {random.choice(["allOf", "anyOf", "oneOf"]): self._list(below, 1, 3)},
            lambda: {"not": below()},
            lambda: {"if": below(), "then": below(), "else": below()},
        ]
        return {keyword: value for group in self._list(lambda: random.choice(groups), 1, 3) for keyword, value in group().items()}

    def _bounds(self, of: str) -> dict[str, int]:
        least, most = sorted(self._random.choices(range(4), k=2))
        return {f"min{of}": least, f"max{of}": most}

    def _some(self, things: Sequence[str], most: int) -> list[str]:
        return self._random.sample(things, self._random.randrange(most + 1))

    def _list(self, draw: Callable[[], Any], least: int, most: int) -> list[Any]:
        return [draw() for _ in range(self._random.randint(least, most))]


def levels_of(value: Any) -> int:
    """The number of levels of arrays and objects in a value."""
    below = value if isinstance(value, list) else [*value.values()] if isinstance(value, dict) else None
    return 0 if below is None else 1 + max(map(levels_of, below), default=0)


def literals(schema: Any) -> list[Any]:
    """All values of `enum` and `const` in a schema."""
    if isinstance(schema, list):
        return [each for below in schema for each in literals(below)]
    if not isinstance(schema, dict):
        return []
    return [*schema.get("enum", []), *([schema["const"]] if "const" in schema else []), *literals([*schema.values()])]


def parts_of(schema: Any) -> Texts:
    """The parts of a late guide."""
    return SchemaParts(schema, whitespace="")


def automaton_of(schema: Any) -> ByteAutomaton:
    """The automaton of a table."""
    return of_texts(schema=schema, whitespace="")


@pytest.mark.mostly_slow
@pytest.mark.parametrize(("compiled", "step"), [(parts_of, 1), (automaton_of, 6)], ids=["late", "table"])
@pytest.mark.parametrize("part", range(PARTS))
def test_texts_are_those_of_the_values_that_a_schema_allows(
    part: int, compiled: Callable[[Any], Texts | ByteAutomaton], step: int
) -> None:
    """A value is accepted in some text if and only if `jsonschema` finds it valid."""
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    judged = {True: 0, False: 0}
    for seed in sample(range(part, SCHEMAS, PARTS * step), 40):
        drawn = Drawn(seed)
        schema = drawn.schema()
        known = literals(schema)
        values = [*known, *(drawn.value(known=known) for _ in range(VALUES))]
        try:
            texts = compiled(schema)
            found = [accepts_value(texts, value) for value in values]
        except UnsupportedError as error:
            if "allows no value" not in str(error):
                continue
            found = [False] * len(values)
        for value, is_accepted in zip(values, found, strict=True):
            is_valid = jsonschema.Draft202012Validator(schema).is_valid(value)
            assert is_accepted == is_valid, (schema, value)
            judged[is_valid] += 1
    assert min(judged.values()) > sum(judged.values()) / 10
