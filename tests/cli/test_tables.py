"""Commands on one table: `fst info`, `fst verify` and `fst explain`."""

from __future__ import annotations

import gzip
import json
import os
import sys
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.commands import (
    TOKENS,
    call,
    error_of,
    posix,
    written,
)
from support.kept import bpe, wordpiece
from tokenizers import Tokenizer

import fst

PAPER = ("[UNK]", "a", "abcdx", "##b", "##c", "##cdy", "##dz")
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


@pytest.fixture(scope="session")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of the example vocabulary in Figure 1 of the LinMaxMatch paper (Song et al. 2021)."""
    path = tmp_path_factory.mktemp("tables") / "paper.npz"
    wordpiece(PAPER).save(path)
    return path


class TestInfo:
    """`fst info`."""

    def test_json(self, table: Path) -> None:
        """--json prints all information as one object."""
        shown = json.loads(call("info", table, "--json").stdout)
        assert (shown["kind"], shown["tokens"], shown["bytes"]) == ("wordpiece", len(TOKENS), table.stat().st_size)
        assert shown["single"] == [[["[CLS]"], 0], ["A", 0], [["[SEP]"], 0]]
        assert shown["pair"] == [*shown["single"], ["B", 1], [["[SEP]"], 1]]
        assert shown["specials"]["[MASK]"] == 4
        assert shown["options"]["lowercase"] is True
        assert shown["options"]["max_input_chars_per_word"] == 100

    def test_text(self, table: Path) -> None:
        """Without --json, the same information is printed as lines."""
        lines = dict(line.split("  ", 1) for line in call("info", table).stdout.splitlines())
        shown = {name: value.strip() for name, value in lines.items()}
        assert (shown["kind"], shown["tokens"]) == ("wordpiece", "12")
        assert (shown["single"], shown["pair"]) == ("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1")
        assert shown["special tokens"] == "[PAD] 0, [UNK] 1, [CLS] 2, [SEP] 3, [MASK] 4"
        assert "pad_token [PAD]" in shown["named tokens"]
        assert shown["model"] == "takes input_ids, token_type_ids, attention_mask"
        assert (shown["truncation"], shown["padding"], shown["sides"]) == ("none", "none", "truncation right, padding right")

    def test_what_a_folder_says(self, tmp_path: Path, reference: Callable[..., Tokenizer]) -> None:
        """`fst info` prints the model, truncation and padding of a compiled folder."""
        (tmp_path / "folder").mkdir()
        tokenizer = reference(TOKENS)
        tokenizer.enable_truncation(7, stride=2)
        tokenizer.enable_padding(direction="left", pad_to_multiple_of=8)
        tokenizer.save(str(tmp_path / "folder" / "tokenizer.json"))
        config = {"tokenizer_class": "BertTokenizer", "model_max_length": 1024, "extra_special_tokens": ["<x>", "<y>"]}
        (tmp_path / "folder" / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
        call("compile", tmp_path / "folder", "-o", tmp_path / "t.npz")
        lines = dict(line.split("  ", 1) for line in call("info", tmp_path / "t.npz").stdout.splitlines())
        shown = {name: value.strip() for name, value in lines.items()}
        assert shown["model"] == "takes input_ids, token_type_ids, attention_mask, of up to 1,024 ids"
        assert shown["more special tokens"] == "<x> <y>"
        assert shown["truncation"] == "to 7 ids, LongestFirst, stride 2, at the right; set in the source, not applied"
        padding = "to the longest row, to a multiple of 8, with [PAD] 0, at the left"
        assert shown["padding"] == f"{padding}; set in the source, not applied"
        assert shown["sides"] == "truncation right, padding left"

    def test_truncation_and_padding(self, tmp_path: Path, reference: Callable[..., Tokenizer]) -> None:
        """`fst info` prints the truncation settings of the source, and that the table does not apply them."""
        tokenizer = reference(TOKENS)
        tokenizer.enable_truncation(7)
        tokenizer.save(str(tmp_path / "tokenizer.json"))
        call("compile", tmp_path / "tokenizer.json", "-o", tmp_path / "t.npz")
        assert json.loads(call("info", tmp_path / "t.npz", "--json").stdout)["truncation"]["max_length"] == 7
        assert "not applied" in call("info", tmp_path / "t.npz").stdout


class TestVerify:
    """`fst verify`."""

    def test_sound(self, table: Path) -> None:
        """`fst verify` prints "complete and safe" for an undamaged table."""
        assert call("verify", table).stdout == f"{table}: complete and safe\n"

    def test_flipped_byte(self, table: Path, tmp_path: Path) -> None:
        """`fst verify` refuses a table with one changed byte."""
        data = bytearray(table.read_bytes())
        data[len(data) // 2] ^= 1
        damaged = written(tmp_path / "damaged.npz", bytes(data))
        reason = error_of(call("verify", damaged, code=1))
        assert reason.startswith(f"{damaged}: ")
        assert reason.endswith("compile it again")

    def test_against_the_same(self, texts: Path, tmp_path: Path, reference: Callable[..., Tokenizer]) -> None:
        """A table gives the same ids as the tokenizer.json from which it was compiled, even if this file enables truncation and padding."""
        tokenizer, source = reference(TOKENS), tmp_path / "tokenizer.json"
        tokenizer.enable_truncation(2)
        tokenizer.enable_padding(length=9)
        tokenizer.save(str(source))
        call("compile", source, "-o", tmp_path / "t.npz")
        done = call("verify", tmp_path / "t.npz", "--against", source, texts)
        assert done.stdout == f"{texts}: 5 lines, all with the ids of the reference\n"

    def test_against_another(self, table: Path, texts: Path, tmp_path: Path, reference: Callable[..., Tokenizer]) -> None:
        """For each file, the first difference is printed with the line, the text, the tokens and the position, and the exit code is 1."""
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
        """For a long document, only the text around the difference is printed."""
        reference(TOKENS).save(str(tmp_path / "tokenizer.json"))
        reference([token.replace("##able", "##abla") for token in TOKENS]).save(str(tmp_path / "other.json"))
        wordpiece(tmp_path / "other.json").save(tmp_path / "t.npz")
        file = written(tmp_path / "long.txt", b"un " * 1000 + b"unable" + b" un" * 1000)
        shown = call("verify", tmp_path / "t.npz", "--against", tmp_path / "tokenizer.json", file, code=1).stdout
        assert "from token 1001 on" in shown
        assert "unable" in shown
        assert len(shown) < 1000

    def test_no_documents(self, table: Path, tmp_path: Path, reference: Callable[..., Tokenizer]) -> None:
        """Files without any document are refused, because nothing was compared."""
        reference(TOKENS).save(str(tmp_path / "tokenizer.json"))
        empty = written(tmp_path / "empty.txt", b"")
        reason = error_of(call("verify", table, "--against", tmp_path / "tokenizer.json", empty, code=1))
        assert reason == "the input has no documents; name a file with text in it"

    def test_nothing_to_compare_with(self, table: Path, texts: Path) -> None:
        """Files without --against are wrong usage."""
        assert "--against" in call("verify", table, texts, code=2).stderr

    def test_reference_not_installed(self, table: Path, texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without `tokenizers`, the message explains how to install it."""
        monkeypatch.setitem(sys.modules, "tokenizers", None)
        assert "pip install tokenizers" in call("verify", table, "--against", written(tmp_path / "t.json", b"{}"), texts, code=1).stderr

    def test_against_a_folder(self, texts: Path, tmp_path: Path, reference: Callable[..., Tokenizer]) -> None:
        """--against accepts a folder, and reads the tokenizer.json in it."""
        reference(TOKENS).save(str(tmp_path / "tokenizer.json"))
        wordpiece(tmp_path / "tokenizer.json").save(tmp_path / "t.npz")
        assert "all with the ids" in call("verify", tmp_path / "t.npz", "--against", tmp_path, texts).stdout

    def test_against_a_packed_file(self, texts: Path, tmp_path: Path, reference: Callable[..., Tokenizer]) -> None:
        """--against accepts a tokenizer.json that is compressed with gzip."""
        packed = written(tmp_path / "tokenizer.json.gz", gzip.compress(reference(TOKENS).to_str().encode()))
        wordpiece(packed).save(tmp_path / "t.npz")
        assert "all with the ids" in call("verify", tmp_path / "t.npz", "--against", packed, texts).stdout

    @pytest.mark.mostly_slow
    @pytest.mark.parametrize("is_folder", [False, True])
    def test_against_tiktoken(self, is_folder: bool, tmp_path: Path) -> None:
        """For a file of ranks, `tiktoken` is the reference, also for special tokens."""
        pytest.importorskip("tiktoken")
        lines = [f"{b64encode(bytes([byte])).decode()} {byte}\n" for byte in range(256)]
        ranks = written(tmp_path / "cl100k_base.tiktoken", "".join([*lines, f"{b64encode(b'un').decode()} 256\n"]).encode())
        bpe(ranks).save(tmp_path / "t.npz")
        file = written(tmp_path / "some.txt", "unable é<|endoftext|>\nun".encode())
        source = tmp_path if is_folder else ranks
        assert "2 lines, all with the ids" in call("verify", tmp_path / "t.npz", "--against", source, file).stdout
        bpe(ranks, pattern="[a-z]|[^a-z]").save(tmp_path / "t.npz")
        shown = call("verify", tmp_path / "t.npz", "--against", source, file, code=1).stdout.splitlines()
        assert shown[-1] == "  first      u (id 117) in the table, un (id 256) in the reference"

    @pytest.mark.parametrize(
        ("name", "data", "what"),
        [
            ("vocab.txt", b"[UNK]\nun\n", "a list of tokens, without the rules that split text"),
            ("vocab.json", json.dumps({f"token{number}": number for number in range(9999)}).encode(), "tokenizers 0.23.3 cannot read it"),
            ("table.npz", b"PK\x03\x04\xff", "no tokenizer.json"),
            ("folder/vocab.txt", b"[UNK]", "a folder without tokenizer.json"),
        ],
    )
    def test_against_what_is_no_tokenizer(self, name: str, data: bytes, what: str, table: Path, texts: Path, tmp_path: Path) -> None:
        """If the file after --against is not a tokenizer.json, a message of one line names the file's kind and the file to use instead."""
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        written(path, data)
        named = path.parent if "/" in name else path
        reason = call("verify", table, "--against", named, texts, code=1).stderr
        assert reason.startswith(f"Error: {named}: {what}")
        assert "; name the model's tokenizer.json" in reason
        assert len(reason) < 300 + len(str(named))

    def test_no_reference(self, table: Path, texts: Path, tmp_path: Path) -> None:
        """The message about a JSON file that is not a tokenizer.json contains the file name."""
        file = written(tmp_path / "tokenizer.json", b"{}")
        assert call("verify", table, "--against", file, texts, code=1).stderr.startswith(f"Error: {file}: ")


class TestExplain:
    """`fst explain`."""

    def test_table_2_of_the_paper(self, paper: Path) -> None:
        """The steps for abcdz are those in Table 2 of the paper, and the transducer needs no separate steps for failure links."""
        assert call("explain", paper, "abcdz").stdout.splitlines() == [
            "abcdz: a word of 5 characters",
            "LinMaxMatch: each step follows an edge of the trie, or else a failure link, which pops tokens",
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
        """The steps for a word without a segmentation end in null, and the result is the unknown token."""
        lines = call("explain", paper, "abcz").stdout.splitlines()
        assert "  6     z     failure  ## -> null          a ##b ##c" in lines
        assert [line for line in lines if line.startswith("=")] == ["= [UNK]", "= [UNK]"]

    def test_suffix_indicator(self, tmp_path: Path) -> None:
        """A word that is equal to the prefix of continuation tokens, a special case in the paper, becomes the unknown token."""
        wordpiece(PAPER, pre_tokenizer="none").save(tmp_path / "t.npz")
        lines = call("explain", tmp_path / "t.npz", "##").stdout.splitlines()
        assert "the word is the suffix indicator itself: nothing was matched" in lines
        assert [line for line in lines if line.startswith("=")] == ["= [UNK]", "= [UNK]"]

    def test_special_tokens(self, table: Path) -> None:
        """Special tokens in the text are explained as special tokens, between the words."""
        lines = call("explain", table, "un[MASK]Hello").stdout.splitlines()
        assert [line for line in lines if ": a " in line] == [
            "un: a word of 2 characters",
            "[MASK]: a special token, id 4",
            "hello: a word of 5 characters",
        ]

    def test_long_word(self, table: Path) -> None:
        """A word of too many characters is explained as too long, and becomes the unknown token."""
        lines = call("explain", table, "a" * 101).stdout.splitlines()
        assert lines[1:] == ["more than 100 characters (max_input_chars_per_word): an unknown word", "= [UNK]"]

    def test_tokens_are_the_packages(self, table: Path) -> None:
        """Both explanations of a word, by the trie and by the transducer, end with the same tokens as the Python interface."""
        text = "unaffable HELLO! ? é hello! unableaffx ununun ##able 中 [MASK]"
        shown = call("explain", table, text.removesuffix("[MASK]")).stdout.split("\n\n")
        results = [[line[2:] for line in word.splitlines() if line.startswith("= ")] for word in shown]
        assert all(len(set(result)) == 1 for result in results)
        tokens = fst.Tokenizer.load(table).tokenize(text)
        assert [*" ".join(result[0] for result in results).split(), "[MASK]"] == tokens

    def test_no_text(self, table: Path) -> None:
        """The explanation of an empty text is empty."""
        assert call("explain", table, "").stdout == ""

    @posix
    def test_not_utf_8(self, table: Path) -> None:
        """A text that is not UTF-8 is an error."""
        assert "not UTF-8" in error_of(call("explain", table, os.fsdecode(b"un\xff"), code=1))
