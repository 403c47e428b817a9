"""URLs on the command line: files of other machines are read and written as those of this one; here they lie in memory."""

from __future__ import annotations

import builtins
import gzip
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import call, error_of
from kept import wordpiece

fsspec = pytest.importorskip("fsspec")


@pytest.fixture
def store() -> Iterator[Any]:
    """A store in memory, with documents."""
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
    """Text, JSON lines and columns are read from a URL, packed or not; patterns and folders stand for their files."""
    assert call("encode", table, *words).data == ids


def test_files_are_written(store: Any, table: Path) -> None:
    """The output is sent whole, and so are the arrays beside it."""
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
    """What fails leaves no file behind."""
    store.pipe("/in/wrong.txt", b"un\n\xff\n")
    assert "not UTF-8" in error_of(call("encode", table, "memory://in/wrong.txt", "-o", "memory://out/x.bin", code=1))
    assert store.find("/out") == []


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("words", "message", "code"),
    [
        (["memory://in/none.txt"], "none.txt", 1),
        (["nobody://in/a.txt"], "nobody://in/a.txt: Protocol not known", 1),
        (["memory://in/a.txt", "-o", "memory://in/a.txt"], "is also an input", 2),
    ],
)
def test_what_is_not_there(words: list[str], message: str, code: int, table: Path) -> None:
    """A missing file, an unknown scheme, and an output that is an input are told."""
    assert message in call("encode", table, *words, code=code).stderr


def test_without_fsspec(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without fsspec the message says how to install it; a name that is no URL needs none."""
    load = builtins.__import__

    def without(name: str, *more: Any) -> Any:
        if name == "fsspec":
            raise ModuleNotFoundError(name)
        return load(name, *more)

    monkeypatch.delitem(sys.modules, "fsspec")
    monkeypatch.setattr(builtins, "__import__", without)
    assert "pip install fsspec" in error_of(call("encode", table, "s3://bucket/a.txt", code=1))


def test_sizes_are_known(store: Any) -> None:
    """The bytes of a URL are those of its file."""
    from fst.cli.streams import size

    assert size(["memory://in/a.txt", "memory://in/b.txt.gz"]) == 8 + store.size("/in/b.txt.gz")
