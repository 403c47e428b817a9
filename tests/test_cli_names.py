"""Folders and patterns on the command line: which files they stand for, and the outputs in a folder."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from commands import call, error_of, written
from kept import wordpiece

import fst

FILES = {"a.txt": b"un\n", "b.jsonl": b'{"text": "##able un"}\n', "sub/c.txt": b"able\nun un\n", ".hidden/d.txt": b"", ".e.txt": b""}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of documents, some of them hidden."""
    for name, content in FILES.items():
        path = tmp_path / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        written(path, content)
    return tmp_path / "corpus"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A small table."""
    wordpiece(["[UNK]", "un", "##able", "able"]).save(tmp_path / "table.npz")
    return tmp_path / "table.npz"


def test_folder_stands_for_its_files(table: Path, folder: Path) -> None:
    """A folder is all files in it and in its folders, in the order of their names, without hidden ones."""
    listed = call("count", table, folder / "a.txt", folder / "b.jsonl", folder / "sub" / "c.txt", "--input-format", "text")
    assert call("count", table, folder, "--input-format", "text").stdout == listed.stdout


@pytest.mark.parametrize(("pattern", "files"), [("*.txt", ["a.txt"]), ("**/*.txt", ["a.txt", "sub/c.txt"]), ("[ab].txt", ["a.txt"])])
def test_pattern_stands_for_the_files_that_match(pattern: str, files: list[str], table: Path, folder: Path) -> None:
    """A pattern is the files that match it, in the order of their names."""
    assert call("encode", table, folder / pattern).data == call("encode", table, *(folder / name for name in files)).data


def test_file_whose_name_is_a_pattern(table: Path, tmp_path: Path) -> None:
    """A file that exists is itself, whatever its name looks like."""
    written(tmp_path / "a[1].txt", b"un\n")
    written(tmp_path / "a1.txt", b"able able\n")
    assert call("encode", table, tmp_path / "a[1].txt").data == b"1\n"


def test_no_files(table: Path, tmp_path: Path) -> None:
    """A folder without files is wrong usage, not an empty input; a pattern that nothing matches is a file that is missing."""
    (tmp_path / "empty").mkdir()
    assert "there is no file" in call("encode", table, tmp_path / "empty", code=2).stderr
    assert "none/*.txt: No such file" in error_of(call("encode", table, tmp_path / "none/*.txt", code=1))


@pytest.mark.parametrize("form", ["ids", "npy", "bin"])
def test_folder_of_outputs(form: str, table: Path, folder: Path, tmp_path: Path) -> None:
    """A folder as output is made, and has a file for each input, as if each were encoded alone."""
    texts = {"a": ["un"], "c": ["able", "un un"]}
    call("encode", table, folder / "a.txt", folder / "sub", "--format", form, "-o", f"{tmp_path / 'out'}/")
    for name, rows in texts.items():
        ids = fst.load(table).encode_batch(rows)
        path = tmp_path / "out" / f"{name}.{'txt' if form == 'ids' else form}"
        if form == "ids":
            assert path.read_text(encoding="utf-8") == "".join(" ".join(map(str, row.tolist())) + "\n" for row in ids)
        else:
            assert (np.load(path) if form == "npy" else np.fromfile(path, "<u2")).tolist() == ids.ids.tolist()
            assert np.load(path.with_suffix(".splits.npy")).tolist() == ids.row_splits.tolist()
    assert len([*(tmp_path / "out").iterdir()]) == (2 if form == "ids" else 4)


def test_outputs_are_named_as_inputs(table: Path, tmp_path: Path) -> None:
    """The ending of the form takes the place of the input's, and of its packing."""
    (tmp_path / "out").mkdir()
    inputs = [written(tmp_path / "x.v1.jsonl.gz", gzip.compress(b'{"text": "un"}\n')), written(tmp_path / "y", b'{"text": "able"}\n')]
    call("encode", table, *inputs, "--field", "text", "--format", "json", "-o", tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["x.v1.jsonl", "y.jsonl"]
    assert json.loads((tmp_path / "out" / "x.v1.jsonl").read_text(encoding="utf-8")) == {"input_ids": [1]}


def test_outputs_of_the_same_name(table: Path, folder: Path, tmp_path: Path) -> None:
    """Two inputs whose outputs would have the same name are refused before any is encoded."""
    written(folder / "sub" / "a.txt", b"un\n")
    said = call("encode", table, folder / "a.txt", folder / "sub", "-o", f"{tmp_path / 'out'}/", code=2).stderr
    assert "would both be written to" in said
    assert [*(tmp_path / "out").iterdir()] == []


def test_standard_input_has_no_name(table: Path, tmp_path: Path) -> None:
    """Standard input cannot be encoded into a folder."""
    assert "standard input has no name" in call("encode", table, "-o", f"{tmp_path}/", code=2).stderr
