"""`fst compile guide` makes tables of token masks; `fst explain` and `fst info` show them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.commands import call, error_of, written

import fst
from fst.compile import wordpiece


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    """The table of a tokenizer."""
    wordpiece(["[UNK]", "[SEP]", "1", "2", "##1", "##2", "##12", "a\u2028"]).save(tmp_path / "tok.npz")
    return tmp_path / "tok.npz"


def test_masks_of_a_pattern(tokenizer: Path, tmp_path: Path) -> None:
    """The table of a pattern is loaded as a guide, and `fst explain` shows the texts of the tokens that are allowed after a text."""
    table = tmp_path / "guide.npz"
    call("compile", "guide", tokenizer, "--regex", "12*|a\u2028", "--end-id", "1", "-o", table)
    guide = fst.load(table)
    assert isinstance(guide, fst.Guide)
    assert guide.allowed(guide.start).tolist() == [2, 7]
    lines = call("explain", table, "").stdout.splitlines()
    assert lines == [f"state {guide.start}: 2 tokens may follow; the text may not end", "  id  text", "  2   1", "  7   a\\u2028"]
    assert call("explain", table, "12").stdout.splitlines()[0].endswith("1 token may follow; the text may end, as token 1")
    assert call("explain", table, "1a").stdout == "no text continues '1a'\n"
    assert json.loads(call("info", table, "--json").stdout)["pattern"] == "12*|a\u2028"


def test_canonical_masks(tmp_path: Path) -> None:
    """For a canonical table, `fst explain` shows texts without the marks between tokens, and `fst draw` shows the marks."""
    wordpiece(["[UNK]", "[SEP]", "a", "##a", "##b", "abc", "ab"]).save(tmp_path / "tok.npz")
    table = tmp_path / "guide.npz"
    call("compile", "guide", tmp_path / "tok.npz", "--regex", "abc|aba*", "--canonical", "-o", table)
    assert call("explain", table, "").stdout.splitlines()[2:] == ["  5    abc", "  6    ab"]
    assert call("explain", table, "a").stdout == "no text continues 'a'\n"
    assert call("explain", table, " a").stdout == "no token ends after ' a'\n"
    assert call("explain", table, " aba").stdout.splitlines()[-1] == "  3   a"
    assert json.loads(call("info", table, "--json").stdout)["canonical"] is True
    assert call("draw", table, "--around", " abc").stdout.count("FF") > 0


def test_masks_of_a_schema(tmp_path: Path) -> None:
    """A schema in a file becomes a table."""
    wordpiece(["[UNK]", "[SEP]", "true", "false", "1", "##1"]).save(tmp_path / "tok.npz")
    schema = written(tmp_path / "schema.json", b'{"enum": [true, 11]}')
    call("compile", "guide", tmp_path / "tok.npz", "--schema", schema, "-o", tmp_path / "guide.npz")
    assert call("explain", tmp_path / "guide.npz", "").stdout.splitlines()[2:] == ["  2   true", "  4   1"]
    both = call("compile", "guide", tmp_path / "tok.npz", "--schema", schema, "--regex", "1", "-o", tmp_path / "b.npz", code=2)
    assert "--regex, --schema and --grammar are three ways to describe texts" in both.stderr


def test_masks_of_a_grammar(tokenizer: Path, tmp_path: Path) -> None:
    """A grammar in a file becomes a table; its syntax is given, and its errors contain the line and column."""
    grammar = written(tmp_path / "grammar.txt", b'root ::= "1" rest\nrest ::= "2" rest | "2"')
    call("compile", "guide", tokenizer, "--grammar", grammar, "--syntax", "gbnf", "-o", tmp_path / "guide.npz")
    assert call("explain", tmp_path / "guide.npz", "12").stdout.splitlines()[2:] == ["  5   2"]
    alone = call("compile", "guide", tokenizer, "--grammar", grammar, "-o", tmp_path / "b.npz", code=2)
    assert "--grammar and --syntax belong together" in alone.stderr
    wrong = call("compile", "guide", tokenizer, "--grammar", grammar, "--syntax", "lark", "-o", tmp_path / "b.npz", code=1)
    assert "line 1, column 7" in error_of(wrong)


def test_options_of_schemas(tmp_path: Path) -> None:
    """The options of schemas are those of `fst.compile.guide`, and are refused without a schema."""
    wordpiece(["[UNK]", "[SEP]", *(f"{mark}{char}" for char in '[]{},: a"' for mark in ("", "##"))]).save(tmp_path / "tok.npz")
    table = tmp_path / "guide.npz"

    def made(schema: bytes, *options: str, code: int = 0) -> str:
        """The errors of the command."""
        file = written(tmp_path / "schema.json", schema)
        return call("compile", "guide", tmp_path / "tok.npz", "--schema", file, *options, "-o", table, code=code).stderr

    nested = b'{"type": "array", "items": {"$ref": "#"}}'
    assert "is recursive; pass a depth" in made(nested, code=1)
    made(nested, "--depth", "1")
    assert call("explain", table, "[[").stdout.splitlines()[0].startswith("state")
    assert call("explain", table, "[[[").stdout.startswith("no text continues")
    assert call("explain", table, "[ [").stdout.splitlines()[0].startswith("state")
    made(nested, "--depth", "1", "--whitespace", "")
    assert call("explain", table, "[ [").stdout.startswith("no text continues")
    for option, begins in (("--formats", "no text"), ("--no-formats", "state")):
        made(b'{"type": "string", "format": "uuid"}', option)
        assert call("explain", table, '"a,').stdout.startswith(begins)
    two = b'{"type": "object", "properties": {"a": {"items": false, "type": "array"}, "aa": {"items": false, "type": "array"}}}'
    for order, begins in (("schema", "no text"), ("any", "state")):
        made(two, "--strict", "--order", order)
        assert call("explain", table, '{"aa": [], "a').stdout.startswith(begins)
        assert call("explain", table, '{"aaa').stdout.startswith("no text")
    alone = call("compile", "guide", tmp_path / "tok.npz", "--regex", "a", "--depth", "1", "--no-formats", "--strict", "-o", table, code=2)
    assert "--depth, --formats, --strict is given without a schema" in alone.stderr


def test_many_tokens_are_cut(tmp_path: Path) -> None:
    """If many tokens are allowed, the first hundred are shown."""
    wordpiece(["[UNK]", *(chr(code) for code in range(0x4E00, 0x4E96))]).save(tmp_path / "tok.npz")
    call("compile", "guide", tmp_path / "tok.npz", "--regex", ".", "-o", tmp_path / "guide.npz")
    lines = call("explain", tmp_path / "guide.npz", "").stdout.splitlines()
    assert (lines[-1], len(lines)) == ("  and 50 more", 103)


def test_faults(tokenizer: Path, tmp_path: Path) -> None:
    """A table without tokens, a malformed pattern and a wrong id are refused."""
    call("compile", "guide", tokenizer, "--regex", "1", "-o", tmp_path / "guide.npz")
    again = call("compile", "guide", tmp_path / "guide.npz", "--regex", "1", "-o", tmp_path / "b.npz", code=1)
    assert "is a table of guide; expected the table of a tokenizer" in error_of(again)
    assert "(" in error_of(call("compile", "guide", tokenizer, "--regex", "(", "-o", tmp_path / "b.npz", code=1))
    wrong = call("compile", "guide", tokenizer, "--regex", "1", "--end-id", "2", "-o", tmp_path / "b.npz", code=1)
    assert "--end-id is 2; expected the id of a special token" in error_of(wrong)
