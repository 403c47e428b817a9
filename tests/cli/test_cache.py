"""The command `fst cache` lists and removes tables, and nothing else."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from support.commands import TOKENS, call, error_of, written

import fst

DIGITS = 64  # number of characters in the names of tables


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of tables, with the tables of two files."""
    monkeypatch.setenv("FST_CACHE", str(tmp_path / "tables"))
    for name in ("first.txt", "second.txt"):
        fst.Tokenizer(written(tmp_path / name, "\n".join([*TOKENS, name]).encode()))
    return tmp_path / "tables"


def names(folder: Path) -> list[str]:
    """The names of all files in a folder, in order."""
    return sorted(path.name for path in folder.iterdir())


def test_list(folder: Path) -> None:
    """The list has a line for each table, the most recently used first, and the total size."""
    head, *rows, total = call("cache").stdout.splitlines()
    assert head.split("  ")[0] == "TABLE"
    assert [row.split()[-1] for row in rows] == [str(folder.parent / name) for name in ("second.txt", "first.txt")]
    assert {tuple(row.split()[1:3]) for row in rows} == {("wordpiece", str(len(TOKENS) + 1))}
    size = sum(path.stat().st_size for path in folder.glob("*.npz")) / 1e6
    assert total == f"2 tables in {folder}, {size:,.1f} MB"


def test_json(folder: Path) -> None:
    """The JSON has the path of each table, its kind, its number of tokens, its size, its last use and its source."""
    found = json.loads(call("cache", "--json", "*first*").stdout)
    assert [{name: found[0][name] for name in ("kind", "tokens", "source")}] == [
        {"kind": "wordpiece", "tokens": len(TOKENS) + 1, "source": str(folder.parent / "first.txt")}
    ]
    assert found[0]["bytes"] == Path(found[0]["file"]).stat().st_size


def test_remove(folder: Path) -> None:
    """Tables are removed by patterns of their sources, the last parts of their sources, or their own names."""
    before = names(folder)
    assert "1 table removed from" in call("cache", "--remove", "first*").stdout
    assert len(names(folder)) == len(before) - 2
    (table,) = folder.glob("*.npz")
    call("cache", "--remove", table.name[:12])
    assert names(folder) == []
    assert call("cache").stdout == f"0 tables in {folder}, 0.0 MB\n"


def test_names_of_no_table(folder: Path) -> None:
    """If a pattern matches no table, or no pattern is given, nothing is removed."""
    before = names(folder)
    message = error_of(call("cache", "--remove", "first.txt", "third", code=1))
    assert message == "no cached table matches 'third'; `fst cache` lists their names"
    assert "--remove needs a PATTERN" in call("cache", "--remove", code=2).stderr
    assert names(folder) == before


def test_other_files_are_left(folder: Path, tmp_path: Path) -> None:
    """Links, folders and files with other names are neither listed nor removed."""
    table = next(folder.glob("*.npz"))
    outside = shutil.copy(table, tmp_path / table.name)
    for number, name in enumerate(("own.npz", "f" * DIGITS, "a.txt")):
        written(folder / name, bytes(number))
    (folder / f"{'a' * DIGITS}.npz").symlink_to(outside)
    (folder / f"{'b' * DIGITS}.npz").mkdir()
    assert "2 tables removed from" in call("cache", "--remove", "*").stdout
    assert names(folder) == sorted(["own.npz", "f" * DIGITS, "a.txt", f"{'a' * DIGITS}.npz", f"{'b' * DIGITS}.npz"])
    assert Path(outside).exists()


def test_damaged_tables(folder: Path) -> None:
    """Damaged tables, and tables without the name of their source, are listed and can be removed."""
    table = next(path for path in folder.glob("*.npz") if path.with_suffix(".source").read_text().endswith("first.txt"))
    table.write_bytes(table.read_bytes()[:-5])
    table.with_suffix(".source").write_bytes(b"\xff\n\x1b[2J")
    written(folder / f"{'c' * DIGITS}.npz", b"").with_suffix(".source").symlink_to("/dev/zero")
    found = {each["file"][-10:]: each for each in json.loads(call("cache", "--json").stdout)}
    assert [(each["kind"], each["tokens"]) for each in (found["cccccc.npz"], found[table.name[-10:]])] == 2 * [("unreadable", None)]
    assert [each["source"] for each in (found["cccccc.npz"], found[table.name[-10:]])] == ["", "\ufffd??[2J"]
    assert "unreadable" in call("cache", "cccccccccccc").stdout
    assert "3 tables removed from" in call("cache", "--remove", "*").stdout


def test_other_versions(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the user's cache, tables of other versions are listed and removed, too; linked folders are left."""
    monkeypatch.delenv("FST_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    older, own = (tmp_path / "cache" / f"fst-toolkit-{version}" / "tables" for version in ("0.0.1", fst.__version__))
    linked = older.parent.with_name("fst-toolkit-0.0.2")
    shutil.copytree(folder, own)
    shutil.copytree(folder, older)
    linked.mkdir()
    (linked / "tables").symlink_to(folder)
    table = next(older.glob("*.npz"))
    table.write_bytes(b"of an older format")
    assert [line.partition(",")[0] for line in call("cache").stdout.splitlines()[-2:]] == [f"2 tables in {own}", f"2 tables in {older}"]
    assert "unreadable" in call("cache", f"{table.name[:12]}").stdout
    call("cache", "--remove", "*")
    assert names(own) == names(older) == []
    assert len(names(folder)) == 4


def test_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """If FST_CACHE is not an absolute path, the message contains it."""
    monkeypatch.setenv("FST_CACHE", "tables")
    assert error_of(call("cache", code=1)) == "the folder of cached tables is missing: FST_CACHE is 'tables'; expected an absolute path"
