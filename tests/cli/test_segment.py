"""`fst segment` gives the same tokens as the Python interface for every combination of formats."""

from __future__ import annotations

import gzip
import json
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.commands import call, error_of, written
from support.document_files import INPUTS, as_input, fields_of, options_for, records_of
from support.tiers import thinned

import fst
from fst.compile import maxmatch

WORDS = ["研究", "研究生", "生命", "命", "科学", "New York"]
TEXTS = ("研究生命科学", "", "in New York、 é", "  ", "科学\r")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of a dictionary."""
    path = tmp_path_factory.mktemp("tables") / "dictionary.npz"
    maxmatch(WORDS).save(path)
    return path


@pytest.mark.parametrize(("kind", "form"), thinned(product(INPUTS, ["wakati", "json", "arrow", "parquet"]), 4))
def test_all_ways(kind: str, form: str, table: Path, tmp_path: Path) -> None:
    """From any input format to any output format, the tokens are the same as from `segment`, and rows keep their other fields."""
    source, out = written(tmp_path / "input", gzip.compress(as_input(kind, TEXTS))), tmp_path / "out"
    call("segment", table, source, *options_for(kind), "-o", out, "--format", form)
    segmenter = fst.Segmenter.load(table)
    tokens = [segmenter.segment(text) for text in TEXTS]
    assert list(map("".join, tokens)) == [*TEXTS]
    if form == "wakati":
        spelled = [" ".join(token for token in row if token.strip()) for row in tokens]
        assert out.read_bytes().decode() == "".join(f"{line}\n" for line in spelled)
    else:
        assert records_of(out, form) == [
            {**fields_of(kind, number, text), "tokens": row} for number, (text, row) in enumerate(zip(TEXTS, tokens, strict=True))
        ]


@pytest.mark.parametrize("form", ["wakati", "json", "arrow", "parquet"])
def test_nulls(form: str, table: Path, tmp_path: Path) -> None:
    """A null is an empty line in text, and null in other formats."""
    pq.write_table(pa.table({"text": ["研究命", None]}), tmp_path / "in.parquet")
    call("segment", table, tmp_path / "in.parquet", "--column", "text", "-o", tmp_path / "out", "--format", form)
    if form == "wakati":
        assert (tmp_path / "out").read_text(encoding="utf-8") == "研究 命\n\n"
    else:
        assert records_of(tmp_path / "out", form) == [{"text": "研究命", "tokens": ["研究", "命"]}, {"text": None, "tokens": None}]


def test_standard_streams(table: Path) -> None:
    """Without a file, documents come from standard input, and tokens go to standard output."""
    assert call("segment", table, stdin="研究生命\n".encode()).stdout == "研究生 命\n"
    found: dict[str, Any] = json.loads(call("segment", table, "--format", "json", stdin="研究 命\n".encode()).stdout)
    assert found == {"text": "研究 命", "tokens": ["研究", " ", "命"]}


def test_errors(table: Path, tmp_path: Path) -> None:
    """--errors determines whether a document that is not text stops the command, is repaired or is omitted."""
    source = written(tmp_path / "in.txt", "命\n".encode() + b"x\xff\n")
    assert error_of(call("segment", table, source, code=1)).startswith(f"{source}, line 2: not UTF-8 at byte 1")
    assert call("segment", table, source, "--errors", "replace").stdout == "命\nx \ufffd\n"
    assert call("segment", table, source, "--errors", "skip").stdout == "命\n"
    done = call("search", table, source, code=2)
    assert error_of(done).endswith("is a table of maxmatch; expected a table of keywords; make one with `fst compile keywords`")
    assert "write JSON lines (.jsonl), or Parquet" in call("segment", table, source, "-o", tmp_path / "out.npy", code=2).stderr
