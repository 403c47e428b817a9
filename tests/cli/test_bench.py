"""`fst bench` prints the speed and the counts of a table, and compares it with other tokenizers. No test checks a time."""

from __future__ import annotations

import json
import os
import sys
from base64 import b64encode
from collections.abc import Callable
from io import TextIOWrapper
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sentencepiece import sentencepiece_model_pb2
from support import kept
from support.commands import (
    TOKENS,
    Called,
    call,
    error_of,
    posix,
    run,
    written,
)
from support.kept import wordpiece
from tokenizers import Tokenizer

import fst
from fst.cli import process as workers
from fst.cli.commands.bench import comparison
from fst.cli.commands.bench import figures as bench
from fst.cli.commands.bench.command import PEERS
from fst.cli.main import main
from fst.cli.peers import libraries

DOCUMENTS = "unaffable hello!\n\nun [SEP] é\nhello"
Build = Callable[..., Tokenizer]
# A tokenizer.json whose template puts [CLS] and [SEP] around a text.
FRAMED: dict[str, Any] = {
    "added_tokens": [],
    "normalizer": None,
    "pre_tokenizer": None,
    "decoder": None,
    "model": {"type": "WordPiece", "vocab": {"[UNK]": 0}, "unk_token": "[UNK]", "continuing_subword_prefix": "##",
              "max_input_chars_per_word": 100},
    "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
}  # fmt: skip


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the measurements to two rounds of one pass each."""
    monkeypatch.setattr(comparison, "ROUNDS", 2)
    monkeypatch.setattr(comparison, "AT_LEAST", 0)


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """A file of `DOCUMENTS`."""
    return written(tmp_path / "texts.txt", DOCUMENTS.encode())


def document(folder: Path, tokenizer: Tokenizer) -> Path:
    """Save a tokenizer as a tokenizer.json."""
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder / "tokenizer.json"


def ranks(folder: Path) -> Path:
    """Write a file of `tiktoken`'s ranks."""
    tokens = [*(bytes([byte]) for byte in range(256)), b"un", b"he"]
    lines = [f"{b64encode(token).decode()} {rank}\n" for rank, token in enumerate(tokens)]
    return written(folder / "cl100k_base.tiktoken", "".join(lines).encode())


def model(folder: Path) -> Path:
    """Write a model of `sentencepiece`."""
    schema: Any = sentencepiece_model_pb2  # a module that creates its classes when it is imported
    made = schema.ModelProto()
    for piece, score, kind in (("<unk>", 0, 2), ("▁", -3, 1), ("▁un", -1, 1), ("hello", -2, 1), ("e", -4, 1)):
        made.pieces.add(piece=piece, score=score, type=kind)
    made.trainer_spec.model_type = 1
    made.normalizer_spec.add_dummy_prefix = True
    return written(folder / "small.model", made.SerializeToString())


def compiled(source: Path) -> Path:
    """Compile a source, and save the table in the folder of the source."""
    from fst.compile.sources.read import read

    kept.assemble(read(source, {}), "auto").save(source.parent / "table.npz")
    return source.parent / "table.npz"


def rows(done: Called) -> dict[str, list[str]]:
    """The cells of each library's row in a printed comparison."""
    _, _, printed = done.stdout.partition("\n\n")
    _, *lines = printed.splitlines()
    cells = [[cell.strip() for cell in line.split("  ") if cell] for line in lines]
    return {name: rest for name, *rest in cells}


class TestFigures:
    """Figures that `fst bench` prints without `--against`."""

    @staticmethod
    def figures(stdout: str) -> dict[str, str]:
        """The printed figures as a mapping, without the unknown words."""
        lines = stdout.partition("\n\nmost frequent unknown words\n")[0].splitlines()
        return {name: value.strip() for name, _, value in (line.partition("  ") for line in lines)}

    def test_counts(self, table: Path, texts: Path) -> None:
        """`fst bench` counts bytes without line feeds, and tokens without [CLS] and [SEP]."""
        shown = self.figures(call("bench", table, texts).stdout)
        assert (shown["texts"], shown["size"], shown["tokens"]) == ("5", "0.00 MB of UTF-8 (38 bytes)", "9")
        assert (shown["tokens per character"], shown["tokens per word"]) == ("0.243", "1.500")
        assert shown["unknown tokens"] == "11.111%"

    @pytest.mark.parametrize(("cores", "head"), [(1, ["1 thread"]), (3, ["1 thread", "3 threads", "ratio"])])
    def test_speeds(self, table: Path, texts: Path, cores: int, head: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
        """Speeds are measured on one thread and, on a machine with several cores, also on all cores."""
        monkeypatch.setattr("fst.core.threads.usable_cores", lambda: cores)
        shown = self.figures(call("bench", table, texts).stdout)
        assert shown[""].split("  ") == head
        for name in ("MB/s", "million tokens/s"):
            assert len([float(cell) for cell in shown[name].split()]) == len(head)

    @staticmethod
    def unknown(stdout: str) -> list[tuple[int, str]]:
        """The printed unknown words with their counts."""
        _, _, listed = stdout.partition("\n\nmost frequent unknown words\n")
        return [(int(count.replace(",", "")), word) for count, word in (line.lstrip().split("  ", 1) for line in listed.splitlines())]

    def test_unknown_words(self, table: Path, tmp_path: Path) -> None:
        """The ten most frequent unknown words are listed as they are spelled in the text, the most frequent first."""
        words = [f"Q{chr(97 + place)}é" for place in range(12)]
        texts = "\n".join(f"un {word} hello{word} xyz unaffable!" for place, word in enumerate(words) for _ in range(place + 1))
        shown = self.unknown(call("bench", table, written(tmp_path / "words.txt", texts.encode())).stdout)
        most = [(78, "xyz"), *((place + 1, word) for place, word in reversed(list(enumerate(words))) for word in (word, f"hello{word}"))]
        assert shown == most[:10]

    def test_no_unknown_words(self, table: Path, tmp_path: Path) -> None:
        """If every word has tokens, no unknown words are listed."""
        assert "unknown words" not in call("bench", table, written(tmp_path / "known.txt", b"hello un")).stdout

    def test_how_unknown_words_are_shown(self, table: Path, tmp_path: Path) -> None:
        """In the list of unknown words, a long word is shortened, and characters that control a terminal are escaped."""
        text = "\N{FULLWIDTH LATIN SMALL LETTER Q}" * 99 + "\nq\N{RIGHT-TO-LEFT OVERRIDE}q q\N{RIGHT-TO-LEFT OVERRIDE}q"
        shown = self.unknown(call("bench", table, written(tmp_path / "odd.txt", text.encode())).stdout)
        assert shown == [(2, r"q\u202eq"), (1, "\N{FULLWIDTH LATIN SMALL LETTER Q}" * 39 + "…")]

    def test_many_unknown_words(self, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The counter of unknown words stores a limited number of distinct words, and counts all occurrences of the most frequent words."""
        monkeypatch.setattr(bench, "DIFFERENT", 100)
        monkeypatch.setattr(bench, "GROUP", 10)
        texts = [f"often q{number}q un twice{number // 2}".encode() for number in range(1000)]
        counts = bench.unknown_words(fst.Tokenizer.load(table), texts)
        assert counts.most_common(1) == [(b"often", 1000)]
        assert len(counts) <= 100

    def test_unknown_words_without_places(self, tmp_path: Path) -> None:
        """If a vocabulary does not determine the lengths of its tokens, the figures are printed without the unknown words."""
        source = {"[UNK]": 0, "a": 1, "##bc": 1}
        document = {**FRAMED, "model": {**FRAMED["model"], "vocab": source}, "post_processor": None}
        (tmp_path / "tokenizer.json").write_text(json.dumps(document), encoding="utf-8")
        wordpiece(tmp_path / "tokenizer.json").save(tmp_path / "t.npz")
        shown = call("bench", tmp_path / "t.npz", written(tmp_path / "text.txt", b"a q")).stdout
        assert "unknown words are not found: " in shown

    @pytest.mark.slow
    @pytest.mark.parametrize("dash", [[], ["-"]])
    def test_standard_input(self, table: Path, dash: list[str]) -> None:
        """Without a file, or for "-", documents come from standard input, and nothing is printed on standard error."""
        done = run("bench", table, *dash, stdin=b"un\n\nhello un")
        shown = self.figures(done.stdout.decode())
        assert (shown["texts"], shown["tokens"], done.stderr) == ("3", "3", b"")

    @pytest.mark.parametrize("text", [b"", b"\n\n", b" \n\0"])
    def test_nothing_to_measure(self, table: Path, tmp_path: Path, text: bytes) -> None:
        """An input without a token is an error, and the message gives this reason."""
        reason = call("bench", table, written(tmp_path / "empty.txt", text), code=1).stderr
        assert reason == "Error: the input has no tokens; name a file with text in it\n"

    def test_missing_file(self, table: Path, texts: Path) -> None:
        """The message about a missing file contains the name of the file."""
        assert call("bench", table, texts, "none.txt", code=1).stderr.startswith("Error: none.txt: ")

    def test_invalid_utf_8(self, table: Path, tmp_path: Path) -> None:
        """The message about bytes that are not UTF-8 contains the file and the line."""
        file = written(tmp_path / "bad.txt", b"un\n\xff\n")
        assert call("bench", table, file, code=1).stderr == f"Error: {file}, line 2: not UTF-8 at byte 0; correct it\n"


class TestIds:
    """`fst bench --against` compares the ids of a library with the ids of the table."""

    @pytest.mark.slow
    def test_tokenizers(self, tmp_path: Path, documents: Path, reference: Build) -> None:
        """For a tokenizer.json, the table gives the same ids as `tokenizers`, whose speed is printed twice, with an empty and with a filled
        cache.
        """
        source = document(tmp_path, reference(TOKENS))
        found = rows(call("bench", compiled(source), documents, "--against", "tokenizers", "--source", source))
        assert list(found) == ["fst", "tokenizers"]
        assert found["fst"][0] == fst.__version__
        version, *figures, ids = found["tokenizers"]
        assert (version, len([*map(float, figures)]), ids) == ("0.23.3", 4, "equal")

    @pytest.mark.slow
    def test_tiktoken(self, tmp_path: Path, documents: Path) -> None:
        """For a file of ranks, the table gives the same ids as `tiktoken`, also for special tokens in texts, and one speed of `tiktoken` is
        printed.
        """
        source, special = ranks(tmp_path), written(tmp_path / "special.txt", b"un<|endoftext|>he")
        found = rows(call("bench", compiled(source), documents, special, "--against", "tiktoken", "--source", source, "--threads", "2"))
        _, *figures, ids = found["tiktoken"]
        assert (len([*map(float, figures)]), ids) == (2, "equal")

    @pytest.mark.slow
    def test_sentencepiece(self, tmp_path: Path, documents: Path) -> None:
        """For a model of `sentencepiece`, the table gives the same ids as `sentencepiece`."""
        source = model(tmp_path)
        found = rows(call("bench", compiled(source), documents, "--against", "sentencepiece", "--source", source))
        assert found["sentencepiece"][-1] == "equal"

    @pytest.mark.parametrize("make", [ranks, model])
    def test_gigatoken(self, make: Callable[[Path], Path], tmp_path: Path, documents: Path) -> None:
        """For a file of ranks, the table gives the same ids as `gigatoken`; for a Unigram model, the output contains the error of
        `gigatoken`.
        """
        pytest.importorskip("gigatoken")
        source = make(tmp_path)
        if make is ranks:
            found = rows(call("bench", compiled(source), documents, "--against", "gigatoken", "--source", source))
            assert found["gigatoken"][-1] == "equal"
        else:
            reason = call("bench", compiled(source), documents, "--against", "gigatoken", "--source", source, code=1)
            assert "cannot read it" in error_of(reason)

    @pytest.mark.slow
    def test_another_vocabulary(self, tmp_path: Path, documents: Path, reference: Build) -> None:
        """If ids differ, the output contains the number of texts with different ids, and the file and position of the first of them."""
        table = compiled(document(tmp_path, reference(TOKENS)))
        other = document(tmp_path, reference([token.replace("##able", "##abla") for token in TOKENS]))
        before = written(tmp_path / "before.txt", b"hello\nun")
        found = rows(call("bench", table, before, documents, "--against", "tokenizers", "--source", other))
        assert found["tokenizers"][-1] == f"1 of 6 texts differ, first {documents}, line 1, from token 1 on"

    @pytest.mark.slow
    def test_places_leave_out_nulls(self, tmp_path: Path, reference: Build) -> None:
        """The row number of a difference counts all rows of the column, including nulls."""
        pa = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pa.table({"text": ["un", None, "unaffable"]}), tmp_path / "texts.parquet")
        table = compiled(document(tmp_path, reference(TOKENS)))
        other = document(tmp_path, reference([token.replace("##able", "##abla") for token in TOKENS]))
        done = call("bench", table, tmp_path / "texts.parquet", "--column", "text", "--against", "tokenizers", "--source", other)
        assert "1 of 2 texts differ, first " in rows(done)["tokenizers"][-1]
        assert "texts.parquet, row 3, from" in rows(done)["tokenizers"][-1]

    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            ([[1, 2], [], [3]], []),
            ([[1, 2], [3], []], [(1, 0), (2, 0)]),
            ([[1, 9], [], [3, 4]], [(0, 1), (2, 1)]),
            ([[1], [], [3]], [(0, 1)]),
        ],
    )
    def test_differing(self, given: list[list[int]], expected: list[tuple[int, int]], table: Path) -> None:
        """`differing` returns each text with different ids, and the position of the first difference, which may be the end of the shorter
        row.
        """
        batch = fst.Tokenizer.load(table).encode_batch(["", "", ""])
        own = type(batch)(np.array([1, 2, 3], np.int32), np.array([0, 2, 2, 3]))
        flat = np.array([*chain.from_iterable(given)], np.int64)
        assert comparison.differing(own, flat, np.array([*map(len, given)])) == expected


class TestSources:
    """The choice of the file that each library reads."""

    @pytest.mark.slow
    def test_all(self, tmp_path: Path, documents: Path, reference: Build) -> None:
        """In a folder, each library reads a file of its own format, and "all" omits libraries for which the folder contains no file."""
        source = document(tmp_path, reference(TOKENS))
        table = compiled(source)
        ranks(tmp_path)
        found = rows(call("bench", table, documents, "--against", "all", "--source", tmp_path))
        assert found["tokenizers"][-1] == "equal"
        assert found["tiktoken"][-1].startswith(f"3 of 4 texts differ, first {documents}, line 1, ")
        assert "sentencepiece" not in found

    @pytest.mark.parametrize("name", ["tiktoken", "gigatoken"])
    def test_library_is_not_installed(
        self, name: str, table: Path, documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """If a named library is not installed, the message contains the command that installs it."""
        monkeypatch.setitem(sys.modules, name, None)
        reason = error_of(call("bench", table, documents, "--against", name, "--source", ranks(tmp_path), code=1))
        expected = f"--against needs {name}, which is not installed: pip install {name}, or all that can be compared with "
        assert reason == expected + "the extra bench, in the repository pip install '.[bench]'"

    def test_nothing_is_installed(self, table: Path, documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """If no library is installed, "all" is an error, and the message contains the command that installs them."""
        for name in libraries.LIBRARIES:
            monkeypatch.setitem(sys.modules, name, None)
        reason = error_of(call("bench", table, documents, "--against", "all", "--source", ranks(tmp_path), code=1))
        expected = "none of tokenizers, tiktoken, sentencepiece, gigatoken is installed and reads the source; install "
        assert reason == expected + "the extra bench, in the repository pip install '.[bench]'"

    def test_source_of_another_kind(self, table: Path, documents: Path, tmp_path: Path) -> None:
        """If a library cannot read the source, the message lists the kinds of sources that it reads."""
        source = ranks(tmp_path)
        reason = error_of(call("bench", table, documents, "--against", "tokenizers", "--source", source, code=1))
        assert reason == f"tokenizers does not read {source}; name a tokenizer.json with --source"

    @pytest.mark.mostly_slow
    @pytest.mark.parametrize(
        ("name", "data", "expected"),
        [
            ("vocab.txt", b"[UNK]\nun\n", "a list of tokens, without the rules that split text"),
            ("table.npz", b"PK\x03\x04\xff", "no tokenizer.json"),
            ("none.json", None, "No such file or directory"),
            ("tokenizer.json", b"{}", "tokenizers 0.23.3 cannot read it"),
        ],
    )
    def test_unknown_source(self, name: str, data: bytes | None, expected: str, table: Path, documents: Path, tmp_path: Path) -> None:
        """The message about a source that no library reads contains the name of the source."""
        if data is not None:
            written(tmp_path / name, data)
        reason = error_of(call("bench", table, documents, "--against", "tokenizers", "--source", tmp_path / name, code=1))
        assert reason.startswith(f"{tmp_path / name}: {expected}")

    def test_libraries_are_those_of_the_option(self) -> None:
        """The option `--against` accepts every library, and "all"."""
        assert (*libraries.LIBRARIES, comparison.ALL) == PEERS

    @pytest.mark.parametrize(
        ("options", "expected"),
        [
            (["--against", "tokenizers"], "name it with --source"),
            (["--source", "tokenizer.json"], "name a library with --against"),
            (["--threads", "2"], "name a library with --against"),
            (["--against", "nltk", "--source", "t.json"], "'nltk' is not one of"),
        ],
    )
    def test_wrong_usage(self, options: list[str], expected: str, table: Path, documents: Path) -> None:
        """Combinations of options that exclude each other are wrong usage."""
        assert expected in call("bench", table, documents, *options, code=2).stderr

    def test_no_tokens(self, table: Path, tmp_path: Path) -> None:
        """Documents without a token are an error, both with and without `--against`."""
        empty = written(tmp_path / "empty.txt", b"")
        reason = error_of(call("bench", table, empty, "--against", "tiktoken", "--source", ranks(tmp_path), code=1))
        assert reason.startswith("the input has no tokens")


class TestDrawing:
    """The bars that show speeds on a terminal."""

    @pytest.mark.mostly_slow
    @posix
    @pytest.mark.parametrize(("encoding", "character"), [("utf-8", "█"), ("ascii", "#")])
    def test_terminal(
        self, encoding: str, character: str, tmp_path: Path, documents: Path, reference: Build, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """On a terminal, a bar for each speed follows the table, in characters of the terminal's encoding; the highest speed has the
        longest bar.
        """
        import pty

        source = document(tmp_path, reference(TOKENS))
        words = ["bench", compiled(source), documents, "--against", "tokenizers", "--source", source]
        terminal, end = pty.openpty()
        with os.fdopen(end, "wb") as file, TextIOWrapper(file, encoding) as out:
            monkeypatch.setattr(sys, "stdout", out)
            with pytest.raises(SystemExit) as ended:
                main([*map(str, words)], prog_name="fst")
            shown = os.read(terminal, 10_000).decode().splitlines()
        os.close(terminal)
        assert not ended.value.code
        bars = shown[-3:]
        assert [line.split("  ")[0] for line in bars] == ["fst", "tokenizers, first pass", "tokenizers, again"]
        assert all(line.endswith(" MB/s") for line in bars)
        assert max(line.count(character) for line in bars) > 20

    @pytest.mark.parametrize(("columns", "expected"), [(0, "▏"), (1, "█"), (2.5, "██▌"), (3.01, "███")])
    def test_bars(self, columns: float, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """A bar is drawn in eighths of a column, and even the shortest is visible."""
        monkeypatch.setattr(sys, "stdout", SimpleNamespace(encoding="utf-8"))
        assert comparison.bar(columns) == expected
        monkeypatch.setattr(sys, "stdout", SimpleNamespace(encoding="ascii"))
        assert comparison.bar(columns) == "#" * max(round(columns), 1)

    @pytest.mark.parametrize(("ratio", "expected"), [(0.857, "0.86"), (5, "5.00"), (55.12, "55.1"), (117.3, "117"), (1234.5, "1,234")])
    def test_ratios(self, ratio: float, expected: str) -> None:
        """A ratio is printed with three digits, or with more if its integer part has more digits."""
        assert comparison._rounded(ratio) == expected


class TestProcess:
    """Libraries in separate processes."""

    def test_answers(self) -> None:
        """A worker returns results, and text that it prints is not read as a result."""
        process = workers.Process("a printer", "subprocess:Popen", ["echo", "this"])
        assert process.ask("wait") == 0
        process.end()

    def test_exceptions(self) -> None:
        """An exception in a worker is raised in the caller with the exception's name, and the worker still returns further results."""
        process = workers.Process("bytes", "io:BytesIO", b"abc")
        with pytest.raises(workers.WorkerError, match=r"AttributeError: .* 'none'"):
            process.ask("none")
        assert process.ask("read") == b"abc"
        process.end()

    def test_end(self) -> None:
        """If a worker exits, the message contains the worker's name and exit status."""
        process = workers.Process("a library", "os:_exit", 7)
        with pytest.raises(workers.WorkerError, match="the process of a library ended with status 7"):
            process.ask("read")
        process.end()
