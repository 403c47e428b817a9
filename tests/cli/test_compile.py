"""`fst compile` and its commands write the same tables as the Python functions, and messages name the command that accepts a source."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from support.commands import TOKENS, call, error_of, on_terminal, posix, written
from support.conformance.samples import BYTES
from support.kept import wordpiece

import fst
from fst.cli.main import main
from fst.compile import tokenizer

COMMANDS = ("keywords", "maxmatch", "jieba", "mecab", "lookup", "rules", "best-path", "guide", "speller")
MAX_HELP = 50  # number of lines
OF_WORDS = "to compile keywords, run `fst compile keywords {0}`; to compile a dictionary, `fst compile maxmatch {0}`"


class TestTokenizer:
    """`fst compile SOURCE`."""

    def test_table(self, tmp_path: Path) -> None:
        """The command writes the same file as `wordpiece(source).save()`."""
        source = written(tmp_path / "vocab.txt", "\n".join(TOKENS).encode())
        call("compile", source, "-o", tmp_path / "a.npz")
        wordpiece(source).save(tmp_path / "b.npz")
        assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()

    def test_options(self, tmp_path: Path) -> None:
        """Options replace settings of the source; all other settings are those of the source."""
        source = written(tmp_path / "vocab.txt", b"[UNK]\n<oov>\na\n@@b\n")
        words = "--no-lowercase --strip-accents --no-clean-text --unk-token <oov> --continuing-subword-prefix @@"
        more = "--max-input-chars-per-word 7 --pre-tokenizer none --layout compact"
        call("compile", source, "-o", tmp_path / "t.npz", *words.split(), *more.split())
        header = fst.Tokenizer.load(tmp_path / "t.npz").header
        assert {name: header[name] for name in ("lowercase", "strip_accents", "clean_text", "handle_chinese_chars")} == {
            "lowercase": False,
            "strip_accents": True,
            "clean_text": False,
            "handle_chinese_chars": True,
        }
        assert (header["unk_token"], header["continuing_subword_prefix"]) == ("<oov>", "@@")
        assert (header["max_input_chars_per_word"], header["pre_tokenizer"], header["layout"]) == (7, "none", "compact")

    def test_tuned_table(self, tmp_path: Path) -> None:
        """With --tune, the table is that of `tokenizer(source, tune=texts)`, and `fst info` shows the origin of its words; another file, a
        vocabulary of WordPiece, and an output that is also the file of texts are refused.
        """
        source = written(tmp_path / "tokenizer.json", json.dumps(BYTES).encode())
        lines = b"a xyz\nabba xyz\n"
        texts = written(tmp_path / "texts.txt", lines)
        call("compile", source, "-o", tmp_path / "a.npz", "--tune", texts)
        assert (tmp_path / "a.npz").read_bytes() == tokenizer(source, tune=lines.splitlines(keepends=True)).dumps()
        assert f"1, of texts with SHA-256 {sha256(lines).hexdigest()}" in call("info", tmp_path / "a.npz").stdout
        vocabulary = written(tmp_path / "vocab.txt", "\n".join(TOKENS).encode())
        refused = call("compile", vocabulary, "-o", tmp_path / "b.npz", "--tune", texts, code=1)
        assert "tune: the vocabulary is WordPiece" in error_of(refused)
        assert "texts.npz" in call("compile", source, "-o", tmp_path / "b.npz", "--tune", tmp_path / "texts.npz", code=1).stderr
        assert "is also an input" in call("compile", source, "-o", texts, "--tune", texts, code=2).stderr
        assert texts.read_bytes() == lines
        assert not (tmp_path / "b.npz").exists()

    def test_refused_vocabulary(self, tmp_path: Path) -> None:
        """A source that cannot be compiled is an error of one line, and no file is written."""
        source = written(tmp_path / "vocab.txt", b"a\nb\n")
        reason = error_of(call("compile", source, "-o", tmp_path / "t.npz", code=1))
        assert str(source) in reason
        assert "[UNK]" in reason
        assert list(tmp_path.iterdir()) == [source]

    def test_no_folder(self, tmp_path: Path) -> None:
        """The message about a missing folder contains the name as it was typed, and is printed before the compilation starts."""
        reason = call("compile", tmp_path / "none.txt", "-o", tmp_path / "none" / "t.npz", code=1).stderr
        assert reason.startswith(f"Error: {tmp_path / 'none' / 't.npz'}: no folder")

    @pytest.mark.parametrize("name", ["t.json", "T.TXT", "t.npz.gz"])
    def test_ending_of_another_format(self, name: str, tmp_path: Path) -> None:
        """A table is not written to a file whose name has the ending of another format."""
        error = call("compile", "vocab.txt", "-o", tmp_path / name, code=2).stderr
        assert f"{name}: the output is a table; expected a name such as {Path(name).stem}.npz" in error
        assert not (tmp_path / name).exists()

    @posix
    def test_device(self) -> None:
        """An output that is a device is not replaced by a table."""
        call("compile", "vocab.txt", "-o", os.devnull, code=2)
        assert not Path(os.devnull).is_file()

    @pytest.mark.slow
    @posix
    def test_terminal(self, tmp_path: Path) -> None:
        """Progress is shown on standard error if it is a terminal, and nowhere else."""
        source = written(tmp_path / "vocab.txt", "\n".join(TOKENS).encode())
        done = call("compile", source, "-o", tmp_path / "t.npz")
        assert (done.stdout, done.stderr) == ("", "")
        assert on_terminal("compile", source, "-o", tmp_path / "t.npz").startswith(b"compiling")


class TestCommands:
    """The choice between the commands of `fst compile` and the compilation of a tokenizer, which needs no command name."""

    @pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)], ids=" ".join)
    def test_help(self, command: tuple[str, ...]) -> None:
        """The help of each command fits on one screen and has an example."""
        shown = call("compile", *command, "--help").stdout
        assert len(shown.splitlines()) <= MAX_HELP
        assert " ".join(["fst compile", *command]) in shown.split("Examples:")[1]

    def test_shared_help(self) -> None:
        """The help of `fst compile`, even after a source, contains both forms of usage."""
        shown = call("compile", "--help").stdout
        assert shown.startswith("Usage: fst compile [OPTIONS] SOURCE\n       fst compile COMMAND [ARGS]...\n")
        assert all(f"\n  {name} " in shown for name in COMMANDS)
        assert call("compile", "vocab.txt", "--help").stdout == shown

    @pytest.mark.parametrize(
        ("command", "option"), [("", "--ignore-case"), ("keywords", "--lowercase"), ("maxmatch", "--whole-words"), ("mecab", "--hmm")]
    )
    def test_options_of_others(self, command: str, option: str) -> None:
        """An option of another command is wrong usage."""
        assert f"No such option '{option}'" in call("compile", *filter(None, [command]), "words.txt", "-o", "t.npz", option, code=2).stderr

    def test_source_with_the_name_of_a_command(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A tokenizer whose name is also a command is compiled as ./NAME or after an option, and a message explains this."""
        monkeypatch.chdir(tmp_path)
        written(tmp_path / "keywords", b"[UNK]\na\n")
        for words in (["./keywords", "-o", "t.npz"], ["-o", "t.npz", "keywords"]):
            call("compile", *words)
            assert json.loads(call("info", "t.npz", "--json").stdout)["kind"] == "wordpiece"
            Path("t.npz").unlink()
        reason = call("compile", "keywords", "-o", "t.npz", code=2).stderr
        assert "Missing argument 'FILE'. To compile the tokenizer keywords, name it ./keywords." in reason
        assert "./maxmatch" not in call("compile", "maxmatch", "-o", "t.npz", code=2).stderr

    @pytest.mark.parametrize(
        ("name", "data", "reason"),
        [
            ("names.txt", b"Ann\nBob Ray\n", OF_WORDS),
            ("names.csv", b"n,name\n1,Ann\n", OF_WORDS),
            ("dict.txt", "研究 5 v\n研究生 3\n".encode(), "to compile a dictionary of jieba, run `fst compile jieba {0}`"),
            ("names.json", b'["Ann"]', "to compile keywords, write one per line and run `fst compile keywords FILE`"),
        ],
    )
    def test_hints(self, name: str, data: bytes, reason: str, tmp_path: Path) -> None:
        """The message about a source that looks like a list of words or a dictionary contains the command that accepts it."""
        source = written(tmp_path / name, data)
        assert error_of(call("compile", source, "-o", tmp_path / "t.npz", code=1)).endswith(f"; {reason.format(source)}")

    def test_hint_for_a_folder(self, tmp_path: Path) -> None:
        """The message about a MeCab dictionary folder contains the command that compiles it."""
        written(tmp_path / "matrix.def", b"1 1\n0 0 0\n")
        reason = error_of(call("compile", tmp_path, "-o", tmp_path / "t.npz", code=1))
        assert reason.endswith(f"; to compile a dictionary of MeCab, run `fst compile mecab {tmp_path}`")

    @pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"{}", b"#version: 0.2\na b\n"])
    def test_no_hint(self, data: bytes, tmp_path: Path) -> None:
        """The message about a source that is not a list of words contains no command."""
        assert "fst compile" not in error_of(call("compile", written(tmp_path / "x", data), "-o", tmp_path / "t.npz", code=1))

    @pytest.mark.parametrize(
        ("words", "incomplete", "expected"),
        [
            (["compile"], "k", {"keywords", "k"}),
            (["compile"], "--lower", {"--lowercase"}),
            (["compile", "vocab.txt"], "--unk", {"--unk-token"}),
            (["compile", "keywords"], "--whole", {"--whole-words"}),
            (["compile", "maxmatch"], "--whole", set()),
        ],
    )
    def test_completion(self, words: list[str], incomplete: str, expected: set[str]) -> None:
        """Shell completion offers commands and files, the options for a tokenizer, and the options of each command."""
        assert {item.value for item in ShellComplete(main, {}, "fst", "").get_completions(words, incomplete)} == expected


class TestKeywords:
    """`fst compile keywords`."""

    def test_words(self, tmp_path: Path) -> None:
        """Keywords are read from a file, and options set the format of the file and the kind of matches."""
        source = written(tmp_path / "names.csv", b"n,name\n1,ab\n2,abc\n")
        out = tmp_path / "names.npz"
        call("compile", "keywords", source, "--column", "name", "-o", out)
        assert fst.Searcher.load(out).keywords == ("ab", "abc")
        assert fst.Searcher.load(out).replace("abcd", "*") == "*d"
        call("compile", "keywords", source, "--column", "name", "--match-kind", "leftmost-first", "-o", out)
        assert fst.Searcher.load(out).replace("abcd", "*") == "*cd"
        call("compile", "keywords", source, "--input-format", "lines", "-o", out)
        assert fst.Searcher.load(out).keywords == ("n,name", "1,ab", "2,abc")

    def test_spelling(self, tmp_path: Path) -> None:
        """Options determine how texts are normalized before the search, and which matches are returned."""
        source, out = written(tmp_path / "words.txt", b"Ann\nfi\n\n"), tmp_path / "out.npz"
        words: list[str | Path] = ["compile", "keywords", source, "-o", out]
        assert "line 3: the keyword is empty" in error_of(call(*words, code=1))
        source.write_text("Ann\nfi\n")
        text = "Anna ann \ufb01 fi\n".encode()
        for options, count in (
            ([], 2),
            (["--ignore-case"], 3),
            (["--ignore-case", "--whole-words"], 2),
            (["--normalizer", "NFKC"], 3),
            (["--normalizer", '{"type": "Sequence", "normalizers": [{"type": "NFKC"}, {"type": "Lowercase"}]}'], 4),
        ):
            call(*words, *options)
            assert call("search", out, "--count", stdin=text).stdout == f"{count}\n", options
        source.write_text("\n")
        call(*words, "--allow-empty")
        assert call("search", out, "--replace", "-", stdin=b"ab\n").data == b"-a-b-\n"

    def test_overlapping(self, tmp_path: Path) -> None:
        """Overlapping matches are all listed, but each character is colored once, and --replace is refused."""
        source, out = written(tmp_path / "words.txt", b"he\nshe\nhers\n"), tmp_path / "out.npz"
        call("compile", "keywords", source, "-o", out, "--match-kind", "overlapping")
        assert call("search", out, "--names", stdin=b"ushers\n").data == b"1\tshe\t1\t4\n1\the\t2\t4\n1\thers\t2\t6\n"
        assert call("search", out, "--color", "always", stdin=b"ushers\n").data == b"u\x1b[01;31mshe\x1b[m\x1b[01;31mrs\x1b[m\n"
        assert "--replace cannot replace overlapping matches" in call("search", out, "--replace", "x", code=2).stderr
        assert call("verify", out).stdout == f"{out}: complete and safe\n"

    def test_errors(self, tmp_path: Path) -> None:
        """Messages contain the file, the line and the word, and no table is written."""
        source = written(tmp_path / "words.txt", b"a\n\n")
        done = call("compile", "keywords", source, "-o", tmp_path / "out.npz", code=1)
        assert error_of(done) == f"{source}, line 2: the keyword is empty; leave it out, or allow it with allow_empty or --allow-empty"
        done = call("compile", "keywords", written(source, b"a\n"), "-o", tmp_path / "out.npz", "--normalizer", "None", code=1)
        assert error_of(done).startswith("--normalizer None: supported are ")
        done = call("compile", "keywords", tmp_path / "no", "-o", tmp_path / "out.npz", code=1)
        assert error_of(done).endswith("check the name")
        assert not (tmp_path / "out.npz").exists()


def test_maxmatch(tmp_path: Path) -> None:
    """A dictionary is read from a file, and --direction determines whether segmentation begins at the start or at the end of a text."""
    source, out = written(tmp_path / "dict.txt", "研究 3 v\n研究生 1\n生命 2 n\n".encode()), tmp_path / "out.npz"
    call("compile", "maxmatch", source, "--input-format", "jieba", "-o", out)
    assert fst.Segmenter.load(out).segment("研究生命") == ["研究生", "命"]
    call("compile", "maxmatch", source, "--input-format", "jieba", "--direction", "backward", "-o", out)
    assert call("segment", out, stdin="研究生命\n".encode()).stdout == "研究 生命\n"
    assert f"{source}, line 2" in error_of(
        call("compile", "maxmatch", written(source, b"a 1\nb\n"), "--input-format", "jieba", "-o", out, code=1)
    )


@pytest.mark.slow
def test_jieba(tmp_path: Path) -> None:
    """Without a file, `fst compile jieba` compiles the dictionary of the installed `jieba`."""
    jieba = pytest.importorskip("jieba")
    call("compile", "jieba", "-o", tmp_path / "t.npz")
    with Path(jieba.__file__).with_name("dict.txt").open(encoding="utf-8") as file:
        assert json.loads(call("info", tmp_path / "t.npz", "--json").stdout)["words"] == len(file.readlines())


def test_jieba_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a file and without `jieba`, the message explains how to install `jieba`."""
    monkeypatch.setattr("fst.compile.machines.segmentation.jieba_model.find_spec", lambda _: None)
    assert "pip install jieba" in error_of(call("compile", "jieba", "-o", tmp_path / "t.npz", code=1))
