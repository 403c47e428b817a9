"""Each row of docs/models.md has a tokenizer, its models and an outcome; the page lists each of three hundred models once."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from support.shared_data import REPOSITORY

OUTCOMES = ("tried", "expected", "refused")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in (REPOSITORY / "docs" / "models.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith(("| ---", "| tokenizer |"))
]


def models(cell: str) -> list[str]:
    """The models in a row, without the files that it names."""
    return [name for name in re.split(r", (?:and )?|; (?:also )?| and (?!its like)", cell) if "`" not in name]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_rows(row: list[str]) -> None:
    """A row has three cells, and the last begins with an outcome; a refusal has a reason."""
    assert len(row) == 3
    assert row[2].startswith(OUTCOMES)
    assert row[2] != "refused"


def test_each_model_once() -> None:
    """The page names at least three hundred models, each once."""
    named = [name for _, cell, _ in ROWS if cell != "as named" for name in models(cell)]  # others have their names in the first cell
    assert len(named) > 300
    assert [name for name, count in Counter(named).items() if count > 1] == []
