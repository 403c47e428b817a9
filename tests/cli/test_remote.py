"""URLs on the command line: remote files are read and written like local files. These tests use files in memory."""

from __future__ import annotations

import builtins
import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.commands import call, error_of, written
from support.kept import wordpiece

import fst
from fst.tables import npz

fsspec = pytest.importorskip("fsspec")


@pytest.fixture
def store() -> Iterator[Any]:
    """A remote file system in memory with some documents."""
    system = fsspec.filesystem("memory")
    system.pipe({"/in/a.txt": b"un\nable\n", "/in/b.txt.gz": gzip.compress(b"able un\n"), "/in/sub/c.jsonl": b'{"text": "un un"}\n'})
    with system.open("/in/d.parquet", "wb") as file:
        pq.write_table(pa.table({"text": ["un", None]}), file)
    yield system
    system.rm("/", recursive=True)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A small table."""
    wordpiece(["[UNK]", "un", "##able", "able"]).save(tmp_path / "table.npz")
    return tmp_path / "table.npz"


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("words", "ids"),
    [
        (["memory://in/a.txt"], b"1\n3\n"),
        (["memory://in/b.txt.gz"], b"3 1\n"),
        (["memory://in/*.txt"], b"1\n3\n"),
        (["memory://in/sub/c.jsonl", "--field", "text"], b"1 1\n"),
        (["memory://in/d.parquet", "--column", "text"], b"1\n\n"),
        (["memory://in/sub", "--input-format", "json", "--field", "text"], b"1 1\n"),
    ],
)
def test_files_are_read(words: list[str], ids: bytes, table: Path) -> None:
    """Text, JSON lines and columns, compressed or not, are read from URLs and from patterns and folders of URLs."""
    assert call("encode", table, *words).data == ids


def test_files_are_written(store: Any, table: Path) -> None:
    """The output at a URL is complete, and its row splits are next to it."""
    call("encode", table, "memory://in/a.txt", "-o", "memory://out/x.npy")
    with store.open("/out/x.npy") as ids, store.open("/out/x.splits.npy") as splits:
        assert np.load(ids).tolist() == [1, 3]
        assert np.load(splits).tolist() == [0, 1, 2]
    call("encode", table, "memory://in/*.txt*", "--format", "json", "-o", "memory://folder/")
    assert {path: store.cat(path) for path in store.find("/folder")} == {
        "/folder/a.jsonl": b'{"input_ids":[1]}\n{"input_ids":[3]}\n',
        "/folder/b.jsonl": b'{"input_ids":[3,1]}\n',
    }


def test_failed_output_is_not_there(store: Any, table: Path) -> None:
    """A failed command leaves no file at the output's URL."""
    store.pipe("/in/wrong.txt", b"un\n\xff\n")
    assert "not UTF-8" in error_of(call("encode", table, "memory://in/wrong.txt", "-o", "memory://out/x.bin", code=1))
    assert store.find("/out") == []


def test_tables_and_their_sources(store: Any, table: Path, tmp_path: Path) -> None:
    """Tables are compiled from URLs to URLs, and all commands and `fst.load` accept these tables."""
    store.pipe({"/model/vocab.txt": b"[UNK]\nun\n##able\nable\n", "/words.txt": b"un\n"})
    call("compile", "memory://model/vocab.txt", "-o", "memory://tables/a.npz")
    call("compile", "memory://model", "-o", "memory://tables/b.npz")
    assert store.cat("/tables/a.npz") == table.read_bytes()
    store.get("/model", str(tmp_path / "model"), recursive=True)
    call("compile", tmp_path / "model", "-o", tmp_path / "b.npz")
    assert store.cat("/tables/b.npz") == (tmp_path / "b.npz").read_bytes()
    call("compile", "keywords", "memory://words.txt", "-o", "memory://tables/words.npz")
    assert fst.Tokenizer.load("memory://tables/a.npz").encode("unable").tolist() == [1, 2]
    assert call("encode", "memory://tables/a.npz", "memory://in/a.txt").data == b"1\n3\n"
    assert call("search", "memory://tables/words.npz", "memory://in/a.txt").data == b"un\n"
    assert json.loads(call("info", "memory://tables/a.npz", "--json").data)["bytes"] == table.stat().st_size
    call("verify", "memory://tables/a.npz")
    fst.load(table)._table.save("memory://tables/c.npz")
    assert store.cat("/tables/c.npz") == table.read_bytes()


def test_tables_that_are_none(store: Any, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table at a URL is verified like a table in a file, and reading stops at the maximum size of a table."""
    store.pipe({"/x.npz": table.read_bytes()[:-1], "/y.npz": b"no table"})
    with pytest.raises(fst.TableError, match=r"memory://x\.npz: .*compile it again"):
        fst.load("memory://x.npz")
    with pytest.raises(fst.TableError, match=r"memory://y\.npz is not a table file"):
        fst.load("memory://y.npz")
    with pytest.raises(FileNotFoundError):
        fst.load("memory://none.npz")
    monkeypatch.setattr(npz, "MAX_FILE_BYTES", 99)
    with pytest.raises(fst.TableError, match="100 bytes; a table file has at most 99"):
        fst.load("memory://x.npz")


def test_folder_to_folder(store: Any, table: Path) -> None:
    """A remote folder of outputs is written like a local one, also with --resume."""
    words = ("encode", table, "memory://in/a.txt", "memory://in/b.txt.gz", "-o", "memory://out")
    call(*words[:-1], "memory://out/")
    assert store.cat("/out/a.txt") == b"1\n3\n"
    assert gzip.decompress(store.cat("/out/b.txt.gz")) == b"3 1\n"
    assert "out/a.txt exists, and so do 1 more" in call(*words, code=2).stderr
    store.rm("/out/a.txt")
    assert "1 of 2 outputs are complete" in call(*words, "--resume").stderr
    store.pipe("/in/b.txt.gz", gzip.compress(b"un\n"))
    call(*words, "--resume")
    assert gzip.decompress(store.cat("/out/b.txt.gz")) == b"1\n"
    call("encode", table, "memory://in/sub", "--field", "text", "-o", "memory://out")
    assert store.cat("/out/c.jsonl") == b'{"input_ids":[1,1]}\n'


def test_chained_urls(store: Any, table: Path, tmp_path: Path) -> None:
    """URLs of files inside archives and of cached files are read, also if the URL contains a pattern."""
    with ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("a.txt", "un\n")
        archive.writestr("b.txt", "able\n")
    store.pipe("/x.zip", (tmp_path / "x.zip").read_bytes())
    for url in ("zip://*.txt::memory://x.zip", f"zip://*.txt::{tmp_path}/x.zip"):
        assert call("encode", table, url).data == b"1\n3\n"
    assert call("encode", table, "simplecache::memory://in/*.txt").data == b"1\n3\n"
    assert call("encode", table, "zip://b.txt::memory://x.zip").data == b"3\n"


def test_files_of_this_machine(table: Path, tmp_path: Path) -> None:
    """A URL of a local file means the same file as its path: as input, output or table, and in the check that no output is an input."""
    written(tmp_path / "a.txt", b"un\n")
    call("encode", f"file://{table}", f"file://{tmp_path}/*.txt", "-o", f"file://{tmp_path}/out.ids")
    assert (tmp_path / "out.ids").read_bytes() == b"1\n"
    assert "also an input" in call("encode", table, tmp_path / "a.txt", "-o", f"file://{tmp_path}/a.txt", code=2).stderr
    assert fst.Tokenizer.load(f"file://{table}").encode("un").tolist() == [1]


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("words", "message", "code"),
    [
        (["memory://in/none.txt"], "none.txt", 1),
        (["nobody://in/a.txt"], "nobody://in/a.txt: Protocol not known", 1),
        (["memory://in/a.txt", "-o", "memory://in/a.txt"], "is also an input", 2),
        (["memory://in/a.txt", "-o", "memory:///in/a.txt"], "is also an input", 2),
        (["zip://a.txt::memory://none.zip"], "none.zip", 1),
    ],
)
def test_what_is_not_there(words: list[str], message: str, code: int, table: Path) -> None:
    """A missing file, an unknown scheme, and an output that is an input are reported."""
    assert message in call("encode", table, *words, code=code).stderr


def test_without_fsspec(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without `fsspec`, the message about a URL explains how to install `fsspec`, and commands still read local files."""
    load = builtins.__import__

    def without(name: str, *more: Any) -> Any:
        if name == "fsspec":
            raise ModuleNotFoundError(name)
        return load(name, *more)

    monkeypatch.delitem(sys.modules, "fsspec")
    monkeypatch.setattr(builtins, "__import__", without)
    assert "pip install fsspec" in error_of(call("encode", table, "s3://bucket/a.txt", code=1))


def test_sizes_are_known(store: Any) -> None:
    """The size of a URL is the number of bytes of its file."""
    from fst.runtime.files.streams import size

    assert size(["memory://in/a.txt", "memory://in/b.txt.gz"]) == 8 + store.size("/in/b.txt.gz")
