"""`fst lookup`: its formats of lines, its options and running text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.commands import call, error_of, written

from fst.compile import lookup

PAIRS = [("flies", "fly+N"), ("flies", "fly+V"), ("é", "E"), ("New York", "NY+N")]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table for both directions, compiled by a command."""
    folder = tmp_path_factory.mktemp("tables")
    source = written(folder / "words.tsv", "".join(f"{word}\t{analysis}\n" for word, analysis in PAIRS).encode())
    call("compile", "lookup", source, "-o", folder / "lookup.npz", "--inverse")
    return folder / "lookup.npz"


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("tsv", "flies\tfly+N\nflies\tfly+V\nfly\t\n"),
        ("apertium", "^flies/fly+N/fly+V$\n^fly/*fly$\n"),
        ("xerox", "flies\tfly+N\nflies\tfly+V\n\nfly\t+?\n\n"),
        ("json", '{"text":"flies","analyses":["fly+N","fly+V"]}\n{"text":"fly","analyses":[]}\n'),
    ],
)
def test_lines(form: str, expected: str, table: Path) -> None:
    """Each format of lines has its own form for known words and for unknown words."""
    assert call("lookup", table, "--format", form, stdin=b"flies\nfly\n").stdout == expected


def test_escaped_words(table: Path) -> None:
    """In the stream format, a backslash precedes characters of words that have a meaning in this format."""
    assert call("lookup", table, "--format", "apertium", stdin=b"a/b\n").stdout == "^a\\/b/*a\\/b$\n"


def test_options(table: Path, tmp_path: Path) -> None:
    """--case, --limit and --inverse have the effects of the Python interface, and the ending .tsv selects the format."""
    call("lookup", table, "--case", "fold", "--limit", "1", "-o", tmp_path / "out.tsv", stdin=b"FLIES\n")
    assert (tmp_path / "out.tsv").read_text() == "FLIES\tfly+N\n"
    assert call("lookup", table, "--inverse", stdin=b"fly+V\n").stdout == "fly+V\tflies\n"


def test_weights(tmp_path: Path) -> None:
    """With a weighted table, lines have a column of weights, and JSON objects a member of weights."""
    lookup([("a", "x", 0.5), ("a", "y", -2.0)]).save(tmp_path / "weighted.npz")
    assert call("lookup", tmp_path / "weighted.npz", stdin=b"a\nb\n").stdout == "a\ty\t-2\na\tx\t0.5\nb\t\n"
    found = json.loads(call("lookup", tmp_path / "weighted.npz", "--format", "json", stdin=b"a\n").stdout)
    assert found == {"text": "a", "analyses": ["y", "x"], "weights": [-2.0, 0.5]}


def test_other_tables_are_refused(table: Path, tmp_path: Path) -> None:
    """A table of another kind is refused by this and by other commands; the message contains the found and the expected kind."""
    done = call("search", table, written(tmp_path / "in.txt", b"a\n"), code=2)
    assert error_of(done).endswith("is a table of lookup; expected a table of keywords; make one with `fst compile keywords`")


def test_running_text(table: Path, tmp_path: Path) -> None:
    """--text writes the stream of lt-proc, or JSON with tokens, and refuses other formats."""
    assert call("lookup", table, "--text", stdin=b"Flies in New York.\n[]\n").stdout == (
        "^Flies/Fly+N/Fly+V$ ^in/*in$ ^New York/NY+N$.\n\\[\\]\n"
    )
    found = json.loads(call("lookup", table, "--text", "--format", "json", "--limit", "1", stdin=b"flies x\n").stdout)
    assert found == {
        "text": "flies x",
        "tokens": [
            {"start": 0, "end": 5, "analyses": ["fly+N"], "section": "standard"},
            {"start": 6, "end": 7, "analyses": [], "section": None},
        ],
    }
    assert "--text cannot be combined with the format tsv" in call("lookup", table, "--text", "-o", tmp_path / "out.tsv", code=2).stderr
    assert call("lookup", table, "--text", "--deformatted", stdin=b"[<b>]Flies[</b>]\n").stdout == "[<b>]^Flies/Fly+N/Fly+V$[</b>]\n"
    assert "--deformatted needs --text" in call("lookup", table, "--deformatted", code=2).stderr
    assert "cannot be combined with the format json" in call("lookup", table, "--text", "--deformatted", "--format", "json", code=2).stderr
    assert "--text cannot be combined with --inverse" in call("lookup", table, "--text", "--inverse", code=2).stderr


def test_sections(tmp_path: Path) -> None:
    """--sections of `fst compile lookup` states where the tokens of each section end."""
    source = written(tmp_path / "two.att", b"0\t1\t,\t,\n1\n--\n0\t1\ta\tA\n1\n")
    call("compile", "lookup", source, "-o", tmp_path / "two.npz", "--sections", "inconditional,standard")
    assert call("lookup", tmp_path / "two.npz", "--text", stdin=b"a,b,a\n").stdout == "^a/A$^,/,$^b/*b$^,/,$^a/A$\n"
    assert "expected 1" in call("compile", "lookup", source, "-o", tmp_path / "two.npz", "--sections", "standard", code=1).stderr
