"""`fst compile speller` and `fst spell`: the formats of wrong words."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from support.commands import call, written
from support.shared_data import TESTS


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table, compiled by a command."""
    folder = tmp_path_factory.mktemp("tables")
    aff = written(folder / "small.aff", b"SET UTF-8\nSFX S Y 1\nSFX S 0 s .\n")
    written(folder / "small.dic", "2\nword/S\nübel\n".encode())
    call("compile", "speller", aff, "-o", folder / "small.npz")
    return folder / "small.npz"


TEXT = "Words, wrods.\n\nÜbel übl!\n".encode()


def test_lines(table: Path) -> None:
    """Each wrong word is a line with the number of its document, the word and its bounds."""
    assert call("spell", table, stdin=TEXT).stdout == "1\twrods\t7\t12\n3\tübl\t5\t8\n"


def test_records(table: Path, tmp_path: Path) -> None:
    """JSON and Parquet have the fields of the documents, and the wrong words of each."""
    rows = [json.loads(line) for line in call("spell", table, "--format", "json", stdin=TEXT).stdout.splitlines()]
    assert rows[0] == {"text": "Words, wrods.", "misspellings": [{"word": "wrods", "start": 7, "end": 12}]}
    source = written(tmp_path / "in.jsonl", b'{"id": 7, "text": "wrod"}\n{"id": 8, "text": "word"}\n')
    call("spell", table, source, "--field", "text", "-o", tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").to_pylist() == [
        {"id": 7, "text": "wrod", "misspellings": [{"word": "wrod", "start": 0, "end": 4}]},
        {"id": 8, "text": "word", "misspellings": []},
    ]


def test_malformed_text(table: Path) -> None:
    """A document that is not UTF-8 is an error with its line, or is skipped or repaired."""
    source = b"word\n\xff wrod\n"
    assert "line 2: not UTF-8" in call("spell", table, stdin=source, code=1).stderr
    assert call("spell", table, "--errors", "skip", stdin=source).stdout == ""
    assert call("spell", table, "--errors", "replace", stdin=source).stdout == "2\twrod\t2\t6\n"


def test_long_word_has_no_suggestions(tmp_path: Path) -> None:
    """A word that is too long for the suggestions of a speller of Giella is a wrong word without suggestions."""
    call("compile", "speller", TESTS / "support" / "machines" / "zhfst" / "small.zhfst", "-o", tmp_path / "small.npz")
    assert call("spell", tmp_path / "small.npz", "--suggest", "1", stdin=b"a" * 600).stdout == f"1\t{'a' * 600}\t0\t600\t\n"


def test_other_tables_are_refused(table: Path) -> None:
    """A table of another kind is refused; the message contains the expected kind."""
    assert "expected a table of keywords" in call("search", table, stdin=b"a\n", code=2).stderr
