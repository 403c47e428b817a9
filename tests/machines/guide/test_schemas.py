"""Parts of JSON Schemas, compared with published schemas and instances."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from support.machines.json_texts import accepts_value
from support.shared_data import SHARED, needs_shared
from support.tiers import sample

from fst.compile.machines.guide.schema.parts import SchemaParts
from fst.errors import UnsupportedError

FOLDER = SHARED / "oracles" / "schemas"
SHARE = 4  # the slow tier takes one in this many published schemas, from the second on, in parts
PARTS = 12
# Reasons for which a schema may be refused: it is not regular, or it takes too many states.
REASONS = [
    "uniqueItems is not supported",
    "minContains is|maxContains is not supported",
    "not in the document",
    "remainders",
    "too many states|more than [0-9,]+ states|at most [0-9,]+ states",
    "a combination of schemas",
    "has no complement",
    "an assertion in a repeat",
]


def cases(name: str) -> Iterator[dict[str, Any]]:
    """The cases of a file."""
    with gzip.open(FOLDER / f"{name}.jsonl.gz", "rt") as lines:
        yield from map(json.loads, lines)


def refusal(case: dict[str, Any]) -> str:
    """The reason for which a schema is refused; empty if the schema is read and accepts exactly the valid instances."""
    try:
        texts = SchemaParts(case["schema"], order="any")
        wrong = [(test["valid"], test["data"]) for test in case["tests"] if accepts_value(texts, test["data"]) != test["valid"]]
    except UnsupportedError as error:
        allows_none = "allows no value" in str(error) and not any(test["valid"] for test in case["tests"])
        return "" if allows_none else next((reason for reason in REASONS if re.search(reason, str(error))), str(error))
    assert not wrong, (case["case_id"], wrong)
    return ""


@needs_shared
def test_the_test_suite_is_followed() -> None:
    """Exactly the valid instances of the JSON Schema Test Suite are accepted, and a schema is refused only if it is not regular."""
    refusals = Counter(map(refusal, cases("json_schema_test_suite")))
    assert refusals == {"": 219, "uniqueItems is not supported": 2, "not in the document": 2, "remainders": 1}


@needs_shared
@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in sample(range(1, PARTS), 4))])
def test_published_schemas_are_followed(part: int) -> None:
    """Exactly the valid instances of published schemas are accepted, and a schema is only refused for a known reason."""
    refusals = Counter(map(refusal, [*cases("maskbench")][1::SHARE][part::PARTS]))
    assert {*refusals} <= {"", *REASONS}
