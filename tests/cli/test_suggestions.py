"""Suggestions of `fst spell`."""

from __future__ import annotations

import json
from pathlib import Path

from support.commands import call

WORDS = "3\nhello/S\nhelp\nword\n"


def test_suggestions_follow_wrong_words(tmp_path: Path) -> None:
    """With --suggest, each wrong word has its suggestions, in lines, JSON lines and columns; a table may be compiled without them."""
    source, table = tmp_path / "en.aff", tmp_path / "en.npz"
    source.write_text("SET UTF-8\nSFX S Y 1\nSFX S 0 s .\n")
    source.with_suffix(".dic").write_text(WORDS)
    call("compile", "speller", source, "-o", table)
    assert call("spell", table, "--suggest", "2", stdin=b"helo word\n").stdout == "1\thelo\t0\t4\thello, help\n"
    assert call("spell", table, "--suggest", "9", "--style", "hunspell", stdin=b"helo\n").stdout == "1\thelo\t0\t4\thelp, hello\n"
    found = json.loads(call("spell", table, "--suggest", "1", "--format", "json", stdin=b"helo\n").stdout)
    assert found["misspellings"] == [{"word": "helo", "start": 0, "end": 4, "suggestions": ["hello"]}]
    call("compile", "speller", source, "--no-suggestions", "-o", table)
    assert call("spell", table, stdin=b"helo\n").stdout == "1\thelo\t0\t4\n"
    assert "the table has no suggestions; compile it" in call("spell", table, "--suggest", "1", stdin=b"helo\n", code=1).stderr
