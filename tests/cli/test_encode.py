"""`fst encode` and `fst decode` give the same results as the Python interface, for lines of files and of standard input."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from support.commands import (
    FST,
    TEXTS,
    TIMEOUT,
    call,
    error_of,
    ids_of,
    posix,
    run,
    written,
)
from support.tiers import thinned

from fst.runtime.files.packing import CHUNK


class TestEncode:
    """`fst encode`."""

    @pytest.mark.slow
    def test_ids_are_the_packages(self, table: Path, texts: Path) -> None:
        """A line of ids equals the result of `fst.load(table).encode(line)`."""
        assert run("encode", table, texts).stdout == ids_of(table, TEXTS)

    @pytest.mark.slow
    @pytest.mark.parametrize("dash", thinned([[], ["-"]], 2))
    def test_standard_input(self, table: Path, dash: list[str]) -> None:
        """Without a file, or for "-", documents come from standard input."""
        assert run("encode", table, *dash, stdin=b"un\nhello\n").stdout == ids_of(table, ["un", "hello"])

    def test_several_files(self, table: Path, texts: Path) -> None:
        """Files, including standard input, are read in the order of the arguments."""
        assert call("encode", table, texts, "-", texts, stdin=b"un\n").data == ids_of(table, [*TEXTS, "un", *TEXTS])

    def test_no_special_tokens(self, table: Path, texts: Path) -> None:
        """--no-special-tokens omits the special tokens around a document."""
        assert call("encode", table, texts, "--no-special-tokens").data == ids_of(table, TEXTS, add_special_tokens=False)

    def test_tokens(self, table: Path) -> None:
        """--format tokens writes tokens instead of ids."""
        done = call("encode", table, "--format", "tokens", stdin="unaffable é\n".encode())
        assert done.stdout == "[CLS] un ##aff ##able [UNK] [SEP]\n"

    def test_json(self, table: Path) -> None:
        """--format json writes one object per line with the ids, and --tokens adds the tokens."""
        assert call("encode", table, "--format", "json", stdin=b"unable\n\n").data == b'{"input_ids":[2,5,7,3]}\n{"input_ids":[2,3]}\n'
        done = call("encode", table, "--format", "json", "--tokens", stdin="unable \u2028é\n".encode())
        assert json.loads(done.stdout) == {"input_ids": [2, 5, 7, 1, 3], "tokens": ["[CLS]", "un", "##able", "[UNK]", "[SEP]"]}

    @pytest.mark.parametrize("form", ["ids", "tokens", "npy"])
    def test_tokens_that_have_no_place(self, form: str, table: Path, tmp_path: Path) -> None:
        """--tokens is wrong usage for a format that contains only ids or only tokens."""
        done = call("encode", table, "--tokens", "--format", form, "-o", tmp_path / "out", code=2)
        assert f"--tokens cannot be combined with {form}" in done.stderr

    def test_empty_lines(self, table: Path) -> None:
        """An empty line is a document."""
        assert call("encode", table, stdin=b"\n\nun\n\n").data == ids_of(table, ["", "", "un", ""])

    def test_nothing(self, table: Path) -> None:
        """An empty input gives an empty output."""
        assert call("encode", table, stdin=b"").data == b""

    def test_missing_last_newline(self, table: Path) -> None:
        """A last line without a line feed is a document."""
        assert call("encode", table, stdin=b"un\nhello").data == ids_of(table, ["un", "hello"])

    def test_lines_end_at_line_feeds_only(self, table: Path) -> None:
        """Only line feeds end a document; carriage returns, form feeds, U+0085 and U+2028 are part of the document."""
        lines = ["un\r", "\r", "un\fhello", "un\x0bhello", "un\x85hello", "un\u2028hello"]
        assert call("encode", table, stdin="\n".join(lines).encode()).data == ids_of(table, lines)

    @pytest.mark.slow
    def test_blocks_do_not_show(self, table: Path, tmp_path: Path) -> None:
        """The ids do not depend on how much of a file or a line is read at a time."""
        lines = [b"unable hello " * (CHUNK // 6), *[b"hello un", b"", b"!" * 40] * (CHUNK // 30), "é".encode() * CHUNK]
        data = b"\n".join(lines)
        assert call("encode", table, written(tmp_path / "long.txt", data)).data == ids_of(table, lines)

    def test_threads(self, table: Path, tmp_path: Path) -> None:
        """The ids do not depend on --threads."""
        file = written(tmp_path / "texts.txt", b"hello unaffable\n" * 20_000)
        assert call("encode", table, file, "--threads", "3").data == call("encode", table, file, "--threads", "1").data

    def test_a_number_of_threads_that_is_none(self, table: Path, texts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """If `FST_NUM_THREADS` is not a number, every command is wrong usage."""
        monkeypatch.setenv("FST_NUM_THREADS", "many")
        for words in (("encode", str(table), str(texts)), ("info", str(table))):
            assert "FST_NUM_THREADS is 'many'; expected a whole number" in call(*words, code=2).stderr

    @pytest.mark.slow
    def test_line_by_line(self, table: Path) -> None:
        """A typed line is encoded before the next line is typed."""
        with subprocess.Popen([FST, "encode", str(table)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for text in ("un", "hello"):
                process.stdin.write(f"{text}\n".encode())
                process.stdin.flush()
                assert process.stdout.readline() == ids_of(table, [text])
            process.stdin.close()
            assert process.wait(TIMEOUT) == 0

    def test_invalid_utf_8(self, table: Path, tmp_path: Path) -> None:
        """The message about bytes that are not UTF-8 contains the file, the line, the byte and a remedy."""
        file = written(tmp_path / "bad.txt", b"un\n" * 500_000 + b"hello \xff\n")
        reason = error_of(call("encode", table, file, code=1))
        assert reason == f"{file}, line 500001: not UTF-8 at byte 6; correct it, or pass --errors replace or skip"

    def test_invalid_utf_8_of_standard_input(self, table: Path) -> None:
        """A character that a line feed cuts in two is an error in the first of the two lines."""
        reason = error_of(call("encode", table, stdin=b"un\n\xc3\n\xa9\n", code=1))
        assert reason.startswith("standard input, line 2: not UTF-8 at byte 0")

    def test_replace(self, table: Path) -> None:
        """--errors replace reads bytes that are not UTF-8 as U+FFFD."""
        done = call("encode", table, "--errors", "replace", stdin=b"un\xff\nhello\n")
        assert done.data == ids_of(table, ["un\ufffd", "hello"])

    @pytest.mark.slow
    def test_what_was_written_stays(self, table: Path, tmp_path: Path) -> None:
        """Standard output contains only complete lines if an error ends the command."""
        file = written(tmp_path / "bad.txt", b"un\n" * CHUNK + b"\xff\n")
        out = call("encode", table, file, code=1).data
        line = ids_of(table, ["un"])
        assert len(out) > 0
        assert out == line * (len(out) // len(line))

    def test_output(self, table: Path, texts: Path, tmp_path: Path) -> None:
        """--output writes to a file, and nothing to standard output."""
        out = tmp_path / "ids.txt"
        assert call("encode", table, texts, "--output", out).data == b""
        assert out.read_bytes() == ids_of(table, TEXTS)

    @pytest.mark.slow
    def test_no_half_written_output(self, table: Path, tmp_path: Path) -> None:
        """After a failed command, neither the output file nor a temporary file exists."""
        file = written(tmp_path / "bad.txt", b"un\n" * CHUNK + b"\xff\n")
        call("encode", table, file, "--output", tmp_path / "ids.txt", code=1)
        assert list(tmp_path.iterdir()) == [file]

    def test_the_old_output_stays(self, table: Path, tmp_path: Path) -> None:
        """A failed command does not change the output of an earlier run."""
        old = written(tmp_path / "ids.txt", b"as it was")
        call("encode", table, "--output", old, stdin=b"\xff\n", code=1)
        assert old.read_bytes() == b"as it was"

    @pytest.mark.slow
    @posix
    def test_links_and_devices(self, table: Path, texts: Path, tmp_path: Path) -> None:
        """If the output is a link or a pipe, the command writes to it, and does not replace it."""
        link = tmp_path / "link.txt"
        link.symlink_to(tmp_path / "ids.txt")
        call("encode", table, texts, "--output", link)
        assert link.is_symlink()
        assert link.read_bytes() == ids_of(table, TEXTS)
        assert run("encode", table, texts, "--output", "/dev/stdout").stdout == ids_of(table, TEXTS)


class TestOutputsThatAreInputs:
    """An output that is also an input."""

    @pytest.fixture
    def files(self, table: Path, tmp_path: Path) -> dict[str, Path]:
        """Files that each contain their own file name, and links to one of these files."""
        paths = {name: written(tmp_path / name, name.encode()) for name in ("a.txt", "ids.splits.npy", "vocab.txt")}
        paths["table"] = written(tmp_path / "table", table.read_bytes())
        (tmp_path / "symbolic").symlink_to("a.txt")
        (tmp_path / "hard").hardlink_to(paths["a.txt"])
        return {**paths, "symbolic": tmp_path / "symbolic", "hard": tmp_path / "hard", "folder": tmp_path, "ids.npy": tmp_path / "ids.npy"}

    @pytest.mark.parametrize(
        "words",
        [
            "encode table a.txt -o table",
            "encode table a.txt -o a.txt",
            "encode table a.txt -o symbolic",
            "encode table symbolic -o hard",
            "encode table ids.splits.npy -o ids.npy",
            "compile vocab.txt -o vocab.txt",
            "compile folder -o vocab.txt",
        ],
    )
    def test_refused(self, words: str, files: dict[str, Path]) -> None:
        """An output that is the table, the source or an input file, even through links, is wrong usage, and is not changed."""
        before = {path: path.read_bytes() for path in files.values() if path.is_file()}
        reason = call(*(files.get(word, word) for word in words.split()), code=2).stderr
        assert "is also an input, and would be overwritten" in reason
        assert {path: path.read_bytes() for path in before} == before

    @pytest.mark.slow
    @posix
    @pytest.mark.parametrize(
        "words",
        thinned(["encode table a.txt", "encode table -", "count table a.txt", "decode table", "bench table a.txt", "info table"], 6),
    )
    def test_standard_output(self, words: str, files: dict[str, Path]) -> None:
        """Standard output that appends to an input file is refused, because reading would never end."""
        written(files["a.txt"], b"5\n")
        source = files["table" if words == "info table" else "a.txt"]
        before = source.read_bytes()
        with source.open("ab") as out, files["a.txt"].open("rb") as standard_input:
            done = subprocess.run(
                [FST, *(str(files.get(word, word)) for word in words.split())],
                stdin=standard_input, stdout=out, stderr=subprocess.PIPE, timeout=TIMEOUT, check=False,
            )  # fmt: skip
        assert (done.returncode, source.read_bytes()) == (2, before)
        assert b"standard output is also an input" in done.stderr

    @posix
    def test_devices(self, table: Path) -> None:
        """A device may be both input and output."""
        assert call("encode", table, os.devnull, "-o", os.devnull).data == b""

    def test_other_files(self, table: Path, texts: Path) -> None:
        """An existing output that is not an input is overwritten."""
        for _ in range(2):
            call("encode", table, texts, "-o", texts.with_suffix(".ids"))


class TestDecode:
    """`fst decode`."""

    def test_null(self, table: Path) -> None:
        """`fst decode` reads a null of `fst encode` as an empty line."""
        assert call("decode", table, stdin=b'{"a":1,"input_ids":null}\n{"input_ids":[5],"tokens":["un"]}\n').data == b"\nun\n"

    @pytest.mark.parametrize("form", ["ids", "json"])
    def test_round_trip(self, table: Path, form: str) -> None:
        """The ids that `fst encode` writes, as numbers or as JSON, decode to the text."""
        encoded = call("encode", table, "--format", form, stdin=b"unaffable!\n\nhello un\n").data
        assert call("decode", table, stdin=encoded).data == b"unaffable!\n\nhello un\n"

    def test_special_tokens(self, table: Path, tmp_path: Path) -> None:
        """--keep-special-tokens includes special tokens in the decoded text."""
        file = written(tmp_path / "ids.txt", b"2 5 4 3\n")
        assert call("decode", table, file).stdout == "un\n"
        assert call("decode", table, file, "--keep-special-tokens").stdout == "[CLS] un [MASK] [SEP]\n"

    @pytest.mark.parametrize(
        ("line", "what"),
        [
            ("5 x 7", "'x' is not an id"),
            ("5 -1", "'-1' is not an id"),
            ("1_0", "'1_0' is not an id"),
            ("[1, 2]", "'[1,' is not an id"),
            ("5 12", "12 is not an id of this table"),
            ("99999999999999999999", "99999999999999999999 is not an id of this table"),
            ('{"input_ids": 5}', 'no "input_ids"'),
            ('{"input_ids": [true]}', 'no "input_ids"'),
            ('{"input_ids": [-1]}', 'no "input_ids"'),
            ('{"ids": [5]}', 'no "input_ids"'),
            ("{", "not JSON"),
        ],
    )
    def test_no_ids(self, table: Path, tmp_path: Path, line: str, what: str) -> None:
        """The message about a line without ids contains the file and the line."""
        file = written(tmp_path / "ids.txt", f"5\n{line}\n".encode())
        assert call("decode", table, file, code=1).stderr.startswith(f"Error: {file}, line 2: {what}")
