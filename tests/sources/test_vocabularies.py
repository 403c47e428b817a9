"""WordPiece vocabularies give the same ids as in `tokenizers`, or are refused with a message that contains the fault and its position."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support.kept import wordpiece
from support.sources.vocabularies import (
    TEXTS,
    TOKENS,
    Read,
    added,
    document,
    same_ids,
    same_names,
    without,
)
from support.tiers import examples
from tokenizers import BertWordPieceTokenizer, Tokenizer, models

import fst
from fst.compile import bpe, keywords, lattice, maxmatch, tokenizer
from fst.compile import wordpiece as compiled_anew
from fst.compile.sources import read as sources

# The characters that Rust treats as whitespace, and others that might be mistaken for whitespace.
WHITE_SPACE = "\t\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
NO_WHITE_SPACE = "\x1c\x1d\x1e\x1f\x00\x08\x7f\u180e\u200b\u200c\u2060\ufeff"


# vocab.txt


def read_both(file: Path, data: bytes) -> tuple[dict[str, int], dict[str, int]]:
    """Read a vocab.txt with this package and with `tokenizers`."""
    file.write_bytes(data)
    return dict(sources.read(file, {}).model.tokens), models.WordPiece.read_file(str(file))


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"[UNK]\na\n##b\n", id="a token a line"),
        pytest.param(b"[UNK]\na\n##b", id="no last newline"),
        pytest.param(b"[UNK]", id="one token"),
        pytest.param(b"[UNK]\r\na\r\n##b\r\n", id="CRLF"),
        pytest.param(b"[UNK]\r\r\na\r\r\n", id="CR CRLF"),
        pytest.param(b"[UNK]\na\rb\n\rc\n", id="CR within tokens"),
        pytest.param(b"[UNK]\na\nb\na\n##b\nb", id="repeated tokens"),
        pytest.param(b"[UNK]\na\n[UNK]\nb", id="repeated unknown token"),
        pytest.param(b"[UNK]\na\na \na\t\n", id="tokens that are equal without white space"),
        pytest.param(b"\n\n[UNK]\n\na\n\n\n", id="blank lines"),
        pytest.param(b"[UNK]\n \n a\n  b  c \n", id="blanks before and within"),
        pytest.param(b"[UNK]\n" + b"a" * 100_000 + b"\n##b\n" + b"##" + b"c" * 100_000, id="a token of 100,000 characters"),
        pytest.param("[UNK]\na\n\ufeffb\n".encode(), id="a byte-order mark within"),
        pytest.param("[UNK]\na\u2028b\n\u2028\n\u2028c\nd\u2029e\x85f\n".encode(), id="other ends of lines within"),
        pytest.param(b"[UNK]\na\x00b\n\x00\n\x01\n", id="control characters"),
        pytest.param(b"{\n[UNK]\n}\n", id="a brace first"),
        pytest.param(b'\n{"a": 0}\n[UNK]\n', id="a document within"),
        pytest.param("[UNK]\n世\n##世界\n!\n##!\na.b\na b\n\U0001f600\né\ne\u0301\n".encode(), id="any characters"),
    ],
)
def test_lines_are_read_as_the_reference_reads_them(data: bytes, tmp_path: Path) -> None:
    """A vocab.txt gives the same tokens and ids as `tokenizers`, whatever its lines."""
    ours, theirs = read_both(tmp_path / "vocab.txt", data)
    assert ours == theirs


@pytest.mark.parametrize("char", [*WHITE_SPACE, *NO_WHITE_SPACE], ids=lambda char: f"U+{ord(char):04X}")
def test_white_space_at_the_end_of_a_line_is_the_reference_s(char: str, tmp_path: Path) -> None:
    """At the end of a line, whitespace is removed from the token and any other character is kept, as in `tokenizers`."""
    ours, theirs = read_both(tmp_path / "vocab.txt", f"[UNK]\na{char}\n{char}\n{char}b\nc{char}{char} \nd{char}".encode())
    assert ours == theirs
    assert ("a" in ours) == (char in WHITE_SPACE)


@given(
    lines=st.lists(st.text(st.sampled_from("ab#\r\t \x1c\x85\u2028\u3000\ufeff世"), max_size=5), max_size=8),
    end=st.sampled_from(["", "\n", "\r\n"]),
)
@examples(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_lines_are_read_as_the_reference_reads_them(lines: list[str], end: str, tmp_path: Path) -> None:
    """Any lines after the unknown token give the same vocabulary as `tokenizers`."""
    ours, theirs = read_both(tmp_path / "vocab.txt", "\n".join(["[UNK]", *lines]).encode() + end.encode())
    assert ours == theirs


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_bare_vocabulary_is_bert_s(end: str, tmp_path: Path) -> None:
    """A vocab.txt gives the same results as BertWordPieceTokenizer, with the same special tokens, template and decoder."""
    file = tmp_path / "vocab.txt"
    file.write_bytes((end.join(TOKENS) + end).encode())
    tokenizer, reference = fst.Tokenizer(wordpiece(file)), BertWordPieceTokenizer(str(file))
    same_ids(tokenizer, reference)
    same_names(tokenizer, reference)
    ids = reference.encode(TEXTS[1]).ids
    for skip in (False, True):
        assert tokenizer.decode(ids, skip_special_tokens=skip) == reference.decode(ids, skip_special_tokens=skip)


@pytest.mark.parametrize("missing", ["[CLS]", "[SEP]"])
def test_bare_vocabulary_without_its_frame_has_none(missing: str) -> None:
    """If a vocabulary does not contain [CLS] or [SEP], no special tokens are put around a text."""
    tokenizer = fst.Tokenizer(wordpiece([token for token in TOKENS if token != missing]))
    assert tokenizer.encode("a").tolist() == [tokenizer.token_to_id("a")]


def test_list_of_tokens_is_a_vocab_txt(tmp_path: Path) -> None:
    """A list of tokens compiles to the same bytes as a vocab.txt whose lines are these tokens."""
    file = tmp_path / "vocab.txt"
    file.write_text("\n".join(TOKENS), encoding="utf-8")
    for name in ("listed.npz", "read.npz"):
        compiled_anew([*TOKENS] if name == "listed.npz" else str(file)).save(tmp_path / name)
    assert (tmp_path / "listed.npz").read_bytes() == (tmp_path / "read.npz").read_bytes()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(b"", r"vocab\.txt is empty", id="empty"),
        pytest.param(b"\n", r"vocab\.txt does not hold the unknown token '\[UNK\]'", id="one blank line"),
        pytest.param(b"a\nb\n", r"vocab\.txt does not hold the unknown token '\[UNK\]'; add it, or pass another", id="no unknown token"),
        pytest.param(b"[UNK]\ra\rb", r"vocab\.txt does not hold the unknown token", id="CR alone"),
        pytest.param(b" [UNK]\na", r"vocab\.txt does not hold the unknown token", id="a blank before the unknown token"),
        pytest.param(b"\xef\xbb\xbf[UNK]\na\n", r"vocab\.txt begins with a byte-order mark", id="byte-order mark"),
        pytest.param(b"[UNK]\na\n\xff\n", r"vocab\.txt, line 3: byte 8 is not UTF-8", id="a byte that is none"),
        pytest.param(b"[UNK]\na\xe4\xb8\nb\n", r"vocab\.txt, line 2: byte 7 is not UTF-8", id="a character cut short"),
        pytest.param(b"[UNK]\n\xed\xa0\x80\n", r"vocab\.txt, line 2: byte 6 is not UTF-8", id="a surrogate"),
        pytest.param("[UNK]\na\n".encode("utf-16"), r"vocab\.txt is text in UTF-16: save it as UTF-8", id="UTF-16"),
        pytest.param("[UNK]\né\n".encode("latin-1"), r"vocab\.txt, line 2: byte 6 is not UTF-8", id="Latin-1"),
    ],
)
def test_unfit_lines_are_refused(data: bytes, message: str, tmp_path: Path) -> None:
    """A file that is not a vocabulary is refused, and the message contains the file, and the line unless the whole file is at fault."""
    file = tmp_path / "vocab.txt"
    file.write_bytes(data)
    with pytest.raises(fst.VocabularyError, match=message) as error:
        wordpiece(file)
    assert str(file) in str(error.value)


@pytest.mark.parametrize("name", ["vocab.txt", "tokenizer.json", "folder/vocab.txt"])
def test_missing_source_is_an_os_error(name: str, tmp_path: Path) -> None:
    """If a source does not exist, a `FileNotFoundError` is raised."""
    with pytest.raises(FileNotFoundError):
        wordpiece(tmp_path / name)


def test_oversized_source_is_refused_unread(tmp_path: Path) -> None:
    """A source of more than 256 MiB is refused before it is read."""
    file = tmp_path / "vocab.txt"
    with file.open("wb") as stream:
        stream.truncate((1 << 28) + 1)
    with pytest.raises(fst.VocabularyError, match="larger than 256 MiB"):
        wordpiece(file)


def from_ranks(file: Path) -> Any:
    """Compile a file of ranks with the name of a known `tiktoken` encoding."""
    return bpe(file, encoding="gpt2")


READERS: Mapping[str, Callable[[Path], Any]] = {
    "vocab.txt": wordpiece,
    "tokenizer.json": tokenizer,
    "tokenizer.model": tokenizer,
    "ranks.tiktoken": from_ranks,
    "folder/tokenizer.model": lambda file: tokenizer(file.parent),
    "words.txt": keywords,
    "words.csv": keywords,
    "words.parquet": keywords,
    "words.arrow": maxmatch,
    "dict.txt": lattice.jieba,
    "folder/dicrc": lambda file: lattice.mecab(file.parent),
    "folder/char.def": lambda file: lattice.mecab(file.parent),
    "table.npz": fst.load,
}


@pytest.mark.parametrize("name", READERS)
def test_source_that_is_no_regular_file_is_refused(name: str, tmp_path: Path) -> None:
    """A pipe, a device, and a file of 100 GB are refused before they are read."""
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    if name == "folder/char.def":
        (file.parent / "matrix.def").write_text("1 1\n0 0 0\n")
    os.mkfifo(file)
    with pytest.raises(fst.FstError, match="is a pipe; expected a regular file"):
        READERS[name](file)
    file.unlink()
    file.symlink_to(os.devnull)
    with pytest.raises(fst.FstError, match="is a device; expected a regular file"):
        READERS[name](file)
    file.unlink()
    with file.open("wb") as stream:
        stream.truncate(100 << 30)
    with pytest.raises(fst.FstError, match=re.escape(str(file))):
        READERS[name](file)


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ([], "the vocabulary is empty"),
        (5, "the vocabulary is int; expected a file, a folder, the name of a model, a list of tokens, or a live tokenizer"),
        (["a"], "the vocabulary does not hold the unknown token"),
        (["[UNK]", 1], "token 1 is not text"),
        (["[UNK]", None], "token None is not text"),
        (["[UNK]", b"a"], "token b'a' is not text"),
        (["[UNK]", "\ud800"], r"token '\\ud800' is not text"),
        (["[UNK]", "a\udfff"], r"token 'a\\udfff' is not text"),
    ],
)
def test_unfit_list_is_refused(tokens: Any, message: str) -> None:
    """An object that is not a vocabulary is refused, and the message contains its type, or the first invalid token of a list."""
    with pytest.raises(fst.VocabularyError, match=message):
        wordpiece(tokens)


ONLY = "only WordPiece, WordLevel, BPE and Unigram vocabularies, such as BERT's, GPT-2's and T5's, can be compiled"


# Options, and metadata


def test_truncation_and_padding_are_kept_and_not_applied(read: Read, file: Path, tmp_path: Path) -> None:
    """The truncation and padding of a source are attributes of the tokenizer, even after it is saved and loaded, but change no ids."""
    truncation = {"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0}
    padding = {
        "strategy": {"Fixed": 8},
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "[PAD]",
    }
    source = document(truncation=truncation, padding=padding)
    reference = Tokenizer.from_str(json.dumps(source))
    assert len(reference.encode(TEXTS[0]).ids) == 8  # unlike this package, `tokenizers` applies truncation and padding
    reference.no_truncation()
    reference.no_padding()
    tokenizer = read(source)
    file.write_text(json.dumps(source), encoding="utf-8")
    wordpiece(file).save(tmp_path / "table.npz")
    for made in (tokenizer, fst.Tokenizer.load(tmp_path / "table.npz")):
        assert made.truncation == truncation
        assert made.padding == padding
        same_ids(made, reference)


LEFT = {"direction": "Left", "max_length": 3, "strategy": "OnlyFirst", "stride": 1}
PADDED = {"strategy": "BatchLongest", "direction": "Left", "pad_to_multiple_of": 8, "pad_id": 7, "pad_type_id": 0, "pad_token": "x"}
ROBERTA = ("[UNK]", "<s>", "</s>", "<pad>", "<mask>", "a")
BERT_INPUTS, OTHER_INPUTS = ["input_ids", "token_type_ids", "attention_mask"], ["input_ids", "attention_mask"]
BERT_NAMED = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
ROBERTA_NAMED = {"unk_token": "[UNK]", "cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>", "mask_token": "<mask>"}
ROBERTA_AROUND = {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 1], "trim_offsets": False, "add_prefix_space": False}
ROBERTA_ADDED = [added(number, token) for number, token in enumerate(ROBERTA[:5])]


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    ("parts", "settings"),
    [
        ({}, {"named_tokens": BERT_NAMED, "model_input_names": BERT_INPUTS, "padding_side": "right", "truncation_side": "right"}),
        ({"truncation": LEFT, "padding": PADDED}, {"padding_side": "left", "truncation_side": "left"}),
        ({"padding": PADDED}, {"named_tokens": BERT_NAMED | {"pad_token": "x"}, "truncation_side": "right"}),
        ({"truncation": without(LEFT, "direction")}, {"truncation_side": "right"}),
        ({"added_tokens": [], "model": {"unk_token": "x"}}, {"named_tokens": {"unk_token": "x"}}),
        (
            {"tokens": ROBERTA, "added_tokens": ROBERTA_ADDED, "post_processor": ROBERTA_AROUND},
            {"named_tokens": ROBERTA_NAMED, "model_input_names": OTHER_INPUTS},
        ),
        ({"post_processor": None}, {"model_input_names": OTHER_INPUTS}),
    ],
)
def test_what_a_document_does_not_say_is_as_usual(parts: dict[str, Any], settings: dict[str, Any], read: Read) -> None:
    """Settings that are missing in a tokenizer.json get default values, some of which depend on its special tokens, padding and
    templates.
    """
    header = read(document(**parts)).header
    expected = {"model_max_length": None, "extra_special_tokens": [], "clean_up_tokenization_spaces": False, **settings}
    assert {name: header[name] for name in expected} == expected


def test_bare_vocabulary_has_bert_s_names() -> None:
    """A vocab.txt gives BERT's names to the special tokens that it contains, and has BERT's model inputs."""
    header = wordpiece([token for token in TOKENS if token != "[MASK]"], unk_token="x").header
    assert header["named_tokens"] == without(BERT_NAMED, "mask_token") | {"unk_token": "x"}
    assert header["model_input_names"] == BERT_INPUTS
    assert (header["model_max_length"], header["padding_side"], header["truncation_side"]) == (None, "right", "right")


def test_no_truncation_and_no_padding_are_none(read: Read) -> None:
    """If a source has no truncation and no padding, these attributes are None."""
    tokenizer = read(document())
    assert tokenizer.truncation is None
    assert tokenizer.padding is None


@pytest.mark.mostly_slow
@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"lowercase": False}, {"normalizer": {**document()["normalizer"], "lowercase": False}}),
        ({"strip_accents": False}, {"normalizer": {**document()["normalizer"], "strip_accents": False}}),
        ({"clean_text": False}, {"normalizer": {**document()["normalizer"], "clean_text": False}}),
        ({"handle_chinese_chars": False}, {"normalizer": {**document()["normalizer"], "handle_chinese_chars": False}}),
        ({"unk_token": "x"}, {"model": {"unk_token": "x"}}),
        ({"continuing_subword_prefix": "#"}, {"model": {"continuing_subword_prefix": "#"}}),
        ({"max_input_chars_per_word": 3}, {"model": {"max_input_chars_per_word": 3}}),
        ({"pre_tokenizer": "none"}, {"pre_tokenizer": None}),
        ({"layout": "linked"}, {}),
        ({"layout": "compact"}, {}),
        ({"lowercase": None, "unk_token": None}, {}),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_option_overrides_the_source(options: dict[str, Any], parts: dict[str, Any], read: Read) -> None:
    """An option replaces the value from the source, and None keeps this value."""
    same_ids(read(document(), **options), Tokenizer.from_str(json.dumps(document(**parts))))


@pytest.mark.mostly_slow
@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("strip_accents", [None, False, True])
def test_accents_go_with_case_unless_said(lowercase: bool, strip_accents: bool | None, tmp_path: Path) -> None:
    """For a vocab.txt, accents are stripped if and only if text is lowercased, unless an option sets this."""
    file = tmp_path / "vocab.txt"
    file.write_text("\n".join([*TOKENS, "É", "ab", "Ab"]), encoding="utf-8")
    reference = BertWordPieceTokenizer(str(file), lowercase=lowercase, strip_accents=strip_accents)
    same_ids(fst.Tokenizer(wordpiece(file, lowercase=lowercase, strip_accents=strip_accents)), reference, [*TEXTS, "É é Ab e\u0301"])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"layout": "sparse"}, fst.UnsupportedError, "layout is 'sparse'; expected 'auto', 'compact' or 'linked'"),
        ({"pre_tokenizer": "whitespace"}, fst.UnsupportedError, "pre_tokenizer is 'whitespace'; expected 'bert' or 'none'"),
        ({"unk_token": "<unk>"}, fst.VocabularyError, "does not hold the unknown token '<unk>'"),
        ({"lowercase": "yes"}, fst.VocabularyError, "lowercase is 'yes'"),
        ({"max_input_chars_per_word": -1}, fst.VocabularyError, "max_input_chars_per_word is -1"),
        ({"continuing_subword_prefix": 2}, fst.VocabularyError, "continuing_subword_prefix is 2"),
    ],
)
def test_unfit_option_is_refused(options: dict[str, Any], error: type[fst.FstError], message: str) -> None:
    """An invalid option is refused, and the message contains its name and its value."""
    with pytest.raises(error, match=message):
        compiled_anew([*TOKENS], **options)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("unknown", ["<unk>", "未知", "a", "", "##b", " "])
def test_any_token_may_be_the_unknown_one(unknown: str) -> None:
    """Any token of a vocab.txt may be its unknown token, which is then recognized in raw text like [UNK]."""
    tokens = [*dict.fromkeys([*TOKENS, unknown])]
    source = document(tokens, model={"unk_token": unknown})
    if unknown:
        source["added_tokens"].append(added(tokens.index(unknown), unknown))
    tokenizer = fst.Tokenizer(wordpiece(tokens, unk_token=unknown))
    same_ids(tokenizer, Tokenizer.from_str(json.dumps(source)), [*TEXTS, "<unk>q a未知b ##b"])
