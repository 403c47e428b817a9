"""For every combination of input and output formats, ids are the same as from the Python interface, and every error contains a position."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

import pytest
from support.commands import (
    TOKENS,
    call,
    ids_of,
    written,
)
from support.document_files import (
    ENDINGS,
    INPUTS,
    OUTPUTS,
    PACKINGS,
    SEPARATOR,
    TEXTS,
    as_input,
    as_table,
    options_for,
    packed,
    rows_of,
)
from support.tiers import sample, thinned
from tokenizers import Tokenizer, processors

import fst
from fst.runtime.files.packing import CHUNK

pa = pytest.importorskip("pyarrow", reason="tables take pyarrow: the extra [arrow]")
pq = pytest.importorskip("pyarrow.parquet", reason="tables take pyarrow: the extra [arrow]")


@pytest.mark.mostly_slow
@pytest.mark.parametrize(("kind", "packing", "form"), thinned(product(INPUTS, PACKINGS, OUTPUTS), 12))
def test_all_ways(kind: str, packing: str, form: str, table: Path, tmp_path: Path) -> None:
    """From any input format to any output format, the ids are the same as from `encode_batch`."""
    source = written(tmp_path / "input", packed(as_input(kind, TEXTS), packing))
    out = tmp_path / f"out.{form}"
    call("encode", table, source, *options_for(kind), "-o", out, *(["--format", "tokens"] if form == "tokens" else []))
    tok = fst.Tokenizer.load(table)
    expected = [ids.tolist() for ids in tok.encode_batch(TEXTS)]
    if form == "tokens":
        expected = [list(map(tok.id_to_token, row)) for row in expected]
    assert rows_of(out, form) == expected


class TestInput:
    """The recognition of an input's format, and its documents."""

    @pytest.mark.mostly_slow
    @pytest.mark.parametrize("name", ["in.jsonl", "in.ndjson", "in.json", "in.JSONL", "in.Ndjson"])
    @pytest.mark.parametrize("packing", PACKINGS)
    def test_json_by_its_name(self, name: str, packing: str, table: Path, tmp_path: Path) -> None:
        """A file with an ending of JSON lines is not read as plain text unless --input-format requests it."""
        source = written(tmp_path / (name + ENDINGS[packing].upper()), as_input("json", TEXTS))
        assert "JSON lines" in call("encode", table, source, code=2).stderr
        call("encode", table, source, "--input-format", "text")

    @pytest.mark.mostly_slow
    @pytest.mark.parametrize("name", ["in.csv", "in.TSV", "in.csv.gz", "in.tar.gz", "in.zip"])
    @pytest.mark.parametrize("more", [[], ["--field", "text"]], ids=["plain", "field"])
    def test_what_is_not_read(self, name: str, more: list[str], table: Path, tmp_path: Path) -> None:
        """A file with the ending of an unsupported format is refused, unless --input-format requests another format."""
        source = written(tmp_path / name, b"un,hello\n")
        reason = call("encode", table, source, *more, code=2).stderr
        assert f"{source}: " in reason
        assert "is not read; " in reason
        assert call("encode", table, source, "--input-format", "text").data == ids_of(table, ["un,hello"])

    @pytest.mark.parametrize(
        ("data", "what"),
        [(b' [{"text": "un"}]', "an array"), (b'[\n{"text": "un"}]', "an array"), (b'{\r\n "text": "un"}', "an object of several lines")],
    )
    @pytest.mark.parametrize("name", ["in.json", "in.jsonl.gz"])
    @pytest.mark.parametrize("more", [[], ["--field", "text"]], ids=["plain", "field"])
    def test_json_that_is_not_lines(self, data: bytes, what: str, name: str, more: list[str], table: Path, tmp_path: Path) -> None:
        """JSON that is an array, or an object over several lines, is refused, and the message explains how to convert it to JSON lines."""
        source = written(tmp_path / name, packed(data, "gzip") if name.endswith("gz") else data)
        reason = call("encode", table, source, *more, code=2).stderr
        assert f"{source} is JSON, but {what}" in reason
        assert "jq -c" in reason

    @pytest.mark.mostly_slow
    @pytest.mark.parametrize(
        ("kind", "packing"), [*product(INPUTS, ("plain", "gzip", "zstd")), ("lines", "bz2"), ("json", "xz"), ("parquet", "xz")]
    )
    def test_standard_input(self, kind: str, packing: str, table: Path) -> None:
        """The format of standard input is recognized like the format of a file."""
        done = call("encode", table, "-", *options_for(kind), stdin=packed(as_input(kind, TEXTS), packing))
        assert done.data == ids_of(table, TEXTS)

    def test_text_that_begins_like_a_table(self, table: Path, tmp_path: Path) -> None:
        """Text that begins like a Parquet file is read as text if --input-format requests it."""
        source = written(tmp_path / "in.txt", b"PAR1 un\n")
        assert "--column" in call("encode", table, source, code=2).stderr
        assert call("encode", table, source, "--input-format", "text").data == ids_of(table, ["PAR1 un"])

    def test_file_as_a_document(self, table: Path, tmp_path: Path) -> None:
        """With --document file, each file is one document, including its line feeds, and an empty file is an empty document."""
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
        """A document ends at each separator, and the text after the last separator is a document unless it is whitespace."""
        source = written(tmp_path / "in.txt", text.encode())
        assert call("encode", table, source, "--separator", "<|e|>").data == ids_of(table, documents)

    def test_separator_in_two_chunks(self, table: Path, tmp_path: Path) -> None:
        """A separator is found at any position, even if it spans two reads."""
        parts = ["un " * (CHUNK // 3 - 1) + "!" * rest for rest in sample(range(12), 8)]
        for part in parts:
            source = written(tmp_path / "in.txt", f"{part}{SEPARATOR}hello".encode())
            assert call("encode", table, source, "--separator", SEPARATOR).data == ids_of(table, [part, "hello"])

    def test_lines_without_anything(self, table: Path, tmp_path: Path) -> None:
        """Lines of whitespace between JSON lines are not documents, but line numbers in messages count them."""
        source = written(tmp_path / "in.jsonl", b'\n{"text": "un"}\n \r\n\n{"text": "hello"}\r\n{}')
        assert call("encode", table, source, "--field", "text", "--errors", "skip").data == ids_of(table, ["un", "hello"])
        assert call("encode", table, source, "--field", "text", code=1).stderr.startswith(f"Error: {source}, line 6: no field 'text'")

    def test_several_kinds(self, table: Path, tmp_path: Path) -> None:
        """Files of different kinds that accept the same options are read one after the other."""
        kinds = ("parquet", "arrow file", "arrow stream")
        files = [written(tmp_path / kind, as_input(kind, TEXTS)) for kind in kinds]
        assert call("encode", table, *files, "--column", "text").data == ids_of(table, TEXTS * 3)

    @pytest.mark.mostly_slow
    @pytest.mark.parametrize(
        "kind", ["string", "large_string", "string_view", "binary", "large_binary", "binary_view", "dictionary"]
    )
    @pytest.mark.parametrize("file", ["parquet", "arrow file"])
    def test_types_of_columns(self, kind: str, file: str, table: Path, tmp_path: Path) -> None:
        """A column may have any Arrow type for text."""
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
        """Options that contradict each other, or that do not apply to the format of the file, are wrong usage."""
        source = written(tmp_path / "in.txt", b"un\n")
        done = call("encode", table, source, *words, code=2)
        assert (done.stdout, "Usage: " in done.stderr) == ("", True)


class TestErrors:
    """The option --errors."""

    BAD = (b"un", b"\xffun", b"hello \xe4\xb8", b"!")
    GOOD = (b"un", b"!")

    def bad(self, kind: str) -> bytes:
        """A file of a kind with texts that are not UTF-8."""
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
        """The options that read a kind of file."""
        return options_for(kind.removeprefix("binary "))

    @pytest.mark.parametrize("more", [[], ["--max-length", "3"]], ids=["whole", "cut"])
    @pytest.mark.parametrize("kind", KINDS)
    def test_strict(self, kind: str, more: list[str], table: Path, tmp_path: Path) -> None:
        """By default, the first invalid text is an error, and the message contains the file, the position, the byte and a remedy."""
        source = written(tmp_path / "in", self.bad(kind))
        unit, byte = ("line", 10) if kind == "json" else ("line", 0) if kind == "lines" else ("row", 0)
        reason = call("encode", table, source, *self.options(kind), *more, code=1).stderr
        assert reason == f"Error: {source}, {unit} 2: not UTF-8 at byte {byte}; correct it, or pass --errors replace or skip\n"

    @pytest.mark.parametrize("kind", KINDS)
    def test_replace(self, kind: str, table: Path, tmp_path: Path) -> None:
        """With --errors replace, invalid bytes become U+FFFD, and the number of repaired documents is printed."""
        source = written(tmp_path / "in", self.bad(kind))
        done = call("encode", table, source, *self.options(kind), "--errors", "replace")
        assert done.data == ids_of(table, self.BAD, errors="replace")
        assert done.stderr == "2 documents repaired with U+FFFD\n"

    @pytest.mark.mostly_slow
    @pytest.mark.parametrize("form", ["json", "parquet", "arrow", "npy"])
    @pytest.mark.parametrize("kind", KINDS)
    def test_skip(self, kind: str, form: str, table: Path, tmp_path: Path) -> None:
        """With --errors skip, invalid documents and their other fields are omitted, and their number is printed."""
        source = written(tmp_path / "in", self.bad(kind))
        out = tmp_path / f"out.{form}"
        done = call("encode", table, source, *self.options(kind), "--errors", "skip", "-o", out)
        assert rows_of(out, form) == [ids.tolist() for ids in fst.Tokenizer.load(table).encode_batch(self.GOOD)]
        assert done.stderr == "2 documents skipped\n"
        if kind != "lines" and form == "parquet":
            assert pq.read_table(out)["number"].to_pylist() == [0, 3]

    @pytest.mark.mostly_slow
    @pytest.mark.parametrize(
        ("line", "what"),
        [
            (b"{", "not JSON at character 1"),
            (b"[" * 100_000, "not JSON"),
            (b"1" * 10_000, "not JSON"),
            (b"[1]", "no JSON object"),
            (b'{"texts": 1}', "no field 'text'; its fields are 'texts'"),
            (b'{"text": 5}', "the field 'text' is 5, no string"),
            (b'{"text": null}', "the field 'text' is null, no string"),
        ],
    )
    @pytest.mark.parametrize("errors", ["strict", "replace"])
    def test_no_text_in_json(self, errors: str, line: bytes, what: str, table: Path, tmp_path: Path) -> None:
        """The message about a JSON line without text contains the file and the line, and --errors skip omits the line."""
        source = written(tmp_path / "in", b'{"text": "un"}\n' + line + b'\n{"text": "!"}\n')
        reason = call("encode", table, source, "--field", "text", "--errors", errors, code=1).stderr
        assert reason.startswith(f"Error: {source}, line 2: {what}")
        assert reason.endswith("; correct it, or pass --errors skip\n")
        done = call("encode", table, source, "--field", "text", "--errors", "skip")
        assert (done.stdout.encode(), done.stderr) == (ids_of(table, ["un", "!"]), "1 document skipped\n")

    def test_lone_surrogates(self, table: Path, tmp_path: Path) -> None:
        """An escaped lone surrogate in JSON is not text."""
        source = written(tmp_path / "in", b'{"text": "un\\ud800"}\n')
        reason = call("encode", table, source, "--field", "text", code=1).stderr
        assert reason.startswith(f"Error: {source}, line 1: a lone surrogate at character 2; ")
        done = call("encode", table, source, "--field", "text", "--errors", "replace")
        assert done.data == ids_of(table, ["un\ufffd"])


class TestCount:
    """`fst count`."""

    @pytest.mark.parametrize("kind", INPUTS)
    def test_tokens(self, kind: str, table: Path, tmp_path: Path) -> None:
        """`fst count` prints the numbers of documents and tokens of each file and in total."""
        tok = fst.Tokenizer.load(table)
        files = [written(tmp_path / name, as_input(kind, TEXTS * times)) for name, times in (("a", 1), ("b", 2))]
        shown = json.loads(call("count", table, *files, *options_for(kind), "--json").stdout)
        rows, tokens = len(TEXTS), int(tok.count_tokens(TEXTS).sum())
        assert shown == {
            "files": [
                {"file": str(file), "documents": rows * times, "tokens": tokens * times} for file, times in zip(files, (1, 2), strict=True)
            ],
            "documents": 3 * rows,
            "tokens": 3 * tokens,
        }

    def test_for_a_person(self, table: Path, tmp_path: Path) -> None:
        """Without --json, the output has a line per file, and a line with the total if there are several files."""
        file = written(tmp_path / "in.txt", b"un\n" * 1000)
        assert call("count", table, file).stdout.splitlines() == ["documents  tokens  file", f"    1,000   3,000  {file}"]
        more = call("count", table, file, file, "--no-special-tokens").stdout.splitlines()
        assert more[2:] == [f"    1,000   1,000  {file}", "    2,000   2,000  total"]

    def test_errors(self, table: Path) -> None:
        """Documents that --errors skip omits are not counted, and their number is printed."""
        done = call("count", table, "--errors", "skip", "--json", stdin=b"un\n\xff\n")
        assert json.loads(done.stdout)["documents"] == 1
        assert done.stderr == "1 document skipped\n"
        assert "line 2: not UTF-8" in call("count", table, stdin=b"un\n\xff\n", code=1).stderr


class TestOtherCommands:
    """`fst verify` and `fst bench` read files of every format."""

    @pytest.fixture
    def reference_of(self, reference: Callable[..., Tokenizer], tmp_path: Path) -> Callable[[Sequence[str]], Path]:
        """A function that saves a reference tokenizer which puts the same special tokens around a text as the table."""

        def save(tokens: Sequence[str]) -> Path:
            tokenizer = reference(tokens)
            tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
            tokenizer.save(str(tmp_path / "tokenizer.json"))
            return tmp_path / "tokenizer.json"

        return save

    @pytest.mark.parametrize("kind", INPUTS)
    def test_verify(self, kind: str, table: Path, reference_of: Callable[[Sequence[str]], Path], tmp_path: Path) -> None:
        """`fst verify` compares files of any format document by document, and reports the position of the first difference."""
        unit = {"lines": "line", "json": "line", "documents": "document"}.get(kind, "row")
        source = written(tmp_path / "in", as_input(kind, TEXTS))
        shown = call("verify", table, "--against", reference_of(TOKENS), source, *options_for(kind)).stdout
        assert shown == f"{source}: 7 {unit}s, all with the ids of the reference\n"
        other = reference_of([token.replace("hello", "hallo") for token in TOKENS])
        shown = call("verify", table, "--against", other, source, *options_for(kind), code=1).stdout
        assert shown.startswith(f"{source}, {unit} 3: not the ids of the reference")

    @pytest.mark.parametrize("kind", INPUTS)
    def test_bench(self, kind: str, table: Path, tmp_path: Path) -> None:
        """`fst bench` counts only the texts of a file, in any format."""
        source = written(tmp_path / "in", as_input(kind, TEXTS))
        shown = dict(line.split("  ", 1) for line in call("bench", table, source, *options_for(kind)).stdout.splitlines()[:3])
        assert shown["texts"].strip() == "7"
        assert shown["size"].strip().endswith(f"({sum(len(text.encode()) for text in TEXTS)} bytes)")
        assert shown["tokens"].strip() == str(fst.Tokenizer.load(table).count_tokens(TEXTS, add_special_tokens=False).sum())

    def test_nulls(self, table: Path, reference_of: Callable[[Sequence[str]], Path], tmp_path: Path) -> None:
        """`fst bench` and `fst verify` do not read a null as a document, but count it as a row."""
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
        """If a document is not text, the message contains the position of the document, but no options of other commands."""
        source = written(tmp_path / "in", data)
        more = ["--against", str(reference_of(TOKENS))] if command == "verify" else []
        reason = call(command, table, source, "--field", "text", *more, code=1).stderr
        assert reason == f"Error: {source}, line 2: {what}; correct it\n"

    @pytest.mark.parametrize("command", ["bench", "verify", "count"])
    def test_what_needs_a_name(self, command: str, table: Path, reference_of: Callable[[Sequence[str]], Path], tmp_path: Path) -> None:
        """Parquet and Arrow files are not read as plain text."""
        source = written(tmp_path / "in", as_input("parquet", TEXTS))
        more = ["--against", str(reference_of(TOKENS))] if command == "verify" else []
        assert "--column" in call(command, table, source, *more, code=2).stderr
