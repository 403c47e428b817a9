"""The command line: in processes where signals, pipes, terminals, imports or exits are the rule, else in this one."""

from __future__ import annotations

import errno
import gc
import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import pytest
from support.commands import CACHE, FST, INTERRUPTIBLE, TIMEOUT, TOKENS, call, error_of, execute, ids_of, on_terminal, posix, run, written
from support.kept import bpe, wordpiece
from support.tiers import thinned
from tokenizers import Tokenizer

import fst
from fst.cli.commands.bench import figures as bench
from fst.cli.commands.warmup.kernels import PARTS
from fst.cli.files import progress
from fst.cli.main import main
from fst.core import jit
from fst.runtime.files.packing import CHUNK
from fst.runtime.run import kernel_of

PAPER = ("[UNK]", "a", "abcdx", "##b", "##c", "##cdy", "##dz")
TEXTS = ("unaffable", "", "  Hello [MASK]!  ", "héllo", "xyz un")

COMMANDS = ("compile", "encode", "search", "segment", "decode", "info", "verify", "bench", "count", "explain", "warmup")

# Runs command lines in one process, and prints of each its exit code, its standard error and the modules imported by then.
IMPORTED = """
import contextlib, io, json, sys
from fst.cli.main import main
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stderr(io.StringIO()) as said:
        try:
            main(words, prog_name="fst")
        except SystemExit as end:
            print("", json.dumps([end.code or 0, said.getvalue(), list(sys.modules)]), sep="\\n")
"""

WRONG_USAGE = (
    "encode table a.txt --format npy",
    "encode table a.txt -o none/ids.npy",
    "encode table a.txt -o a.txt",
    "encode table a.txt -o a.csv",
    "encode table a.jsonl",
    "encode table parquet",
    "encode table a.txt a.jsonl --separator x",
    "encode table a.txt --column text",
    "encode table a.txt --max-length 1",
    "encode table a.csv",
    "count table a.jsonl",
)

# SIGINT as soon as a process imports a module.
INTERRUPTED_AT = """
import os, signal, sys
module = sys.argv.pop(1)
signal.signal(signal.SIGINT, signal.default_int_handler)

class Interrupter:
    @staticmethod
    def find_spec(name, *_):
        if name == module:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupter)
from fst.__main__ import main
main()
"""

# Progress of 123 GB in 100,000 steps.
WATCHED = """
import sys
from fst.cli.files import progress
progress.PATIENCE = 0
with progress.progress(sys.argv[1], 123_456_000_000) as advance:
    for _ in range(100_000):
        advance(1_234_560)
"""


@pytest.fixture(scope="session")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of the paper's example, Figure 1."""
    path = tmp_path_factory.mktemp("tables") / "paper.npz"
    wordpiece(PAPER).save(path)
    return path


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """A file with the texts, one a line."""
    return written(tmp_path / "texts.txt", "".join(f"{text}\n" for text in TEXTS).encode())


class TestEncode:
    """`fst encode`."""

    def test_ids_are_the_packages(self, table: Path, texts: Path) -> None:
        """A line of ids is what `fst.load(table).encode(line)` gives."""
        assert run("encode", table, texts).stdout == ids_of(table, TEXTS)

    @pytest.mark.parametrize("dash", [[], ["-"]])
    def test_standard_input(self, table: Path, dash: list[str]) -> None:
        """Without a file, or for "-", documents come from standard input."""
        assert run("encode", table, *dash, stdin=b"un\nhello\n").stdout == ids_of(table, ["un", "hello"])

    def test_several_files(self, table: Path, texts: Path) -> None:
        """Files are read in the order in which they are named, standard input among them."""
        assert call("encode", table, texts, "-", texts, stdin=b"un\n").data == ids_of(table, [*TEXTS, "un", *TEXTS])

    def test_no_special_tokens(self, table: Path, texts: Path) -> None:
        """--no-special-tokens leaves out what stands around a document."""
        assert call("encode", table, texts, "--no-special-tokens").data == ids_of(table, TEXTS, add_special_tokens=False)

    def test_tokens(self, table: Path) -> None:
        """--format tokens writes tokens in the place of ids."""
        done = call("encode", table, "--format", "tokens", stdin="unaffable é\n".encode())
        assert done.stdout == "[CLS] un ##aff ##able [UNK] [SEP]\n"

    def test_json(self, table: Path) -> None:
        """--format json writes one object a line with the ids, and --tokens adds the tokens."""
        assert call("encode", table, "--format", "json", stdin=b"unable\n\n").data == b'{"input_ids":[2,5,7,3]}\n{"input_ids":[2,3]}\n'
        done = call("encode", table, "--format", "json", "--tokens", stdin="unable \u2028é\n".encode())
        assert json.loads(done.stdout) == {"input_ids": [2, 5, 7, 1, 3], "tokens": ["[CLS]", "un", "##able", "[UNK]", "[SEP]"]}

    @pytest.mark.parametrize("form", ["ids", "tokens", "npy"])
    def test_tokens_that_have_no_place(self, form: str, table: Path, tmp_path: Path) -> None:
        """--tokens with an output of ids alone, or of tokens alone, is wrong usage."""
        assert "--tokens does not go with" in call("encode", table, "--tokens", "--format", form, "-o", tmp_path / "out", code=2).stderr

    def test_empty_lines(self, table: Path) -> None:
        """An empty line is a document."""
        assert call("encode", table, stdin=b"\n\nun\n\n").data == ids_of(table, ["", "", "un", ""])

    def test_nothing(self, table: Path) -> None:
        """No line in, no line out."""
        assert call("encode", table, stdin=b"").data == b""

    def test_missing_last_newline(self, table: Path) -> None:
        """The last line counts without a line feed too."""
        assert call("encode", table, stdin=b"un\nhello").data == ids_of(table, ["un", "hello"])

    def test_lines_end_at_line_feeds_only(self, table: Path) -> None:
        """Carriage returns, form feeds, U+0085 and U+2028 are part of a document."""
        lines = ["un\r", "\r", "un\fhello", "un\x0bhello", "un\x85hello", "un\u2028hello"]
        assert call("encode", table, stdin="\n".join(lines).encode()).data == ids_of(table, lines)

    def test_blocks_do_not_show(self, table: Path, tmp_path: Path) -> None:
        """Files and lines longer than what is read at once give the same ids."""
        lines = [b"unable hello " * (CHUNK // 6), *[b"hello un", b"", b"!" * 40] * (CHUNK // 30), "é".encode() * CHUNK]
        data = b"\n".join(lines)
        assert call("encode", table, written(tmp_path / "long.txt", data)).data == ids_of(table, lines)

    def test_threads(self, table: Path, tmp_path: Path) -> None:
        """The ids do not depend on --threads."""
        file = written(tmp_path / "texts.txt", b"hello unaffable\n" * 20_000)
        assert call("encode", table, file, "--threads", "3").data == call("encode", table, file, "--threads", "1").data

    def test_a_number_of_threads_that_is_none(self, table: Path, texts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A number of threads in the environment that is none is wrong usage, of any command."""
        monkeypatch.setenv("FST_NUM_THREADS", "many")
        for words in (("encode", str(table), str(texts)), ("info", str(table))):
            assert "FST_NUM_THREADS='many': the number of threads" in call(*words, code=2).stderr

    def test_line_by_line(self, table: Path) -> None:
        """A line that is typed is answered before the next one comes."""
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
        """Bytes that are not UTF-8 are an error that names file, line and byte, and says what to do."""
        file = written(tmp_path / "bad.txt", b"un\n" * 500_000 + b"hello \xff\n")
        said = error_of(call("encode", table, file, code=1))
        assert said == f"{file}, line 500001: not UTF-8 at byte 6; mend it, or pass --errors replace or skip"

    def test_invalid_utf_8_of_standard_input(self, table: Path) -> None:
        """A character cut in two by a line feed is an error in the first of the lines."""
        said = error_of(call("encode", table, stdin=b"un\n\xc3\n\xa9\n", code=1))
        assert said.startswith("standard input, line 2: not UTF-8 at byte 0")

    def test_replace(self, table: Path) -> None:
        """--errors replace puts U+FFFD in place of bytes that are not UTF-8."""
        done = call("encode", table, "--errors", "replace", stdin=b"un\xff\nhello\n")
        assert done.data == ids_of(table, ["un\ufffd", "hello"])

    def test_what_was_written_stays(self, table: Path, tmp_path: Path) -> None:
        """Lines written to standard output before an error stay, whole."""
        file = written(tmp_path / "bad.txt", b"un\n" * CHUNK + b"\xff\n")
        out = call("encode", table, file, code=1).data
        line = ids_of(table, ["un"])
        assert len(out) > 0
        assert out == line * (len(out) // len(line))

    def test_output(self, table: Path, texts: Path, tmp_path: Path) -> None:
        """--output writes a file and nothing to standard output."""
        out = tmp_path / "ids.txt"
        assert call("encode", table, texts, "--output", out).data == b""
        assert out.read_bytes() == ids_of(table, TEXTS)

    def test_no_half_written_output(self, table: Path, tmp_path: Path) -> None:
        """After a failure there is no output file and no temporary file."""
        file = written(tmp_path / "bad.txt", b"un\n" * CHUNK + b"\xff\n")
        call("encode", table, file, "--output", tmp_path / "ids.txt", code=1)
        assert list(tmp_path.iterdir()) == [file]

    def test_the_old_output_stays(self, table: Path, tmp_path: Path) -> None:
        """When it fails, the output of an earlier run is as it was."""
        old = written(tmp_path / "ids.txt", b"as it was")
        call("encode", table, "--output", old, stdin=b"\xff\n", code=1)
        assert old.read_bytes() == b"as it was"

    @posix
    def test_links_and_devices(self, table: Path, texts: Path, tmp_path: Path) -> None:
        """An output that is a link or a pipe is written through, and not replaced."""
        link = tmp_path / "link.txt"
        link.symlink_to(tmp_path / "ids.txt")
        call("encode", table, texts, "--output", link)
        assert link.is_symlink()
        assert link.read_bytes() == ids_of(table, TEXTS)
        assert run("encode", table, texts, "--output", "/dev/stdout").stdout == ids_of(table, TEXTS)


class TestOutputsThatAreInputs:
    """Outputs that would overwrite what is read."""

    @pytest.fixture
    def files(self, table: Path, tmp_path: Path) -> dict[str, Path]:
        """Files to read, each of which holds its own name, and links to one of them."""
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
        """An output that is the table, the source or a file to read is wrong usage, through links too, and stays as it was."""
        before = {path: path.read_bytes() for path in files.values() if path.is_file()}
        said = call(*(files.get(word, word) for word in words.split()), code=2).stderr
        assert "is also an input, and would be overwritten" in said
        assert {path: path.read_bytes() for path in before} == before

    @posix
    @pytest.mark.parametrize(
        "words",
        thinned(["encode table a.txt", "encode table -", "count table a.txt", "decode table", "bench table a.txt", "info table"], 3),
    )
    def test_standard_output(self, words: str, files: dict[str, Path]) -> None:
        """Standard output that is appended to a file to read is refused: reading would never end."""
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
        """A device may be input and output at once."""
        assert call("encode", table, os.devnull, "-o", os.devnull).data == b""

    def test_other_files(self, table: Path, texts: Path) -> None:
        """An output that is not an input can be overwritten."""
        for _ in range(2):
            call("encode", table, texts, "-o", texts.with_suffix(".ids"))


class TestDecode:
    """`fst decode`."""

    def test_null(self, table: Path) -> None:
        """A null that `fst encode` writes becomes an empty line."""
        assert call("decode", table, stdin=b'{"a":1,"input_ids":null}\n{"input_ids":[5],"tokens":["un"]}\n').data == b"\nun\n"

    @pytest.mark.parametrize("form", ["ids", "json"])
    def test_round_trip(self, table: Path, form: str) -> None:
        """The ids that `fst encode` writes, plain or as JSON, decode to the text."""
        encoded = call("encode", table, "--format", form, stdin=b"unaffable!\n\nhello un\n").data
        assert call("decode", table, stdin=encoded).data == b"unaffable!\n\nhello un\n"

    def test_special_tokens(self, table: Path, tmp_path: Path) -> None:
        """--keep-special-tokens leaves them in."""
        file = written(tmp_path / "ids.txt", b"2 5 4 3\n")
        assert call("decode", table, file).stdout == "un\n"
        assert call("decode", table, file, "--keep-special-tokens").stdout == "[CLS] un [MASK] [SEP]\n"

    @pytest.mark.parametrize(
        ("line", "what"),
        [
            ("5 x 7", "'x' is no id"),
            ("5 -1", "'-1' is no id"),
            ("1_0", "'1_0' is no id"),
            ("[1, 2]", "'[1,' is no id"),
            ("5 12", "12 is no id of this table"),
            ("99999999999999999999", "99999999999999999999 is no id of this table"),
            ('{"input_ids": 5}', 'no "input_ids"'),
            ('{"input_ids": [true]}', 'no "input_ids"'),
            ('{"input_ids": [-1]}', 'no "input_ids"'),
            ('{"ids": [5]}', 'no "input_ids"'),
            ("{", "not JSON"),
        ],
    )
    def test_no_ids(self, table: Path, tmp_path: Path, line: str, what: str) -> None:
        """A line that holds no ids is an error that names file and line."""
        file = written(tmp_path / "ids.txt", f"5\n{line}\n".encode())
        assert call("decode", table, file, code=1).stderr.startswith(f"Error: {file}, line 2: {what}")


class TestInfo:
    """`fst info`."""

    def test_json(self, table: Path) -> None:
        """--json tells everything as one object."""
        told = json.loads(call("info", table, "--json").stdout)
        assert (told["kind"], told["tokens"], told["bytes"]) == ("wordpiece", len(TOKENS), table.stat().st_size)
        assert told["single"] == [[["[CLS]"], 0], ["A", 0], [["[SEP]"], 0]]
        assert told["pair"] == [*told["single"], ["B", 1], [["[SEP]"], 1]]
        assert told["specials"]["[MASK]"] == 4
        assert told["options"]["lowercase"] is True
        assert told["options"]["max_input_chars_per_word"] == 100

    def test_text(self, table: Path) -> None:
        """A person gets the same as lines."""
        lines = dict(line.split("  ", 1) for line in call("info", table).stdout.splitlines())
        told = {name: value.strip() for name, value in lines.items()}
        assert (told["kind"], told["tokens"]) == ("wordpiece", "12")
        assert (told["single"], told["pair"]) == ("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1")
        assert told["special tokens"] == "[PAD] 0, [UNK] 1, [CLS] 2, [SEP] 3, [MASK] 4"
        assert "pad_token [PAD]" in told["named tokens"]
        assert told["model"] == "takes input_ids, token_type_ids, attention_mask"
        assert (told["truncation"], told["padding"], told["sides"]) == ("none", "none", "truncation right, padding right")

    def test_what_a_folder_says(self, tmp_path: Path, reference: Callable[..., Tokenizer]) -> None:
        """`fst info` shows what a folder says of the model, of truncation and of padding in words."""
        (tmp_path / "folder").mkdir()
        tokenizer = reference(TOKENS)
        tokenizer.enable_truncation(7, stride=2)
        tokenizer.enable_padding(direction="left", pad_to_multiple_of=8)
        tokenizer.save(str(tmp_path / "folder" / "tokenizer.json"))
        config = {"tokenizer_class": "BertTokenizer", "model_max_length": 1024, "extra_special_tokens": ["<x>", "<y>"]}
        (tmp_path / "folder" / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
        call("compile", tmp_path / "folder", "-o", tmp_path / "t.npz")
        lines = dict(line.split("  ", 1) for line in call("info", tmp_path / "t.npz").stdout.splitlines())
        told = {name: value.strip() for name, value in lines.items()}
        assert told["model"] == "takes input_ids, token_type_ids, attention_mask, of up to 1,024 ids"
        assert told["more special tokens"] == "<x> <y>"
        assert told["truncation"] == "to 7 ids, LongestFirst, stride 2, at the right; asked for by the source, not applied"
        padding = "to the longest row, to a multiple of 8, with [PAD] 0, at the left"
        assert told["padding"] == f"{padding}; asked for by the source, not applied"
        assert told["sides"] == "truncation right, padding left"

    def test_truncation_and_padding(self, tmp_path: Path, reference: Callable[..., Tokenizer]) -> None:
        """Truncation that the source asks for is shown as not applied."""
        tokenizer = reference(TOKENS)
        tokenizer.enable_truncation(7)
        tokenizer.save(str(tmp_path / "tokenizer.json"))
        call("compile", tmp_path / "tokenizer.json", "-o", tmp_path / "t.npz")
        assert json.loads(call("info", tmp_path / "t.npz", "--json").stdout)["truncation"]["max_length"] == 7
        assert "not applied" in call("info", tmp_path / "t.npz").stdout


class TestVerify:
    """`fst verify`."""

    def test_sound(self, table: Path) -> None:
        """A table that is whole is said to be so."""
        assert call("verify", table).stdout == f"{table}: whole and safe\n"

    def test_flipped_byte(self, table: Path, tmp_path: Path) -> None:
        """One byte that is another is found."""
        data = bytearray(table.read_bytes())
        data[len(data) // 2] ^= 1
        damaged = written(tmp_path / "damaged.npz", bytes(data))
        said = error_of(call("verify", damaged, code=1))
        assert said.startswith(f"{damaged}: ")
        assert said.endswith("compile it again")

    def test_against_the_same(self, texts: Path, tmp_path: Path, reference: Callable[..., Tokenizer]) -> None:
        """Beside the tokenizer.json that it was compiled from, a table has no difference; truncation and padding do not count."""
        tokenizer, source = reference(TOKENS), tmp_path / "tokenizer.json"
        tokenizer.enable_truncation(2)
        tokenizer.enable_padding(length=9)
        tokenizer.save(str(source))
        call("compile", source, "-o", tmp_path / "t.npz")
        done = call("verify", tmp_path / "t.npz", "--against", source, texts)
        assert done.stdout == f"{texts}: 5 lines, all with the ids of the reference\n"

    def test_against_another(self, table: Path, texts: Path, tmp_path: Path, reference: Callable[..., Tokenizer]) -> None:
        """The first difference of each file is told: file, line, text, tokens of both and where they part; the exit code is 1."""
        other = reference([token.replace("##able", "##abla") for token in TOKENS])
        other.post_processor = Tokenizer.from_str(json.dumps(FRAMED)).post_processor
        other.save(str(tmp_path / "tokenizer.json"))
        same = written(tmp_path / "same.txt", b"hello\nun\n")
        late = written(tmp_path / "late.txt", b"hello\n\nhello unable!\nunable\n")
        done = call("verify", table, "--against", tmp_path / "tokenizer.json", same, late, texts, code=1)
        assert done.stdout.splitlines() == [
            f"{same}: 2 lines, all with the ids of the reference",
            f"{late}, line 3: not the ids of the reference, from token 3 on",
            "  text       'hello unable!'",
            "  table      [CLS] hello un ##able ! [SEP]",
            "  reference  [CLS] hello [UNK] ! [SEP]",
            "  first      un (id 5) in the table, [UNK] (id 1) in the reference",
            f"{texts}, line 1: not the ids of the reference, from token 2 on",
            "  text       'unaffable'",
            "  table      [CLS] un ##aff ##able [SEP]",
            "  reference  [CLS] [UNK] [SEP]",
            "  first      un (id 5) in the table, [UNK] (id 1) in the reference",
        ]

    def test_long_difference(self, tmp_path: Path, reference: Callable[..., Tokenizer]) -> None:
        """Of a long document only what is around the difference is shown."""
        reference(TOKENS).save(str(tmp_path / "tokenizer.json"))
        reference([token.replace("##able", "##abla") for token in TOKENS]).save(str(tmp_path / "other.json"))
        wordpiece(tmp_path / "other.json").save(tmp_path / "t.npz")
        file = written(tmp_path / "long.txt", b"un " * 1000 + b"unable" + b" un" * 1000)
        told = call("verify", tmp_path / "t.npz", "--against", tmp_path / "tokenizer.json", file, code=1).stdout
        assert "from token 1001 on" in told
        assert "unable" in told
        assert len(told) < 1000

    def test_nothing_to_compare_with(self, table: Path, texts: Path) -> None:
        """Files without a reference are wrong usage."""
        assert "--against" in call("verify", table, texts, code=2).stderr

    def test_reference_not_installed(self, table: Path, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without `tokenizers` the message says how to get it."""
        monkeypatch.setitem(sys.modules, "tokenizers", None)
        assert "pip install tokenizers" in call("verify", table, "--against", written(tmp_path / "t.json", b"{}"), texts, code=1).stderr

    def test_against_a_folder(self, texts: Path, tmp_path: Path, reference: Callable[..., Tokenizer]) -> None:
        """A folder stands for the tokenizer.json in it."""
        reference(TOKENS).save(str(tmp_path / "tokenizer.json"))
        wordpiece(tmp_path / "tokenizer.json").save(tmp_path / "t.npz")
        assert "all with the ids" in call("verify", tmp_path / "t.npz", "--against", tmp_path, texts).stdout

    def test_against_a_packed_file(self, texts: Path, tmp_path: Path, reference: Callable[..., Tokenizer]) -> None:
        """A tokenizer.json may be packed with gzip."""
        packed = written(tmp_path / "tokenizer.json.gz", gzip.compress(reference(TOKENS).to_str().encode()))
        wordpiece(packed).save(tmp_path / "t.npz")
        assert "all with the ids" in call("verify", tmp_path / "t.npz", "--against", packed, texts).stdout

    @pytest.mark.parametrize("is_folder", [False, True])
    def test_against_tiktoken(self, is_folder: bool, tmp_path: Path) -> None:
        """The reference of a file of ranks is tiktoken, special tokens included."""
        pytest.importorskip("tiktoken")
        lines = [f"{b64encode(bytes([byte])).decode()} {byte}\n" for byte in range(256)]
        ranks = written(tmp_path / "cl100k_base.tiktoken", "".join([*lines, f"{b64encode(b'un').decode()} 256\n"]).encode())
        bpe(ranks).save(tmp_path / "t.npz")
        file = written(tmp_path / "some.txt", "unable é<|endoftext|>\nun".encode())
        source = tmp_path if is_folder else ranks
        assert "2 lines, all with the ids" in call("verify", tmp_path / "t.npz", "--against", source, file).stdout
        bpe(ranks, pattern="[a-z]|[^a-z]").save(tmp_path / "t.npz")
        told = call("verify", tmp_path / "t.npz", "--against", source, file, code=1).stdout.splitlines()
        assert told[-1] == "  first      u (id 117) in the table, un (id 256) in the reference"

    @pytest.mark.parametrize(
        ("name", "data", "what"),
        [
            ("vocab.txt", b"[UNK]\nun\n", "a list of tokens, which does not say how text is split"),
            ("vocab.json", json.dumps({f"token{number}": number for number in range(9999)}).encode(), "tokenizers 0.23.3 does not take it"),
            ("table.npz", b"PK\x03\x04\xff", "no tokenizer.json"),
            ("folder/vocab.txt", b"[UNK]", "a folder without tokenizer.json"),
        ],
    )
    def test_against_what_is_no_tokenizer(self, name: str, data: bytes, what: str, table: Path, texts: Path, tmp_path: Path) -> None:
        """A reference that is not a tokenizer.json is refused in one short line that says what it is and what to name."""
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        written(path, data)
        named = path.parent if "/" in name else path
        said = call("verify", table, "--against", named, texts, code=1).stderr
        assert said.startswith(f"Error: {named}: {what}")
        assert "; name the model's tokenizer.json" in said
        assert len(said) < 300 + len(str(named))

    def test_no_reference(self, table: Path, texts: Path, tmp_path: Path) -> None:
        """JSON that is not a tokenizer.json is an error that names the file."""
        file = written(tmp_path / "tokenizer.json", b"{}")
        assert call("verify", table, "--against", file, texts, code=1).stderr.startswith(f"Error: {file}: ")


class TestBench:
    """`fst bench`."""

    @staticmethod
    def figures(stdout: str) -> dict[str, str]:
        """The figures printed before the unknown words, by name."""
        lines = stdout.partition("\n\nmost frequent unknown words\n")[0].splitlines()
        return {name: value.strip() for name, _, value in (line.partition("  ") for line in lines)}

    def test_counts(self, table: Path, texts: Path) -> None:
        """Sizes and token counts exclude line feeds, [CLS] and [SEP]."""
        told = self.figures(call("bench", table, texts).stdout)
        assert (told["texts"], told["size"], told["tokens"]) == ("5", "0.00 MB of UTF-8 (38 bytes)", "9")
        assert (told["tokens per character"], told["tokens per word"]) == ("0.243", "1.500")
        assert told["unknown tokens"] == "11.111%"

    @pytest.mark.parametrize(("cores", "head"), [(1, ["1 thread"]), (3, ["1 thread", "3 threads", "ratio"])])
    def test_speeds(self, table: Path, texts: Path, cores: int, head: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
        """The speeds are those of one thread and, where there are more cores, of all of them."""
        monkeypatch.setattr("fst.core.threads.usable_cores", lambda: cores)
        told = self.figures(call("bench", table, texts).stdout)
        assert told[""].split("  ") == head
        for name in ("MB/s", "million tokens/s"):
            assert len([float(cell) for cell in told[name].split()]) == len(head)

    @staticmethod
    def unknown(stdout: str) -> list[tuple[int, str]]:
        """The unknown words that were printed, with how many there are."""
        _, _, listed = stdout.partition("\n\nmost frequent unknown words\n")
        return [(int(count.replace(",", "")), word) for count, word in (line.lstrip().split("  ", 1) for line in listed.splitlines())]

    def test_unknown_words(self, table: Path, tmp_path: Path) -> None:
        """The ten most frequent unknown words are listed as they stand in the text, the most frequent first."""
        words = [f"Q{chr(97 + place)}é" for place in range(12)]
        texts = "\n".join(f"un {word} hello{word} xyz unaffable!" for place, word in enumerate(words) for _ in range(place + 1))
        told = self.unknown(call("bench", table, written(tmp_path / "words.txt", texts.encode())).stdout)
        most = [(78, "xyz"), *((place + 1, word) for place, word in reversed(list(enumerate(words))) for word in (word, f"hello{word}"))]
        assert told == most[:10]

    def test_no_unknown_words(self, table: Path, tmp_path: Path) -> None:
        """Where all words are known, none are listed."""
        assert "unknown words" not in call("bench", table, written(tmp_path / "known.txt", b"hello un")).stdout

    def test_how_unknown_words_are_shown(self, table: Path, tmp_path: Path) -> None:
        """A long word is shortened, and what a terminal would obey is written as an escape."""
        text = "\N{FULLWIDTH LATIN SMALL LETTER Q}" * 99 + "\nq\N{RIGHT-TO-LEFT OVERRIDE}q q\N{RIGHT-TO-LEFT OVERRIDE}q"
        told = self.unknown(call("bench", table, written(tmp_path / "odd.txt", text.encode())).stdout)
        assert told == [(2, r"q\u202eq"), (1, "\N{FULLWIDTH LATIN SMALL LETTER Q}" * 39 + "…")]

    def test_many_unknown_words(self, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """However many different words are unknown, few are kept, and the frequent ones are among them with all their occurrences."""
        monkeypatch.setattr(bench, "DIFFERENT", 100)
        monkeypatch.setattr(bench, "GROUP", 10)
        texts = [f"often q{number}q un twice{number // 2}".encode() for number in range(1000)]
        counts = bench.unknown_words(fst.Tokenizer.load(table), texts)
        assert counts.most_common(1) == [(b"often", 1000)]
        assert len(counts) <= 100

    def test_unknown_words_without_places(self, tmp_path: Path) -> None:
        """Where a vocabulary does not say how long its tokens are, the figures come without the words."""
        source = {"[UNK]": 0, "a": 1, "##bc": 1}
        document = {**FRAMED, "model": {**FRAMED["model"], "vocab": source}, "post_processor": None}
        (tmp_path / "tokenizer.json").write_text(json.dumps(document), encoding="utf-8")
        wordpiece(tmp_path / "tokenizer.json").save(tmp_path / "t.npz")
        told = call("bench", tmp_path / "t.npz", written(tmp_path / "text.txt", b"a q")).stdout
        assert "unknown words are not found: " in told

    @pytest.mark.parametrize("dash", [[], ["-"]])
    def test_standard_input(self, table: Path, dash: list[str]) -> None:
        """Without a file, or for "-", documents come from standard input, and a process that nobody watches says nothing else."""
        done = run("bench", table, *dash, stdin=b"un\n\nhello un")
        told = self.figures(done.stdout.decode())
        assert (told["texts"], told["tokens"], done.stderr) == ("3", "3", b"")

    @pytest.mark.parametrize("text", [b"", b"\n\n", b" \n\0"])
    def test_nothing_to_measure(self, table: Path, tmp_path: Path, text: bytes) -> None:
        """An input without a token is an error that says so."""
        said = call("bench", table, written(tmp_path / "empty.txt", text), code=1).stderr
        assert said == "Error: nothing to measure: the input has no tokens; name a file with text in it\n"

    def test_missing_file(self, table: Path, texts: Path) -> None:
        """A file that is not there is an error that names it."""
        assert call("bench", table, texts, "none.txt", code=1).stderr.startswith("Error: none.txt: ")

    def test_invalid_utf_8(self, table: Path, tmp_path: Path) -> None:
        """Bytes that are not UTF-8 are an error that names file and line."""
        file = written(tmp_path / "bad.txt", b"un\n\xff\n")
        assert call("bench", table, file, code=1).stderr == f"Error: {file}, line 2: not UTF-8 at byte 0; mend it\n"


# A tokenizer that puts [CLS] and [SEP] around a text.
FRAMED: dict[str, Any] = {
    "added_tokens": [],
    "normalizer": None,
    "pre_tokenizer": None,
    "decoder": None,
    "model": {"type": "WordPiece", "vocab": {"[UNK]": 0}, "unk_token": "[UNK]", "continuing_subword_prefix": "##",
              "max_input_chars_per_word": 100},
    "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
}  # fmt: skip


class TestExplain:
    """`fst explain`."""

    def test_table_2_of_the_paper(self, paper: Path) -> None:
        """The steps on abcdz are those of the paper's Table 2, and the transducer's are the same with the failures folded in."""
        assert call("explain", paper, "abcdz").stdout.splitlines() == [
            "abcdz: a word of 5 characters",
            "LinMaxMatch: an edge of the trie where there is one, else a failure link, which pops tokens",
            "  step  char   move     from -> to    pops   tokens so far",
            "  1     a      goto     (root) -> a",
            "  2     b      goto     a -> ab",
            "  3     c      goto     ab -> abc",
            "  4     d      goto     abc -> abcd",
            "  5     z      failure  abcd -> ##cd  a ##b  a ##b",
            "  6     z      failure  ##cd -> ##d   ##c    a ##b ##c",
            "  7     z      goto     ##d -> ##dz          a ##b ##c",
            "  8     (end)  failure  ##dz -> ##    ##dz   a ##b ##c ##dz",
            "= a ##b ##c ##dz",
            "folded into a transducer: one transition for each character",
            "  char   state   output",
            "  a      a",
            "  b      ab",
            "  c      abc",
            "  d      abcd",
            "  z      ##dz    a ##b ##c",
            "  (end)  (root)  ##dz",
            "= a ##b ##c ##dz",
        ]

    def test_failing_word(self, paper: Path) -> None:
        """A word without a segmentation ends in null, and is the unknown token."""
        lines = call("explain", paper, "abcz").stdout.splitlines()
        assert "  6     z     failure  ## -> null          a ##b ##c" in lines
        assert [line for line in lines if line.startswith("=")] == ["= [UNK]", "= [UNK]"]

    def test_suffix_indicator(self, tmp_path: Path) -> None:
        """The word that is the suffix indicator matches nothing, the case that the paper takes apart."""
        wordpiece(PAPER, pre_tokenizer="none").save(tmp_path / "t.npz")
        lines = call("explain", tmp_path / "t.npz", "##").stdout.splitlines()
        assert "the word is the suffix indicator itself: nothing was matched" in lines
        assert [line for line in lines if line.startswith("=")] == ["= [UNK]", "= [UNK]"]

    def test_special_tokens(self, table: Path) -> None:
        """Special tokens in the text are shown as such, between the words."""
        lines = call("explain", table, "un[MASK]Hello").stdout.splitlines()
        assert [line for line in lines if ": a " in line] == [
            "un: a word of 2 characters",
            "[MASK]: a special token, id 4",
            "hello: a word of 5 characters",
        ]

    def test_long_word(self, table: Path) -> None:
        """A word of too many characters says so, and is the unknown token."""
        lines = call("explain", table, "a" * 101).stdout.splitlines()
        assert lines[1:] == ["more than 100 characters (max_input_chars_per_word): it is not looked at", "= [UNK]"]

    def test_tokens_are_the_packages(self, table: Path) -> None:
        """Both ways to segment a word end with the tokens that the package gives."""
        text = "unaffable HELLO! ? é hello! unableaffx ununun ##able 中 [MASK]"
        told = call("explain", table, text.removesuffix("[MASK]")).stdout.split("\n\n")
        results = [[line[2:] for line in word.splitlines() if line.startswith("= ")] for word in told]
        assert all(len(set(result)) == 1 for result in results)
        tokens = fst.Tokenizer.load(table).tokenize(text)
        assert [*" ".join(result[0] for result in results).split(), "[MASK]"] == tokens

    def test_no_text(self, table: Path) -> None:
        """An empty text has nothing to explain."""
        assert call("explain", table, "").stdout == ""

    @posix
    def test_not_utf_8(self, table: Path) -> None:
        """A text that is not UTF-8 is an error."""
        assert "not UTF-8" in error_of(call("explain", table, os.fsdecode(b"un\xff"), code=1))


class TestManners:
    """Rules for all commands."""

    @staticmethod
    def imports(lines: Sequence[Sequence[str | Path]], **more: Any) -> Iterator[tuple[int, str, set[str]]]:
        """The exit code and standard error of each command line, and all modules imported by then."""
        done = execute([sys.executable, "-c", IMPORTED], json.dumps([list(map(str, words)) for words in lines]), **more)
        for line in done.stdout.decode().splitlines():
            if line.startswith("["):
                code, said, modules = json.loads(line)
                yield code, said, set(modules)

    def test_help_needs_click_alone(self) -> None:
        """Help and version import neither numba nor numpy."""
        lines = [["--help"], ["--version"], *([command, "--help"] for command in COMMANDS)]
        for words, (code, _, modules) in zip(lines, self.imports(lines), strict=True):
            assert (code, modules & {"numba", "numpy", "tokenizers"}) == (0, set()), words

    def test_no_numba(self, table: Path) -> None:
        """`fst info` and `fst verify` do not import numba."""
        lines: list[list[str | Path]] = [["info", table], ["verify", table]]
        for words, (code, _, modules) in zip(lines, self.imports(lines), strict=True):
            assert (code, modules & {"numba"}) == (0, set()), words

    def test_version(self) -> None:
        """--version is the package's."""
        assert run("--version").stdout.decode() == f"fst {fst.__version__}\n"

    @pytest.mark.parametrize("command", COMMANDS)
    def test_examples(self, command: str) -> None:
        """Every help has an example."""
        assert f"fst {command}" in call(command, "--help").stdout.split("Example", 1)[1]

    @pytest.mark.parametrize("command", COMMANDS)
    def test_defaults(self, command: str) -> None:
        """The help of an option that takes a value says what its default is, where it has one."""
        found = main.get_command(click.Context(main), command)
        assert found is not None
        context = click.Context(found)
        for option in context.command.params:
            if isinstance(option, click.Option) and not option.required and option.name not in ("field", "column", "against", "by"):
                shown = " ".join(option.get_help_record(context) or ())
                assert "[default: " in shown or (option.is_flag and not option.secondary_opts), option.name

    @pytest.mark.parametrize(
        "words",
        ["", "encode", "nothing", "encode t --threads 0", "encode t --format xml", "compile v", "compile - -o t", "encode -", "info -"],
    )
    def test_usage(self, words: str) -> None:
        """Wrong usage is 2, and said on standard error."""
        done = call(*words.split(), code=2)
        assert (done.stdout, "Usage: " in done.stderr) == ("", True)

    @pytest.mark.parametrize("command", ["encode", "decode", "info", "verify", "bench", "explain"])
    def test_missing_table(self, command: str) -> None:
        """A table that is not there is 1, and one line that names it."""
        said = call(command, "none.npz", *["text"] * (command == "explain"), code=1).stderr
        assert said == f"Error: none.npz: {os.strerror(errno.ENOENT)}; check the name\n"

    def test_missing_file(self, table: Path, texts: Path) -> None:
        """A file that is not there is known before the one before it is read."""
        done = call("encode", table, texts, "none.txt", code=1)
        assert done.data == b""
        assert error_of(done) == f"none.txt: {os.strerror(errno.ENOENT)}; check the name"

    def test_wrong_usage_is_told_at_once(self, table: Path, tmp_path: Path) -> None:
        """Options that are wrong, or do not fit the files, are refused before numba is imported."""
        for name, data in (("a.txt", b"un\n"), ("a.csv", b"un\n"), ("a.jsonl", b'{"text": "un"}\n'), ("parquet", b"PAR1")):
            written(tmp_path / name, data)
        lines = [[table if word == "table" else word for word in words.split()] for words in WRONG_USAGE]
        for words, (code, said, modules) in zip(lines, self.imports(lines, cwd=tmp_path), strict=True):
            assert (code, "numba" in modules) == (1 if "none/ids.npy" in words else 2, False), words
            assert "Error: " in said

    @posix
    @pytest.mark.parametrize("words", ["encode {} -", "encode table {}", "encode table - -o {}", "compile {} -o t", "compile v -o {}"])
    @pytest.mark.parametrize("name", ["loop", "x" * 300 + ".txt"], ids=["loop", "long"])
    def test_names_of_no_file(self, name: str, words: str, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Links that lead back to themselves, and names that are too long, are one line that says so."""
        (tmp_path / "loop").symlink_to("back")
        (tmp_path / "back").symlink_to("loop")
        written(tmp_path / "v", b"[UNK]")
        monkeypatch.chdir(tmp_path)
        done = call(*(word.replace("table", str(table)).format(name) for word in words.split()), code=1)
        number, remedy = (errno.ELOOP, "a link leads back to itself") if name == "loop" else (errno.ENAMETOOLONG, "name it shorter")
        assert error_of(done) == f"{name}: {os.strerror(number)}; {remedy}"

    def test_folder(self, table: Path, tmp_path: Path) -> None:
        """A folder is refused as the output of a command that writes one file."""
        assert "name a file in it" in error_of(call("compile", table, "--output", tmp_path, code=1))

    def test_no_table(self, texts: Path) -> None:
        """A file of another kind is not taken for a table."""
        assert "fst compile" in call("info", texts, code=1).stderr

    @posix
    def test_broken_pipe(self, table: Path, tmp_path: Path) -> None:
        """A reader that leaves early, as `head` does, is not an error and prints nothing."""
        file = written(tmp_path / "texts.txt", b"hello unaffable\n" * 200_000)
        with subprocess.Popen([FST, "encode", str(table), str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            assert process.stdout.readline() == ids_of(table, ["hello unaffable"])
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait(TIMEOUT) == 0

    @posix
    @pytest.mark.parametrize(
        "module", thinned(["fst.cli.main", "click", "click.core", "numpy", "numba", "numba.core.types", "fst.core.kernel_cache"], 4)
    )
    def test_interrupted_while_importing(self, module: str, table: Path) -> None:
        """SIGINT during any import ends with 130 and prints nothing."""
        done = execute([sys.executable, "-c", INTERRUPTED_AT, module], "encode", table, stdin=b"un\n", code=130)
        assert (done.stdout, done.stderr) == (b"", b"")

    @posix
    def test_as_a_module(self, table: Path) -> None:
        """`python -m fst` is `fst`, also in its usage."""
        assert execute([sys.executable, "-m", "fst"], "info", table).stdout == run("info", table).stdout
        assert execute([sys.executable, "-m", "fst"], "--help").stdout.startswith(b"Usage: python -m fst ")

    @posix
    def test_interrupted(self, table: Path) -> None:
        """SIGINT ends with 130 and prints nothing."""
        words = [sys.executable, "-c", INTERRUPTIBLE, "encode", str(table)]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdin.write(b"un\n")
            process.stdin.flush()
            assert process.stdout.readline() == ids_of(table, ["un"])
            process.send_signal(signal.SIGINT)
            assert process.wait(TIMEOUT) == 130
            assert process.stderr.read() == b""

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
    @pytest.mark.parametrize("words", ["encode", "info"])
    def test_full_disk(self, table: Path, words: str) -> None:
        """Output that cannot be written is an error, not silence."""
        with Path("/dev/full").open("wb") as full:
            done = run(words, table, *["-"] * (words == "encode"), stdin=b"un\n", stdout=full, code=1)
        assert error_of(done) == f"{os.strerror(errno.ENOSPC)}; make room"

    @posix
    @pytest.mark.parametrize(("stream", "closing"), [("standard input", "<&-"), ("standard output", ">&-")])
    def test_closed_streams(self, table: Path, stream: str, closing: str) -> None:
        """Standard input or output that is closed is an error."""
        done = execute(["sh", "-c", f'exec "$0" "$@" {closing}', FST], "encode", table, code=1)
        assert error_of(done) == f"{stream}: it is closed"

    def test_warmup(self) -> None:
        """`fst warmup` counts what it compiles, and says on standard error how long it took and where kernels are kept."""
        done = run("warmup")
        _, *counted, last = done.stderr.decode().splitlines()
        assert done.stdout == b""
        assert [line.partition(":")[0] for line in counted] == [f"{number} of {len(PARTS)}" for number in range(1, len(PARTS) + 1)]
        assert {line.partition(": ")[2] for line in counted} == {*PARTS}
        assert re.fullmatch(r"ready, in [\d.]+ s; kept in .+", last)

    @posix
    @pytest.mark.parametrize("command", ["encode", "warmup"])
    def test_a_signal_while_kernels_are_compiled(self, command: str, table: Path, tmp_path: Path) -> None:
        """A signal while kernels are compiled ends the command with one more line."""
        words, cold = [FST, command, *[str(table)] * (command == "encode")], {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=cold) as process:
            assert process.stderr is not None
            assert process.stderr.readline().startswith((b"fst: compiling kernel 1 of 2 for wordpiece (gather_bytes)", b"compiling"))
            process.send_signal(signal.SIGTERM)
            (line,) = process.stderr.read().decode().splitlines()
            assert process.wait(TIMEOUT) == 143
        assert "interrupted" in line

    @pytest.mark.slow
    @posix
    def test_first_run(self, table: Path, tmp_path: Path) -> None:
        """Whoever waits for kernels to be compiled is told how long and where they are kept, also off a terminal, and data stays clean."""
        cold: dict[str, Any] = {"stdin": b"un\n", "env": {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}}
        done = run("encode", table, **cold)
        kept = f"up to 20 s; kept in {tmp_path / CACHE}"
        *compiling, last = done.stderr.decode().splitlines()
        names = ("1 of 2 for wordpiece (gather_bytes)", "2 of 2 for wordpiece (encode_rows)")
        assert compiling == [f"fst: compiling kernel {name}, {kept}" for name in names]
        assert re.fullmatch(r"fst: compiled 2 kernels for wordpiece in [\d.]+ s", last)
        assert done.stdout == ids_of(table, ["un"])
        assert on_terminal("encode", table, **cold) == b""

    @pytest.mark.parametrize("command", ["encode", "bench", "verify"])
    def test_commands_with_kernels(
        self, command: str, table: Path, texts: Path, tmp_path: Path, reference: Callable[..., Tokenizer], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Every command that uses kernels tells when they are not there, which of how many it compiles, and how long that took."""
        monkeypatch.setattr(jit, "_kept_code", lambda *_: None)
        kernel_of.cache_clear()
        words: list[str | Path] = [table, texts]
        if command == "verify":
            reference(TOKENS).save(str(tmp_path / "tokenizer.json"))
            wordpiece(tmp_path / "tokenizer.json").save(tmp_path / "t.npz")
            words = [tmp_path / "t.npz", "--against", tmp_path / "tokenizer.json", texts]
        compiling, compiled, *_ = call(command, *words).stderr.splitlines()
        assert compiling.startswith("fst: compiling kernel 2 of 2 for wordpiece (encode_rows), up to 20 s; ")
        assert re.fullmatch(r"fst: compiled 1 kernel for wordpiece in [\d.]+ s", compiled)

    def test_the_collector_goes_on(self, table: Path, texts: Path) -> None:
        """Garbage is collected again when kernels are there."""
        call("bench", table, texts)
        assert gc.isenabled()


class TestProgress:
    """The bar on standard error."""

    class Terminal(io.StringIO):
        """A standard error that somebody watches."""

        def isatty(self) -> bool:
            """Say yes."""
            return True

    @pytest.fixture
    def shown(self, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
        """What is shown during two steps from nothing to everything."""

        def show(
            total: int | None, *, patience: float = 0, hidden: bool = False, stream: io.StringIO | None = None, done: Any = None
        ) -> str:
            stream = stream or self.Terminal()
            monkeypatch.setattr(sys, "stderr", stream)
            for name in ("PATIENCE", "LINES"):
                monkeypatch.setattr(progress, name, patience)
            with progress.progress("counting", total, hidden=hidden, done=done) as advance:
                advance(50)
                advance(50)
            return stream.getvalue()

        return show

    @posix
    @pytest.mark.parametrize("columns", [1, 20, 60, 80, 200])
    def test_fits_the_terminal(self, columns: int) -> None:
        """A bar takes one line of a terminal of any width, and is redrawn only now and then."""
        shown = on_terminal("encoding", program=[sys.executable, "-c", WATCHED], columns=columns).decode()
        lines = shown.removesuffix("\r\n").split("\r")[1:]
        assert len(lines) < 100
        assert {len(line) for line in lines} == {columns - 1}
        if columns >= 60:
            assert all(line.startswith("encoding  ") for line in lines)
            assert "100%  123,456.0 of 123,456.0 MB" in lines[-1]
        if columns == 200:
            assert f"[{'#' * 40}]" in lines[-1]

    def test_after_a_second(self, shown: Callable[..., str]) -> None:
        """A bar appears when patience is at its end."""
        assert "counting" in shown(100)
        assert "100%" in shown(100)

    def test_what_is_quick(self, shown: Callable[..., str]) -> None:
        """A quick job has no bar."""
        assert shown(100, patience=60) == ""

    def test_unknown_length(self, shown: Callable[..., str]) -> None:
        """A job of unknown length has no bar."""
        assert shown(None) == ""

    def test_data_on_the_terminal(self, shown: Callable[..., str]) -> None:
        """A job that writes data to the terminal has no bar."""
        assert shown(100, hidden=True) == ""

    def test_nobody_watches(self, shown: Callable[..., str]) -> None:
        """A stream that is not a terminal gets no bar, but a line now and then if the job is long."""
        assert shown(100, stream=io.StringIO(), patience=60) == ""
        first, second = shown(100, stream=io.StringIO()).splitlines()
        assert first.startswith("counting   50%  0.0 of 0.0 MB")
        assert second.startswith("counting  100%  0.0 of 0.0 MB")
        assert shown(None, stream=io.StringIO()).startswith("counting  0.0 MB, ")

    def test_sum(self, shown: Callable[..., str]) -> None:
        """A job that took long tells at its end what it did."""
        done = progress.Sum("document", "token")
        done.add(1, 2)
        done.add(0, 1_000)
        for total, stream in ((100, None), (None, None), (100, io.StringIO())):
            assert shown(total, stream=stream, done=done).splitlines()[-1].startswith("1 document, 1,002 tokens, 0.0 MB, ")
        for options in ({"patience": 60}, {"hidden": True}):
            assert shown(100, done=done, **options) == ""
