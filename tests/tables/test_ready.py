"""The package fst-tables: it is built from a list, and its tables are loaded by name."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from support.commands import TIMEOUT, call
from support.machines.documents import byte_level
from support.shared_data import REPOSITORY

import fst
from fst.tables import ready

tomllib: Any = pytest.importorskip("tomllib", reason="the builder of fst-tables needs Python 3.11")

LIST = REPOSITORY / ".ci" / "tables.toml"
if not LIST.exists():
    pytest.skip("the source distribution does not contain .ci", allow_module_level=True)
BUILDER: Any = module_from_spec(found := spec_from_file_location("builder_of_tables", LIST.with_suffix(".py")))  # type: ignore[arg-type]
found.loader.exec_module(BUILDER)  # type: ignore[union-attr]
MERGES = [(b"a", b"b"), (b"ab", b"c"), (b" ", b"ab")]
TEXT = "abc ab cab"
TABLES = """
version = "0.1.0"

[licences.MIT]
from = "these tests"
path = "MIT"
sha256 = "{MIT}"

[[tables]]
name = "toy"
aliases = ["maker/toy-0.5B"]
licence = "MIT"
from = "these tests"
[tables.files]
"tokenizer.json" = "{tokenizer.json}"

[[tables]]
name = "words"
licence = "MIT"
from = "these tests"
[tables.files]
"vocab.txt" = "{vocab.txt}"
"""
FILES = {
    "MIT": "Permission is hereby granted",
    "tokenizer.json": json.dumps(byte_level(r"\S+|\s+", MERGES)),
    "vocab.txt": "[UNK]\nun\n##able\n",
}


def build(folder: Path, listed: str) -> Path:
    """Build a wheel of sources in a folder."""
    for file, text in FILES.items():
        (folder / file).write_text(text, encoding="utf-8")
        listed = listed.replace(f"{{{file}}}", sha256(text.encode()).hexdigest())
    (folder / "tables.toml").write_text(listed, encoding="utf-8")
    BUILDER.main(str(folder), str(folder / "dist"), str(folder / "tables.toml"))
    (wheel,) = (folder / "dist").iterdir()
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of two toy tables."""
    return build(tmp_path_factory.mktemp("sources"), TABLES)


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which pip has installed the wheel."""
    folder = tmp_path_factory.mktemp("site")
    command = (sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-compile", "--target", folder, wheel)
    subprocess.run(command, check=True, timeout=TIMEOUT)
    return folder


@pytest.fixture
def installed(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The package of toy tables, on the path of this process."""
    monkeypatch.syspath_prepend(site)
    ready.names.cache_clear()
    yield site / "fst_tables"
    ready.names.cache_clear()


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No package of tables."""
    monkeypatch.setattr(ready, "PACKAGE", "fst_tables_that_nobody_has")
    ready.names.cache_clear()
    yield
    ready.names.cache_clear()


@pytest.mark.parametrize("name", ["toy", "maker/toy-0.5B"])
def test_names(name: str, installed: Path, tmp_path: Path) -> None:
    """A table is loaded by its name and by its other names, with the ids of the compiled vocabulary, and a pickle contains its file."""
    (tmp_path / "tokenizer.json").write_text(FILES["tokenizer.json"], encoding="utf-8")
    found = fst.load(name, fst.BpeTokenizer)
    assert found.encode(TEXT).tolist() == fst.Tokenizer(tmp_path / "tokenizer.json").encode(TEXT).tolist()
    assert not found._table.has_automaton
    assert found._table.origin is not None
    assert found._table.origin.place == str(installed / "toy.npz")
    assert fst.Tokenizer.load("words").tokenize("unable") == ["un", "##able"]


def test_files_come_first(installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An existing file or folder with the name of a table is read, not the table; a `Path`, and a name with the suffix .npz, are files."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "toy").write_bytes((installed / "words.npz").read_bytes())
    assert fst.load("toy", fst.Tokenizer).tokenize("unable") == ["un", "##able"]
    (tmp_path / "words").mkdir()
    with pytest.raises(IsADirectoryError, match="this is a folder"):
        fst.load("words")
    for other in (Path("maker/toy-0.5B"), "maker/toy-0.5B.npz"):
        with pytest.raises(FileNotFoundError) as error:
            fst.load(other)
        assert "fst-tables" not in str(error.value)


@pytest.mark.parametrize("name", ["toys", "../fst_tables/toy", "maker/../toy", "toy\0"])
def test_unknown_names(name: str, installed: Path) -> None:
    """The error about an unknown name is about both: a file and a table."""
    assert installed
    with pytest.raises(FileNotFoundError, match=r"no such file, and no table of this name: fst-tables has .*'toy', .*, but not"):
        fst.load(name)


@pytest.mark.usefixtures("missing")
def test_package_that_is_not_installed() -> None:
    """If the package is not installed, the error contains the command that installs it."""
    with pytest.raises(FileNotFoundError, match=r"no such file, .* fst-tables is not installed; `pip install fst-tables`"):
        fst.load("gpt2")


def test_commands(installed: Path) -> None:
    """Commands take the names of tables."""
    assert installed
    assert call("encode", "words", "--format", "tokens", stdin=b"unable\n").stdout == "un ##able\n"
    assert "fst-tables has" in call("info", "toys", code=1).stderr


def test_a_damaged_table_is_refused(installed: Path) -> None:
    """Tables of the package are proven as any other file."""
    file = installed / "words.npz"
    data = file.read_bytes()
    try:
        file.write_bytes(data[:2000] + bytes([data[2000] ^ 1]) + data[2001:])
        with pytest.raises(fst.TableError, match=r"words\.npz"):
            fst.load("words")
    finally:
        file.write_bytes(data)


def test_contents_of_the_wheel(wheel: Path, site: Path) -> None:
    """The wheel contains the licence, and an SBOM and an index with the digest of each table."""
    info = site / "fst_tables-0.1.0.dist-info"
    assert (info / "licenses" / "MIT.txt").read_text(encoding="utf-8") == FILES["MIT"]
    assert "| `toy` | `maker/toy-0.5B` | MIT | these tests |" in (info / "METADATA").read_text(encoding="utf-8")
    sbom = json.loads((info / "sboms" / "fst_tables.cdx.json").read_text(encoding="utf-8"))
    stated = {each["name"]: each["hashes"][0]["content"] for each in sbom["components"]}
    index = json.loads((site / "fst_tables" / "index.json").read_text(encoding="utf-8"))
    with ZipFile(wheel) as files:
        found = {name: sha256(files.read(name)).hexdigest() for name in files.namelist() if name.endswith(".npz")}
    assert stated == found == {f"fst_tables/{name}": known["sha256"] for name, known in index["tables"].items()}
    assert index["names"] == {"toy": "toy.npz", "maker/toy-0.5B": "toy.npz", "words": "words.npz"}


def test_the_same_bytes(wheel: Path, tmp_path: Path) -> None:
    """The same sources give the same wheel."""
    assert build(tmp_path, TABLES).read_bytes() == wheel.read_bytes()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [("{vocab.txt}", "0" * 64, "vocab.txt has SHA-256 .*; expected 0+;"), ('"words"', '"maker/toy-0.5B"', "are the same")],
)
def test_wrong_lists(old: str, new: str, message: str, tmp_path: Path) -> None:
    """A source with another digest, and a name that two tables have, are refused."""
    with pytest.raises(SystemExit, match=message):
        build(tmp_path, TABLES.replace(old, new))


def test_the_real_list() -> None:
    """Each table of the real list has a name of its own, a licence whose text is listed, a source, digests, and a row in the page."""
    page = (REPOSITORY / "docs" / "ready-tables.md").read_text(encoding="utf-8")
    listed = tomllib.loads(LIST.read_text(encoding="utf-8"))
    names = [name for entry in listed["tables"] for name in (entry["name"], *entry.get("aliases", ()))]
    assert len({*names}) == len(names)
    for entry in listed["tables"]:
        assert BUILDER.row(entry) in page
        assert entry.keys() - {"aliases"} == {"name", "licence", "from", "files"}
        assert re.fullmatch(r"[A-Za-z0-9][\w.-]*", entry["name"])
        assert entry["licence"] in listed["licences"]
        assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in entry["files"].values())
    assert not any(name.endswith(ready.SUFFIX) for name in names)
