"""Folders and patterns as names of inputs, and folders as outputs."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.commands import call, error_of, written
from support.kept import wordpiece
from support.machines.documents import byte_level

import fst
from fst.compile import keywords, maxmatch
from fst.compile.machines.bpe.compiler import assemble
from fst.compile.pretokens.splits import GPT2
from fst.compile.sources.tokenizer_json import of_document

FILES = {"a.txt": b"un\n", "b.jsonl": b'{"text": "##able un"}\n', "sub/c.txt": b"able\nun un\n", ".hidden/d.txt": b"", ".e.txt": b""}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of documents; some of the files are hidden."""
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
    """A folder is read as all files in it and in its subfolders, in the order of their names, without hidden files."""
    listed = call("count", table, folder / "a.txt", folder / "b.jsonl", folder / "sub" / "c.txt", "--input-format", "text")
    assert call("count", table, folder, "--input-format", "text").stdout == listed.stdout


@pytest.mark.parametrize(("pattern", "files"), [("*.txt", ["a.txt"]), ("**/*.txt", ["a.txt", "sub/c.txt"]), ("[ab].txt", ["a.txt"])])
def test_pattern_stands_for_the_files_that_match(pattern: str, files: list[str], table: Path, folder: Path) -> None:
    """A pattern is read as all files that match it, in the order of their names."""
    assert call("encode", table, folder / pattern).data == call("encode", table, *(folder / name for name in files)).data


def test_file_whose_name_is_a_pattern(table: Path, tmp_path: Path) -> None:
    """The name of an existing file is never read as a pattern."""
    written(tmp_path / "a[1].txt", b"un\n")
    written(tmp_path / "a1.txt", b"able able\n")
    assert call("encode", table, tmp_path / "a[1].txt").data == b"1\n"


def test_no_files(table: Path, tmp_path: Path) -> None:
    """A folder without files is wrong usage, and a pattern without matches is a missing file."""
    (tmp_path / "empty").mkdir()
    assert "is empty; expected at least one file" in call("encode", table, tmp_path / "empty", code=2).stderr
    assert "none/*.txt: No such file" in error_of(call("encode", table, tmp_path / "none/*.txt", code=1))


@pytest.mark.parametrize("form", ["ids", "npy", "bin"])
def test_folder_of_outputs(form: str, table: Path, folder: Path, tmp_path: Path) -> None:
    """If the output is a folder, it is created, and contains a file for each input with the ids of this input."""
    texts = {"a": ["un"], "c": ["able", "un un"]}
    call("encode", table, folder / "a.txt", folder / "sub", "--format", form, "-o", f"{tmp_path / 'out'}/")
    for name, rows in texts.items():
        ids = fst.Tokenizer.load(table).encode_batch(rows)
        path = tmp_path / "out" / f"{name}.{'txt' if form == 'ids' else form}"
        if form == "ids":
            assert path.read_text(encoding="utf-8") == "".join(" ".join(map(str, row.tolist())) + "\n" for row in ids)
        else:
            assert (np.load(path) if form == "npy" else np.fromfile(path, "<u2")).tolist() == ids.ids.tolist()
            assert np.load(path.with_suffix(".splits.npy")).tolist() == ids.row_splits.tolist()
    assert len([*(tmp_path / "out").glob("[!.]*")]) == (2 if form == "ids" else 5)  # arrays have splits, and an index of all outputs


def test_outputs_are_named_as_inputs(table: Path, tmp_path: Path) -> None:
    """The name of an output in a folder is the name of its input, with the ending of the output format."""
    (tmp_path / "out").mkdir()
    inputs = [written(tmp_path / "x.v1.jsonl.gz", gzip.compress(b'{"text": "un"}\n')), written(tmp_path / "y", b'{"text": "able"}\n')]
    call("encode", table, *inputs, "--field", "text", "--format", "json", "-o", tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["x.v1.jsonl", "y.jsonl"]
    assert json.loads((tmp_path / "out" / "x.v1.jsonl").read_text(encoding="utf-8")) == {"input_ids": [1]}


def encoded(table: Path, *words: str | Path) -> bytes:
    """The output for one file."""
    return call("encode", table, *words).data


def test_outputs_have_the_format_of_their_inputs(table: Path, tmp_path: Path) -> None:
    """Without --format, an output in a folder has the same name, format, compression and other fields as its input."""
    source, out = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    rows = [{"id": 7, "text": "un able"}, {"id": 8, "text": "unable"}]
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    written(source / "a.jsonl.gz", gzip.compress(lines))
    written(source / "b.ndjson", lines)
    frame = pa.Table.from_pylist(rows)
    pq.write_table(frame, source / "c.parquet")
    with pa.ipc.new_stream(source / "d.feather", frame.schema) as stream:
        stream.write_table(frame)
    call("encode", table, *sorted(source.glob("[ab]*")), "--field", "text", "-o", f"{out}/")
    call("encode", table, *sorted(source.glob("[cd]*")), "--column", "text", "-o", out)
    expected = [{"id": 7, "input_ids": [1, 3]}, {"id": 8, "input_ids": [1, 2]}]
    assert sorted(path.name for path in out.iterdir()) == ["a.jsonl.gz", "b.ndjson", "c.parquet", "d.feather"]
    for data in (gzip.decompress((out / "a.jsonl.gz").read_bytes()), (out / "b.ndjson").read_bytes()):
        assert [json.loads(line) for line in data.splitlines()] == expected
    assert pq.read_table(out / "c.parquet").to_pylist() == pa.ipc.open_file(out / "d.feather").read_all().to_pylist() == expected


def test_texts_become_ids(table: Path, tmp_path: Path) -> None:
    """Without --format, the output for plain text is ids, compressed like the input."""
    (tmp_path / "in").mkdir()
    written(tmp_path / "in" / "a.log.gz", gzip.compress(b"un\nable un\n"))
    call("encode", table, tmp_path / "in", "-o", f"{tmp_path / 'out'}/")
    assert gzip.decompress((tmp_path / "out" / "a.log.gz").read_bytes()) == b"1\n3 1\n"


def test_packed_columns_are_not_packed_again(table: Path, tmp_path: Path) -> None:
    """The output for a compressed Parquet file is Parquet, and its name omits the ending of the compression."""
    pq.write_table(pa.table({"text": ["un"]}), tmp_path / "a.parquet")
    packed = written(tmp_path / "a.parquet.gz", gzip.compress((tmp_path / "a.parquet").read_bytes()))
    call("encode", table, packed, "--column", "text", "-o", f"{tmp_path / 'out'}/")
    assert pq.read_table(tmp_path / "out" / "a.parquet").to_pylist() == [{"input_ids": [1]}]


def test_outputs_that_exist_are_refused(table: Path, folder: Path, tmp_path: Path) -> None:
    """An existing output in a folder is refused before anything is written, and --overwrite replaces it."""
    (tmp_path / "out").mkdir()
    before = written(tmp_path / "out" / "c.txt", b"mine")
    words = (table, folder / "a.txt", folder / "sub", "-o", tmp_path / "out")
    assert "c.txt exists; pass --overwrite" in call("encode", *words, code=2).stderr
    assert [*before.parent.iterdir()] == [before]
    assert before.read_bytes() == b"mine"
    call("encode", *words, "--overwrite")
    assert before.read_bytes() == encoded(table, folder / "sub")


def test_resuming(table: Path, folder: Path, tmp_path: Path) -> None:
    """With --resume, an output without a record is written again only if it is missing, or older than its input or the table."""
    out = tmp_path / "out"
    words = (table, folder / "a.txt", folder / "sub" / "c.txt", "--format", "ids", "-o", f"{out}/")
    call("encode", *words)
    first, second = (out / f"{name}.txt" for name in "ac")
    content = first.read_bytes()
    first.write_bytes(b"kept")
    second.unlink()
    assert "1 of 2 outputs are complete" in call("encode", *words, "--resume").stderr
    assert first.read_bytes() == b"kept"
    assert second.exists()
    os.utime(folder / "a.txt", (first.stat().st_mtime + 9, first.stat().st_mtime + 9))
    call("encode", *words, "--resume")
    assert first.read_bytes() == content
    os.utime(folder / "a.txt", (0, 0))
    first.write_bytes(b"of another table")
    os.utime(table, (first.stat().st_mtime + 9, first.stat().st_mtime + 9))
    call("encode", *words, "--resume")
    assert first.read_bytes() == content


def test_ids_without_their_splits_are_not_complete(table: Path, folder: Path, tmp_path: Path) -> None:
    """With --resume, an array without its row splits is written again."""
    words = (table, folder / "a.txt", "--format", "npy", "-o", f"{tmp_path / 'out'}/")
    call("encode", *words)
    (tmp_path / "out" / "a.splits.npy").unlink()
    call("encode", *words, "--resume")
    assert np.load(tmp_path / "out" / "a.splits.npy").tolist() == [0, 1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--resume", "-o", "x.txt"], "--resume is for a folder of outputs"),
        (["--overwrite"], "--overwrite is for a folder of outputs"),
        (["--resume", "--overwrite", "-o", "out/"], "pass one of them"),
    ],
)
def test_options_for_folders(words: list[str], message: str, table: Path, folder: Path) -> None:
    """--resume and --overwrite are refused for outputs that are not folders, and exclude each other."""
    assert message in call("encode", table, folder / "a.txt", *words, code=2).stderr


def test_seeds_are_for_each_output(folder: Path, tmp_path: Path) -> None:
    """With a seed, the random ids of a file are the same whether it is encoded alone or with other files, so a resumed run gives the same
    ids.
    """
    written(folder / "sub" / "c.txt", b"ab ab ab ab ab ab\n" * 20)
    assemble(of_document(byte_level(GPT2, [(b"a", b"b"), (b" ", b"ab")]), Path("tokenizer.json")), "auto").save(tmp_path / "bpe.npz")
    words = ("--dropout", "0.5", "--seed", "1")
    call("encode", tmp_path / "bpe.npz", folder / "a.txt", folder / "sub", *words, "-o", f"{tmp_path / 'out'}/")
    assert (tmp_path / "out" / "c.txt").read_bytes() == encoded(tmp_path / "bpe.npz", folder / "sub", *words)


def test_searching_into_a_folder(folder: Path, tmp_path: Path) -> None:
    """`fst search` and `fst segment` write folders as `fst encode` does."""
    keywords(["un"]).save(tmp_path / "names.npz")
    maxmatch(["un", "able"]).save(tmp_path / "words.npz")
    for command, table, line, more in (
        ("search", "names.npz", b"X X\n", ["--replace", "X"]),
        ("search", "names.npz", b"un un\n", []),
        ("segment", "words.npz", b"able\nun un\n", []),
    ):
        out = tmp_path / f"{command}{len(more)}"
        call(command, tmp_path / table, folder / "sub", *more, "-o", f"{out}/")
        assert (out / "c.txt").read_bytes().endswith(line)
        assert "exists" in call(command, tmp_path / table, folder / "sub", *more, "-o", out, code=2).stderr
        call(command, tmp_path / table, folder / "sub", *more, "-o", out, "--resume")
        call(command, tmp_path / table, folder / "b.jsonl", "--field", "text", *more, "-o", out)
        assert json.loads((out / "b.jsonl").read_bytes())["text"] == ("##able X" if more else "##able un")


def test_outputs_of_the_same_name(table: Path, folder: Path, tmp_path: Path) -> None:
    """Two inputs whose outputs would have the same name are refused before any input is encoded."""
    written(folder / "sub" / "a.txt", b"un\n")
    reason = call("encode", table, folder / "a.txt", folder / "sub", "-o", f"{tmp_path / 'out'}/", code=2).stderr
    assert "would both be written to" in reason
    assert not (tmp_path / "out").exists()


def test_standard_input_has_no_name(table: Path, tmp_path: Path) -> None:
    """Standard input cannot be encoded into a folder of outputs."""
    assert "standard input has no name" in call("encode", table, "-o", f"{tmp_path}/", code=2).stderr
