"""`fst search` finds the same matches as the Python interface for every combination of formats, and follows the conventions of grep."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.commands import FST, TIMEOUT, call, error_of, posix, run, written
from support.document_files import INPUTS, SEPARATOR, as_input, fields_of, options_for, records_of
from support.tiers import thinned

import fst
from fst.compile import keywords

KEYWORDS = ["he", "she", "hers", "世界", "a\tb"]
TEXTS = ("ushers", "", "none", "世界 he said\r", "xa\tb", "he" * 30)
FORMS = ("lines", "matches", "json", "npz", "arrow", "parquet")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of keywords."""
    path = tmp_path_factory.mktemp("tables") / "keywords.npz"
    keywords(KEYWORDS).save(path)
    return path


def found_in(texts: Sequence[str | None], names: bool) -> list[list[dict[str, Any]] | None]:
    """The matches that the Python interface finds in each text."""
    searcher = fst.Searcher(keywords(KEYWORDS))
    rows: list[Any] = [None if text is None else [*searcher.find_iter(text)] for text in texts]
    return [row and [as_object(found, names) for found in row] for row in rows]


def as_object(found: fst.Match, names: bool) -> dict[str, Any]:
    """A match as JSON outputs contain it."""
    number, start, end = found
    return {**({"keyword": KEYWORDS[number]} if names else {"id": number}), "start": start, "end": end}


@pytest.mark.mostly_slow
@pytest.mark.parametrize(("kind", "form", "names"), thinned(product(INPUTS, FORMS, [False, True]), 6))
def test_all_ways(kind: str, form: str, names: bool, table: Path, tmp_path: Path) -> None:
    """From any input format to any output format, the matches are the same as from `find_iter`, and rows keep their other fields."""
    source, out = written(tmp_path / "input", gzip.compress(as_input(kind, TEXTS))), tmp_path / "out"
    words: list[str | Path] = ["search", table, source, *options_for(kind), "-o", out, "--format", form, *(["--names"] if names else [])]
    if names and form in ("lines", "npz"):
        assert f"--names cannot be combined with {form}" in call(*words, code=2).stderr
        return
    call(*words)
    found = [row or [] for row in found_in(TEXTS, names)]
    if form == "lines":
        end = SEPARATOR if kind == "documents" else "\n"
        assert out.read_bytes() == "".join(text + end for text, row in zip(TEXTS, found, strict=True) if row).encode()
    elif form == "matches":
        lines = [[str(number), *map(str, match.values())] for number, row in enumerate(found, 1) for match in row]
        spelled = [[field.replace("\t", r"\t") for field in line] for line in lines]
        assert out.read_text(encoding="utf-8").splitlines() == list(map("\t".join, spelled))
    elif form == "npz":
        arrays = np.load(out)
        matches = fst.Searcher(keywords(KEYWORDS)).find_batch([*TEXTS])
        assert [*arrays] == ["ids", "starts", "ends", "row_splits"]
        for name in arrays:
            np.testing.assert_array_equal(arrays[name], getattr(matches, name))
            assert arrays[name].dtype == getattr(matches, name).dtype
    else:
        rows = [{**fields_of(kind, number, text), "matches": row} for number, (text, row) in enumerate(zip(TEXTS, found, strict=True))]
        assert records_of(out, form) == rows


class TestRows:
    """Inputs with null rows, without rows, or with other columns."""

    @pytest.mark.mostly_slow
    @pytest.mark.parametrize("form", ["json", "arrow", "parquet"])
    @pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())], ids=str)
    def test_nulls(self, form: str, kind: Any, table: Path, tmp_path: Path) -> None:
        """A null in a column of any type has null as its result."""
        texts = ["ushers", None, "none", "he"]
        rows = pa.table({"text": pa.array(texts, pa.string()).cast(kind)})
        with pa.ipc.new_file(tmp_path / "in.arrow", rows.schema) as writer:
            writer.write_table(rows)
        call("search", table, tmp_path / "in.arrow", "--column", "text", "-o", tmp_path / "out", "--format", form)
        assert records_of(tmp_path / "out", form) == [
            {"text": text, "matches": row} for text, row in zip(texts, found_in(texts, names=False), strict=True)
        ]
        call("search", table, tmp_path / "in.arrow", "--column", "text", "--replace", "*", "-o", tmp_path / "out", "--format", form)
        assert records_of(tmp_path / "out", form) == [{"text": text} for text in ("u*rs", None, "none", "*")]

    @pytest.mark.mostly_slow
    @pytest.mark.parametrize("form", ["json", "arrow", "parquet", "npz"])
    @pytest.mark.parametrize("kind", INPUTS)
    def test_no_rows(self, kind: str, form: str, table: Path, tmp_path: Path) -> None:
        """For a file without rows, an output without rows is written, and the exit code is that for no matches."""
        source, out = written(tmp_path / "input", as_input(kind, [])), tmp_path / "out"
        call("search", table, source, *options_for(kind), "-o", out, "--format", form, code=1)
        if form == "npz":
            assert np.load(out)["row_splits"].tolist() == [0]
        else:
            assert records_of(out, form) == []
            call("search", table, source, *options_for(kind), "-o", out, "--format", form, "--replace", "x")
            assert records_of(out, form) == []

    @pytest.mark.parametrize("form", ["json", "arrow"])
    def test_a_column_of_the_same_name(self, form: str, table: Path, tmp_path: Path) -> None:
        """A field with the name of an added field is refused, and no file is written."""
        source = written(tmp_path / "in.jsonl", b'{"text": "he", "matches": 1}\n')
        done = call("search", table, source, "--field", "text", "-o", tmp_path / "out", "--format", form, code=2)
        assert "'matches' has the name of a" in error_of(done)
        assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]

    def test_errors(self, table: Path, tmp_path: Path) -> None:
        """--errors determines whether a document that is not text stops the search, is repaired or is omitted."""
        source = written(tmp_path / "in.txt", b"he\nx\xffshe\nhe")
        assert error_of(call("search", table, source, code=2)).startswith(f"{source}, line 2: not UTF-8 at byte 1")
        done = call("search", table, source, "--errors", "replace", "--format", "json")
        assert [json.loads(line)["text"] for line in done.stdout.splitlines()] == ["he", "x\ufffdshe", "he"]
        assert done.stderr.startswith("1 document repaired with U+FFFD")
        assert call("search", table, source, "--errors", "replace").stdout == "he\nx\ufffdshe\nhe\n"
        assert call("search", table, source, "--errors", "skip", "--replace", "*").stdout == "*\n*\n"
        binary = pa.table({"text": pa.array([b"he", b"x\xffshe", None], pa.binary())})
        pq.write_table(binary, tmp_path / "in.parquet")
        out = tmp_path / "out.parquet"
        call("search", table, tmp_path / "in.parquet", "--column", "text", "--errors", "replace", "--replace", "*", "-o", out)
        assert pq.read_table(out).equals(pa.table({"text": pa.array([b"*", "x\ufffd*".encode(), None], pa.binary())}))


class TestManners:
    """The conventions of grep and of `fst encode`."""

    def test_exit_codes(self, table: Path, tmp_path: Path) -> None:
        """The exit code is 0 if there is a match or with --replace, 1 if there is no match, and 2 after an error."""
        assert call("search", table, stdin=b"none\nhe\n").data == b"he\n"
        assert call("search", table, "-", stdin=b"none\n", code=1).data == b""
        assert call("search", table, "--count", stdin=b"none\n", code=1).data == b"0\n"
        assert call("search", table, "--format", "json", stdin=b"none\n", code=1).data == b'{"text":"none","matches":[]}\n'
        assert call("search", table, "--replace", "x", stdin=b"none\n").data == b"none\n"
        assert error_of(call("search", table, tmp_path / "missing", code=2)).endswith("No such file or directory; check the name")
        assert "is not a table file" in error_of(call("search", written(tmp_path / "no.npz", b"x" * 99), code=2))

    def test_count(self, table: Path, tmp_path: Path) -> None:
        """--count prints the number of matches of each file, with its name if there are several files."""
        one, two = written(tmp_path / "one", b"he she\nhe\n"), written(tmp_path / "two", b"none\n")
        assert call("search", table, one, "--count").data == b"3\n"
        assert call("search", table, one, two, "--count").stdout == f"{one}:3\n{two}:0\n"
        for options in (["--names"], ["--replace", "x"], ["--format", "json"], ["-o", str(tmp_path / "out")]):
            assert "--count cannot be combined with" in call("search", table, one, "--count", *options, code=2).stderr

    def test_several_files(self, table: Path, tmp_path: Path) -> None:
        """With several files, each line begins with the name of its file."""
        one, two = written(tmp_path / "one", b"he\nnone\n"), written(tmp_path / "two", b"x she\n")
        assert call("search", table, one, two).stdout == f"{one}:he\n{two}:x she\n"
        assert call("search", table, one, two, "--names").stdout == f"{one}\t1\the\t0\t2\n{two}\t1\tshe\t2\t5\n"

    def test_colours(self, table: Path, tmp_path: Path) -> None:
        """With --color always, matches and names of files are colored."""
        source = written(tmp_path / "in.txt", "é ushers he\n".encode())
        shown = "é u\x1b[01;31mshe\x1b[mrs \x1b[01;31mhe\x1b[m\n"
        assert call("search", table, source, "--color", "always").stdout == shown
        assert call("search", table, source, "--color", "never").stdout == call("search", table, source).stdout == "é ushers he\n"
        name = f"\x1b[35m{source}\x1b[m\x1b[36m:\x1b[m"
        assert call("search", table, source, source, "--color", "always").stdout == 2 * (name + shown)

    @pytest.mark.slow
    @posix
    @pytest.mark.parametrize(("environment", "colored"), thinned([({"NO_COLOR": "1"}, False), ({}, True), ({"TERM": "dumb"}, False)], 4))
    def test_terminals(self, environment: dict[str, str], colored: bool, table: Path) -> None:
        """On a terminal, matches are colored unless an environment variable turns colors off."""
        import pty

        run("search", table, stdin=b"he\n")  # compiles kernels
        master, end = pty.openpty()
        clean = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        clean |= {"TERM": "xterm", **environment}
        subprocess.run([FST, "search", table], input=b"ushers\n", stdout=end, timeout=TIMEOUT, check=True, env=clean)
        os.write(end, b"\0")
        shown = b""
        while not shown.endswith(b"\0"):
            shown += os.read(master, 1_000)
        os.close(end)
        os.close(master)
        assert shown[:-1] == (b"u\x1b[01;31mshe\x1b[mrs\r\n" if colored else b"ushers\r\n")

    @pytest.mark.slow
    def test_a_reader_that_leaves(self, table: Path, tmp_path: Path) -> None:
        """If the reader closes the pipe early, nothing is printed."""
        source = written(tmp_path / "in.txt", b"he " * 300_000 + b"\n" + b"he\n" * 300_000)
        with subprocess.Popen([FST, "search", table, source], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.read(10)
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait(TIMEOUT) == 0

    def test_packed_outputs(self, table: Path, tmp_path: Path) -> None:
        """The ending of the output's name determines the format and the compression."""
        call("search", table, "-o", tmp_path / "out.jsonl.gz", stdin=b"he\n")
        assert gzip.decompress((tmp_path / "out.jsonl.gz").read_bytes()) == b'{"text":"he","matches":[{"id":0,"start":0,"end":2}]}\n'

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--format", "npz"], "--format npz needs a regular file"),
            (["-o", "out.csv"], "write JSON lines"),
            (["-o", "out.npy"], "write .npz"),
            (["--replace", "x", "--format", "matches"], "--replace cannot be combined with matches"),
            (["--replace", "x", "-o", "out.npz"], "--replace cannot be combined with npz"),
            (["--replace", "x", "--names"], "--names cannot be combined with --replace"),
            (["--column", "text"], "--column does not go with"),
            (["--color", "often"], "'often' is not one of"),
        ],
    )
    def test_wrong_usage(self, options: list[str], message: str, table: Path) -> None:
        """Options that contradict each other are wrong usage."""
        assert message in call("search", table, *options, code=2).stderr

    def test_inputs_are_not_outputs(self, table: Path, tmp_path: Path) -> None:
        """An output that is an input is refused before it is changed."""
        source = written(tmp_path / "in.txt", b"he\n")
        assert "is also an input" in call("search", table, source, "-o", source, "--replace", "x", code=2).stderr
        assert source.read_bytes() == b"he\n"

    def test_tables_of_other_kinds(self, tmp_path: Path, table: Path) -> None:
        """A table of another kind is refused, and the message contains its kind and a remedy."""
        from fst.compile import wordpiece

        wordpiece(["[UNK]"]).save(tmp_path / "words.npz")
        done = call("search", tmp_path / "words.npz", code=2)
        assert error_of(done).endswith("is a table of wordpiece; expected a table of keywords; make one with `fst compile keywords`")
        assert "is a table of keywords; expected the table of a tokenizer" in error_of(call("encode", table, code=1))
        assert call("verify", table).stdout == f"{table}: complete and safe\n"


    def test_info(self, tmp_path: Path) -> None:
        """`fst info` shows the number of keywords of a table and its options."""
        out = tmp_path / "names.npz"
        keywords(["ab", "", "c"], match_kind="standard", ignore_case=True, allow_empty=True).save(out)
        shown = json.loads(call("info", out, "--json").stdout)
        assert (shown["keywords"], shown["match_kind"], shown["allow_empty"]) == (3, "standard", True)
        assert [line.split() for line in call("info", out).stdout.splitlines()[3:7]] == [
            ["keywords", "3"],
            ["match_kind", "standard"],
            ["ignore_case", "true"],
            ["whole_words", "false"],
        ]


@pytest.mark.slow
def test_long_documents(table: Path, tmp_path: Path) -> None:
    """With --count, .npz or --format matches, documents may have any length; for outputs with texts, the length is limited."""
    text = "x" * ((1 << 21) - 1) + "hé" + "世界 ushers " * 1_300_000
    source = written(tmp_path / "in.txt", f"he\n{text}\nshe\n".encode())
    matches = fst.Searcher.load(table).find_batch(["he", text, "she"])
    assert call("search", table, source, "--count").stdout == f"{len(matches.ids)}\n"
    call("search", table, source, "-o", tmp_path / "out.npz")
    arrays = np.load(tmp_path / "out.npz")
    for name in arrays:
        np.testing.assert_array_equal(arrays[name], getattr(matches, name))
    lines = call("search", table, source, "--format", "matches").data.split(b"\n")
    assert lines[:2] == [b"1\t0\t0\t2", b"2\t3\t2097153\t2097155"]
    assert lines[-2] == b"3\t1\t0\t3"
    assert error_of(call("search", table, source, code=2)).startswith(f"{source}, line 2: more than 16,777,216 bytes")
    wrong = written(tmp_path / "wrong.txt", source.read_bytes()[: 1 << 24] + b"\xff")
    assert error_of(call("search", table, wrong, "--count", code=2)).startswith(f"{wrong}, line 2: not UTF-8 at byte 16777213")
    assert "1 document repaired with U+FFFD" in call("search", table, wrong, "--count", "--errors", "replace").stderr


def _documents(count: int) -> Iterator[bytes]:
    return (b"line %d he\n" % number for number in range(count))


def test_many_documents(table: Path, tmp_path: Path) -> None:
    """The line numbers of matches continue from one block of documents to the next."""
    source = written(tmp_path / "in.txt", b"".join(_documents(200_000)))
    lines = call("search", table, source, "--format", "matches").data.splitlines()
    assert len(lines) == 200_000
    assert lines[-1] == b"200000\t0\t12\t14"
