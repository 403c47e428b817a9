"""`fst segment`: standard streams and refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.commands import call, error_of, written

from fst.compile import maxmatch

WORDS = ["研究", "研究生", "生命", "命", "科学", "New York"]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of a dictionary."""
    path = tmp_path_factory.mktemp("tables") / "dictionary.npz"
    maxmatch(WORDS).save(path)
    return path


def test_standard_streams(table: Path) -> None:
    """Without a file, documents come from standard input, and tokens go to standard output."""
    assert call("segment", table, stdin="研究生命\n".encode()).stdout == "研究生 命\n"
    found: dict[str, Any] = json.loads(call("segment", table, "--format", "json", stdin="研究 命\n".encode()).stdout)
    assert found == {"text": "研究 命", "tokens": ["研究", " ", "命"]}


def test_other_tables_are_refused(table: Path, tmp_path: Path) -> None:
    """A table of another kind is refused, and the message contains the found and the expected kind."""
    done = call("search", table, written(tmp_path / "in.txt", b"a\n"), code=2)
    assert error_of(done).endswith("is a table of maxmatch; expected a table of keywords; make one with `fst compile keywords`")


def test_arrays_are_refused(table: Path, tmp_path: Path) -> None:
    """Tokens are not written to a file of arrays."""
    assert "write JSON lines (.jsonl), or Parquet" in call("segment", table, "-o", tmp_path / "out.npy", code=2, stdin=b"a\n").stderr
