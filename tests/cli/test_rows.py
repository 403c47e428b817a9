"""Options of `fst encode` add spans and texts to rows, cut rows into windows, append a token, or pack ids into rows of one length."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as some
from support.commands import call, written
from support.kept import wordpiece
from support.tiers import examples

import fst
from fst.runtime.rows.overflow import in_windows, window
from fst.runtime.workspace import NO_SPECIAL_IDS

TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "un", "##aff", "##able", "hello", "!"]
TEXTS = ["hello unaffable!", "", "un un un un un!", "hello"]


@pytest.fixture
def tok() -> fst.Tokenizer:
    """A small tokenizer."""
    return fst.Tokenizer(wordpiece(TOKENS))


@pytest.fixture
def table(tmp_path: Path, tok: fst.Tokenizer) -> Path:
    """The table of the small tokenizer."""
    tok._table.save(tmp_path / "table.npz")
    return tmp_path / "table.npz"


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """A file with the texts as lines."""
    return written(tmp_path / "texts.txt", "\n".join([*TEXTS, ""]).encode())


@pytest.fixture
def column(tmp_path: Path) -> Path:
    """A Parquet file with the texts and a null in a column, next to a column of numbers."""
    pq.write_table(pa.table({"n": range(5), "text": [*TEXTS[:2], None, *TEXTS[2:]]}), tmp_path / "texts.parquet")
    return tmp_path / "texts.parquet"


def objects(*words: str | Path) -> list[dict[str, Any]]:
    """The rows that `fst encode` writes as JSON lines."""
    return [json.loads(line) for line in call("encode", *words, "--format", "json").data.splitlines()]


def test_offsets_and_texts(table: Path, lines: Path, column: Path, tmp_path: Path, tok: fst.Tokenizer) -> None:
    """--offsets adds the spans of `encode_batch` to the ids, and --keep text adds the text."""
    batch = tok.encode_batch(TEXTS, offsets=True)
    assert batch.offsets is not None
    spans = [batch.offsets[first:last].tolist() for first, last in pairwise(batch.row_splits)]
    rows = [
        {"text": text, "input_ids": ids.tolist(), "offset_mapping": own} for text, ids, own in zip(TEXTS, batch, spans, strict=True)
    ]
    assert objects(table, lines, "--offsets", "--keep", "text") == rows
    call("encode", table, column, "--column", "text", "--offsets", "--keep", "text", "-o", tmp_path / "out.parquet")
    found = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert [row for row in found if row.pop("n") != 2] == rows
    assert found[2] == {"text": None, "input_ids": None, "offset_mapping": None}


def test_texts_are_mended(table: Path, tmp_path: Path) -> None:
    """In a text that --keep adds, U+FFFD replaces invalid bytes."""
    path = written(tmp_path / "wrong.txt", b"un\xff\n")
    assert objects(table, path, "--keep", "text", "--errors", "replace") == [{"text": "un\ufffd", "input_ids": [2, 4, 3]}]


def test_windows(table: Path, lines: Path, column: Path, tmp_path: Path, tok: fst.Tokenizer) -> None:
    """With --stride, rows are the windows that a call of the tokenizer returns, with the other columns of the document; a null is one null
    row.
    """
    asked = tok(TEXTS, max_length=5, stride=1, truncation=True, return_overflowing_tokens=True, return_offsets_mapping=True)
    options = ("--max-length", "5", "--stride", "1", "--offsets")
    found = objects(table, lines, *options, "--keep", "text")
    assert [row["input_ids"] for row in found] == asked["input_ids"]
    assert [[(first, last) for first, last in row["offset_mapping"]] for row in found] == asked["offset_mapping"]
    assert [row["text"] for row in found] == [TEXTS[number] for number in asked["overflow_to_sample_mapping"]]
    call("encode", table, column, "--column", "text", *options, "-o", tmp_path / "out.arrow")
    rows = pa.ipc.open_file(tmp_path / "out.arrow").read_all().to_pylist()
    numbers = [number + (number > 1) for number in asked["overflow_to_sample_mapping"]]
    assert [row["n"] for row in rows] == sorted([*numbers, 2])
    assert [row["input_ids"] for row in rows if row["n"] != 2] == asked["input_ids"]
    assert [row["input_ids"] for row in rows if row["n"] == 2] == [None]


@examples(100)
@given(some.lists(some.integers(0, 9), max_size=8), some.integers(1, 5), some.data())
def test_windows_of_any_rows(sizes: list[int], capacity: int, data: Any) -> None:
    """A window begins every `capacity - stride` ids, until a window contains the last id of its row."""
    stride = data.draw(some.integers(0, capacity - 1))
    splits = np.concatenate([[0], np.cumsum(np.array(sizes, np.int64))])
    batch = fst.Batch(np.arange(splits[-1], dtype=np.int32), splits)
    expected = list[list[list[int]]]()
    for row in batch:
        ids, windows = row.tolist(), list[list[int]]()
        while not windows or windows[-1][-1:] != ids[-1:]:
            first = len(windows) * (capacity - stride)
            windows.append(ids[first : first + capacity])
        expected.append(windows)
    found, rows = in_windows(batch, window(capacity, stride, NO_SPECIAL_IDS))
    assert [[window.tolist() for window in found[first:last]] for first, last in pairwise(rows)] == expected


def test_column_of_windows(tok: fst.Tokenizer) -> None:
    """`encode_arrow` gives the same ids, spans, windows and padding as a call."""
    column = pa.array([*TEXTS, None])
    batch = tok.encode_batch(TEXTS, offsets=True)
    spans = tok.encode_arrow(column, offsets=True)
    assert batch.offsets is not None
    assert [list(row.values()) for row in spans.values.to_pylist()] == np.column_stack([batch.ids, batch.offsets]).tolist()
    assert spans.to_pylist()[-1] is None
    for padding, filling in ((False, False), (True, "max_length")):
        asked = tok(TEXTS, max_length=5, stride=2, truncation=True, return_overflowing_tokens=True, padding=filling)
        windows = tok.encode_arrow(column, max_length=5, stride=2, padding=padding)
        assert windows.flatten().to_pylist() == asked["input_ids"]
        assert windows.drop_null().value_parent_indices().to_pylist() == asked["overflow_to_sample_mapping"]
        assert tok.encode_arrow(column.dictionary_encode(), max_length=5, stride=2, padding=padding).to_pylist() == windows.to_pylist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stride": 1}, "pass max_length"),
        ({"stride": 3, "max_length": 5}, "less than 3, the number of ids of a text in a window"),
        ({"stride": -1, "max_length": 5}, "less than 3, the number of ids of a text in a window"),
        ({"stride": 0.5, "max_length": 5}, "expected a whole number"),
        ({"padding": True, "max_length": 5, "offsets": True}, "cannot be combined with offsets=True"),
    ],
)
def test_windows_that_cannot_be(options: dict[str, Any], message: str, tok: fst.Tokenizer) -> None:
    """A window length of 0, or a stride by which windows would not advance, is refused."""
    with pytest.raises(ValueError, match=message):
        tok.encode_arrow(pa.array(["un"]), **options)


def test_token_after_each_document(table: Path, lines: Path, column: Path, tok: fst.Tokenizer) -> None:
    """`--append` adds a token after each document, but not after a null."""
    plain = [row.tolist() for row in tok.encode_batch(TEXTS, add_special_tokens=False)]
    ended = [[*ids, 0] for ids in plain]
    asked = ("--append", "[PAD]", "--no-special-tokens")
    assert [row["input_ids"] for row in objects(table, lines, *asked)] == ended
    found = [row["input_ids"] for row in objects(table, column, "--column", "text", *asked)]
    assert found == [*ended[:2], None, *ended[2:]]
    assert [row["input_ids"] for row in objects(table, lines, *asked, "--offsets")] == ended


def test_token_after_a_long_document(table: Path, tmp_path: Path) -> None:
    """`--append` adds only one token to a document that is read in chunks, at its end."""
    path = written(tmp_path / "long.txt", b"un " * 2_000_000)
    call("encode", table, path, "--document", "file", "--append", "[PAD]", "-o", tmp_path / "out.npy")
    ids = np.load(tmp_path / "out.npy")
    assert len(ids) == 2_000_003
    assert np.flatnonzero(ids == 0).tolist() == [2_000_002]


def test_packed_rows(table: Path, lines: Path, tmp_path: Path, tok: fst.Tokenizer) -> None:
    """`--pack N` writes the ids of all documents in rows of N ids; only the last row may be shorter."""
    ids = tok.encode_batch(TEXTS).ids
    rows = [ids[first : first + 6].tolist() for first in range(0, len(ids), 6)]
    assert [row["input_ids"] for row in objects(table, lines, "--pack", "6")] == rows
    call("encode", table, lines, "--pack", "6", "-o", tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").to_pydict() == {"input_ids": rows}
    call("encode", table, lines, "--pack", "6", "-o", tmp_path / "out.npy")
    assert np.load(tmp_path / "out.splits.npy").tolist() == [*range(0, len(ids), 6), len(ids)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--offsets"], "--offsets cannot be combined with ids"),
        (["--keep", "text", "--format", "npy", "-o", "x.npy"], "--keep text cannot be combined with npy"),
        (["--stride", "1"], "--stride is for windows of --max-length ids"),
        (["--max-length", "4", "--stride", "2"], "less than 2, the number of ids of a text in a window"),
        (["--append", "[SEP]", "--max-length", "4"], "pass one of them"),
        (["--append", "nobody"], "is not a token of the vocabulary"),
        (["--pack", "4", "--max-length", "4"], "--pack cannot be combined with --max-length"),
        (["--pack", "4", "--format", "json", "--tokens"], "--pack cannot be combined with --tokens"),
    ],
)
def test_options_that_contradict_each_other(words: list[str], message: str, table: Path, lines: Path) -> None:
    """Options that contradict each other, or that are impossible for the vocabulary, are wrong usage."""
    assert message in call("encode", table, lines, *words, code=2).stderr
