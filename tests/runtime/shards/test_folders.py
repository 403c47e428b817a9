"""Folders of outputs for training: records, the index, shares, resumed and killed runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.commands import call, posix, written
from support.kept import wordpiece

import fst
from fst.runtime.files.shards.formats import FORMATS

TEXTS = ["un able", "", None, "able", "un " * 9, "able un"]
DOCUMENTS = [[1, 3], [], [], [3], [1] * 9, [3, 1]]
OPTIONS = ("--column", "text", "--format")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A small table."""
    wordpiece(["[UNK]", "un", "##able", "able"]).save(tmp_path / "table.npz")
    return tmp_path / "table.npz"


@pytest.fixture
def sources(tmp_path: Path) -> list[Path]:
    """A Parquet file of three row groups, and one of a single row group."""
    pq.write_table(pa.table({"text": TEXTS}), tmp_path / "a.parquet", row_group_size=2)
    pq.write_table(pa.table({"text": ["un"]}), tmp_path / "b.parquet")
    return [tmp_path / "a.parquet", tmp_path / "b.parquet"]


def content(folder: Path) -> dict[str, bytes]:
    """All files in a folder, also hidden ones."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def index(folder: Path) -> Any:
    """The index of a folder."""
    return json.loads((folder / "index.json").read_bytes())


def test_index(table: Path, sources: list[Path], tmp_path: Path) -> None:
    """The index lists all outputs in the order of the inputs, with their files, documents and ids; records are hidden."""
    call("encode", table, *sources, *OPTIONS, "megatron", "-o", f"{tmp_path}/out/")
    assert index(tmp_path / "out") == {
        "format": "megatron",
        "documents": 7,
        "tokens": 15,
        "outputs": [
            {
                "name": name,
                "source": f"{name}.parquet",
                "row_group": None,
                "dtype": "uint16",
                "documents": documents,
                "tokens": tokens,
                "files": {f"{name}.{end}": (tmp_path / "out" / f"{name}.{end}").stat().st_size for end in ("bin", "idx")},
            }
            for name, documents, tokens in (("a", 6, 14), ("b", 1, 1))
        ],
    }
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"a.bin", "a.idx", "b.bin", "b.idx", "index.json", ".complete"}


@pytest.mark.parametrize("form", FORMATS)
def test_shares(form: str, table: Path, sources: list[Path], tmp_path: Path) -> None:
    """Shares in any order, on one or two threads, give the same bytes as one run, and the index after the last share."""
    words: list[str | Path] = ["encode", table, *sources, *OPTIONS, form, "--per", "row-group", "-o"]
    call(*words, f"{tmp_path}/whole/", "--threads", "1")
    for number, threads in (2, "2"), (3, "1"), (1, "2"):
        assert not (tmp_path / "out" / "index.json").exists()
        call(*words, f"{tmp_path}/out/", "--share", f"{number}/3", "--threads", threads)
    assert content(tmp_path / "out") == content(tmp_path / "whole")
    assert len(content(tmp_path / "out" / ".complete")) == 4


def test_row_groups(table: Path, sources: list[Path], tmp_path: Path) -> None:
    """An output per row group has the name of the input and the number of the row group; together, they have all documents."""
    call("encode", table, sources[0], *OPTIONS, "npy", "--per", "row-group", "-o", f"{tmp_path}/out/")
    rows: list[list[int]] = []
    for group in range(3):
        ids, splits = (np.load(tmp_path / "out" / f"a-{group:05}{end}") for end in (".npy", ".splits.npy"))
        rows += [row.tolist() for row in np.split(ids, splits[1:-1])]
    assert rows == DOCUMENTS
    assert [output["row_group"] for output in index(tmp_path / "out")["outputs"]] == [0, 1, 2]
    call("encode", table, sources[0], "--column", "text", "--per", "row-group", "-o", f"{tmp_path}/columns/")
    assert pq.read_table(tmp_path / "columns" / "a-00002.parquet")["input_ids"].to_pylist() == DOCUMENTS[4:]


def test_row_groups_in_messages(table: Path, tmp_path: Path) -> None:
    """The message for a document that is not text contains its row group, and its row in the group."""
    pq.write_table(pa.table({"text": [b"un", b"able", b"\xff"]}), tmp_path / "a.parquet", row_group_size=2)
    words = ("encode", table, tmp_path / "a.parquet", *OPTIONS, "npy", "--per", "row-group", "-o", f"{tmp_path}/out/")
    assert "a.parquet, row group 1, row 1: not UTF-8" in call(*words, code=1).stderr


def test_appended_tokens(table: Path, sources: list[Path], tmp_path: Path) -> None:
    """--append adds a token after each document that is not null; for Megatron-LM, only after documents with ids."""
    for form, expected in (("bin", [1, 3, 0, 0, 3, 0, *[1] * 9, 0, 3, 1, 0]), ("megatron", [1, 3, 0, 3, 0, *[1] * 9, 0, 3, 1, 0])):
        call("encode", table, sources[0], *OPTIONS, form, "--append", "[UNK]", "-o", tmp_path / "x.bin")
        assert np.fromfile(tmp_path / "x.bin", np.uint16).tolist() == expected


class TestResume:
    """--resume keeps outputs that are complete and current."""

    @pytest.mark.parametrize("form", FORMATS)
    def test_complete(self, form: str, table: Path, sources: list[Path], tmp_path: Path) -> None:
        """Complete outputs are not written again, and a missing index is."""
        words: list[str | Path] = ["encode", table, *sources, *OPTIONS, form, "-o", f"{tmp_path}/out/"]
        call(*words)
        before = content(tmp_path / "out")
        (tmp_path / "out" / "index.json").unlink()
        (tmp_path / "out" / f"b{FORMATS[form].endings[0]}").unlink()
        os.utime(tmp_path / "out" / f"a{FORMATS[form].endings[0]}", (5, 5))
        assert "1 of 2 outputs are complete" in call(*words, "--resume").stderr
        assert (tmp_path / "out" / f"a{FORMATS[form].endings[0]}").stat().st_mtime == 5
        assert content(tmp_path / "out") == before
        assert "exists" in call(*words, code=2).stderr

    @pytest.mark.parametrize("change", ["source", "time", "table", "option", "size", "record", "no record"])
    def test_changes(self, change: str, table: Path, sources: list[Path], tmp_path: Path) -> None:
        """An output is written again if its source, the table, an option, a file or its record changed."""
        words: list[str | Path] = ["encode", table, sources[1], *OPTIONS, "megatron", "-o", f"{tmp_path}/out/"]
        call(*words)
        before = content(tmp_path / "out")
        out, record = tmp_path / "out" / "b.idx", tmp_path / "out" / ".complete" / "b.json"
        if change == "source":
            pq.write_table(pa.table({"text": ["able"]}), sources[1])
        elif change == "time":
            os.utime(sources[1], (7, 7))
        elif change == "table":
            wordpiece(["[UNK]", "un", "##able", "able", "more"]).save(table)
        elif change == "option":
            words += ["--append", "able"]
        elif change == "size":
            out.write_bytes(b"damaged")
        elif change == "record":
            record.write_bytes(b"{")
        else:
            record.unlink()
        os.utime(tmp_path / "out" / "b.bin", (5, 5))
        assert "complete" not in call(*words, "--resume").stderr
        assert (tmp_path / "out" / "b.bin").stat().st_mtime != 5
        assert content(tmp_path / "out").keys() == before.keys()
        assert (content(tmp_path / "out") == before) == (change in ("size", "record", "no record"))

    def test_index_of_a_changed_run(self, table: Path, sources: list[Path], tmp_path: Path) -> None:
        """While a run with other settings is incomplete, the folder has no index."""
        words: list[str | Path] = ["encode", table, *sources, *OPTIONS, "nanogpt", "-o", f"{tmp_path}/out/"]
        call(*words)
        call(*words, "--append", "able", "--share", "1/2", "--resume")
        assert not (tmp_path / "out" / "index.json").exists()
        call(*words, "--append", "able", "--share", "2/2", "--resume")
        assert index(tmp_path / "out")["tokens"] == 21


KILLED = """
import os, signal, sys
from fst.cli.main import main
from fst.runtime.files.shards.shard import Shard
write, count = Shard.write, 0

def killed(self, ids, ends):
    global count
    count += 1
    write(self, ids, ends)
    if count == 2:
        os.kill(os.getpid(), signal.SIGKILL)

Shard.write = killed
main(sys.argv[1:])
"""


@posix
@pytest.mark.parametrize("form", ["megatron", pytest.param("mds", marks=pytest.mark.slow)])
def test_killed(form: str, table: Path, sources: list[Path], tmp_path: Path) -> None:
    """A killed run leaves complete outputs and hidden unfinished files; a resumed run gives the same files as an undisturbed run."""
    words = [str(word) for word in ("encode", table, *sources, *OPTIONS, form, "--per", "row-group", "-o")]
    call(*words, f"{tmp_path}/whole/")
    done = subprocess.run([sys.executable, "-c", KILLED, *words, f"{tmp_path}/out/"], check=False, capture_output=True)
    assert done.returncode == -9, done.stderr
    shown = {name for name in content(tmp_path / "out") if not name.startswith(".")}
    assert shown == {name for name in content(tmp_path / "whole") if name.startswith("a-00000")}
    assert "1 of 4 outputs are complete" in call(*words, f"{tmp_path}/out/", "--resume").stderr
    assert {name: data for name, data in content(tmp_path / "out").items() if not name.endswith(".part")} == content(tmp_path / "whole")


@pytest.mark.parametrize("form", FORMATS)
def test_remote(form: str, table: Path, sources: list[Path], tmp_path: Path) -> None:
    """Folders of object stores get the same files, and are resumed."""
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    for source in sources:
        store.pipe(f"/in/{source.name}", source.read_bytes())
    options = (*OPTIONS, form, "--per", "row-group", "-o")
    try:
        call("encode", table, *sources, *options, f"{tmp_path}/out/")
        call("encode", table, "memory://in", *options, "memory://out/")
        data = content(tmp_path / "out")
        found = {path.removeprefix("/out/"): store.cat(path) for path in store.find("/out")}
        assert found.keys() == data.keys()
        assert {name: found[name] for name in data if name[0] != "."} == {name: data[name] for name in data if name[0] != "."}
        assert "4 of 4 outputs are complete" in call("encode", table, "memory://in", *options, "memory://out/", "--resume").stderr
    finally:
        store.rm("/", recursive=True)


def test_json_lines(table: Path, tmp_path: Path) -> None:
    """JSON lines give one output per file, also with --per row-group."""
    written(tmp_path / "c.jsonl", b'{"text": "un able"}\n{"text": ""}\n')
    call("encode", table, tmp_path / "c.jsonl", "--field", "text", "--format", "bin", "--per", "row-group", "-o", f"{tmp_path}/out/")
    assert np.load(tmp_path / "out" / "c.splits.npy").tolist() == [0, 2, 2]
    assert fst.Tokenizer.load(table).encode("un able").tolist() == np.fromfile(tmp_path / "out" / "c.bin", np.uint16).tolist()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--format", "mds", "-o", "x.mds"], "mds is written to a folder, which gets an index; end its name with /"),
        (["--format", "megatron", "-o", "x"], "megatron consists of X.bin, X.idx; name a file that ends in .bin"),
        (["--format", "datatrove", "-o", "x.bin"], "name a file that ends in .ds"),
        (["--format", "megatron"], "needs a regular file"),
        (["-o", "x.mds"], ".mds is not written; name a folder, as in -o out/, with --format mds"),
        (["--share", "1/2", "-o", "x.bin"], "--share is for a folder of outputs"),
        (["--per", "row-group", "-o", "x.bin"], "--per is for a folder of outputs"),
        (["--share", "3/2", "-o", "out/"], "'3/2' is no share; expected K/N"),
        (["--share", "x", "-o", "out/"], "'x' is no share; expected K/N"),
        (["--share", f"1/{'9' * 5000}", "-o", "out/"], "is no share; expected K/N"),
    ],
)
def test_usage(words: list[str], message: str, table: Path, sources: list[Path]) -> None:
    """Impossible outputs are refused, and the message contains a remedy."""
    assert message in " ".join(call("encode", table, sources[0], "--column", "text", *words, code=2).stderr.split())


def test_colliding_files(table: Path, tmp_path: Path) -> None:
    """Two outputs are refused if any of their files have the same name."""
    for name in ("a.txt", "a.splits.txt"):
        written(tmp_path / name, b"un\n")
    words = ("encode", table, tmp_path / "a.txt", tmp_path / "a.splits.txt", "--format", "npy", "-o", f"{tmp_path}/out/")
    assert "would both be written to" in call(*words, code=2).stderr


def test_index_of_another_program(table: Path, tmp_path: Path) -> None:
    """A file index.json that is an input, or that another program wrote, is kept."""
    (tmp_path / "in").mkdir()
    found = written(tmp_path / "in" / "index.json", b'{"text": "un"}\n')
    words = ("encode", table, "--format", "bin", "-o", f"{found.parent}/")
    assert "is also an input" in call(*words, found, "--field", "text", "--overwrite", code=2).stderr
    source = written(tmp_path / "a.txt", b"un\n")
    for options in (), ("--resume",):
        assert "pass --overwrite to replace it" in call(*words, source, *options, code=2).stderr
    assert [path.name for path in found.parent.iterdir()] == ["index.json"]
    call(*words, source, "--overwrite")
    call(*words, source, "--resume")
    assert index(found.parent)["tokens"] == 1


@pytest.mark.parametrize("record", [b"[]", b"{}", b"1", b'{"settings": 1, "made_of": 2}', b"[" * 100_000])
def test_damaged_records(record: bytes, table: Path, sources: list[Path], tmp_path: Path) -> None:
    """An output with a damaged record is written again."""
    words: list[str | Path] = ["encode", table, sources[1], *OPTIONS, "bin", "-o", f"{tmp_path}/out/"]
    call(*words)
    before = content(tmp_path / "out")
    (tmp_path / "out" / ".complete" / "b.json").write_bytes(record)
    assert "complete" not in call(*words, "--resume").stderr
    assert content(tmp_path / "out") == before


def test_fewer_row_groups(table: Path, sources: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source that loses row groups during the run is an error with a reason."""
    monkeypatch.setattr("fst.runtime.files.columns.count_groups", lambda _: 2)
    words = ("encode", table, sources[1], *OPTIONS, "bin", "--per", "row-group", "-o", f"{tmp_path}/out/")
    assert "the number of row groups is 1; expected at least 2" in call(*words, code=1).stderr


def test_standard_input(table: Path, tmp_path: Path) -> None:
    """Standard input is refused before it is read."""
    words = ("encode", table, *OPTIONS, "bin", "--per", "row-group", "-o", f"{tmp_path}/out/")
    assert "standard input has no name" in call(*words, code=2).stderr
