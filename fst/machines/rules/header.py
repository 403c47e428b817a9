"""The metadata of a table of rewrite rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fst.core.json_fields import TEXT, Rule, is_text, is_whole, stored_as
from fst.machines.rules.keys import MAX_KEYS
from fst.tables.header import Sections

DIRECTIONS = SIMULTANEOUS, LEFT_TO_RIGHT, RIGHT_TO_LEFT = "simultaneous", "ltr", "rtl"
RULE = ("text", "phi", "psi", "left", "right")
MAX_STAGES = 1 << 10


def _is_stage(value: Any) -> bool:
    """Whether a value is a mapping with a direction, a list of rules and a number of keys."""
    return (
        isinstance(value, Mapping)
        and value.keys() == {"direction", "rules", "keys"}
        and is_whole(value["keys"], 0, MAX_KEYS)
        and value["direction"] in DIRECTIONS
        and isinstance(value["rules"], list)
        and all(isinstance(rule, Mapping) and rule.keys() == {*RULE} and all(map(is_text, rule.values())) for rule in value["rules"])
    )


def _is_range(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(is_whole(number, 0, MAX_STAGES) for number in value)


STAGES = Rule(
    lambda value: isinstance(value, list) and 0 < len(value) <= MAX_STAGES and all(map(_is_stage, value)),
    f"a list of at most {MAX_STAGES:,} mappings with 'direction', {' or '.join(map(repr, DIRECTIONS))}, 'rules' and 'keys'",
)

COMPOSED = Rule(lambda value: isinstance(value, list) and all(map(_is_range, value)), "a list of pairs of numbers of stages")


@dataclass(frozen=True)
class RulesSettings:
    """The settings of the table.

    Attributes:
        kind: the kind of machine.
        stages: for each stage its direction, its rules and the number of its keys. A rule has its text as given, and the regular
            expressions without definitions. A stage with keys has no rules: it replaces each key by its string.
        composed: for each composition, the number of its first stage, and one past its last. In the table, the arrays of compositions
            follow the arrays of stages.
    """

    kind: str = stored_as(TEXT)
    stages: Sequence[Mapping[str, Any]] = stored_as(STAGES)
    composed: Sequence[Sequence[int]] = stored_as(COMPOSED)


@dataclass(frozen=True)
class RulesMetadata(Sections):
    """The metadata of a table of rewrite rules."""

    settings: RulesSettings
