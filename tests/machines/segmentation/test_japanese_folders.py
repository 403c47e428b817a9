"""Folders of Japanese BERT: their settings, their dictionary, and what is refused."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.commands import call
from support.conformance.samples import JAPANESE, japanese

import fst
from fst.compile import tokenizer, wordpiece

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"word_tokenizer_type": "sudachi"}, "type is 'sudachi'; expected 'mecab': Sudachi has other words, such as 選挙管理委員会"),
    ({"word_tokenizer_type": "jumanpp"}, r"word_tokenizer_type is 'jumanpp'; expected 'mecab': Juman\+\+ ranks words by a neural network"),
    ({"word_tokenizer_type": "basic"}, "word_tokenizer_type is 'basic'; expected 'mecab': BERT's words are cut at spaces"),
    ({"word_tokenizer_type": ["a"]}, r"word_tokenizer_type is \['a'\]; expected 'mecab'; use the class of transformers"),
    ({"subword_tokenizer_type": "sentencepiece"}, "expected 'wordpiece' or 'character': SentencePiece begins each word with ▁"),
    ({"do_subword_tokenize": False}, "do_subword_tokenize is False; expected true"),
    ({"do_word_tokenize": False}, "do_word_tokenize is False; expected true"),
    ({"do_lower_case": True, "subword_tokenizer_type": "character"}, "do_lower_case with subword_tokenizer_type 'character', where H"),
    ({"subword_tokenizer_type": "character", "mecab_kwargs": {"normalize_text": False}}, "normalize_text false with .*, where ① becomes 1"),
    ({"mecab_kwargs": {"mecab_dic": "neologd"}}, "mecab_dic is 'neologd'; expected ipadic, unidic_lite, unidic or null"),
    ({"mecab_kwargs": {"mecab_dic": None}}, "mecab_dic is null, and mecab_option has no -d.* --dictionary"),
    ({"mecab_kwargs": {"mecab_dic": "unidic"}}, "the dictionary unidic is not installed.* pip install unidic, or pass dictionary="),
    ({"mecab_kwargs": {"mecab_option": "-u own.dic"}}, "mecab_option has '-u', which may change words; expected -d, -r, -O or -M"),
    ({"mecab_kwargs": {"mecab_path": "x"}}, "mecab_kwargs has 'mecab_path'; expected mecab_dic, mecab_option or normalize_text"),
    ({"mask_token": {"__type": "AddedToken", "content": "[MASK]", "lstrip": True}}, r"added token '\[MASK\]' has lstrip: 'a \[MASK\] b'"),
    ({"do_lower_case": True, "never_split": [*map(str, range(1024))]}, "never_split and the special tokens are 1,029 strings; expected"),
    ({"split_special_tokens": True}, "asks for split_special_tokens True"),
]
MALFORMED: list[tuple[dict[str, Any], str]] = [
    ({"mecab_kwargs": ["a"]}, "are not laid out as those of a BertJapaneseTokenizer: mecab_kwargs"),
    ({"do_lower_case": "yes"}, "do_lower_case is 'yes'; expected true or false"),
    ({"do_lower_case": True, "never_split": "a"}, "never_split is 'a'; expected a list of strings"),
    ({"do_lower_case": True, "never_split": ["\ud800"]}, r"never_split is \['\\ud800'\]; expected a list of strings"),
    ({"mecab_kwargs": {"mecab_option": "-M 0"}}, "mecab_option has -M '0'; expected 1 to 65,535"),
    ({"mecab_kwargs": {"mecab_option": "-M"}}, "mecab_option has '-M' without a value"),
    ({"mecab_kwargs": {"mecab_option": "-d 'a"}}, "No closing quotation"),
    ({"unk_token": "[none]"}, "does not hold the unknown token"),
]


@pytest.mark.parametrize(("settings", "message"), REFUSED)
def test_refused_settings(settings: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A setting for which no table is exact is refused, and the message gives an example or a remedy."""
    monkeypatch.setitem(sys.modules, "unidic", None)
    monkeypatch.setattr("fst.compile.sources.pretrained.japanese.find_spec", lambda _: None)
    with pytest.raises(fst.UnsupportedError, match=message):
        tokenizer(japanese(tmp_path, **settings))


@pytest.mark.parametrize(("settings", "message"), MALFORMED)
def test_malformed_settings(settings: dict[str, Any], message: str, tmp_path: Path) -> None:
    """Malformed settings are refused, and the message contains the setting."""
    with pytest.raises(fst.VocabularyError, match=message):
        tokenizer(japanese(tmp_path, **settings), dictionary=tmp_path)


def test_pieces_in_words(tmp_path: Path) -> None:
    """A folder with SentencePiece in words is refused by name, although it has no vocab.txt."""
    folder = japanese(tmp_path, subword_tokenizer_type="sentencepiece")
    (folder / "vocab.txt").rename(folder / "spiece.model")
    with pytest.raises(fst.UnsupportedError, match="SentencePiece begins each word with ▁"):
        tokenizer(folder)


def test_last_options_of_mecab(tmp_path: Path) -> None:
    """Of an option that occurs several times, MeCab takes the last value; the folder of a package is the first value of -d."""
    other = tmp_path / "other"
    other.mkdir()
    own = {"mecab_dic": "ipadic", "mecab_option": f'-M 9 -d none --dicdir="{other}" -M 1'}
    folder = japanese(tmp_path, mecab_kwargs=own)
    for name in ("char.def", "matrix.def", "unk.def"):
        (other / name).write_bytes((folder / name).read_bytes())
    (other / "words.csv").write_text("世界,0,0,-9000,new\n", encoding="utf-8")
    tok = fst.Tokenizer(tokenizer(folder))
    assert tok.tokenize("世界世界") == ["世", "##界", "世", "##界"]
    assert tok.header["max_grouping_size"] == 1


def test_words_of_a_user(tmp_path: Path) -> None:
    """A file of settings that names a user's dictionary is refused, because MeCab then has more words."""
    (tmp_path / "rc").write_text("; dicdir = a\nuserdic = own.dic\n", encoding="utf-8")
    folder = japanese(tmp_path, mecab_kwargs={"mecab_option": f'-r "{tmp_path / "rc"}"'})
    with pytest.raises(fst.UnsupportedError, match="whose userdic adds words; expected a file without userdic"):
        tokenizer(folder, dictionary=folder)


def test_other_files_of_a_dictionary(tmp_path: Path) -> None:
    """Pipes and folders with the names of a dictionary's files are not read."""
    folder = japanese(tmp_path)
    os.mkfifo(folder / "a.dic")
    (folder / "sys.dic").mkdir()
    assert fst.Tokenizer(tokenizer(folder, dictionary=folder)).tokenize("ab") == ["ab"]


def test_options_and_functions(tmp_path: Path) -> None:
    """Options of other sources are refused for such a folder, and its option for other sources."""
    folder = japanese(tmp_path)
    with pytest.raises(fst.UnsupportedError, match=r"lowercase: .* contains it; leave the option out"):
        tokenizer(folder, dictionary=folder, lowercase=True)
    with pytest.raises(fst.UnsupportedError, match=r"is a BertJapaneseTokenizer; expected WordPiece; take fst\.compile\.tokenizer"):
        wordpiece(folder)
    with pytest.raises(fst.UnsupportedError, match="dictionary: only a folder of BertJapaneseTokenizer needs it"):
        tokenizer(folder / "vocab.txt", dictionary=folder)
    with pytest.raises(fst.VocabularyError, match="none is not a folder; expected a dictionary of MeCab"):
        tokenizer(folder, dictionary=tmp_path / "none")


def test_dictionary_of_a_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The dictionary is that of the package in `mecab_dic`, and a changed dictionary gives another cached table."""
    package: Any = ModuleType("ipadic")
    package.DICDIR = str(tmp_path)
    monkeypatch.setitem(sys.modules, "ipadic", package)
    monkeypatch.setattr("fst.compile.sources.pretrained.japanese.find_spec", lambda name: name)
    monkeypatch.setenv("FST_CACHE", str(tmp_path / "cache"))
    folder = japanese(tmp_path)
    assert fst.Tokenizer(folder).tokenize("世界世界") == ["世", "##界", "##世", "##界"]
    (tmp_path / "more.csv").write_text("世界,0,0,-9000,new\n", encoding="utf-8")
    assert fst.Tokenizer(folder).tokenize("世界世界") == ["世", "##界", "世", "##界"]


def test_lines_and_options_of_mecab(tmp_path: Path) -> None:
    r"""Any line end ends a token, spaces belong to tokens, and MeCab's option -M limits unknown words."""
    folder = japanese(tmp_path, mecab_kwargs={"mecab_option": "-M 1 -r none --output-format-type=wakati"})
    (folder / "vocab.txt").write_bytes("[PAD]\r\n[UNK]\r[CLS]\n[SEP]\n[MASK]\nz\u3000\nz\n##z\n".encode())
    tok = fst.Tokenizer(tokenizer(folder, dictionary=folder))
    assert tok.get_vocab() == {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4, "z\u3000": 5, "z": 6, "##z": 7}
    assert tok.tokenize("zz zzz") == ["z", "##z", "z", "z", "##z"]
    assert tok.header["max_grouping_size"] == 1


def test_command(tmp_path: Path) -> None:
    """`fst compile FOLDER --dictionary DIR` makes the table; `fst explain` shows each word with its tokens, and `fst info` the settings."""
    folder, table = japanese(tmp_path), tmp_path / "table.npz"
    call("compile", folder, "--dictionary", folder, "-o", table)
    assert call("explain", table, "ab ①世[MASK]").stdout.splitlines() == [
        "word ab  tokens ab 7",
        "word ①世  tokens 1 19 ##世 18",
        "word [MASK]  tokens [MASK] 4",
    ]
    described = json.loads(call("info", table, "--json").stdout)
    assert described["tokens"] == len(JAPANESE)
    assert described["options"]["subword"] == "wordpiece"
    assert "max_grouping_size" in call("info", table).stdout
    assert "compare ids with those of the class of transformers" in call("verify", table, "--against", folder, table, code=1).stderr
    dot = fst.load(table).draw("ab世")
    assert "ab /150: ab" in dot
