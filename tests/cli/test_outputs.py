"""Outputs of `fst encode` in every format."""

from __future__ import annotations

import json
import math
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.commands import (
    call,
    ids_of,
    written,
)
from support.document_files import (
    ENDINGS,
    INPUTS,
    OUTPUTS,
    PACKINGS,
    TEXTS,
    as_input,
    as_table,
    options_for,
    records_of,
    rows_of,
    unpacked,
)
from support.kept import wordpiece
from support.tiers import thinned

import fst
from fst.runtime.files.packing import CHUNK

pa = pytest.importorskip("pyarrow", reason="tables take pyarrow: the extra [arrow]")
pq = pytest.importorskip("pyarrow.parquet", reason="tables take pyarrow: the extra [arrow]")


class TestOutput:
    """Outputs of `fst encode`."""

    @pytest.mark.mostly_slow
    @pytest.mark.parametrize("packing", PACKINGS)
    @pytest.mark.parametrize(("ending", "form"), [("txt", "ids"), ("tokens", "tokens"), ("JSONL", "json"), ("ndjson", "json")])
    def test_packed(self, packing: str, ending: str, form: str, table: Path, tmp_path: Path) -> None:
        """The ending of the output's name determines the compression of lines, and decompression gives the same lines."""
        source = written(tmp_path / "in", as_input("lines", TEXTS * 1000))
        out = tmp_path / f"out.{ending}{ENDINGS[packing]}"
        asked = ["--format", "tokens"] if form == "tokens" else []
        call("encode", table, source, *asked, "-o", out)
        call("encode", table, source, "--format", form, "-o", tmp_path / "plain")
        assert unpacked(out.read_bytes(), packing) == (tmp_path / "plain").read_bytes()
        assert packing == "plain" or len(out.read_bytes()) < len((tmp_path / "plain").read_bytes()) / 10

    @pytest.mark.parametrize("packing", PACKINGS)
    def test_packed_nothing(self, packing: str, table: Path, tmp_path: Path) -> None:
        """A compressed output without documents is a complete file."""
        out = tmp_path / f"out.txt{ENDINGS[packing]}"
        call("encode", table, written(tmp_path / "in", b""), "-o", out)
        assert unpacked(out.read_bytes(), packing) == b""

    @pytest.mark.parametrize(
        ("ending", "form"), [("NPY", "npy"), ("Bin", "bin"), ("Arrow", "arrow"), ("PARQUET", "parquet"), ("Json", "json")]
    )
    def test_endings_in_any_case(self, ending: str, form: str, table: Path, tmp_path: Path) -> None:
        """The ending of an output's name is recognized in any case."""
        call("encode", table, written(tmp_path / "in", as_input("lines", TEXTS)), "-o", tmp_path / f"out.{ending}")
        assert rows_of(tmp_path / f"out.{ending}", form) == [ids.tolist() for ids in fst.Tokenizer.load(table).encode_batch(TEXTS)]

    @pytest.mark.parametrize("ending", ["csv", "CSV.gz", "npz", "feather", "orc", "zip", "jsonl.lz4", "npy.gz", "arrow.xz", "parquet.zst"])
    def test_what_is_not_written(self, ending: str, table: Path, tmp_path: Path) -> None:
        """An output in an unsupported format is refused, and the message contains an alternative."""
        out = tmp_path / f"out.{ending}"
        reason = call("encode", table, written(tmp_path / "in", b"un\n"), "-o", out, code=2).stderr
        assert f"Error: {out}: " in reason
        assert "; " in reason
        assert [path.name for path in tmp_path.iterdir()] == ["in"]

    @pytest.mark.parametrize("ending", ["ids", "out", "2024-01-31", "csv"])
    def test_other_endings(self, ending: str, table: Path, tmp_path: Path) -> None:
        """An output with an unknown ending, or with --format ids, is a file of ids."""
        out = tmp_path / f"out.{ending}"
        call("encode", table, written(tmp_path / "in", b"un\n"), "-o", out, *(["--format", "ids"] if ending == "csv" else []))
        assert out.read_bytes() == ids_of(table, ["un"])

    def test_other_columns(self, table: Path, tmp_path: Path) -> None:
        """Parquet and Arrow outputs contain the other columns of the input with their types and nulls, then the ids, without the text."""
        others = {"b": pa.array([1, None, 3], pa.int16()), "d": pa.array(["x", "y", "x"]).dictionary_encode()}
        others["l"] = pa.array([[1], [], None])
        source = written(tmp_path / "in", as_table("parquet", pa.table({"text": ["un", None, "hello"], **others})))
        for out in (tmp_path / "out.parquet", tmp_path / "out.arrow"):
            call("encode", table, source, "--column", "text", "-o", out)
            found = pq.read_table(out) if out.suffix == ".parquet" else pa.ipc.open_file(out).read_all()
            assert found.schema.names == ["b", "d", "l", "input_ids"]
            assert found.schema.field("input_ids").type == pa.list_(pa.int32())
            assert found.schema.field("b").type == pa.int16()
            assert found.to_pydict() == {
                **{name: column.to_pylist() for name, column in others.items()},
                "input_ids": [[2, 5, 3], None, [2, 8, 3]],
            }

    def test_other_fields(self, table: Path, tmp_path: Path) -> None:
        """JSON outputs contain the other fields of JSON lines unchanged."""
        source = written(tmp_path / "in", b'{"a": {"b": [1.5, null]}, "text": "un", "c": "\\ud800\xc3\xa9"}\n{"text": "", "ids": 1}\n')
        written_lines = call("encode", table, source, "--field", "text", "--format", "json").stdout.splitlines()
        assert [json.loads(line) for line in written_lines] == [
            {"a": {"b": [1.5, None]}, "c": "\ud800é", "input_ids": [2, 5, 3]},
            {"ids": 1, "input_ids": [2, 3]},
        ]

    @pytest.mark.mostly_slow
    @pytest.mark.parametrize("kind", ["json", "parquet", "arrow file"])
    @pytest.mark.parametrize("form", ["json", "parquet", "arrow"])
    def test_tokens(self, kind: str, form: str, table: Path, tmp_path: Path) -> None:
        """--tokens adds the tokens of every document, and does not change ids, nulls and other columns."""
        texts = ["unaffable é!", "", "hello"] if kind == "json" else ["unaffable é!", None, "hello"]
        source = written(tmp_path / "in", as_input(kind, texts))
        found = {}
        for more in ([], ["--tokens"]):
            out = tmp_path / f"out.{form}"
            call("encode", table, source, *options_for(kind), *more, "-o", out)
            found[len(more)] = records_of(out, form)
        tokens = [["[CLS]", "un", "##aff", "##able", "[UNK]", "!", "[SEP]"], ["[CLS]", "[SEP]"] if kind == "json" else None]
        tokens.append(["[CLS]", "hello", "[SEP]"])
        assert found[1] == [{**record, "tokens": names} for record, names in zip(found[0], tokens, strict=True)]
        assert [list(record) for record in found[1]] == [["number", "last", "input_ids", "tokens"]] * 3

    def test_columns_in_json(self, table: Path, tmp_path: Path) -> None:
        """JSON outputs contain the other columns of a table; times and decimals become strings, and NaN becomes null."""
        moment = datetime(2024, 1, 31, 12, 0, 0, 5)
        columns = {
            "bool": pa.array([True, None]),
            "int": pa.array([2**64 - 1, None], pa.uint64()),
            "float": pa.array([1.5, math.nan]),
            "half": pa.array([1.5, None], pa.float16()),
            "none": pa.nulls(2),
            "text": ["un", "hello"],
            "string": pa.array(["é\u2028\"", None], pa.large_string()),
            "of few": pa.array(["x", "x"]).dictionary_encode(),
            "date": pa.array([moment.date(), None]),
            "moment": pa.array([moment, None], pa.timestamp("ns", "UTC")),
            "decimal": pa.array([Decimal("12.50"), None]),
            "list": pa.array([[[1], None], []]),
            "two": pa.array([[1, 2], None], pa.list_(pa.int8(), 2)),
            "struct": pa.array([{"a": moment.date(), "b": [-math.inf]}, None]),
        }
        source = written(tmp_path / "in", as_table("arrow file", pa.table(columns)))
        call("encode", table, source, "--column", "text", "-o", tmp_path / "out.jsonl")
        assert records_of(tmp_path / "out.jsonl", "json") == [
            {
                "bool": True, "int": 2**64 - 1, "float": 1.5, "half": 1.5, "none": None, "string": "é\u2028\"", "of few": "x",
                "date": "2024-01-31", "moment": "2024-01-31 12:00:00.000005000Z", "decimal": "12.50", "list": [[1], None], "two": [1, 2],
                "struct": {"a": "2024-01-31", "b": [None]}, "input_ids": [2, 5, 3],
            },
            {**dict.fromkeys(columns.keys() - {"text"}), "of few": "x", "list": [], "input_ids": [2, 8, 3]},
        ]  # fmt: skip

    @pytest.mark.parametrize(
        "column",
        [pa.array([b"x"]), pa.array([timedelta(1)]), pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int8())), pa.array([[{"a": b"x"}]])],
        ids=["bytes", "duration", "map", "nested bytes"],
    )
    def test_columns_that_json_does_not_have(self, column: Any, table: Path, tmp_path: Path) -> None:
        """If JSON cannot represent the values of a column, an error names the column, unless the output omits it."""
        source = written(tmp_path / "in", as_table("arrow file", pa.table({"text": ["un"], "odd": column})))
        reason = call("encode", table, source, "--column", "text", "--format", "json", code=1).stderr
        assert reason.startswith(f"Error: {source}: column 'odd' is {column.type}, which JSON does not have; write Parquet or Arrow, ")
        assert call("encode", table, source, "--column", "text").data == ids_of(table, ["un"])

    def test_columns_of_one_name(self, table: Path, tmp_path: Path) -> None:
        """For a JSON output, two columns of the same name are refused, because an object would contain only one."""
        columns = pa.table([pa.array(["un"]), pa.array([1]), pa.array([2])], ["text", "a", "a"])
        source = written(tmp_path / "in", as_table("arrow file", columns))
        assert "several columns are called 'a'" in call("encode", table, source, "--column", "text", "--format", "json", code=1).stderr

    def test_numbers_that_json_does_not_have(self, table: Path, tmp_path: Path) -> None:
        """NaN and infinities, which Python accepts in JSON lines, become null."""
        source = written(tmp_path / "in", b'{"text": "un", "a": NaN, "b": [1e999, -Infinity], "c": 2}\n')
        done = call("encode", table, source, "--field", "text", "--format", "json")
        assert done.stdout == '{"a":null,"b":[null,null],"c":2,"input_ids":[2,5,3]}\n'

    @pytest.mark.parametrize("ending", ["arrow", "parquet"])
    def test_fields_as_columns(self, ending: str, table: Path, tmp_path: Path) -> None:
        """Parquet and Arrow outputs have a column for every other field of JSON lines, with nulls where the field is missing."""
        source = written(tmp_path / "in", b'{"text": "un", "a": 1}\n{"text": "un", "b": ["x"]}\n')
        out = tmp_path / f"out.{ending}"
        call("encode", table, source, "--field", "text", "-o", out)
        found = pq.read_table(out) if ending == "parquet" else pa.ipc.open_file(out).read_all()
        assert found.to_pydict() == {"a": [1, None], "b": [None, ["x"]], "input_ids": [[2, 5, 3]] * 2}

    @pytest.mark.mostly_slow
    @pytest.mark.parametrize(("first", "second"), [("1", '"x"'), ("1", "1.5"), ("null", "1")])
    def test_fields_that_are_no_columns(self, first: str, second: str, table: Path, tmp_path: Path) -> None:
        """For a Parquet output, a field with values of several types is refused, and the message contains a remedy."""
        filling = b'{"text": "", "a": %s}\n' % first.encode()
        source = written(tmp_path / "in", filling * (2 * CHUNK // len(filling)) + b'{"text": "", "a": %s}\n' % second.encode())
        reason = call("encode", table, source, "--field", "text", "-o", tmp_path / "out.parquet", code=1).stderr
        assert "'a'" in reason
        assert "write JSON lines" in reason
        assert list(tmp_path.iterdir()) == [source]

    @pytest.mark.slow
    def test_field_that_comes_late(self, table: Path, tmp_path: Path) -> None:
        """For a Parquet output, a field that appears only after the first block of lines is refused."""
        filling = b'{"text": ""}\n'
        source = written(tmp_path / "in", filling * (CHUNK // 6) + b'{"text": "", "a": 1}\n')
        reason = call("encode", table, source, "--field", "text", "-o", tmp_path / "out.parquet", code=1).stderr
        assert f"line {CHUNK // 6 + 1}: the field 'a' is missing in the first documents" in reason

    @pytest.mark.parametrize(
        ("kind", "name", "ending"),
        [
            ("json", "input_ids", "jsonl"),
            ("json", "tokens", "jsonl"),
            ("json", "input_ids", "arrow"),
            ("parquet", "input_ids", "jsonl"),
            ("parquet", "input_ids", "parquet"),
            ("parquet", "tokens", "parquet"),
        ],
    )
    def test_names_that_are_taken(self, kind: str, name: str, ending: str, table: Path, tmp_path: Path) -> None:
        """A column with the name of an added column is refused, not overwritten."""
        data = b'{"text": "", "%s": 1}\n' % name.encode() if kind == "json" else as_table(kind, pa.table({name: [1], "text": ["un"]}))
        source, out = written(tmp_path / "in", data), tmp_path / f"o.{ending}"
        reason = call("encode", table, source, *options_for(kind), "--tokens", "-o", out, code=1).stderr
        assert repr(name) in reason
        assert "rename it" in reason

    def test_tables_with_different_columns(self, table: Path, tmp_path: Path) -> None:
        """Files with different other columns are refused for one output."""
        files = [written(tmp_path / name, as_table("parquet", pa.table({"text": ["un"], name: [1]}))) for name in "ab"]
        reason = call("encode", table, *files, "--column", "text", "-o", tmp_path / "out.parquet", code=1).stderr
        assert reason.startswith(f"Error: {files[1]}: its columns differ")

    @pytest.mark.parametrize("form", OUTPUTS)
    def test_nulls(self, form: str, table: Path, tmp_path: Path) -> None:
        """A null remains null in formats with nulls, and is a row without ids in other formats."""
        source = written(tmp_path / "in", as_input("parquet", ["un", None, None]))
        out = tmp_path / f"out.{form}"
        call("encode", table, source, "--column", "text", "-o", out, *(["--format", "tokens"] if form == "tokens" else []))
        none: list[int] | None = None if form in ("json", "arrow", "parquet") else []
        assert rows_of(out, form) == [["[CLS]", "un", "[SEP]"] if form == "tokens" else [2, 5, 3], none, none]

    @pytest.mark.mostly_slow
    @pytest.mark.parametrize("form", OUTPUTS)
    @pytest.mark.parametrize("kind", INPUTS)
    def test_nothing(self, kind: str, form: str, table: Path, tmp_path: Path) -> None:
        """An input without documents gives a complete file without rows."""
        source = written(tmp_path / "in", as_input(kind, []))
        call("encode", table, source, *options_for(kind), "-o", tmp_path / f"out.{form}")
        assert rows_of(tmp_path / f"out.{form}", form) == []

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("kind", "form"), thinned(product(("lines", "json", "parquet", "arrow file"), ("npy", "bin", "arrow", "parquet")), 16)
    )
    def test_more_than_a_block(self, kind: str, form: str, table: Path, tmp_path: Path) -> None:
        """The sizes of blocks, row groups and batches do not change the output."""
        texts = [f"un hello {'unaffable ' * (number % 40)}" for number in range(60_000)]
        source = written(tmp_path / "in", as_input(kind, texts))
        out = tmp_path / f"out.{form}"
        call("encode", table, source, *options_for(kind), "-o", out)
        assert rows_of(out, form) == [ids.tolist() for ids in fst.Tokenizer.load(table).encode_batch(texts)]
        if kind != "lines" and form not in ("npy", "bin"):
            numbers = pq.read_table(out) if form == "parquet" else pa.ipc.open_file(out).read_all()
            assert numbers["number"].to_pylist() == list(range(len(texts)))

    @pytest.mark.slow
    def test_many_row_groups(self, table: Path, tmp_path: Path) -> None:
        """Many small row groups of the input become one row group of the output."""
        texts = pa.table({"text": ["un hello"] * 5000})
        source = written(tmp_path / "in", as_table("parquet", texts, row_group_size=10))
        call("encode", table, source, "--column", "text", "-o", tmp_path / "out.parquet")
        assert pq.ParquetFile(tmp_path / "out.parquet").num_row_groups == 1
        assert pq.read_table(tmp_path / "out.parquet")["input_ids"].to_pylist() == [[2, 5, 8, 3]] * 5000

    def test_max_length(self, table: Path, tmp_path: Path) -> None:
        """--max-length truncates rows to the same ids as `encode_batch` with `max_length`."""
        rows = fst.Tokenizer.load(table).encode_batch(TEXTS, max_length=4)
        expected = [row.tolist() for row in rows]
        for kind in INPUTS:
            source = written(tmp_path / "in", as_input(kind, TEXTS))
            call("encode", table, source, *options_for(kind), "--max-length", "4", "-o", tmp_path / "out.npy")
            assert rows_of(tmp_path / "out.npy", "npy") == expected

    def test_pairs_of_npy(self, table: Path, tmp_path: Path) -> None:
        """The row splits are in a file next to the ids, and both files can be memory-mapped."""
        source = written(tmp_path / "in", as_input("lines", TEXTS))
        call("encode", table, source, "-o", tmp_path / "a.b.npy")
        assert {path.name for path in tmp_path.iterdir()} == {"in", "a.b.npy", "a.b.splits.npy"}
        assert np.load(tmp_path / "a.b.npy", mmap_mode="r").tolist() == fst.Tokenizer.load(table).encode_batch(TEXTS).ids.tolist()


    @pytest.mark.slow
    @pytest.mark.parametrize(("highest", "dtype"), [(65_535, "<u2"), (65_536, "<u4")])
    def test_raw_ids(self, highest: int, dtype: str, tmp_path: Path) -> None:
        """A .bin file contains only ids of two bytes each, or of four if the vocabulary has an id above 65,535."""
        tokens = ["[UNK]", "un", *(f"x{number}" for number in range(2, highest)), "last"]
        wordpiece(tokens).save(tmp_path / "large.npz")
        call("encode", tmp_path / "large.npz", written(tmp_path / "in", b"last un\n\nun\n"), "-o", tmp_path / "out.bin")
        assert np.fromfile(tmp_path / "out.bin", dtype).tolist() == [highest, 1, 1]
        assert np.load(tmp_path / "out.splits.npy").tolist() == [0, 2, 2, 3]
