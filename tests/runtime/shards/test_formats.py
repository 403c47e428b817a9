"""Formats of ids for training: their bytes are those of the libraries that define them."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.naive import shards as naive

from fst.errors import UnsupportedError
from fst.runtime.files.shards import mds, megatron, nanogpt
from fst.runtime.files.shards.formats import FORMATS, shard_files, writing_shard
from fst.runtime.files.shards.shard import Shard, Vocabulary

OTHERS = [form for form in FORMATS if form not in ("npy", "bin")]
ROWS = [[5, 7, 9], [], [1], [0, 65_535], [2] * 300]

# The first 16 digits of the SHA-256 of the files that megatron-core 0.16.1 (IndexedDatasetBuilder), datatrove 0.10.1 (TokenizedFile) and
# mosaicml-streaming 0.13.0 (MDSWriter, without the document that is empty) write for `ROWS`, with 2 and with 4 bytes per id.
REFERENCE = {
    ("megatron", 65_499): ["b6fe42a3e6203260", "50c8a088e8cb3f5d"],
    ("datatrove", 65_499): ["b6fe42a3e6203260", "6111f703aeaffddc", "5fe10b7724dfcdce"],
    ("mds", 65_499): ["78190022262e6eb5"],
    ("megatron", 70_000): ["408bf470404f001e", "d3f72e8ef9070786"],
    ("datatrove", 70_000): ["408bf470404f001e", "6111f703aeaffddc", "86bf54afad6bff71"],
    ("mds", 70_000): ["4f4cdb963f92a698"],
}


def write(folder: Path, form: str, rows: Sequence[Sequence[int]], count: int, cuts: Sequence[int] = ()) -> Shard:
    """Write rows to an output `x` in blocks, which end at the ids `cuts`."""
    ids, ends = np.array([number for row in rows for number in row], np.int32), np.array([*accumulate(map(len, rows))], np.int64)
    with writing_shard(f"{folder}/x{FORMATS[form].endings[0]}", form, Vocabulary(count, "t.npz")) as shard:
        first = done = 0
        for cut in (*sorted(cuts), len(ids)):
            last = int(np.searchsorted(ends, cut, "right")) if cut == len(ids) else int(np.searchsorted(ends, cut, "left"))
            shard.write(ids[first:cut], ends[done : max(last, done)] - first)
            first, done = cut, max(last, done)
    return shard


def content(folder: Path) -> dict[str, bytes]:
    """The files in a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("form", OTHERS)
@given(st.lists(st.lists(st.integers(0, 499), max_size=3), max_size=3), st.sampled_from([500, 65_499, 65_500, 65_536, 65_537]), st.data())
@settings(max_examples=40, deadline=None)
def test_bytes(form: str, tmp_path_factory: pytest.TempPathFactory, rows: list[list[int]], count: int, data: st.DataObject) -> None:
    """The files of a format are those of the definition, for any blocks, empty documents and documents in pieces."""
    folder = tmp_path_factory.mktemp("x")
    cuts = data.draw(st.lists(st.integers(0, sum(map(len, rows))), max_size=3))
    shard = write(folder, form, rows, count, cuts)
    assert content(folder) == naive.files(form, rows, count, "t.npz")
    assert (shard.documents, shard.tokens) == (len(rows), sum(map(len, rows)))


@given(st.lists(st.integers(0, 400), max_size=20), st.sampled_from([1, 300, 600, 2000]))
@settings(max_examples=40, deadline=None)
def test_division(tmp_path_factory: pytest.TempPathFactory, lengths: list[int], limit: int) -> None:
    """MDS begins a new shard where MDSWriter does, but never writes a shard without samples."""
    folder, rows = tmp_path_factory.mktemp("x"), [[number % 7] * length for number, length in enumerate(lengths)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mds, "SHARD_BYTES", limit)
        shard = write(folder, "mds", rows, 500)
    expected = naive.files("mds", rows, 500, "", limit)
    assert content(folder) == expected
    assert [part.name for part in shard.parts] == [f"{folder}/{name}" for name in expected]


@pytest.mark.parametrize("length", [255, 256, 65_535, 65_536])
def test_lengths(length: int, tmp_path: Path) -> None:
    """A sample of MDS has its length in as few bytes as it needs."""
    write(tmp_path, "mds", [[3] * length], 70_000)
    assert content(tmp_path) == naive.files("mds", [[3] * length], 70_000, "")


@pytest.mark.parametrize(("form", "count"), [(form, count) for form in ("megatron", "datatrove", "mds") for count in (65_499, 70_000)])
def test_reference(form: str, count: int, tmp_path: Path) -> None:
    """The files are byte for byte those of the library that defines the format."""
    rows = ROWS if count > 65_536 else [[min(number, 65_498) for number in row] for row in ROWS]
    write(tmp_path, form, rows, count)
    assert [sha256(data).hexdigest()[:16] for _, data in sorted(content(tmp_path).items())] == REFERENCE[form, count]


def test_readers(tmp_path: Path) -> None:
    """`IndexedDataset` of megatron-core reads the documents."""
    indexed = pytest.importorskip("megatron.core.datasets.indexed_dataset", reason="megatron-core is not installed")
    write(tmp_path, "megatron", ROWS, 70_000)
    found: Any = indexed.IndexedDataset(str(tmp_path / "x"))
    assert [row.tolist() for row in found] == [row for row in ROWS if row]


@pytest.mark.parametrize("form", FORMATS)
def test_failure(form: str, tmp_path: Path) -> None:
    """A failed output leaves no files."""
    name = str(tmp_path / f"x{FORMATS[form].endings[0]}")

    def fail() -> None:
        with writing_shard(name, form, Vocabulary(9, "")) as shard:
            shard.write(np.array([1, 2], np.int32), np.array([1]))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(("form", "module", "limit"), [("megatron", megatron, "MOST"), ("mds", mds, "MOST_IDS")])
def test_long_documents(form: str, module: Any, limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A document that a format cannot contain is refused."""
    monkeypatch.setattr(module, limit, 2)
    write(tmp_path, form, [[1, 2]], 9)
    with pytest.raises(UnsupportedError, match="3 ids; expected at most 2; divide it"):
        write(tmp_path, form, [[1], [1, 2, 3]], 9)


@pytest.mark.parametrize(("form", "module", "limit"), [("llmc", nanogpt, "MOST"), ("mds", mds, "MOST_IDS")])
def test_early_refusals(form: str, module: Any, limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many ids are refused as soon as they are written, also if a document is unfinished."""
    monkeypatch.setattr(module, limit, 2)
    with writing_shard(f"{tmp_path}/x{FORMATS[form].endings[0]}", form, Vocabulary(9, "")) as shard:
        shard.write(np.array([1, 2], np.int32), np.array([], np.int64))
        with pytest.raises(UnsupportedError, match="more than 2 ids"):
            shard.write(np.array([3], np.int32), np.array([], np.int64))


def test_names() -> None:
    """The files of an output have the name of the first one, with other endings."""
    assert shard_files("a/b.DS", "datatrove") == ["a/b.DS", "a/b.ds.index", "a/b.ds.metadata"]
    assert shard_files("a/b.v1.ids", "npy") == ["a/b.v1.ids", "a/b.v1.splits.npy"]
    assert shard_files("memory://a/b.bin", "megatron") == ["memory://a/b.bin", "memory://a/b.idx"]
