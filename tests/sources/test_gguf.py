"""GGUF models: ids equal those of llama.cpp, stored in `gguf_answers.json` by `support.sources.gguf`; weights are never read."""

from __future__ import annotations

import gzip
import json
import struct
from pathlib import Path
from typing import Any

import pytest
from support.sources.gguf import ANSWERS, LOWERCASE, by_scores, byte_level, header, unigram, words, written

import fst
from fst.compile import tokenizer
from fst.compile.sources.gguf import header as headers
from fst.compile.sources.gguf.splitters import SPLITTERS
from fst.compile.sources.inputs import contents_of

MASKS = {"tokens": ["a", "<mask>", "[MASK]"], "token_type": [1, 3, 3]}
CASES: dict[str, Any] = json.loads(ANSWERS.read_text(encoding="utf-8"))


def ids(model: Path) -> list[list[int]]:
    """The ids of all texts of the answers, without the ids around a text."""
    tok = fst.Tokenizer(tokenizer(model))
    return [tok.encode(text, add_special_tokens=False).tolist() for text in CASES["texts"]]


@pytest.mark.mostly_slow
@pytest.mark.parametrize("pre", CASES["byte_level"]["ids"])
def test_splitters(pre: str, tmp_path: Path) -> None:
    """With every splitter, byte-level BPE has the ids of llama.cpp."""
    assert ids(written(tmp_path, byte_level(CASES, pre))) == CASES["byte_level"]["ids"][pre]


def test_every_splitter_has_answers() -> None:
    """For each splitter, there are answers with one of its names."""
    assert {SPLITTERS[pre] for pre in CASES["byte_level"]["ids"]} == {*SPLITTERS.values()}


@pytest.mark.parametrize(("name", "prefix"), [("ids", True), ("ids_without_prefix", False)])
def test_scores(name: str, prefix: bool, tmp_path: Path) -> None:
    """BPE by scores has the ids of llama.cpp, with and without a space before each part."""
    assert ids(written(tmp_path, by_scores(CASES, add_space_prefix=prefix))) == CASES["by_scores"][name]


@pytest.mark.parametrize(("name", "merges"), [("ids", True), ("ids_with_spaces", False)])
def test_unigram(name: str, merges: bool, tmp_path: Path) -> None:
    """Unigram has the ids of llama.cpp, with and without the removal of spaces; the slow walk gives the same ids."""
    tok = fst.Tokenizer(tokenizer(written(tmp_path, unigram(CASES, remove_extra_whitespaces=merges))))
    expected = CASES["unigram"][name]
    assert [tok.encode(text, add_special_tokens=False).tolist() for text in CASES["texts"]] == expected
    assert [tok._table.run(text) for text in CASES["texts"]] == expected


@pytest.mark.parametrize(("name", "lowercase"), [("ids", True), ("ids_cased", False)])
def test_words(name: str, lowercase: bool, tmp_path: Path) -> None:
    """WordPiece has the ids of llama.cpp, with and without lower case."""
    assert ids(written(tmp_path, words(CASES, **{LOWERCASE: lowercase}))) == CASES["words"][name]


def test_names_of_words(tmp_path: Path) -> None:
    """Tokens of the kind bert have the names of WordPiece, and BOS and the separator are around a text."""
    tok = fst.Tokenizer(tokenizer(written(tmp_path, words(CASES))))
    assert tok.encode("Hello!").tolist()[:1] + tok.encode("Hello!").tolist()[-1:] == [1, 2]
    assert tok.decode(tok.encode("Hello words")) == "hello words"
    assert [tok.id_to_token(number) for number in (1, *tok.encode("words", add_special_tokens=False).tolist())][:2] == ["[CLS]", "wo"]


def test_decode(tmp_path: Path) -> None:
    """Text without special tokens is the decoded text of its ids."""
    for model in (byte_level(CASES, "gpt-2"), by_scores(CASES)):
        tok = fst.Tokenizer(tokenizer(written(tmp_path, model)))
        assert tok.decode(tok.encode("two  words, été 中")) == "two  words, été 中"


def test_ids_around_a_text(tmp_path: Path) -> None:
    """BOS and EOS are added as the metadata or the kind of vocabulary demands; an id that no token has is ignored."""
    own = by_scores(CASES)
    around = {"bos_token_id": 2, "eos_token_id": 1, "add_eos_token": True}
    assert fst.Tokenizer(tokenizer(written(tmp_path, own))).encode("").tolist() == [1]
    assert fst.Tokenizer(tokenizer(written(tmp_path, own | around))).encode("").tolist() == [2, 1]
    assert fst.Tokenizer(tokenizer(written(tmp_path, own | {"add_bos_token": False}))).encode("").tolist() == []
    assert fst.Tokenizer(tokenizer(written(tmp_path, own | {"bos_token_id": 1 << 30}))).encode("").tolist() == [1]
    assert fst.Tokenizer(tokenizer(written(tmp_path, byte_level(CASES, "llama-bpe") | {"bos_token_id": 516}))).encode("").tolist() == [516]


@pytest.mark.parametrize("name", ["model.gguf", "blob"])
def test_weights_are_not_read(name: str, tmp_path: Path) -> None:
    """The header determines the table and the digest of a source, whatever the file's name; bytes after the header change neither."""
    model = written(tmp_path, by_scores(CASES), name)
    before, digest, size = headers.header_of(model).data, contents_of(model), model.stat().st_size
    with model.open("r+b") as file:
        file.truncate(1 << 40)  # a sparse file
    assert headers.header_of(model).data == before
    assert contents_of(model) == digest
    assert len(before) == size


def test_stand_in(tmp_path: Path) -> None:
    """`fst.hf` reads a model as any other file, and special tokens keep their ids."""
    pytest.importorskip("transformers")
    tok = fst.hf(written(tmp_path, byte_level(CASES, "qwen2")))
    number = CASES["byte_level"]["tokens"].index("<|im_start|>")
    assert tok("<|im_start|>")["input_ids"] == [number]
    assert tok.decode([number], skip_special_tokens=True) == ""


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"pre": "unknown"}, "tokenizer.ggml.pre is 'unknown'; expected "),
        ({"pre": "gemma4"}, "tokenizer.ggml.pre is 'gemma4': it splits characters instead of bytes, as in 'é'"),
        ({"model": "gemma4"}, "tokenizer.ggml.model is 'gemma4'; expected 'gpt2', 'llama', 'bert', 't5' or 'rwkv'"),
        ({"general.name": "Phi-3 mini"}, "general.name contains phi-3: "),
        ({"general.name": "My Modern-BERT", **MASKS}, "general.name contains modern-bert: llama.cpp removes ASCII whitespace before "),
        ({"general.architecture": "jina-bert-v3", **MASKS}, "general.architecture contains jina-bert-v3: "),
        ({"pre": "jina-v2-code", **MASKS}, "tokenizer.ggml.pre contains jina-v2-code: "),
        ({"pre": 3}, "tokenizer.ggml.pre is 3; expected text"),
        ({"add_bos_token": "yes"}, "tokenizer.ggml.add_bos_token is 'yes'; expected true or false"),
        ({"pre": "tekken", "bos_token_id": "1"}, "tokenizer.ggml.bos_token_id is '1'; expected an id"),
        ({"pre": "tekken", "tokens": ["a"], "token_type": [1]}, "tokenizer.ggml.bos_token_id is missing; expected the id of a token"),
        ({"merges": "a b"}, "tokenizer.ggml.merges has another type; expected a list of str"),
        ({"token_type": [1]}, "tokenizer.ggml.token_type has 1 elements; expected "),
        ({"tokens": ["a", "a"], "token_type": [1, 1]}, "tokenizer.ggml.tokens contains 'a' twice; "),
        ({"tokens": ["ab", "bc"], "token_type": [3, 3]}, "special tokens 'ab' and 'bc' may overlap in a text"),
        ({"tokens": ["aab", "aaa"], "token_type": [3, 3]}, "special tokens 'aaa' and 'aab' may overlap in a text"),
        ({"tokens": ["a", "b" * 5000], "token_type": [1, 3]}, "the squared lengths of special tokens have the sum 25,000,000; "),
        ({"tokens": ["<EOT>", "a"], "token_type": [1, 1]}, "token '<EOT>' is ordinary by its type, and special by its name"),
    ],
)
def test_refused(more: dict[str, Any], message: str, tmp_path: Path) -> None:
    """A part that is missing, damaged or not supported is refused; the message contains the file and the key."""
    model = written(tmp_path, byte_level(CASES, "gpt-2") | more)
    with pytest.raises((fst.UnsupportedError, fst.VocabularyError)) as error:
        tokenizer(model)
    assert str(error.value).startswith(f"{model}: {message}")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"add_space_prefix": True, "remove_extra_whitespaces": False}, "tokenizer.ggml.add_space_prefix without remove_extra_whitespaces"),
        ({"tokens": ["<unk>", "–"], "token_type": [2, 4], "scores": [0.0, 0.0]}, "tokenizer.ggml.scores has no finite score"),
        ({"tokens": ["a", "<unk>", "–"], "token_type": [1, 2, 4], "scores": [0.0] * 3}, "user-defined token '–' is not ASCII"),
        ({"tokens": ["a", "<unk>", "b"], "token_type": [1, 2, 5], "scores": [0.0, 0.0, -11.0]}, "token 'b' has a lower score than "),
        ({"precompiled_charsmap": "x"}, "tokenizer.ggml.precompiled_charsmap has another type; expected an array of bytes"),
        ({"precompiled_charsmap": b"abcd"}, "normalizer Precompiled with "),
        ({"scores": "x"}, "tokenizer.ggml.scores has another type"),
    ],
)
def test_refused_unigram(more: dict[str, Any], message: str, tmp_path: Path) -> None:
    """A component of Unigram that is damaged, or with which ids would differ, is refused by name."""
    model = written(tmp_path, unigram(CASES, eos_token_id=0) | more)
    with pytest.raises((fst.UnsupportedError, fst.VocabularyError)) as error:
        tokenizer(model)
    assert str(error.value).startswith(f"{model}: {message}")


@pytest.mark.parametrize(
    ("tokens", "types", "message"),
    [
        (["[UNK]", "[CLS]", "[SEP]", "▁"], [2, 3, 3, 1], "token '▁': llama.cpp finds it before words"),
        (["[UNK]", "[CLS]", "[SEP]", "mask"], [2, 3, 3, 3], "special token 'mask' may be a part of a word, as in 'aMASK'"),
        (["[UNK]", "[CLS]", "[SEP]", "▁中"], [2, 3, 3, 3], "special token '▁中' may be a part of a word, as in '中'"),
        (["[UNK]", "[CLS]", "[SEP]", ";"], [2, 3, 3, 3], "special token ';' may be a part of a word"),
        (["[UNK]", "[CLS]", "[SEP]", "▁##a", "a"], [2, 3, 3, 1, 1], "two tokens have the name '##a', with and without '▁' before it"),
        (["[UNK]"], [2], "tokenizer.ggml.bos_token_id is missing; expected the id of a token"),
    ],
)
def test_refused_words(tokens: list[str], types: list[int], message: str, tmp_path: Path) -> None:
    """A token of WordPiece with which ids would differ is refused by name."""
    model = written(tmp_path, words(CASES, tokens=tokens, token_type=types) | ({"bos_token_id": 9} if len(tokens) == 1 else {}))
    with pytest.raises((fst.UnsupportedError, fst.VocabularyError)) as error:
        tokenizer(model)
    assert str(error.value).startswith(f"{model}: {message}")


@pytest.mark.parametrize("metadata", [unigram(CASES), words(CASES)])
def test_no_tokenizer_json(metadata: dict[str, Any], tmp_path: Path) -> None:
    """A table of the kind bert or t5 has no ``tokenizer.json``, because tokenizers would give other ids."""
    pytest.importorskip("transformers")
    tok = fst.hf(written(tmp_path, metadata))
    assert tok("a")["input_ids"][-1] == 2
    with pytest.raises(fst.UnsupportedError, match=r"llama.cpp.* has no tokenizer\.json"):
        tok.save_pretrained(str(tmp_path))


@pytest.mark.parametrize(
    ("number", "kind", "message"),
    [("<0x41>", 1, "token '<0x41>' is missing or has another type"), ("<s>", 1, "")],
)
def test_types_of_scores(number: str, kind: int, message: str, tmp_path: Path) -> None:
    """Scores without a token for each byte are refused; a control token may also be an ordinary token."""
    types = [kind if token == number else of for token, of in zip(CASES["by_scores"]["tokens"], CASES["by_scores"]["types"], strict=True)]
    model = written(tmp_path, by_scores(CASES, token_type=types))
    if not message:
        assert tokenizer(model).kind == "bpe"
        return
    with pytest.raises(fst.UnsupportedError, match=message):
        tokenizer(model)


def test_long_pieces(tmp_path: Path) -> None:
    """Tokens that would take minutes to be split in all ways are refused."""
    own = by_scores(CASES)
    more = {"tokens": [*own["tokens"], "a" * 100_000], "token_type": [*own["token_type"], 1], "scores": [*own["scores"], -1e6]}
    with pytest.raises(fst.UnsupportedError, match=r"the squared lengths of pieces have the sum 10,000,0\d\d,\d\d\d; expected at most"):
        tokenizer(written(tmp_path, own | more))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"GGUF", "is cut short in its metadata"),
        (gzip.compress(header({"a": 1}), mtime=0), "is packed with gzip; expected a GGUF model; unpack it"),
        (header({"a": 1}, version=1), "has version 1; expected little-endian, version 2 or 3"),
        (header({"a": 1}, version=3 << 24), "is big-endian; expected little-endian"),
        (header({"a": "text"})[:-1], "is cut short in its metadata"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 60), "the metadata has 1,152,921,504,606,846,976 pairs; expected at most "),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1 << 62), "the metadata is larger than 256 MiB"),
        (header({"a": 1})[:-8] + struct.pack("<II", 13, 0), "the metadata has a value of type 13; expected types 0 to 12"),
        (header({"a": 1})[:-8] + struct.pack("<IIQ", 9, 8, 1 << 50), "the metadata has an array of 1,125,899,906,842,624 elements"),
        (header({"a": 1})[:-8] + struct.pack("<IIQ", 9, 6, 1 << 50), "the metadata is larger than 256 MiB"),
        (header({"a": 1})[:-8] + struct.pack("<I", 9) + struct.pack("<IQ", 9, 1) * 9, "the metadata has arrays of more than 4 levels"),
        (header({"a": 1}).replace(b"\1\0\0\0\0\0\0\0a", b"\1\0\0\0\0\0\0\0a" + struct.pack("<II", 4, 1), 1), ""),
        (header({"a": 1})[:16] + struct.pack("<Q", 2) + header({"a": 1})[24:] * 2, "the metadata has the key 'a' twice"),
        (header({"a": 1}), "tokenizer.ggml.tokens is missing; expected the tokens of a vocabulary"),
    ],
)
def test_damaged(data: bytes, message: str, tmp_path: Path) -> None:
    """A damaged header is refused without taking memory for sizes that it only claims."""
    model = tmp_path / "model.gguf"
    model.write_bytes(data)
    with pytest.raises(fst.VocabularyError) as error:
        tokenizer(model)
    assert message in str(error.value)
    assert str(model) in str(error.value)


def test_written_by_gguf(tmp_path: Path) -> None:
    """A file that the package `gguf` writes has the same table."""
    gguf = pytest.importorskip("gguf")
    own, model = by_scores(CASES), tmp_path / "other.gguf"
    writer = gguf.GGUFWriter(model, "llama")
    writer.add_tokenizer_model("llama")
    writer.add_token_list([token.encode() for token in own["tokens"]])
    writer.add_token_scores(own["scores"])
    writer.add_token_types(own["token_type"])
    for step in ("write_header_to_file", "write_kv_data_to_file", "write_tensors_to_file", "close"):
        getattr(writer, step)()
    assert ids(model) == CASES["by_scores"]["ids"]
