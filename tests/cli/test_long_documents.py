"""Commands read documents longer than one chunk in memory, chunk by chunk."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.commands import call, ids_of, written
from support.tiers import thinned

import fst
from fst.cli.files.ids import Decimals
from fst.runtime.files import lines
from fst.runtime.files.packing import CHUNK


@pytest.fixture(scope="module")
def decimals() -> Decimals:
    """The decimal forms of all possible ids."""
    return Decimals(4_194_304)


@pytest.mark.slow
@given(st.lists(st.lists(st.integers(0, 4_194_303), max_size=5)))
@settings(derandomize=True, max_examples=200)
def test_decimals(decimals: Decimals, rows: list[list[int]]) -> None:
    """Ids are written as decimal numbers separated by spaces, one line per row."""
    ids, ends = np.array([number for row in rows for number in row], np.int32), np.cumsum([len(row) for row in rows], dtype=np.int64)
    expected = b"".join(b" ".join(b"%d" % number for number in row) + b"\n" for row in rows)
    assert decimals.lines(ids, ends, is_begun=False) == expected
    assert decimals.lines(ids, ends, is_begun=True) == (b" " if rows and rows[0] else b"") + expected


class TestLongDocuments:
    """Documents longer than one chunk in memory."""

    @pytest.fixture
    def text(self, monkeypatch: pytest.MonkeyPatch) -> bytes:
        """Lines of documents, some of which are longer than three chunks; the fixture lowers the limits of a document."""
        monkeypatch.setattr(lines, "LONG_BYTES", CHUNK)
        monkeypatch.setattr(lines, "MOST_BYTES", 2 * CHUNK)
        long = "hello unaffable é! [MASK]".encode() * (CHUNK // 8)
        return b"\n".join([b"un", long, b"", b"hello", long[: 2 * CHUNK + 1], b" " * (3 * CHUNK), long + b"un"])

    @pytest.mark.mostly_slow
    @pytest.mark.parametrize(
        ("form", "words"),
        thinned(product(("ids", "npy", "bin"), ([], ["--max-length", "1000"], ["--max-length", "2"], ["--no-special-tokens"])), 6),
    )
    def test_in_pieces(self, form: str, words: list[str], text: bytes, table: Path, tmp_path: Path) -> None:
        """A document that is read in several chunks is one row, with the same ids as from a single chunk."""
        out = tmp_path / f"out.{form}"
        call("encode", table, written(tmp_path / "in.txt", text), "-o", out, *words)
        options: dict[str, Any] = {"max_length": int(words[1])} if "--max-length" in words else {}
        batch = fst.Tokenizer.load(table).encode_batch(text.split(b"\n"), add_special_tokens="--no-special-tokens" not in words, **options)
        if form != "ids":
            assert (np.load(out) if form == "npy" else np.fromfile(out, "<u2")).tolist() == batch.ids.tolist()
            assert np.load(tmp_path / "out.splits.npy").tolist() == batch.row_splits.tolist()
        else:
            assert out.read_bytes() == b"".join(b" ".join(b"%d" % number for number in row.tolist()) + b"\n" for row in batch)

    @pytest.mark.slow
    def test_form_of_lines(self, text: bytes, table: Path, tmp_path: Path) -> None:
        """One space separates two ids of a row, whether they come from the same chunk or from different chunks."""
        words = [table, written(tmp_path / "in.txt", text)]
        assert call("encode", *words).data == ids_of(table, text.split(b"\n"))
        assert call("encode", *words, "--no-special-tokens").data == ids_of(table, text.split(b"\n"), add_special_tokens=False)

    @pytest.mark.slow
    def test_one_file(self, text: bytes, table: Path, tmp_path: Path) -> None:
        """A file that is one document, or has separators between documents, is read in chunks."""
        source = written(tmp_path / "in.txt", text)
        assert call("encode", table, source, "--document", "file").data == ids_of(table, [text])
        assert call("encode", table, source, "--separator", "hello\n").data == ids_of(table, text.split(b"hello\n"))

    def test_count(self, text: bytes, table: Path, tmp_path: Path) -> None:
        """Long documents are counted like others."""
        shown = json.loads(call("count", table, written(tmp_path / "in.txt", text), "--json").stdout)
        documents = text.split(b"\n")
        assert (shown["documents"], shown["tokens"]) == (len(documents), fst.Tokenizer.load(table).count_tokens(documents).sum())

    @pytest.mark.slow
    @pytest.mark.parametrize("bad", thinned([b"\xff", b"\xc3", b"\xf0\x9f\x98"], 6))
    def test_errors(self, bad: bytes, text: bytes, table: Path, tmp_path: Path) -> None:
        """In a long document, bytes that are not UTF-8 are replaced, or reported with their position; --errors skip is refused."""
        long = text.split(b"\n")[1]
        for place in (5, 3 * CHUNK - 1, len(long)):
            line = long[:place].decode("utf-8", "ignore").encode() + bad + long[place:].decode("utf-8", "ignore").encode()
            source = written(tmp_path / "in.txt", b"un\n" + line + b"\nun")
            with pytest.raises(UnicodeDecodeError) as wrong:
                line.decode()
            reason = call("encode", table, source, code=1).stderr
            assert reason.startswith(f"Error: {source}, line 2: not UTF-8 at byte {wrong.value.start}; correct it")
            done = call("encode", table, source, "--errors", "replace")
            assert done.data == ids_of(table, ["un", line.decode("utf-8", "replace"), "un"])
            assert done.stderr == "1 document repaired with U+FFFD\n"
            assert "too long to be left out" in call("encode", table, source, "--errors", "skip", code=1).stderr

    @pytest.mark.parametrize("words", [["--format", "json"], ["-o", "out.parquet"], ["--field", "text"]], ids=" ".join)
    def test_whole_ones(self, words: list[str], text: bytes, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A long document is refused if the output format needs the entire document at once."""
        monkeypatch.chdir(tmp_path)
        reason = call("encode", table, written(tmp_path / "in.txt", text.replace(b"\n", b"")), *words, code=1).stderr
        assert f"line 1: more than {2 * CHUNK:,} bytes; split it" in reason
