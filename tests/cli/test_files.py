"""Files of every kind in and out of the command line: all ways give the ids of the package."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import math
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.commands import TOKENS, call, ids_of, written
from support.kept import wordpiece
from support.tiers import sample, thinned
from tokenizers import Tokenizer, processors

import fst
from fst.runtime.files.packing import CHUNK

pa = pytest.importorskip("pyarrow", reason="tables take pyarrow: the extra [arrow]")
pq = pytest.importorskip("pyarrow.parquet", reason="tables take pyarrow: the extra [arrow]")

TEXTS = ("unaffable", "", "  Hello [MASK]!  ", "héllo", "xyz un", "un\u2028hello", "un " * 50)
SEPARATOR = "<|endoftext|>"
INPUTS = ("lines", "documents", "json", "parquet", "arrow file", "arrow stream")
PACKINGS = ("plain", "gzip", "zstd", "bz2", "xz")
ENDINGS = {"plain": "", "gzip": ".gz", "zstd": ".zst", "bz2": ".bz2", "xz": ".xz"}
OUTPUTS = ("ids", "tokens", "json", "npy", "bin", "arrow", "parquet")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of a small vocabulary with a frame."""
    path = tmp_path_factory.mktemp("tables") / "small.npz"
    wordpiece(TOKENS).save(path)
    return path


def packed(data: bytes, packing: str) -> bytes:
    """Data in two streams, members or frames that follow each other, or as it is."""
    half = len(data) // 2
    packs: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
    packs["zstd"] = lambda part: bytes(pa.compress(part, "zstd", asbytes=True))
    return data if packing == "plain" else b"".join(map(packs[packing], (data[:half], data[half:])))


def unpacked(data: bytes, packing: str) -> bytes:
    """The data that was packed, by the libraries that others use."""
    if packing == "zstd":
        return bytes(pa.CompressedInputStream(pa.BufferReader(data), "zstd").read())
    unpacks = {"gzip": gzip.decompress, "bz2": bz2.decompress, "xz": lzma.decompress}
    return data if packing == "plain" else unpacks[packing](data)


def as_input(kind: str, texts: Sequence[Any], others: Sequence[Any] | None = None) -> bytes:
    """A file of some kind with documents, and a column "number" where a kind has others."""
    if kind == "lines":
        return "".join(f"{text}\n" for text in texts).encode()
    if kind == "documents":
        return SEPARATOR.join(texts).encode()
    numbers = list(range(len(texts))) if others is None else others
    if kind == "json":
        return "".join(json.dumps({"number": number, "text": text}) + "\n" for number, text in zip(numbers, texts, strict=True)).encode()
    return as_table(kind, pa.table({"number": pa.array(numbers, pa.int64()), "text": pa.array(texts, pa.string())}))


def as_table(kind: str, table: Any, **options: Any) -> bytes:
    """A file of some kind with a table."""
    file = io.BytesIO()
    if kind == "parquet":
        pq.write_table(table, file, **options)
    else:
        with (pa.ipc.new_file if kind == "arrow file" else pa.ipc.new_stream)(file, table.schema) as writer:
            writer.write_table(table, **options)
    return file.getvalue()


def options_for(kind: str) -> list[str]:
    """The options that a kind of file takes."""
    return {"lines": [], "documents": ["--separator", SEPARATOR], "json": ["--field", "text"]}.get(kind, ["--column", "text"])


def rows_of(path: Path, form: str) -> list[Any]:
    """The rows of ids in a file that was written; of tokens, the tokens."""
    if form in ("npy", "bin"):
        ids, splits = np.load(path) if form == "npy" else np.fromfile(path, "<u2"), np.load(path.with_suffix(".splits.npy"))
        assert (ids.dtype, splits.dtype, int(splits[0])) == (np.int32 if form == "npy" else np.uint16, np.int64, 0)
        return [row.tolist() for row in np.split(ids, splits[1:-1])] if len(splits) > 1 else []
    if form == "parquet":
        return list(pq.read_table(path)["input_ids"].to_pylist())
    if form == "arrow":
        with pa.ipc.open_file(path) as reader:
            return list(reader.read_all()["input_ids"].to_pylist())
    rows = path.read_text(encoding="utf-8").splitlines()
    if form == "json":
        return [json.loads(row)["input_ids"] for row in rows]
    return [row.split() if form == "tokens" else list(map(int, row.split())) for row in rows]


def records_of(path: Path, form: str) -> list[dict[str, Any]]:
    """The rows in a file that was written, with all columns."""
    if form == "json":
        return [json.loads(row) for row in path.read_bytes().splitlines()]
    if form == "parquet":
        return list(pq.read_table(path).to_pylist())
    with pa.ipc.open_file(path) as reader:
        return list(reader.read_all().to_pylist())


@pytest.mark.parametrize(("kind", "packing", "form"), thinned(product(INPUTS, PACKINGS, OUTPUTS), 6))
def test_all_ways(kind: str, packing: str, form: str, table: Path, tmp_path: Path) -> None:
    """From any input format to any output format, the ids are those of `encode_batch`."""
    source = written(tmp_path / "input", packed(as_input(kind, TEXTS), packing))
    out = tmp_path / f"out.{form}"
    call("encode", table, source, *options_for(kind), "-o", out, *(["--format", "tokens"] if form == "tokens" else []))
    tok = fst.Tokenizer.load(table)
    expected = [ids.tolist() for ids in tok.encode_batch(TEXTS)]
    if form == "tokens":
        expected = [list(map(tok.id_to_token, row)) for row in expected]
    assert rows_of(out, form) == expected


class TestInput:
    """How the format of an input is recognised, and what its documents are."""

    @pytest.mark.parametrize("name", ["in.jsonl", "in.ndjson", "in.json", "in.JSONL", "in.Ndjson"])
    @pytest.mark.parametrize("packing", PACKINGS)
    def test_json_by_its_name(self, name: str, packing: str, table: Path, tmp_path: Path) -> None:
        """A file whose name says that it is JSON lines is not taken for plain text."""
        source = written(tmp_path / (name + ENDINGS[packing].upper()), as_input("json", TEXTS))
        assert "JSON lines" in call("encode", table, source, code=2).stderr
        call("encode", table, source, "--input-format", "text")

    @pytest.mark.parametrize("name", ["in.csv", "in.TSV", "in.csv.gz", "in.tar.gz", "in.zip"])
    @pytest.mark.parametrize("more", [[], ["--field", "text"]], ids=["plain", "field"])
    def test_what_is_not_read(self, name: str, more: list[str], table: Path, tmp_path: Path) -> None:
        """A file whose name says that it is of a format that is not read is refused, unless --input-format says otherwise."""
        source = written(tmp_path / name, b"un,hello\n")
        said = call("encode", table, source, *more, code=2).stderr
        assert f"{source}: " in said
        assert "is not read; " in said
        assert call("encode", table, source, "--input-format", "text").data == ids_of(table, ["un,hello"])

    @pytest.mark.parametrize(
        ("data", "what"),
        [(b' [{"text": "un"}]', "an array"), (b'[\n{"text": "un"}]', "an array"), (b'{\r\n "text": "un"}', "an object of several lines")],
    )
    @pytest.mark.parametrize("name", ["in.json", "in.jsonl.gz"])
    @pytest.mark.parametrize("more", [[], ["--field", "text"]], ids=["plain", "field"])
    def test_json_that_is_not_lines(self, data: bytes, what: str, name: str, more: list[str], table: Path, tmp_path: Path) -> None:
        """JSON that is one value over several lines, or an array, is refused with how to make JSON lines of it."""
        source = written(tmp_path / name, packed(data, "gzip") if name.endswith("gz") else data)
        said = call("encode", table, source, *more, code=2).stderr
        assert f"{source} is JSON, but {what}" in said
        assert "jq -c" in said

    @pytest.mark.parametrize(
        ("kind", "packing"), [*product(INPUTS, ("plain", "gzip", "zstd")), ("lines", "bz2"), ("json", "xz"), ("parquet", "xz")]
    )
    def test_standard_input(self, kind: str, packing: str, table: Path) -> None:
        """Standard input is recognised as files are."""
        done = call("encode", table, "-", *options_for(kind), stdin=packed(as_input(kind, TEXTS), packing))
        assert done.data == ids_of(table, TEXTS)

    def test_text_that_begins_like_a_table(self, table: Path, tmp_path: Path) -> None:
        """Text that begins as Parquet does is text if --input-format says so."""
        source = written(tmp_path / "in.txt", b"PAR1 un\n")
        assert "--column" in call("encode", table, source, code=2).stderr
        assert call("encode", table, source, "--input-format", "text").data == ids_of(table, ["PAR1 un"])

    def test_file_as_a_document(self, table: Path, tmp_path: Path) -> None:
        """With --document file each file is one document, line feeds and all, and an empty file is an empty one."""
        texts = ["un\nhello\n", "", "hello " * (CHUNK // 2)]
        files = [written(tmp_path / f"{number}.txt", text.encode()) for number, text in enumerate(texts)]
        assert call("encode", table, *files, "--document", "file").data == ids_of(table, texts)

    @pytest.mark.parametrize(
        ("text", "documents"),
        [
            ("un<|e|>hello", ["un", "hello"]),
            ("un<|e|>\nhello<|e|>\n", ["un", "\nhello"]),
            ("<|e|><|e|>un", ["", "", "un"]),
            ("un<|e|<|e|>|e|>", ["un<|e|", "|e|>"]),
            ("un<|e|", ["un<|e|"]),
            ("", []),
            (" \n", []),
        ],
    )
    def test_separator(self, text: str, documents: list[str], table: Path, tmp_path: Path) -> None:
        """The text between separators is a document, and so is the text after the last one unless it is white space."""
        source = written(tmp_path / "in.txt", text.encode())
        assert call("encode", table, source, "--separator", "<|e|>").data == ids_of(table, documents)

    @pytest.mark.sampled
    def test_separator_in_two_chunks(self, table: Path, tmp_path: Path) -> None:
        """A separator is found wherever what is read at once ends."""
        parts = ["un " * (CHUNK // 3 - 1) + "!" * rest for rest in sample(range(12), 4)]
        for part in parts:
            source = written(tmp_path / "in.txt", f"{part}{SEPARATOR}hello".encode())
            assert call("encode", table, source, "--separator", SEPARATOR).data == ids_of(table, [part, "hello"])

    def test_lines_without_anything(self, table: Path, tmp_path: Path) -> None:
        """Lines of white space between lines of JSON are none, and count as lines."""
        source = written(tmp_path / "in.jsonl", b'\n{"text": "un"}\n \r\n\n{"text": "hello"}\r\n{}')
        assert call("encode", table, source, "--field", "text", "--errors", "skip").data == ids_of(table, ["un", "hello"])
        assert call("encode", table, source, "--field", "text", code=1).stderr.startswith(f"Error: {source}, line 6: no field 'text'")

    def test_several_kinds(self, table: Path, tmp_path: Path) -> None:
        """Files of different kinds that take the same options are read one after the other."""
        kinds = ("parquet", "arrow file", "arrow stream")
        files = [written(tmp_path / kind, as_input(kind, TEXTS)) for kind in kinds]
        assert call("encode", table, *files, "--column", "text").data == ids_of(table, TEXTS * 3)

    @pytest.mark.parametrize(
        "kind", ["string", "large_string", "string_view", "binary", "large_binary", "binary_view", "dictionary"]
    )
    @pytest.mark.parametrize("file", ["parquet", "arrow file"])
    def test_types_of_columns(self, kind: str, file: str, table: Path, tmp_path: Path) -> None:
        """A column may be of any type that text has in Arrow."""
        texts = pa.array(TEXTS)
        values = texts.dictionary_encode() if kind == "dictionary" else texts.cast(pa.binary()).cast(getattr(pa, kind)())
        source = written(tmp_path / "in", as_table(file, pa.table({"text": values})))
        assert call("encode", table, source, "--column", "text").data == ids_of(table, TEXTS)

    @pytest.mark.parametrize(
        "words",
        [
            ["--column", "text"],
            ["--field", "text", "--separator", "x"],
            ["--field", "text", "--document", "file"],
            ["--separator", "x", "--document", "file"],
            ["--separator", ""],
            ["--input-format", "json"],
            ["--input-format", "parquet"],
            ["--input-format", "parquet", "--field", "text"],
            ["--field", "text", "--column", "text"],
            ["--format", "parquet"],
            ["--format", "npy"],
            ["--max-length", "1"],
            ["--errors", "ignore"],
        ],
        ids=" ".join,
    )
    def test_what_does_not_fit_together(self, words: list[str], table: Path, tmp_path: Path) -> None:
        """Options that do not fit together, or not to the file, are wrong usage."""
        source = written(tmp_path / "in.txt", b"un\n")
        done = call("encode", table, source, *words, code=2)
        assert (done.stdout, "Usage: " in done.stderr) == ("", True)


class TestOutput:
    """Outputs."""

    @pytest.mark.parametrize("packing", PACKINGS)
    @pytest.mark.parametrize(("ending", "form"), [("txt", "ids"), ("tokens", "tokens"), ("JSONL", "json"), ("ndjson", "json")])
    def test_packed(self, packing: str, ending: str, form: str, table: Path, tmp_path: Path) -> None:
        """Lines are packed as the end of the name says, and are the same lines."""
        source = written(tmp_path / "in", as_input("lines", TEXTS * 1000))
        out = tmp_path / f"out.{ending}{ENDINGS[packing]}"
        asked = ["--format", "tokens"] if form == "tokens" else []
        call("encode", table, source, *asked, "-o", out)
        call("encode", table, source, "--format", form, "-o", tmp_path / "plain")
        assert unpacked(out.read_bytes(), packing) == (tmp_path / "plain").read_bytes()
        assert packing == "plain" or len(out.read_bytes()) < len((tmp_path / "plain").read_bytes()) / 10

    @pytest.mark.parametrize("packing", PACKINGS)
    def test_packed_nothing(self, packing: str, table: Path, tmp_path: Path) -> None:
        """A packed output without documents is whole."""
        out = tmp_path / f"out.txt{ENDINGS[packing]}"
        call("encode", table, written(tmp_path / "in", b""), "-o", out)
        assert unpacked(out.read_bytes(), packing) == b""

    @pytest.mark.parametrize(
        ("ending", "form"), [("NPY", "npy"), ("Bin", "bin"), ("Arrow", "arrow"), ("PARQUET", "parquet"), ("Json", "json")]
    )
    def test_endings_in_any_case(self, ending: str, form: str, table: Path, tmp_path: Path) -> None:
        """The ending of an output name counts in any case."""
        call("encode", table, written(tmp_path / "in", as_input("lines", TEXTS)), "-o", tmp_path / f"out.{ending}")
        assert rows_of(tmp_path / f"out.{ending}", form) == [ids.tolist() for ids in fst.Tokenizer.load(table).encode_batch(TEXTS)]

    @pytest.mark.parametrize("ending", ["csv", "CSV.gz", "npz", "feather", "orc", "zip", "jsonl.lz4", "npy.gz", "arrow.xz", "parquet.zst"])
    def test_what_is_not_written(self, ending: str, table: Path, tmp_path: Path) -> None:
        """A format that is known and not written is refused by name, with what to do instead."""
        out = tmp_path / f"out.{ending}"
        said = call("encode", table, written(tmp_path / "in", b"un\n"), "-o", out, code=2).stderr
        assert f"Error: {out}: " in said
        assert "; " in said
        assert [path.name for path in tmp_path.iterdir()] == ["in"]

    @pytest.mark.parametrize("ending", ["ids", "out", "2024-01-31", "csv"])
    def test_other_endings(self, ending: str, table: Path, tmp_path: Path) -> None:
        """An unknown ending says nothing: that is a file of ids, as is any other with --format ids."""
        out = tmp_path / f"out.{ending}"
        call("encode", table, written(tmp_path / "in", b"un\n"), "-o", out, *(["--format", "ids"] if ending == "csv" else []))
        assert out.read_bytes() == ids_of(table, ["un"])

    def test_other_columns(self, table: Path, tmp_path: Path) -> None:
        """Parquet and Arrow keep the other columns, with their types and nulls and before the ids, and not the text."""
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
        """JSON keeps the other fields of JSON lines as they are."""
        source = written(tmp_path / "in", b'{"a": {"b": [1.5, null]}, "text": "un", "c": "\\ud800\xc3\xa9"}\n{"text": "", "ids": 1}\n')
        written_lines = call("encode", table, source, "--field", "text", "--format", "json").stdout.splitlines()
        assert [json.loads(line) for line in written_lines] == [
            {"a": {"b": [1.5, None]}, "c": "\ud800é", "input_ids": [2, 5, 3]},
            {"ids": 1, "input_ids": [2, 3]},
        ]

    @pytest.mark.parametrize("kind", ["json", "parquet", "arrow file"])
    @pytest.mark.parametrize("form", ["json", "parquet", "arrow"])
    def test_tokens(self, kind: str, form: str, table: Path, tmp_path: Path) -> None:
        """--tokens adds the tokens of every document, and other columns, nulls and ids stay as they are without it."""
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
        assert [list(record) for record in found[1]] == [["number", "input_ids", "tokens"]] * 3

    def test_columns_in_json(self, table: Path, tmp_path: Path) -> None:
        """JSON lines keep the other columns of a table: times and decimals as strings, NaN as null."""
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
        """A column of values that JSON has no form for is refused by its name, and one that is not kept is not looked at."""
        source = written(tmp_path / "in", as_table("arrow file", pa.table({"text": ["un"], "odd": column})))
        said = call("encode", table, source, "--column", "text", "--format", "json", code=1).stderr
        assert said.startswith(f"Error: {source}: column 'odd' is {column.type}, which JSON does not have; write Parquet or Arrow, ")
        assert call("encode", table, source, "--column", "text").data == ids_of(table, ["un"])

    def test_columns_of_one_name(self, table: Path, tmp_path: Path) -> None:
        """Two columns of one name, of which an object would have one, are refused in JSON."""
        columns = pa.table([pa.array(["un"]), pa.array([1]), pa.array([2])], ["text", "a", "a"])
        source = written(tmp_path / "in", as_table("arrow file", columns))
        assert "several columns are called 'a'" in call("encode", table, source, "--column", "text", "--format", "json", code=1).stderr

    def test_numbers_that_json_does_not_have(self, table: Path, tmp_path: Path) -> None:
        """NaN and infinities, which Python reads in JSON lines, become null."""
        source = written(tmp_path / "in", b'{"text": "un", "a": NaN, "b": [1e999, -Infinity], "c": 2}\n')
        done = call("encode", table, source, "--field", "text", "--format", "json")
        assert done.stdout == '{"a":null,"b":[null,null],"c":2,"input_ids":[2,5,3]}\n'

    @pytest.mark.parametrize("ending", ["arrow", "parquet"])
    def test_fields_as_columns(self, ending: str, table: Path, tmp_path: Path) -> None:
        """Parquet and Arrow have a column for every other field of JSON lines, with nulls where it is not."""
        source = written(tmp_path / "in", b'{"text": "un", "a": 1}\n{"text": "un", "b": ["x"]}\n')
        out = tmp_path / f"out.{ending}"
        call("encode", table, source, "--field", "text", "-o", out)
        found = pq.read_table(out) if ending == "parquet" else pa.ipc.open_file(out).read_all()
        assert found.to_pydict() == {"a": [1, None], "b": [None, ["x"]], "input_ids": [[2, 5, 3]] * 2}

    @pytest.mark.parametrize(("first", "second"), [("1", '"x"'), ("1", "1.5"), ("null", "1")])
    def test_fields_that_are_no_columns(self, first: str, second: str, table: Path, tmp_path: Path) -> None:
        """A field with values of several types is refused as a column, with the lines and a remedy."""
        filling = b'{"text": "", "a": %s}\n' % first.encode()
        source = written(tmp_path / "in", filling * (2 * CHUNK // len(filling)) + b'{"text": "", "a": %s}\n' % second.encode())
        said = call("encode", table, source, "--field", "text", "-o", tmp_path / "out.parquet", code=1).stderr
        assert "'a'" in said
        assert "write JSON lines" in said
        assert list(tmp_path.iterdir()) == [source]

    def test_field_that_comes_late(self, table: Path, tmp_path: Path) -> None:
        """A field that is missing in the first lines is refused as a column."""
        filling = b'{"text": ""}\n'
        source = written(tmp_path / "in", filling * (CHUNK // 6) + b'{"text": "", "a": 1}\n')
        said = call("encode", table, source, "--field", "text", "-o", tmp_path / "out.parquet", code=1).stderr
        assert f"line {CHUNK // 6 + 1}: the field 'a' comes too late" in said

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
        """A column with the name of the ids is not overwritten."""
        data = b'{"text": "", "%s": 1}\n' % name.encode() if kind == "json" else as_table(kind, pa.table({name: [1], "text": ["un"]}))
        source, out = written(tmp_path / "in", data), tmp_path / f"o.{ending}"
        said = call("encode", table, source, *options_for(kind), "--tokens", "-o", out, code=1).stderr
        assert repr(name) in said
        assert "rename it" in said

    def test_tables_with_different_columns(self, table: Path, tmp_path: Path) -> None:
        """Files whose other columns differ do not go into one."""
        files = [written(tmp_path / name, as_table("parquet", pa.table({"text": ["un"], name: [1]}))) for name in "ab"]
        said = call("encode", table, *files, "--column", "text", "-o", tmp_path / "out.parquet", code=1).stderr
        assert said.startswith(f"Error: {files[1]}: its columns are not those")

    @pytest.mark.parametrize("form", OUTPUTS)
    def test_nulls(self, form: str, table: Path, tmp_path: Path) -> None:
        """A null stays null where there is such a thing, and has no ids elsewhere."""
        source = written(tmp_path / "in", as_input("parquet", ["un", None, None]))
        out = tmp_path / f"out.{form}"
        call("encode", table, source, "--column", "text", "-o", out, *(["--format", "tokens"] if form == "tokens" else []))
        none: list[int] | None = None if form in ("json", "arrow", "parquet") else []
        assert rows_of(out, form) == [["[CLS]", "un", "[SEP]"] if form == "tokens" else [2, 5, 3], none, none]

    @pytest.mark.parametrize("form", OUTPUTS)
    @pytest.mark.parametrize("kind", INPUTS)
    def test_nothing(self, kind: str, form: str, table: Path, tmp_path: Path) -> None:
        """An input without documents becomes a whole file without rows."""
        source = written(tmp_path / "in", as_input(kind, []))
        call("encode", table, source, *options_for(kind), "-o", tmp_path / f"out.{form}")
        assert rows_of(tmp_path / f"out.{form}", form) == []

    @pytest.mark.parametrize(
        ("kind", "form"), thinned(product(("lines", "json", "parquet", "arrow file"), ("npy", "bin", "arrow", "parquet")), 8)
    )
    def test_more_than_a_block(self, kind: str, form: str, table: Path, tmp_path: Path) -> None:
        """Blocks, row groups and batches do not show in what is written."""
        texts = [f"un hello {'unaffable ' * (number % 40)}" for number in range(60_000)]
        source = written(tmp_path / "in", as_input(kind, texts))
        out = tmp_path / f"out.{form}"
        call("encode", table, source, *options_for(kind), "-o", out)
        assert rows_of(out, form) == [ids.tolist() for ids in fst.Tokenizer.load(table).encode_batch(texts)]
        if kind != "lines" and form not in ("npy", "bin"):
            numbers = pq.read_table(out) if form == "parquet" else pa.ipc.open_file(out).read_all()
            assert numbers["number"].to_pylist() == list(range(len(texts)))

    def test_many_row_groups(self, table: Path, tmp_path: Path) -> None:
        """A table of many small row groups is written in few, and the other way round."""
        texts = pa.table({"text": ["un hello"] * 5000})
        source = written(tmp_path / "in", as_table("parquet", texts, row_group_size=10))
        call("encode", table, source, "--column", "text", "-o", tmp_path / "out.parquet")
        assert pq.ParquetFile(tmp_path / "out.parquet").num_row_groups == 1
        assert pq.read_table(tmp_path / "out.parquet")["input_ids"].to_pylist() == [[2, 5, 8, 3]] * 5000

    def test_max_length(self, table: Path, tmp_path: Path) -> None:
        """--max-length cuts as `encode_batch` does."""
        rows = fst.Tokenizer.load(table).encode_batch(TEXTS, max_length=4)
        expected = [row.tolist() for row in rows]
        for kind in INPUTS:
            source = written(tmp_path / "in", as_input(kind, TEXTS))
            call("encode", table, source, *options_for(kind), "--max-length", "4", "-o", tmp_path / "out.npy")
            assert rows_of(tmp_path / "out.npy", "npy") == expected

    def test_pairs_of_npy(self, table: Path, tmp_path: Path) -> None:
        """The row splits lie beside the ids, and are mapped like them."""
        source = written(tmp_path / "in", as_input("lines", TEXTS))
        call("encode", table, source, "-o", tmp_path / "a.b.npy")
        assert {path.name for path in tmp_path.iterdir()} == {"in", "a.b.npy", "a.b.splits.npy"}
        assert np.load(tmp_path / "a.b.npy", mmap_mode="r").tolist() == fst.Tokenizer.load(table).encode_batch(TEXTS).ids.tolist()


    @pytest.mark.parametrize(("highest", "dtype"), [(65_535, "<u2"), (65_536, "<u4")])
    def test_raw_ids(self, highest: int, dtype: str, tmp_path: Path) -> None:
        """A .bin holds nothing but ids, two bytes each, or four if the vocabulary has an id above 65,535."""
        tokens = ["[UNK]", "un", *(f"x{number}" for number in range(2, highest)), "last"]
        wordpiece(tokens).save(tmp_path / "large.npz")
        call("encode", tmp_path / "large.npz", written(tmp_path / "in", b"last un\n\nun\n"), "-o", tmp_path / "out.bin")
        assert np.fromfile(tmp_path / "out.bin", dtype).tolist() == [highest, 1, 1]
        assert np.load(tmp_path / "out.splits.npy").tolist() == [0, 2, 2, 3]


class TestErrors:
    """--errors."""

    BAD = (b"un", b"\xffun", b"hello \xe4\xb8", b"!")
    GOOD = (b"un", b"!")

    def bad(self, kind: str) -> bytes:
        """A file of some kind with texts that are not UTF-8."""
        if kind == "lines":
            return b"\n".join(self.BAD)
        if kind == "json":
            return b"".join(b'{"text": "%s", "number": %d}\n' % (text, number) for number, text in enumerate(self.BAD))
        texts = pa.array(self.BAD, pa.binary())
        if not kind.startswith("binary"):
            texts = pa.Array.from_buffers(pa.string(), len(texts), texts.buffers())
        return as_table(kind.removeprefix("binary "), pa.table({"number": range(4), "text": texts}))

    KINDS = ("lines", "json", "parquet", "binary parquet", "arrow file", "binary arrow stream")

    def options(self, kind: str) -> list[str]:
        """The options that it takes."""
        return options_for(kind.removeprefix("binary "))

    @pytest.mark.parametrize("more", [[], ["--max-length", "3"]], ids=["whole", "cut"])
    @pytest.mark.parametrize("kind", KINDS)
    def test_strict(self, kind: str, more: list[str], table: Path, tmp_path: Path) -> None:
        """By default the first of them is an error with file, place, byte and remedy."""
        source = written(tmp_path / "in", self.bad(kind))
        unit, byte = ("line", 10) if kind == "json" else ("line", 0) if kind == "lines" else ("row", 0)
        said = call("encode", table, source, *self.options(kind), *more, code=1).stderr
        assert said == f"Error: {source}, {unit} 2: not UTF-8 at byte {byte}; mend it, or pass --errors replace or skip\n"

    @pytest.mark.parametrize("kind", KINDS)
    def test_replace(self, kind: str, table: Path, tmp_path: Path) -> None:
        """With replace U+FFFD takes the place of what is wrong, and the documents are counted."""
        source = written(tmp_path / "in", self.bad(kind))
        done = call("encode", table, source, *self.options(kind), "--errors", "replace")
        assert done.data == ids_of(table, self.BAD, errors="replace")
        assert done.stderr == "2 documents read with U+FFFD for what is no text\n"

    @pytest.mark.parametrize("form", ["json", "parquet", "arrow", "npy"])
    @pytest.mark.parametrize("kind", KINDS)
    def test_skip(self, kind: str, form: str, table: Path, tmp_path: Path) -> None:
        """With skip such documents and their other fields are left out, and counted."""
        source = written(tmp_path / "in", self.bad(kind))
        out = tmp_path / f"out.{form}"
        done = call("encode", table, source, *self.options(kind), "--errors", "skip", "-o", out)
        assert rows_of(out, form) == [ids.tolist() for ids in fst.Tokenizer.load(table).encode_batch(self.GOOD)]
        assert done.stderr == "2 documents left out\n"
        if kind != "lines" and form == "parquet":
            assert pq.read_table(out)["number"].to_pylist() == [0, 3]

    @pytest.mark.parametrize(
        ("line", "what"),
        [
            (b"{", "not JSON at character 1"),
            (b"[" * 100_000, "not JSON"),
            (b"1" * 10_000, "not JSON"),
            (b"[1]", "no JSON object"),
            (b'{"texts": 1}', "no field 'text', of 'texts'"),
            (b'{"text": 5}', "the field 'text' is 5, no string"),
            (b'{"text": null}', "the field 'text' is null, no string"),
        ],
    )
    @pytest.mark.parametrize("errors", ["strict", "replace"])
    def test_no_text_in_json(self, errors: str, line: bytes, what: str, table: Path, tmp_path: Path) -> None:
        """A line without a text is an error that names file and line, and one that is left out with skip."""
        source = written(tmp_path / "in", b'{"text": "un"}\n' + line + b'\n{"text": "!"}\n')
        said = call("encode", table, source, "--field", "text", "--errors", errors, code=1).stderr
        assert said.startswith(f"Error: {source}, line 2: {what}")
        assert said.endswith("; mend it, or pass --errors skip\n")
        done = call("encode", table, source, "--field", "text", "--errors", "skip")
        assert (done.stdout.encode(), done.stderr) == (ids_of(table, ["un", "!"]), "1 document left out\n")

    def test_lone_surrogates(self, table: Path, tmp_path: Path) -> None:
        """A lone surrogate that JSON escapes is not text."""
        source = written(tmp_path / "in", b'{"text": "un\\ud800"}\n')
        said = call("encode", table, source, "--field", "text", code=1).stderr
        assert said.startswith(f"Error: {source}, line 1: a lone surrogate at character 2; ")
        done = call("encode", table, source, "--field", "text", "--errors", "replace")
        assert done.data == ids_of(table, ["un\ufffd"])


class TestCount:
    """`fst count`."""

    @pytest.mark.parametrize("kind", INPUTS)
    def test_tokens(self, kind: str, table: Path, tmp_path: Path) -> None:
        """It counts documents and tokens by file, and all of them."""
        tok = fst.Tokenizer.load(table)
        files = [written(tmp_path / name, as_input(kind, TEXTS * times)) for name, times in (("a", 1), ("b", 2))]
        told = json.loads(call("count", table, *files, *options_for(kind), "--json").stdout)
        rows, tokens = len(TEXTS), int(tok.count_tokens(TEXTS).sum())
        assert told == {
            "files": [
                {"file": str(file), "documents": rows * times, "tokens": tokens * times} for file, times in zip(files, (1, 2), strict=True)
            ],
            "documents": 3 * rows,
            "tokens": 3 * tokens,
        }

    def test_for_a_person(self, table: Path, tmp_path: Path) -> None:
        """A person gets a line a file, and one for all if there are several."""
        file = written(tmp_path / "in.txt", b"un\n" * 1000)
        assert call("count", table, file).stdout.splitlines() == ["documents  tokens  file", f"    1,000   3,000  {file}"]
        more = call("count", table, file, file, "--no-special-tokens").stdout.splitlines()
        assert more[2:] == [f"    1,000   1,000  {file}", "    2,000   2,000  total"]

    def test_errors(self, table: Path) -> None:
        """Documents that are left out are not counted, but told."""
        done = call("count", table, "--errors", "skip", "--json", stdin=b"un\n\xff\n")
        assert json.loads(done.stdout)["documents"] == 1
        assert done.stderr == "1 document left out\n"
        assert "line 2: not UTF-8" in call("count", table, stdin=b"un\n\xff\n", code=1).stderr


class TestOtherCommands:
    """`fst verify` and `fst bench`."""

    @pytest.fixture
    def reference_of(self, reference: Callable[..., Tokenizer], tmp_path: Path) -> Callable[[Sequence[str]], Path]:
        """Save the reference of a vocabulary, with what stands around a text in the table."""

        def save(tokens: Sequence[str]) -> Path:
            tokenizer = reference(tokens)
            tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
            tokenizer.save(str(tmp_path / "tokenizer.json"))
            return tmp_path / "tokenizer.json"

        return save

    @pytest.mark.parametrize("kind", INPUTS)
    def test_verify(self, kind: str, table: Path, reference_of: Callable[[Sequence[str]], Path], tmp_path: Path) -> None:
        """Files of any format are compared document by document, and the first difference is told with its place."""
        unit = {"lines": "line", "json": "line", "documents": "document"}.get(kind, "row")
        source = written(tmp_path / "in", as_input(kind, TEXTS))
        told = call("verify", table, "--against", reference_of(TOKENS), source, *options_for(kind)).stdout
        assert told == f"{source}: 7 {unit}s, all with the ids of the reference\n"
        other = reference_of([token.replace("hello", "hallo") for token in TOKENS])
        told = call("verify", table, "--against", other, source, *options_for(kind), code=1).stdout
        assert told.startswith(f"{source}, {unit} 3: not the ids of the reference")

    @pytest.mark.parametrize("kind", INPUTS)
    def test_bench(self, kind: str, table: Path, tmp_path: Path) -> None:
        """Only the texts of files are counted, in any format."""
        source = written(tmp_path / "in", as_input(kind, TEXTS))
        told = dict(line.split("  ", 1) for line in call("bench", table, source, *options_for(kind)).stdout.splitlines()[:3])
        assert told["texts"].strip() == "7"
        assert told["size"].strip().endswith(f"({sum(len(text.encode()) for text in TEXTS)} bytes)")
        assert told["tokens"].strip() == str(fst.Tokenizer.load(table).count_tokens(TEXTS, add_special_tokens=False).sum())

    def test_nulls(self, table: Path, reference_of: Callable[[Sequence[str]], Path], tmp_path: Path) -> None:
        """A null is no document for either of them, and counts as a row."""
        source = written(tmp_path / "in", as_input("parquet", [None, "un", None, "hello"]))
        assert "texts                 2" in call("bench", table, source, "--column", "text").stdout
        other = reference_of([token.replace("hello", "hallo") for token in TOKENS])
        assert ", row 4: not the ids" in call("verify", table, "--against", other, source, "--column", "text", code=1).stdout

    @pytest.mark.parametrize("command", ["bench", "verify"])
    @pytest.mark.parametrize(
        ("data", "what"),
        [(b'{"text": "un"}\n{"text": 5}\n', "the field 'text' is 5, no string"), (b'{"text": ""}\n\xff', "not UTF-8 at byte 0")],
    )
    def test_no_text(
        self, data: bytes, what: str, command: str, table: Path, reference_of: Callable[[Sequence[str]], Path], tmp_path: Path
    ) -> None:
        """A document that is not text is an error with its place, and does not mention options of other commands."""
        source = written(tmp_path / "in", data)
        more = ["--against", str(reference_of(TOKENS))] if command == "verify" else []
        said = call(command, table, source, "--field", "text", *more, code=1).stderr
        assert said == f"Error: {source}, line 2: {what}; mend it\n"

    @pytest.mark.parametrize("command", ["bench", "verify", "count"])
    def test_what_needs_a_name(self, command: str, table: Path, reference_of: Callable[[Sequence[str]], Path], tmp_path: Path) -> None:
        """Tables are not read as plain text."""
        source = written(tmp_path / "in", as_input("parquet", TEXTS))
        more = ["--against", str(reference_of(TOKENS))] if command == "verify" else []
        assert "--column" in call(command, table, source, *more, code=2).stderr
