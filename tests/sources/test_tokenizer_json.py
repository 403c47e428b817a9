"""A ``tokenizer.json`` of WordPiece gives the same ids as `tokenizers`, or is refused with a message that contains the fault and its
position.
"""

from __future__ import annotations

import bz2
import copy
import functools
import gzip
import io
import json
import lzma
import pickle
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.kept import wordpiece
from support.sources.vocabularies import (
    FRAME,
    TOKENS,
    Document,
    Read,
    X,
    Y,
    Z,
    added,
    document,
    same_ids,
    same_names,
    template,
    without,
)
from support.tiers import examples, sample
from tokenizers import Tokenizer

import fst
from fst.compile.sources import read as sources


def without_special_ids(tokens: Mapping[str, int]) -> Document:
    """Make a tokenizer.json with unusual ids, whose post-processor adds no special tokens."""
    return document(tokens, post_processor=None, added_tokens=[added(tokens["[UNK]"], "[UNK]")])


GAPS = {token: 3 * number for number, token in enumerate(TOKENS)}
DOWN = {token: 1000 - number for number, token in enumerate(TOKENS)}
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
    "ids with gaps": without_special_ids(GAPS),
    "ids downwards": without_special_ids(DOWN),
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
# If two tokens have the same id, `tokenizers` chooses at random which of them is the token of this id.
ONE_ID = {"two tokens with one id": without_special_ids({**dict(zip(TOKENS, range(99), strict=False)), "x": 7, "##x": 5})}


@pytest.mark.mostly_slow
@pytest.mark.parametrize("source", (DOCUMENTS | ONE_ID).values(), ids=(DOCUMENTS | ONE_ID).keys())
def test_document_gives_the_reference_s_ids(source: Document, read: Read) -> None:
    """A tokenizer.json gives the same ids as `tokenizers`."""
    same_ids(read(source), Tokenizer.from_str(json.dumps(source)))


@pytest.mark.parametrize("source", DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_document_gives_the_reference_s_names(source: Document, read: Read) -> None:
    """For each token, including added tokens, a tokenizer.json gives the same id as in `tokenizers`."""
    same_names(read(source), Tokenizer.from_str(json.dumps(source)))


@pytest.mark.parametrize("name", ["tokenizer", "tokenizer.json", "tokenizer.bin"])
def test_document_is_known_by_its_name_or_its_brace(name: str, tmp_path: Path) -> None:
    """A file is recognized as a tokenizer.json by its name or by its first character, which is a brace."""
    file = tmp_path / name
    file.write_text("\n " + json.dumps(document()), encoding="utf-8")
    same_ids(fst.Tokenizer(wordpiece(file)), Tokenizer.from_str(json.dumps(document())))


def put(source: Document, place: Sequence[Any], value: Any) -> Document:
    """Return a copy of a document in which one value is replaced."""
    changed = copy.deepcopy(source)
    part: Any = changed
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    return changed


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (["normalizer"], {"type": "ByteLevel"}, "normalizer ByteLevel"),
        (["normalizer"], {"type": "Sequence", "normalizers": [document()["normalizer"], {"type": "ByteLevel"}]}, "normalizer ByteLevel"),
        (["normalizer", "strip"], True, "BertNormalizer has 'strip'"),
        (["pre_tokenizer"], {"type": "Metaspace"}, "pre_tokenizer Metaspace"),
        (["pre_tokenizer"], {"type": "Sequence", "pretokenizers": [{"type": "Metaspace"}]}, "pre_tokenizer Metaspace"),
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
        (["decoder"], {"type": "CTC", "pad_token": "x", "word_delimiter_token": "|", "cleanup": True}, "decoder CTC"),
        (["decoder", "more"], True, "decoder has 'more'"),
        (["version"], "2.0", "version '2.0'"),
        (["chat_template"], "{}", "'chat_template'"),
    ],
)
def test_unsupported_part_is_refused_by_name(place: list[Any], value: Any, message: str, read: Read) -> None:
    """An unsupported feature is never ignored, but refused with the name of its part."""
    with pytest.raises(fst.UnsupportedError, match=message):
        read(put(document(), place, value))


def test_added_token_whose_id_another_takes_is_refused(read: Read) -> None:
    """Two added tokens with the same id, of which `tokenizers` would drop the first, are refused with their names."""
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
        ('["[UNK]", "a"]', r"it is not a JSON object, but \['\[UNK\]', 'a'\]; write tokens one a line into a vocab\.txt"),
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
def test_other_document_is_refused(source: str, message: str, read: Read, file: Path) -> None:
    """Any other JSON document, however deeply nested, is refused, and the message gives the reason."""
    with pytest.raises(fst.FstError, match=message) as error:
        read(source)
    assert str(file) in str(error.value) or isinstance(error.value, fst.UnsupportedError)


MAX_MESSAGE = 300


def refusal(file: Path) -> str:
    """Return the message for a refused source without the path; check that it is one short line without the text of a Python error."""
    with pytest.raises(fst.FstError) as error:
        sources.read(file, {})
    message = str(error.value).replace(str(file), "PATH")
    assert len(message) <= MAX_MESSAGE
    assert message.isprintable()
    assert not PYTHON.search(message), message
    return message


PYTHON = re.compile(r"Error|NoneType|\bobject (has|is)|__init__|argument|subscriptable|to unpack|iterable|hashable")
SENTENCEPIECE = b"\n\x0e\n\x05<unk>\x15\0\0\0\0\x18\x02\n\x0c\n\x03<s>\x15\0\0\0\0\x18\x03"


def archive(name: str) -> bytes:
    """Make a ZIP archive that contains one file."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as made:
        made.writestr(name, b"\x80")
    return stream.getvalue()


@pytest.mark.mostly_slow
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
        pytest.param(
            SENTENCEPIECE, "PATH is not a model of sentencepiece, or is damaged or cut short: download it again", id="SentencePiece"
        ),
        pytest.param(b"IQ== 0\nIg== 1\nIw== 2\n", "PATH contains ranks, but no pattern that splits text: name its encoding", id="tiktoken"),
        pytest.param(b"#version: 0.2\n\xc4\xa0 t\n", "PATH contains the merges of a BPE tokenizer: compile its", id="merges"),
        pytest.param(b"\x10\0\0\0\0\0\0\0" + b'{"a":{}}        ', "PATH contains the weights of a model", id="safetensors"),
        pytest.param(bytes(range(200, 250)), "line 1: byte 0 is not UTF-8; if the file is text, save it as UTF-8", id="bytes"),
    ],
)
def test_file_that_is_no_vocabulary_is_told_by_what_it_is(data: bytes, message: str, name: str, tmp_path: Path) -> None:
    """If a file is not a vocabulary, whatever its name, the message contains the kind of the file and a remedy."""
    file = tmp_path / name
    file.write_bytes(data)
    assert message in refusal(file)


def test_vocabulary_of_tokenmonster_is_refused(tmp_path: Path) -> None:
    """A vocabulary of TokenMonster is refused by name."""
    file = tmp_path / "english-32000-balanced-v1.vocab"
    file.write_bytes(b"\x02\x01\x01\x02\x20\0\0\0\xff\xff\xff\0\x7d\0\0\x7d\0\x01a")
    assert "PATH is a vocabulary of TokenMonster" in refusal(file)


@pytest.mark.parametrize("name", ["tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "config.json"])
def test_other_file_of_a_folder_names_the_folder(name: str, tmp_path: Path) -> None:
    """If a file that contains no vocabulary is passed instead of its folder, the message contains the folder to compile."""
    (tmp_path / name).write_text('{"unk_token": "[UNK]"}', encoding="utf-8")
    assert refusal(tmp_path / name).endswith(f"compile their folder, {tmp_path}")


def test_large_vocabulary_of_another_kind_is_refused_in_a_line(file: Path) -> None:
    """A vocab.json as large as GPT-2's is refused with a short message, even if it contains a token "model"."""
    file.write_text(json.dumps({f"token {number}": number for number in range(50_256)} | {"model": 50_256}), encoding="utf-8")
    assert refusal(file).startswith("PATH maps 50,257 tokens to ids")


@pytest.mark.parametrize("number", [-1, 1 << 22, 1 << 32, 10**30, 1.0, 1.5, True, None, "1", [1]], ids=repr)
def test_id_out_of_range_is_refused(number: Any, read: Read) -> None:
    """An id that is not an integer from 0 to 4,194,303 is refused, and the message contains the token."""
    with pytest.raises(fst.VocabularyError, match=r"token 'x' has the id .*; ids are whole numbers from 0 to 4194303"):
        read(put(document(), ["model", "vocab", "x"], number))


def test_largest_ids_are_allowed(read: Read) -> None:
    """A token with the largest id, 4,194,303, gets the same results as in `tokenizers`."""
    source = without_special_ids({**GAPS, "x": (1 << 22) - 1, "##x": (1 << 22) - 2})
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
def test_unfit_value_is_refused(place: list[Any], value: Any, message: str, read: Read, file: Path) -> None:
    """A value of a wrong type or outside its range is refused, and the message contains the file and the value."""
    with pytest.raises(fst.VocabularyError, match=message) as error:
        read(put(document(), place, value))
    assert str(file) in str(error.value)


def places(part: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the positions of all values in a JSON document."""
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
    """A document with any value at any position gives the same ids as `tokenizers`, or is refused with an error of this package."""
    value = functools.reduce(lambda part, key: part[key], place, SMALL)
    source = put(SMALL, place, draw.draw(st.one_of(ALIKE[type(value)], ANYTHING)))
    try:
        reference = Tokenizer.from_str(json.dumps(source))
    except Exception:  # `tokenizers` raises plain exceptions; if it refuses the document, there are no ids to compare
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


@pytest.mark.mostly_slow
@pytest.mark.parametrize("part", SMALL)
def test_refusals_are_short_and_in_plain_words(part: str, file: Path) -> None:
    """A document with missing or misplaced parts is compiled, or refused with one short line in plain words."""
    for place in places(SMALL):
        if place[0] != part:
            continue
        left_out = put(SMALL, place, None)
        del functools.reduce(lambda inner, key: inner[key], place[:-1], left_out)[place[-1]]
        for source in sample([left_out, *(put(SMALL, place, value) for value in WRONG)], 8, str(place)):
            file.write_text(json.dumps(source), encoding="utf-8")
            try:
                sources.read(file, {})
            except fst.FstError:
                refusal(file)
