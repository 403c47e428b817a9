"""Compiled rules give the texts of foma, pynini and pyfoma."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.shared_data import SHARED, needs_shared
from support.tiers import sample

import fst
from fst.compile import cascade, rewrite
from fst.machines.rules.table import RulesTable

FOLDER = SHARED / "oracles/toolkit"
DIRECTIONS = {
    "left to right, left context of the output": "ltr",
    "right to left, right context of the output": "rtl",
    "ltr": "ltr",
    "rtl": "rtl",
}
# Rows that need another semantics: each expects several texts, or the text of a match that is not the leftmost and longest.
OTHER = {
    "td_deletion_optional": "an optional rule, which gives the text with and without the rule",
    "directed/all": "all matches",
    "directed/3": "all matches",
    "directed/longest": "the longest matches, which need not be the leftmost",
    "directed/leftmost3": "leftmost matches of any length",
    "directed/shortest": "the shortest matches",
    "directed/leftmost-shortest": "the shortest of the leftmost matches",
}
ANSWERS_OF_SHORTEST = ("directed/shortest", "directed/leftmost-shortest")


def rows(name: str) -> list[dict[str, Any]]:
    """The rows of a file."""
    return [json.loads(line) for line in (FOLDER / f"rewrite_rules_{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def table_of(row: dict[str, Any], direction: str) -> RulesTable:
    """The table of a row."""
    if row.get("cascade"):
        return cascade(*(table_of(stage, direction) for stage in row["cascade"]))
    if row.get("map"):
        return rewrite(dict(row["map"]), left=row["left"], right=row["right"], direction=direction)
    return rewrite(f"{row['phi']} -> {row['psi']} / {row['left']} _ {row['right']}", direction=direction)


def answers(row: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """For each input of a row, the text that the rules give, and the texts of the oracle."""
    direction = DIRECTIONS.get(row.get("semantics") or row["direction"], "simultaneous")
    texts = [text for text, _ in row["pairs"]]
    found = fst.Rewriter(table_of(row, direction)).apply_batch(texts)
    return [*zip(found, (expected for _, expected in row["pairs"]), strict=True)]


@needs_shared
def test_random_rules() -> None:
    """A random rule gives the text of two other programs, or, if the left side matches in several ways, one of their texts."""
    for row in sample(rows("random"), 8):
        for found, expected in answers(row):
            assert found in expected, row["case_id"]
            assert len(expected) == 1 or not row["functional"]


@needs_shared
@pytest.mark.parametrize("name", ["pynini", "pyfoma"])
def test_rules_of_other_projects(name: str) -> None:
    """The rules of other projects' tests give the expected texts, except rows that need another semantics."""
    for row in rows(name):
        for found, expected in answers(row):
            if row["case_id"] in ANSWERS_OF_SHORTEST:
                continue
            assert [found] == expected or (row["case_id"] in OTHER and found in expected), row["case_id"]
