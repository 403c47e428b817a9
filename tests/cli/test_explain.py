"""`fst explain` shows what tables of keywords, rules and look-up find in a text."""

from __future__ import annotations

from pathlib import Path

from support.commands import call, written

from fst.compile import keywords, lookup, maxmatch, rules


def explained(table: Path, text: str) -> list[str]:
    """The lines of the command."""
    return call("explain", table, text).stdout.splitlines()


def test_keywords(tmp_path: Path) -> None:
    """For keywords, each match is shown with its bytes and number, and the normalized text if it differs from the given text."""
    keywords(["he", "she"], ignore_case=True).save(tmp_path / "t.npz")
    assert explained(tmp_path / "t.npz", "éSHE") == ["read as éshe", "  first byte  end  match  keyword", "  2           5    SHE    1"]
    assert explained(tmp_path / "t.npz", "x") == ["no match"]


def test_rules(tmp_path: Path) -> None:
    """For rules, the lines of `fst.Rewriter.explain` are shown: each text, the matches in it, and the contexts that fail."""
    rules(written(tmp_path / "a.rules", b"z -> c / _ e\nc -> k / _ e\n")).save(tmp_path / "t.npz")
    assert explained(tmp_path / "t.npz", "ze\u200bza") == [
        r"ze\u200bza",
        "  0-1 'z'  z -> c / _ e  applied: 'c'",
        "  3-4 'z'  z -> c / _ e  right context fails",
        r"ce\u200bza",
        "  0-1 'c'  c -> k / _ e  applied: 'k'",
        r"ke\u200bza",
    ]


def test_look_up(tmp_path: Path) -> None:
    """For look-up, the analyses of a word are shown, or, without analyses, the longest beginning that the transducer reads."""
    lookup([("cats", "cat<n><pl>"), ("𝜊", "o")]).save(tmp_path / "t.npz")
    assert explained(tmp_path / "t.npz", "cats") == ["cat<n><pl>"]
    assert explained(tmp_path / "t.npz", "cax") == ["no analysis; the longest beginning that the transducer reads is 'ca'"]
    assert explained(tmp_path / "t.npz", "𝜊x") == ["no analysis; the longest beginning that the transducer reads is '𝜊'"]


def test_other_tables(tmp_path: Path) -> None:
    """A table that the command cannot explain is refused, and the message contains the kind of the table."""
    maxmatch(["a"]).save(tmp_path / "t.npz")
    assert "is a table of maxmatch" in call("explain", tmp_path / "t.npz", "a", code=1).stderr
