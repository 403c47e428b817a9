"""Sources of vocabularies: each is read as the reference reads it, or refused with a message that says what is wrong and where."""

from __future__ import annotations

import bz2
import copy
import functools
import gzip
import io
import json
import lzma
import os
import pickle
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support.kept import wordpiece
from support.tiers import examples, sample
from tokenizers import BertWordPieceTokenizer, Tokenizer, models

import fst
from fst.compile import bpe, keywords, lattice, maxmatch, tokenizer
from fst.compile import wordpiece as compiled_anew
from fst.compile.sources import read as sources

# White space as Unicode has it, with which Rust agrees, and what else Python or a reader might take for it.
WHITE_SPACE = "\t\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
NO_WHITE_SPACE = "\x1c\x1d\x1e\x1f\x00\x08\x7f\u180e\u200b\u200c\u2060\ufeff"

BERT = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
TOKENS = (
    *BERT, "un", "##aff", "##able", "a", "##b", "b", "é", "##é", ".", "!", ",", "'", "n", "##'", "世", "##", "#", "[", "]", "x", "##x",
    "do", "not", "don", "it", "##s", "s",
)  # fmt: skip
TEXTS = (
    "unaffable a.b un [MASK] é Ab [CLS]aé世ab x",
    "it's do not, un! ## #a [x] x##x [mask] [UNK]",
    "<x> unaffable<x>y <y>x<x>x Ab<y> <x",
    "",
)


def same_ids(tokenizer: fst.Tokenizer, reference: Tokenizer, texts: Sequence[str] = TEXTS) -> None:
    """Compare the ids of texts with the reference's, with special tokens around and without."""
    for text in texts:
        for around in (False, True):
            expected = reference.encode(text, add_special_tokens=around).ids
            assert tokenizer.encode(text, add_special_tokens=around).tolist() == expected, text


def same_names(tokenizer: fst.Tokenizer, reference: Tokenizer) -> None:
    """Compare size and names of a vocabulary with the reference's."""
    tokens = reference.get_vocab(with_added_tokens=True)
    assert tokenizer.vocab_size == len(tokens)
    assert {token: tokenizer.token_to_id(token) for token in tokens} == tokens
    highest = max(tokens.values())
    names = [reference.id_to_token(number) for number in range(highest + 3)]
    assert [tokenizer.id_to_token(number) for number in range(highest + 3)] == names
    assert tokenizer.token_to_id("not a token") is None
    assert tokenizer.id_to_token(-1) is None


# vocab.txt


def read_both(path: Path, data: bytes) -> tuple[dict[str, int], dict[str, int]]:
    """Read a vocab.txt with the package, as the compiler does first of all, and with the reference."""
    path.write_bytes(data)
    return dict(sources.read(path, {}).model.tokens), models.WordPiece.read_file(str(path))


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
    """A vocab.txt gives the reference's tokens with the reference's ids, however strange its lines are."""
    ours, theirs = read_both(tmp_path / "vocab.txt", data)
    assert ours == theirs


@pytest.mark.parametrize("char", [*WHITE_SPACE, *NO_WHITE_SPACE], ids=lambda char: f"U+{ord(char):04X}")
def test_white_space_at_the_end_of_a_line_is_the_reference_s(char: str, tmp_path: Path) -> None:
    """White space ends a token, before the end of its line and as a whole line; what is no white space is part of it."""
    ours, theirs = read_both(tmp_path / "vocab.txt", f"[UNK]\na{char}\n{char}\n{char}b\nc{char}{char} \nd{char}".encode())
    assert ours == theirs
    assert ("a" in ours) == (char in WHITE_SPACE)


@given(
    lines=st.lists(st.text(st.sampled_from("ab#\r\t \x1c\x85\u2028\u3000\ufeff世"), max_size=5), max_size=8),
    end=st.sampled_from(["", "\n", "\r\n"]),
)
@examples(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_lines_are_read_as_the_reference_reads_them(lines: list[str], end: str, tmp_path: Path) -> None:
    """Any lines after the unknown token give the reference's vocabulary."""
    ours, theirs = read_both(tmp_path / "vocab.txt", "\n".join(["[UNK]", *lines]).encode() + end.encode())
    assert ours == theirs


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_bare_vocabulary_is_bert_s(end: str, tmp_path: Path) -> None:
    """A vocab.txt means what the reference's BertWordPieceTokenizer makes of it: special tokens, frame, decoder and all."""
    path = tmp_path / "vocab.txt"
    path.write_bytes((end.join(TOKENS) + end).encode())
    tokenizer, reference = fst.Tokenizer(wordpiece(path)), BertWordPieceTokenizer(str(path))
    same_ids(tokenizer, reference)
    same_names(tokenizer, reference)
    ids = reference.encode(TEXTS[1]).ids
    for skip in (False, True):
        assert tokenizer.decode(ids, skip_special_tokens=skip) == reference.decode(ids, skip_special_tokens=skip)


@pytest.mark.parametrize("missing", ["[CLS]", "[SEP]"])
def test_bare_vocabulary_without_its_frame_has_none(missing: str) -> None:
    """Without [CLS] or [SEP] nothing is put around a text."""
    tokenizer = fst.Tokenizer(wordpiece([token for token in TOKENS if token != missing]))
    assert tokenizer.encode("a").tolist() == [tokenizer.token_to_id("a")]


def test_list_of_tokens_is_a_vocab_txt(tmp_path: Path) -> None:
    """A list of tokens compiles into the same tables as the file that has them as lines."""
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(TOKENS), encoding="utf-8")
    for name in ("listed.npz", "read.npz"):
        compiled_anew([*TOKENS] if name == "listed.npz" else str(path)).save(tmp_path / name)
    assert (tmp_path / "listed.npz").read_bytes() == (tmp_path / "read.npz").read_bytes()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(b"", r"vocab\.txt is empty", id="empty"),
        pytest.param(b"\n", r"vocab\.txt does not hold the unknown token '\[UNK\]'", id="one blank line"),
        pytest.param(b"a\nb\n", r"vocab\.txt does not hold the unknown token '\[UNK\]'; add it, or name", id="no unknown token"),
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
    """What is no vocabulary is refused with the name of the file and, where there is one, the line."""
    path = tmp_path / "vocab.txt"
    path.write_bytes(data)
    with pytest.raises(fst.VocabularyError, match=message) as error:
        wordpiece(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize("name", ["vocab.txt", "tokenizer.json", "folder/vocab.txt"])
def test_missing_source_is_an_os_error(name: str, tmp_path: Path) -> None:
    """A source that is not there is an `OSError`, as everywhere."""
    with pytest.raises(FileNotFoundError):
        wordpiece(tmp_path / name)


def test_oversized_source_is_refused_unread(tmp_path: Path) -> None:
    """A source of more than 256 MiB is refused by its size."""
    path = tmp_path / "vocab.txt"
    with path.open("wb") as stream:
        stream.truncate((1 << 28) + 1)
    with pytest.raises(fst.VocabularyError, match="larger than 256 MiB"):
        wordpiece(path)


def from_ranks(path: Path) -> Any:
    """Compile a file of ranks by the name of its encoding."""
    return bpe(path, encoding="gpt2")


READERS: Mapping[str, Callable[[Path], Any]] = {
    "vocab.txt": wordpiece,
    "tokenizer.json": tokenizer,
    "tokenizer.model": tokenizer,
    "ranks.tiktoken": from_ranks,
    "folder/tokenizer.model": lambda path: tokenizer(path.parent),
    "words.txt": keywords,
    "words.csv": keywords,
    "words.parquet": keywords,
    "words.arrow": maxmatch,
    "dict.txt": lattice.jieba,
    "folder/dicrc": lambda path: lattice.mecab(path.parent),
    "folder/char.def": lambda path: lattice.mecab(path.parent),
    "table.npz": fst.load,
}


@pytest.mark.parametrize("name", READERS)
def test_source_that_is_no_regular_file_is_refused(name: str, tmp_path: Path) -> None:
    """A pipe, a device, and a file of 100 GB are refused unread, whatever is read from them."""
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    if name == "folder/char.def":
        (path.parent / "matrix.def").write_text("1 1\n0 0 0\n")
    os.mkfifo(path)
    with pytest.raises(fst.FstError, match="is a pipe; expected a regular file"):
        READERS[name](path)
    path.unlink()
    path.symlink_to(os.devnull)
    with pytest.raises(fst.FstError, match="is a device; expected a regular file"):
        READERS[name](path)
    path.unlink()
    with path.open("wb") as stream:
        stream.truncate(100 << 30)
    with pytest.raises(fst.FstError, match=re.escape(str(path))):
        READERS[name](path)


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ([], "the vocabulary is empty"),
        (["a"], "the vocabulary does not hold the unknown token"),
        (["[UNK]", 1], "token 1 is not text"),
        (["[UNK]", None], "token None is not text"),
        (["[UNK]", b"a"], "token b'a' is not text"),
        (["[UNK]", "\ud800"], r"token '\\ud800' is not text"),
        (["[UNK]", "a\udfff"], r"token 'a\\udfff' is not text"),
    ],
)
def test_unfit_list_is_refused(tokens: list[Any], message: str) -> None:
    """A list that is no vocabulary is refused with its first unfit token."""
    with pytest.raises(fst.VocabularyError, match=message):
        wordpiece(tokens)


# tokenizer.json

Document = dict[str, Any]
PLAIN_ADDED = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)


def added(number: int, content: str, special: bool = True) -> Document:
    """Describe an added token."""
    return {"id": number, "content": content, "special": special, **PLAIN_ADDED}


def template(single: str, ids: Mapping[str, Sequence[int]]) -> Document:
    """Describe a TemplateProcessing: names of special tokens, and $ where the text stands."""
    pieces = [
        {"Sequence": {"id": "A", "type_id": 0}} if name == "$" else {"SpecialToken": {"id": name, "type_id": 0}} for name in single.split()
    ]
    pair = [*pieces, {"Sequence": {"id": "B", "type_id": 1}}]
    special = {name: {"id": name, "ids": list(numbers), "tokens": [name] * len(numbers)} for name, numbers in ids.items()}
    return {"type": "TemplateProcessing", "single": pieces, "pair": pair, "special_tokens": special}


FRAME = {"[CLS]": [2], "[SEP]": [3]}


def document(tokens: Sequence[str] | Mapping[str, int] = TOKENS, model: Mapping[str, Any] | None = None, **parts: Any) -> Document:
    """Make a tokenizer.json, some of its parts replaced."""
    vocabulary = dict(tokens) if isinstance(tokens, Mapping) else {token: number for number, token in enumerate(tokens)}
    options = {"unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [added(number, token) for number, token in enumerate(BERT)],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": template("[CLS] $ [SEP]", FRAME),
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", **options, "vocab": vocabulary, **(model or {})},
        **parts,
    }


def without(part: Document, *names: str) -> Document:
    """Leave keys out."""
    return {name: value for name, value in part.items() if name not in names}


Read = Callable[..., fst.Tokenizer]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Say where documents are written."""
    return tmp_path_factory.mktemp("documents") / "tokenizer.json"


@pytest.fixture(scope="module")
def read(path: Path) -> Read:
    """Compile a document; tests that ask for the same one share it."""

    @functools.cache
    def compiled(source: str, options: tuple[tuple[str, Any], ...]) -> fst.Tokenizer:
        path.write_text(source, encoding="utf-8")
        return fst.Tokenizer(wordpiece(path, **dict(options)))

    def read(source: Any, **options: Any) -> fst.Tokenizer:
        return compiled(source if isinstance(source, str) else json.dumps(source), tuple(options.items()))

    return read


def no_frame(tokens: Mapping[str, int]) -> Document:
    """Make a document of a vocabulary whose ids are unusual."""
    return document(tokens, post_processor=None, added_tokens=[added(tokens["[UNK]"], "[UNK]")])


GAPS = {token: 3 * number for number, token in enumerate(TOKENS)}
DOWN = {token: 1000 - number for number, token in enumerate(TOKENS)}
X, Y, Z = "<x>", "<y>", "<x>x"

DOCUMENTS: dict[str, Document] = {
    "as it is": document(),
    "no type of model": document() | {"model": without(document()["model"], "type")},
    "no version": without(document(), "version"),
    "no strip_accents": document(normalizer=without(document()["normalizer"], "strip_accents")),
    "no truncation, no padding": without(document(), "truncation", "padding"),
    "strips accents only": document(normalizer={**document()["normalizer"], "lowercase": False, "strip_accents": True}),
    "lower-cases only": document(normalizer={**document()["normalizer"], "strip_accents": False}),
    "cleans nothing": document(normalizer={**document()["normalizer"], "clean_text": False, "handle_chinese_chars": False}),
    "no normalizer": document(normalizer=None),
    "no pre-tokenizer": document(pre_tokenizer=None),
    "neither": document(normalizer=None, pre_tokenizer=None),
    "other prefix": document(model={"continuing_subword_prefix": "#"}),
    "empty prefix": document(model={"continuing_subword_prefix": ""}),
    "prefix that is a token": document(model={"continuing_subword_prefix": "a"}),
    "unknown token elsewhere": document(model={"unk_token": "s"}),
    "words of two characters": document(model={"max_input_chars_per_word": 2}),
    "words of no characters": document(model={"max_input_chars_per_word": 0}),
    "ids with gaps": no_frame(GAPS),
    "ids downwards": no_frame(DOWN),
    "tokens of punctuation, blanks and nothing": document(
        [*TOKENS, "", " ", "a b", "a.b", "!!", "##.", "世界", "##世", "##", "\t", "\u0301", "\x00"]
    ),
    "no added tokens": document(added_tokens=[]),
    "added tokens": document(added_tokens=[*document()["added_tokens"], added(99, X), added(7, Y, False), added(1, Z)]),
    "added tokens of the vocabulary": document(added_tokens=[added(8, "a"), added(5, "un", False)]),
    "an added token twice": document(added_tokens=[added(99, X), added(99, X), added(99, Y), added(1, Y, False)]),
    "an added token of the vocabulary twice": document(added_tokens=[added(8, "a"), added(8, "a", False), added(9, X)]),
    "an added token of nothing": document(added_tokens=[added(99, ""), added(99, Y)]),
    "added tokens that begin alike": document(
        added_tokens=[added(99, X), added(99, Z), added(99, "<"), added(99, "[MASK]]"), added(4, "[MASK]")]
    ),
    "added blanks and letters": document(added_tokens=[added(99, " "), added(99, "b [", False), added(99, "É"), added(99, "\u0301")]),
    "added tokens with ids in gaps": document(GAPS, post_processor=None, added_tokens=[added(0, "[PAD]"), added(99, X), added(98, Y)]),
    "an added token with a token's id": document(GAPS, post_processor=None, added_tokens=[added(3 * 11, "é"), added(99, X)]),
    "added tokens to ids downwards": document(DOWN, post_processor=None, added_tokens=[added(1000, "[PAD]"), added(99, X), added(98, Y)]),
    "no post-processor": document(post_processor=None),
    "BertProcessing": document(post_processor={"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]}),
    "BertProcessing with other ids": document(post_processor={"type": "BertProcessing", "sep": ["[SEP]", 7], "cls": ["[CLS]", 8]}),
    "template of nothing but the text": document(post_processor=template("$", {})),
    "template with more before": document(post_processor=template("[CLS] [MASK] [CLS] $", {**FRAME, "[MASK]": [4]})),
    "template with more behind": document(post_processor=template("$ [SEP] [SEP]", FRAME)),
    "template with more on both sides": document(post_processor=template("[CLS] [SEP] $ [MASK] [SEP]", {**FRAME, "[MASK]": [4]})),
    "template token of several ids": document(post_processor=template("[X] $ [SEP]", {"[X]": [2, 4, 5], "[SEP]": [3]})),
    "template token of no ids": document(post_processor=template("[X] $ [SEP]", {"[X]": [], "[SEP]": [3]})),
    "template with tokens that are not used": document(post_processor=template("$", FRAME)),
}
# Two tokens with one id: the reference itself names that id by one of them at random.
ONE_ID = {"two tokens with one id": no_frame({**dict(zip(TOKENS, range(99), strict=False)), "x": 7, "##x": 5})}


@pytest.mark.parametrize("source", (DOCUMENTS | ONE_ID).values(), ids=(DOCUMENTS | ONE_ID).keys())
def test_document_gives_the_reference_s_ids(source: Document, read: Read) -> None:
    """A tokenizer.json gives the ids that the reference gives with it."""
    same_ids(read(source), Tokenizer.from_str(json.dumps(source)))


@pytest.mark.parametrize("source", DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_document_gives_the_reference_s_names(source: Document, read: Read) -> None:
    """A tokenizer.json gives each token, added ones included, the id that the reference gives it."""
    same_names(read(source), Tokenizer.from_str(json.dumps(source)))


@pytest.mark.parametrize("name", ["tokenizer", "tokenizer.json", "tokenizer.bin"])
def test_document_is_known_by_its_name_or_its_brace(name: str, tmp_path: Path) -> None:
    """A file is a document if its name says so, or its first character where the name says nothing."""
    path = tmp_path / name
    path.write_text("\n " + json.dumps(document()), encoding="utf-8")
    same_ids(fst.Tokenizer(wordpiece(path)), Tokenizer.from_str(json.dumps(document())))


def put(source: Document, place: Sequence[Any], value: Any) -> Document:
    """Replace one value deep in a document."""
    changed = copy.deepcopy(source)
    part: Any = changed
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    return changed


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (["normalizer"], {"type": "Prepend", "prepend": "_"}, "normalizer Prepend"),
        (["normalizer"], {"type": "ByteLevel"}, "normalizer ByteLevel"),
        (["normalizer"], {"type": "Sequence", "normalizers": [document()["normalizer"], {"type": "ByteLevel"}]}, "normalizer ByteLevel"),
        (["normalizer", "strip"], True, "BertNormalizer has 'strip'"),
        (["pre_tokenizer"], {"type": "UnicodeScripts"}, "pre_tokenizer UnicodeScripts"),
        (["pre_tokenizer"], {"type": "Sequence", "pretokenizers": [{"type": "UnicodeScripts"}]}, "pre_tokenizer UnicodeScripts"),
        (["model"], {"type": "BPE", "vocab": {}, "merges": []}, r"model BPE: fst\.compile\.wordpiece takes only WordPiece; take "),
        (["model"], {"vocab": {"a": 0}, "merges": []}, "model BPE: "),
        (["model"], {"type": "Unigram", "unk_id": 0, "vocab": [["[UNK]", 0.0]]}, "model Unigram: .* takes only WordPiece"),
        (["model"], {"type": "WordLevel", "unk_token": "[UNK]", "vocab": {"[UNK]": 0}}, "model WordLevel"),
        (["model"], {"unk_token": "[UNK]", "vocab": {"[UNK]": 0}}, "model WordLevel"),
        (["model"], {"unk_token": "[UNK]", "continuing_subword_prefix": "##", "vocab": {"[UNK]": 0}}, "model WordLevel"),
        (["model", "dropout"], 0.1, "model has 'dropout'"),
        (["post_processor"], template("[CLS] [SEP]", FRAME), "post_processor TemplateProcessing whose 'single' does not have its text"),
        (["post_processor"], template("$ [SEP] $", FRAME), "post_processor TemplateProcessing whose 'single' does not have its text"),
        (["decoder"], {"type": "ByteLevel"}, "decoder ByteLevel"),
        (["decoder"], {"type": "Sequence", "decoders": []}, "decoder Sequence"),
        (["decoder"], {"type": "BPEDecoder", "suffix": "</w>"}, "decoder BPEDecoder: only WordPiece is supported"),
        (["decoder"], {"type": "Metaspace", "replacement": "_", "prepend_scheme": "always", "split": True}, "decoder Metaspace"),
        (["decoder"], {"type": "CTC", "pad_token": "x", "word_delimiter_token": "|", "cleanup": True}, "decoder CTC"),
        (["decoder"], {"type": "Fuse"}, "decoder Fuse"),
        (["decoder"], {"type": "ByteFallback"}, "decoder ByteFallback"),
        (["decoder"], {"type": "Strip", "content": " ", "start": 1, "stop": 0}, "decoder Strip"),
        (["decoder"], {"type": "Replace", "pattern": {"String": "a"}, "content": "b"}, "decoder Replace"),
        (["decoder", "more"], True, "decoder has 'more'"),
        (["version"], "2.0", "version '2.0'"),
        (["chat_template"], "{}", "'chat_template'"),
    ],
)
def test_unsupported_part_is_refused_by_name(place: list[Any], value: Any, message: str, read: Read) -> None:
    """What this version does not do is refused by the name of the part that asks for it, never left out."""
    with pytest.raises(fst.UnsupportedError, match=message):
        read(put(document(), place, value))


def test_added_token_whose_id_another_takes_is_refused(read: Read) -> None:
    """Where a new added token gets the id of a later one, the reference loses it; that is refused with the names of both."""
    tokens = {"[UNK]": 0, "a": 3, "b": 2}
    with pytest.raises(fst.UnsupportedError, match="added tokens '<x>' and 'a' with one id, 3"):
        read(document(tokens, post_processor=None, added_tokens=[added(3, X), added(3, "a")]))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "is empty: save it, or download it, again"),
        ("{", "is not JSON"),
        ("[UNK]\na\n", "is not JSON"),
        ('{"model": {}} {}', "is not JSON"),
        ('{"a":' * 100_000, "is not JSON"),
        ("[" * 100_000 + "]" * 100_000, "is not JSON"),
        ("\ufeff{}", "begins with a byte-order mark"),
        ("null", "is not laid out as a tokenizer.json"),
        ("[]", "is not laid out as a tokenizer.json"),
        ('["[UNK]", "a"]', r"it is no JSON object, but \['\[UNK\]', 'a'\]; write tokens one a line into a vocab\.txt"),
        ('{"error": "Repository not found"}', "is not laid out as a tokenizer.json: it has no 'model', but 'error'"),
        ('{"model": 1, "a": 0}', "maps 2 tokens to ids, as GPT-2's vocab.json does: compile its folder"),
        ("1", "is not laid out as a tokenizer.json"),
        ("{}", "is not laid out as a tokenizer.json: it has no 'model'"),
        ('{"model": null}', "is not laid out as a tokenizer.json"),
        ('{"model": []}', "is not laid out as a tokenizer.json"),
        ('{"model": {}}', "model WordLevel"),
        ('{"model": {"type": "WordPiece"}}', "is not laid out as a tokenizer.json: model has no 'vocab'"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_other_document_is_refused(source: str, message: str, read: Read, path: Path) -> None:
    """What is no tokenizer.json is refused, however deep it nests, and the message says how it differs."""
    with pytest.raises(fst.FstError, match=message) as error:
        read(source)
    assert str(path) in str(error.value) or isinstance(error.value, fst.UnsupportedError)


MAX_MESSAGE = 300


def refusal(path: Path) -> str:
    """What is said where a source is refused: one line without the words of Python's own errors, the path left out."""
    with pytest.raises(fst.FstError) as error:
        sources.read(path, {})
    message = str(error.value).replace(str(path), "PATH")
    assert len(message) <= MAX_MESSAGE
    assert message.isprintable()
    assert not PYTHON.search(message), message
    return message


PYTHON = re.compile(r"Error|NoneType|\bobject (has|is)|__init__|argument|subscriptable|to unpack|iterable|hashable")
ONLY = "only WordPiece, WordLevel, BPE and Unigram vocabularies, such as BERT's, GPT-2's and T5's, can be compiled"
SENTENCEPIECE = b"\n\x0e\n\x05<unk>\x15\0\0\0\0\x18\x02\n\x0c\n\x03<s>\x15\0\0\0\0\x18\x03"


def archive(name: str) -> bytes:
    """Make a ZIP archive of one file."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as made:
        made.writestr(name, b"\x80")
    return stream.getvalue()


@pytest.mark.parametrize("name", ["vocab.txt", "tokenizer.json", "download"])
@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(b"", "PATH is empty", id="nothing"),
        pytest.param(gzip.compress(pickle.dumps({"[UNK]": 0})), "PATH is a Python pickle", id="pickle in gzip"),
        pytest.param(gzip.compress(b"[UNK]\n")[:-9], "PATH is packed with gzip, and damaged or cut short", id="gzip cut short"),
        pytest.param(bz2.compress(b"[UNK]\n"), "PATH is compressed with bzip2", id="bzip2"),
        pytest.param(lzma.compress(b"[UNK]\n"), "PATH is compressed with xz", id="xz"),
        pytest.param(b"\x28\xb5\x2f\xfd\x04\0", "PATH is compressed with zstd", id="zstd"),
        pytest.param(archive("about.npy"), "PATH is a compiled table, or another .npz", id="a table"),
        pytest.param(archive("vocab.txt"), "PATH is a ZIP archive", id="ZIP"),
        pytest.param(b"\x93NUMPY\x01\0", "PATH is an array of NumPy", id="NumPy"),
        pytest.param(pickle.dumps({"[UNK]": 0}), "PATH is a Python pickle", id="pickle"),
        pytest.param(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "PATH is a Git LFS pointer", id="Git LFS"),
        pytest.param(b"\n<!doctype HTML>\n<p>404</p>\n", "PATH is an HTML or XML page", id="HTML"),
        pytest.param("[UNK]\n".encode("utf-16-le"), "PATH is text in UTF-16: save it as UTF-8", id="UTF-16 without a mark"),
        pytest.param('{"a": 0}'.encode("utf-16"), "PATH is text in UTF-16", id="UTF-16"),
        pytest.param('{"a": 0}'.encode("utf-32"), "PATH is text in UTF-32", id="UTF-32"),
        pytest.param(SENTENCEPIECE, "PATH is no model of sentencepiece, or is damaged or cut short: download it again", id="SentencePiece"),
        pytest.param(b"IQ== 0\nIg== 1\nIw== 2\n", "PATH contains ranks, but no pattern that splits text: say", id="tiktoken"),
        pytest.param(b"#version: 0.2\n\xc4\xa0 t\n", "PATH contains the merges of a BPE tokenizer: compile its", id="merges"),
        pytest.param(b"\x10\0\0\0\0\0\0\0" + b'{"a":{}}        ', "PATH holds the weights of a model", id="safetensors"),
        pytest.param(bytes(range(200, 250)), "line 1: byte 0 is not UTF-8; if the file is text, save it as UTF-8", id="bytes"),
    ],
)
def test_file_that_is_no_vocabulary_is_told_by_what_it_is(data: bytes, message: str, name: str, tmp_path: Path) -> None:
    """A file that people take for a vocabulary, whatever its name, is refused with what it is and what to do."""
    path = tmp_path / name
    path.write_bytes(data)
    assert message in refusal(path)


@pytest.mark.parametrize("name", ["tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "config.json"])
def test_other_file_of_a_folder_names_the_folder(name: str, tmp_path: Path) -> None:
    """A file that belongs to a tokenizer and has no vocabulary is refused with its folder, which is to be compiled."""
    (tmp_path / name).write_text('{"unk_token": "[UNK]"}', encoding="utf-8")
    assert refusal(tmp_path / name).endswith(f"compile their folder, {tmp_path}")


def test_large_vocabulary_of_another_kind_is_refused_in_a_line(path: Path) -> None:
    """A vocab.json as large as GPT-2's is refused with a short message, though a token of it is "model"."""
    path.write_text(json.dumps({f"token {number}": number for number in range(50_256)} | {"model": 50_256}), encoding="utf-8")
    assert refusal(path).startswith("PATH maps 50,257 tokens to ids")


@pytest.mark.parametrize("number", [-1, 1 << 22, 1 << 32, 10**30, 1.0, 1.5, True, None, "1", [1]], ids=repr)
def test_id_out_of_range_is_refused(number: Any, read: Read) -> None:
    """An id is a whole number from 0 to 4,194,303; the message names the token of another."""
    with pytest.raises(fst.VocabularyError, match=r"token 'x' has the id .*; ids are whole numbers from 0 to 4194303"):
        read(put(document(), ["model", "vocab", "x"], number))


def test_largest_ids_are_allowed(read: Read) -> None:
    """Ids may be as large as the bits of an entry allow."""
    source = no_frame({**GAPS, "x": (1 << 22) - 1, "##x": (1 << 22) - 2})
    same_ids(read(source), Tokenizer.from_str(json.dumps(source)))


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (["model", "vocab"], {}, "is empty"),
        (["model", "vocab"], [["[UNK]", 0]], "is not laid out"),
        (["model", "vocab"], None, "is not laid out"),
        (["model", "vocab", "\ud800"], 99, r"token '\\ud800' is not text"),
        (["model", "unk_token"], "<unk>", "does not hold the unknown token '<unk>'"),
        (["model", "unk_token"], None, "unk_token is None; it is a string"),
        (["model", "unk_token"], ["[UNK]"], r"unk_token is \['\[UNK\]'\]; it is a string"),
        (["model", "continuing_subword_prefix"], None, "continuing_subword_prefix is None; it is a string"),
        (["model", "continuing_subword_prefix"], 1, "continuing_subword_prefix is 1; it is a string"),
        (["model", "max_input_chars_per_word"], -1, "max_input_chars_per_word is -1"),
        (["model", "max_input_chars_per_word"], 1 << 31, "max_input_chars_per_word is 2147483648"),
        (["model", "max_input_chars_per_word"], True, "max_input_chars_per_word is True"),
        (["model", "max_input_chars_per_word"], 1.0, "max_input_chars_per_word is 1.0"),
        (["model", "max_input_chars_per_word"], None, "max_input_chars_per_word is None"),
        (["normalizer", "lowercase"], "yes", "lowercase is 'yes'; it is true or false"),
        (["normalizer", "lowercase"], 1, "lowercase is 1; it is true or false"),
        (["normalizer", "clean_text"], None, "clean_text is None; it is true or false"),
        (["normalizer", "strip_accents"], 0, "strip_accents is 0; it is true, false or null"),
        (["normalizer", "handle_chinese_chars"], [], "handle_chinese_chars is"),
        (["normalizer"], "BertNormalizer", "is not laid out"),
        (["normalizer"], {"type": "BertNormalizer"}, "is not laid out as a tokenizer.json: normalizer BertNormalizer has no 'lowercase'"),
        (["decoder", "prefix"], None, "a decoder's prefix is a string"),
        (["decoder", "cleanup"], 1, "its cleanup true or false"),
        (["truncation"], {"max_length": 3, "strategy": "OnlyFirst", "stride": -1}, "truncation is .*; it is null or a mapping"),
        (["padding"], {"strategy": "Fixed"}, "padding is .*; it is null or a mapping"),
        (["truncation"], 1, "truncation is 1; it is null or a mapping with direction, max_length, strategy and stride"),
        (["padding"], [], r"padding is \[\]; it is null or a mapping with direction, strategy, pad_id, pad_type_id and pad_token"),
        (["added_tokens", 0, "content"], "\udc00", r"token '\\udc00' is not text"),
        (["added_tokens", 0, "content"], 1, "token 1 is not text"),
        (["added_tokens", 0, "content"], ["x"], "is not laid out"),
        (["added_tokens"], {"[PAD]": 0}, "is not laid out"),
        (["post_processor", "single", 0, "SpecialToken", "id"], "[X]", r"special_tokens of TemplateProcessing has no '\[X\]'"),
        (["post_processor", "special_tokens", "[CLS]", "ids"], [99], "the post-processor adds the id 99, which no token has"),
        (["post_processor", "special_tokens", "[CLS]", "ids"], [[2]], r"the post-processor adds the id \[2\], which no token has"),
        (["post_processor", "special_tokens", "[CLS]", "ids"], [2.0], "the post-processor adds the id 2.0, which no token has"),
        (["post_processor"], {"type": "BertProcessing", "sep": ["[SEP]"], "cls": ["[CLS]", 2]}, "is not laid out"),
    ],
)
def test_unfit_value_is_refused(place: list[Any], value: Any, message: str, read: Read, path: Path) -> None:
    """A value of the wrong kind is refused with the file and the value."""
    with pytest.raises(fst.VocabularyError, match=message) as error:
        read(put(document(), place, value))
    assert str(path) in str(error.value)


def places(part: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """List the places of all values in a document."""
    inner = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    return [*([place] if place else []), *(deeper for key, value in inner for deeper in places(value, (*place, key)))]


SMALL = document(("[UNK]", "a", "##b", "[CLS]", "[SEP]", "."), added_tokens=[added(0, "[UNK]"), added(9, X)])
SMALL["post_processor"] = template("[CLS] $ [SEP]", {"[CLS]": [3], "[SEP]": [4]})
ANYTHING = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 2, -1, 1.5, 1 << 40, "", "a", "[UNK]", "WordPiece", "BertNormalizer", "\ud800"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["type", "a", "[UNK]", "id"]), inner, max_size=2),
    max_leaves=3,
)
ALIKE: dict[type, st.SearchStrategy[Any]] = {
    bool: st.booleans(),
    int: st.integers(0, 8),
    str: st.sampled_from([*SMALL["model"]["vocab"], X, "##", "ab", "WordPiece"]),
    list: st.just([]),
    dict: st.none(),
    type(None): st.none() | st.booleans(),
}


@given(draw=st.data(), place=st.sampled_from(places(SMALL)))
@examples(80)
def test_any_value_anywhere_is_read_or_refused(draw: st.DataObject, place: tuple[Any, ...], read: Read) -> None:
    """Whatever stands anywhere in a document: it is refused in this package's own words, or means what it means to the reference."""
    value = functools.reduce(lambda part, key: part[key], place, SMALL)
    source = put(SMALL, place, draw.draw(st.one_of(ALIKE[type(value)], ANYTHING)))
    try:
        reference = Tokenizer.from_str(json.dumps(source))
    except Exception:  # it has no other kind; where the reference refuses, there is nothing to compare with
        reference = None
    try:
        tokenizer = read(source)
    except (fst.VocabularyError, fst.UnsupportedError):
        return
    if reference:
        same_ids(tokenizer, reference, ["ab a. <x>b ab", "[UNK] ac"])


WRONG: tuple[Any, ...] = (
    None, True, 1, 1.5, "a", "é" * 10_000, "two\nlines", [], [1], ["a"], [[]], {}, {"type": []}, {"type": "a"}, {"a": "b" * 10_000},
)  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("part", SMALL)
def test_refusals_are_short_and_in_plain_words(part: str, path: Path) -> None:
    """Whatever is left out of a document, or stands in a wrong place, it is read, or refused with one short line in plain words."""
    for place in places(SMALL):
        if place[0] != part:
            continue
        left_out = put(SMALL, place, None)
        del functools.reduce(lambda inner, key: inner[key], place[:-1], left_out)[place[-1]]
        for source in sample([left_out, *(put(SMALL, place, value) for value in WRONG)], 4, str(place)):
            path.write_text(json.dumps(source), encoding="utf-8")
            try:
                sources.read(path, {})
            except fst.FstError:
                refusal(path)


# Options, and what is kept for others


def test_truncation_and_padding_are_kept_and_not_applied(read: Read, path: Path, tmp_path: Path) -> None:
    """What a source says of truncation and padding can be read from the tokenizer, also from a file, and changes no ids."""
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
    assert len(reference.encode(TEXTS[0]).ids) == 8  # it applies both
    reference.no_truncation()
    reference.no_padding()
    tokenizer = read(source)
    path.write_text(json.dumps(source), encoding="utf-8")
    wordpiece(path).save(tmp_path / "table.npz")
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
        ({"post_processor": None}, {"model_input_names": BERT_INPUTS}),
    ],
)
def test_what_a_document_does_not_say_is_as_usual(parts: dict[str, Any], settings: dict[str, Any], read: Read) -> None:
    """Of a tokenizer.json alone, special tokens have the names that their spelling or the padding gives them, and type ids are taken where
    the template for a pair has any; the model's length is not known.
    """
    about = read(document(**parts)).about
    expected = {"model_max_length": None, "extra_special_tokens": [], "clean_up_tokenization_spaces": False, **settings}
    assert {name: about[name] for name in expected} == expected


def test_bare_vocabulary_has_bert_s_names() -> None:
    """A vocab.txt has BERT's names for its special tokens, as far as it has them, and BERT's inputs."""
    about = wordpiece([token for token in TOKENS if token != "[MASK]"], unk_token="x").about
    assert about["named_tokens"] == without(BERT_NAMED, "mask_token") | {"unk_token": "x"}
    assert about["model_input_names"] == BERT_INPUTS
    assert (about["model_max_length"], about["padding_side"], about["truncation_side"]) == (None, "right", "right")


def test_no_truncation_and_no_padding_are_none(read: Read) -> None:
    """A source that says nothing of truncation and padding leaves them None."""
    tokenizer = read(document())
    assert tokenizer.truncation is None
    assert tokenizer.padding is None


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
        ({"layout": "dense"}, {}),
        ({"layout": "compact"}, {}),
        ({"lowercase": None, "unk_token": None}, {}),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_option_overrides_the_source(options: dict[str, Any], parts: dict[str, Any], read: Read) -> None:
    """An option that is given counts, whatever the source says; one that is None leaves it to the source."""
    same_ids(read(document(), **options), Tokenizer.from_str(json.dumps(document(**parts))))


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("strip_accents", [None, False, True])
def test_accents_go_with_case_unless_said(lowercase: bool, strip_accents: bool | None, tmp_path: Path) -> None:
    """Of a bare vocabulary, accents are stripped where text is lower-cased, unless an option says otherwise."""
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join([*TOKENS, "É", "ab", "Ab"]), encoding="utf-8")
    reference = BertWordPieceTokenizer(str(path), lowercase=lowercase, strip_accents=strip_accents)
    same_ids(fst.Tokenizer(wordpiece(path, lowercase=lowercase, strip_accents=strip_accents)), reference, [*TEXTS, "É é Ab e\u0301"])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"layout": "sparse"}, fst.UnsupportedError, "layout 'sparse': there are 'auto', 'dense', 'compact'"),
        ({"pre_tokenizer": "whitespace"}, fst.UnsupportedError, "pre_tokenizer 'whitespace': there are 'bert' and 'none'"),
        ({"unk_token": "<unk>"}, fst.VocabularyError, "does not hold the unknown token '<unk>'"),
        ({"lowercase": "yes"}, fst.VocabularyError, "lowercase is 'yes'"),
        ({"max_input_chars_per_word": -1}, fst.VocabularyError, "max_input_chars_per_word is -1"),
        ({"continuing_subword_prefix": 2}, fst.VocabularyError, "continuing_subword_prefix is 2"),
    ],
)
def test_unfit_option_is_refused(options: dict[str, Any], error: type[fst.FstError], message: str) -> None:
    """An option of no meaning is refused with its name and value."""
    with pytest.raises(error, match=message):
        compiled_anew([*TOKENS], **options)


@pytest.mark.parametrize("unknown", ["<unk>", "未知", "a", "", "##b", " "])
def test_any_token_may_be_the_unknown_one(unknown: str) -> None:
    """The unknown token of a bare vocabulary may be any token, and is then found in raw text as [UNK] would be."""
    tokens = [*dict.fromkeys([*TOKENS, unknown])]
    source = document(tokens, model={"unk_token": unknown})
    if unknown:
        source["added_tokens"].append(added(tokens.index(unknown), unknown))
    tokenizer = fst.Tokenizer(wordpiece(tokens, unk_token=unknown))
    same_ids(tokenizer, Tokenizer.from_str(json.dumps(source)), [*TEXTS, "<unk>q a未知b ##b"])


# From ids back to text

DECODERS: dict[str, Any] = {
    "with cleanup": {"type": "WordPiece", "prefix": "##", "cleanup": True},
    "without cleanup": {"type": "WordPiece", "prefix": "##", "cleanup": False},
    "of another prefix": {"type": "WordPiece", "prefix": "n", "cleanup": True},
    "of no prefix": {"type": "WordPiece", "prefix": "", "cleanup": True},
    "of a blank": {"type": "WordPiece", "prefix": " ", "cleanup": True},
    "of a token": {"type": "WordPiece", "prefix": "##n't", "cleanup": True},
    "of no prefix, without cleanup": {"type": "WordPiece", "prefix": "", "cleanup": False},
    "none": None,
}
SAID = [
    *TOKENS, "?", "n't", "'m", "'s", "'ve", "'re", "not.", '"', "##n't", "##'s", "##.", "..", " ", "", " do not", "a b", "\u0301",
]  # fmt: skip
SAYING = document(SAID, added_tokens=[*document()["added_tokens"], added(99, X), added(99, Y, False)])


@pytest.fixture(scope="module")
def decoding(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[fst.Tokenizer, Tokenizer]]:
    """Tokenizers for each decoder, and the reference."""
    path = tmp_path_factory.mktemp("decoders") / "tokenizer.json"
    made = {}
    for name, decoder in DECODERS.items():
        path.write_text(json.dumps({**SAYING, "decoder": decoder}), encoding="utf-8")
        made[name] = fst.Tokenizer(wordpiece(path)), Tokenizer.from_file(str(path))
    return made


@pytest.mark.parametrize("skip", [False, True], ids=["all tokens", "no special tokens"])
@pytest.mark.parametrize("name", DECODERS)
@given(ids=st.lists(st.integers(0, len(SAID) + 4), max_size=12))
@examples(400)
def test_any_ids_decode_as_the_reference_decodes_them(
    name: str, skip: bool, ids: list[int], decoding: dict[str, tuple[fst.Tokenizer, Tokenizer]]
) -> None:
    """Any ids, also such as no token has, give the text that the reference gives."""
    tokenizer, reference = decoding[name]
    assert tokenizer.decode(ids, skip_special_tokens=skip) == reference.decode(ids, skip_special_tokens=skip)


def test_ids_of_a_bare_vocabulary_decode_by_its_prefix() -> None:
    """The decoder of a bare vocabulary goes by the prefix that its tokens have."""
    tokenizer = fst.Tokenizer(wordpiece(["[UNK]", "un", "@able", "##able"], continuing_subword_prefix="@"))
    assert tokenizer.decode([1, 2, 3]) == "unable ##able"


def test_ids_decode_from_any_sequence(decoding: dict[str, tuple[fst.Tokenizer, Tokenizer]]) -> None:
    """Ids may come as encode gives them, and as a list or tuple."""
    tokenizer, _ = decoding["with cleanup"]
    ids = tokenizer.encode("unaffable, ab!")
    assert tokenizer.decode(ids) == tokenizer.decode(ids.tolist()) == tokenizer.decode(tuple(ids.tolist())) == "unaffable, ab!"


@pytest.mark.parametrize("skip", [False, True])
def test_rows_of_ids_decode_as_the_reference_decodes_them(skip: bool, decoding: dict[str, tuple[fst.Tokenizer, Tokenizer]]) -> None:
    """Rows of ids, also those of a batch, and with ids that no token has, give the texts that the reference gives."""
    tokenizer, reference = decoding["with cleanup"]
    batch = tokenizer.encode_batch(["unaffable, ab!", "", "ab un"])
    for rows in (batch, [[1, 2], [], [9999, 1, (1 << 32) - 1]], np.array([[1, 2], [3, 9999]])):
        lists = [[int(number) for number in row] for row in rows]
        assert tokenizer.decode_batch(rows, skip_special_tokens=skip) == reference.decode_batch(lists, skip_special_tokens=skip)


@pytest.mark.parametrize("ids", [["a"], "ab", 5, None, [None], [1.0], [[1, 2]], [-1], [1, 1 << 32], [-100]], ids=str)
def test_what_is_no_row_of_ids_is_refused(ids: Any, decoding: dict[str, tuple[fst.Tokenizer, Tokenizer]]) -> None:
    """What the reference does not take for ids is refused, by an error of the same kind, in one line."""
    tokenizer, reference = decoding["with cleanup"]
    with pytest.raises((TypeError, OverflowError)) as refused:
        reference.decode(ids)
    with pytest.raises(refused.type, match=r"^decode: .*; (a row of ids is whole numbers|leave out)") as own:
        tokenizer.decode(ids)
    assert "\n" not in str(own.value)
    with pytest.raises(refused.type):
        tokenizer.decode_batch([ids])


def test_vocabulary_of_a_tokenizer(decoding: dict[str, tuple[fst.Tokenizer, Tokenizer]]) -> None:
    """A tokenizer says what its tokens are, and how many, as the reference does; what it gives out is a copy."""
    tokenizer, reference = decoding["with cleanup"]
    vocabulary = tokenizer.get_vocab()
    assert vocabulary == reference.get_vocab()
    assert len(tokenizer) == tokenizer.vocab_size == reference.get_vocab_size()
    vocabulary.clear()
    assert tokenizer.get_vocab() == reference.get_vocab()
