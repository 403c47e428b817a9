"""Vocabularies of RWKV's World models are read without evaluating them, and give the ids of their reference."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.sources import gguf
from support.sources.merges import TEXTS
from support.sources.rwkv import text_of, vocabulary, written

import fst
from fst.compile import bpe, tokenizer
from fst.errors import UnsupportedError, VocabularyError
from fst.machines.bpe.table import BpeTable


def test_file_is_recognized_by_its_first_line(tmp_path: Path) -> None:
    """The format follows from the content, with either kind of line ending, whatever the name."""
    tokens = [b"'", b'"\'', b"\\n", "é".encode(), b"\xe6\x97"]
    path = written(tmp_path, tokens)
    table = tokenizer(path)
    assert isinstance(table, BpeTable)
    assert (table.kind, table.metadata.model.longest_match, table.metadata.text.reference) == ("bpe", True, "rwkv 0.8.32")
    assert dict(zip(table.contents, table.token_ids.tolist(), strict=True)) == vocabulary(tokens)
    other = tmp_path / "vocab.txt"
    other.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert bpe(other).dumps() == table.dumps()


FAULTY = [
    ("257 ab 2", "line 257 is '257 ab 2'; expected an id, a literal of str or bytes, and its number of bytes"),
    ("257 print('a') 1", "line 257 is \"257 print('a') 1\"; expected an id"),
    ("257 'a' 'b' 2", "line 257 is \"257 'a' 'b' 2\"; expected an id"),
    ("257 f'ab' 2", "line 257 is \"257 f'ab' 2\"; expected an id"),
    (r"257 '\x4' 1", "is not a literal of Python"),
    ("257 b'é' 2", "is not a literal of Python"),
    (r"257 '\ud800' 3", "is not a literal of Python"),
    ("257 'ab' 3", "line 257: the token \"'ab'\" has 2 bytes; expected 3, and at least 1"),
    ("257 '' 0", "line 257: the token \"''\" has 0 bytes; expected 0, and at least 1"),
    ("257 'a' 1", "line 257: the token b'a' of line 98 again; leave one out"),
    ("256 'ab' 2", "line 257: the id 256 of line 256 again; each token has its own"),
    ("9999999999 'ab' 2", "has the id 9999999999; ids are whole numbers from 0 to"),
]


@pytest.mark.parametrize(("line", "message"), FAULTY)
def test_faulty_lines_are_refused(tmp_path: Path, line: str, message: str) -> None:
    """A line that is no token, or a token twice, is named with its number."""
    path = tmp_path / "vocab.txt"
    path.write_text(text_of(vocabulary([])) + line + "\n", encoding="utf-8")
    with pytest.raises(VocabularyError) as caught:
        bpe(path)
    assert message in str(caught.value)


def test_missing_bytes_are_refused(tmp_path: Path) -> None:
    """Each byte is a token, since a longest match could not continue at another byte."""
    path, tokens = tmp_path / "vocab.txt", vocabulary([])
    del tokens[b"\xff"]
    path.write_text(text_of(tokens), encoding="utf-8")
    with pytest.raises(UnsupportedError, match="such as 0xff: with longest match, they must all be tokens"):
        bpe(path)
    with pytest.raises(UnsupportedError, match="contains it; leave the option out"):
        bpe(written(tmp_path, []), pattern=".")


def test_world_vocabulary() -> None:
    """RWKV's own vocabulary gives the ids of a tokenizer in Rust."""
    peer = pytest.importorskip("pyrwkv_tokenizer", reason="pyrwkv_tokenizer is not installed")
    reference = peer.RWKVTokenizer()
    tok = fst.Tokenizer(bpe(Path(peer.__file__).with_name("rwkv_vocab_v20230424.txt")))
    for text in TEXTS:
        assert tok.encode(text).tolist() == reference.encode(text), text


WORDS = ("ab", "abab1", " a", "é", "日本", "\n\n", "aa", "aab", "<s", "it's", "\\n", '"q"')
ANSWERS = [  # the ids of llama.cpp 0.5.0 (node-llama-cpp 3.22.1)
    ("aab<s> abab1 é", [264, 0, 259, 99, 257, 50, 33, 260]),
    ("日本旦\n\n\n", [261, 269, 167, 262, 11]),
    ("it's \\n \"q\"'\t", [266, 33, 267, 33, 268, 40, 10]),
    ("<s<s>[PAD1][PAD", [265, 0, 270, 92, 81, 66, 69]),
    ("\0\U0001f600 a", [1, 241, 160, 153, 129, 259]),
]


def written_model(folder: Path, *more: str) -> Path:
    """A GGUF model with escaped tokens, as llama.cpp's converter writes them."""
    escaped = [repr(token)[2:-1] for token in vocabulary([*map(str.encode, WORDS), b"\xe6\x97"])]
    tokens = ["<s>", *escaped, "[PAD1]", *more]
    return gguf.written(folder, {"model": "rwkv", "tokens": tokens, "token_type": [3, *[1] * len(escaped), *[5] * (1 + len(more))]})


def test_gguf_model(tmp_path: Path) -> None:
    """A GGUF model gets the ids of llama.cpp: special tokens are cut out first, and padding tokens are ordinary ones."""
    tok = fst.Tokenizer(bpe(written_model(tmp_path)))
    for text, ids in ANSWERS:
        assert tok.encode(text).tolist() == ids
        assert tok.decode(ids, skip_special_tokens=False) == text


@pytest.mark.parametrize(
    ("token", "message"),
    [
        ("a\\x00", "token b'a\\x00' contains a zero byte after other bytes, and llama.cpp reads one after a text"),
        ("\\x61b", "tokens contains b'ab' twice; expected each token once"),
        ("a\\x6", "tokens contains 'a\\\\x6'; expected escapes such as"),
        ("a\\", "tokens contains 'a\\\\'; expected escapes such as"),
    ],
)
def test_faulty_gguf_models_are_refused(token: str, message: str, tmp_path: Path) -> None:
    """Tokens that llama.cpp would find by chance, equal tokens and damaged escapes are refused by name."""
    with pytest.raises(fst.FstError) as caught:
        bpe(written_model(tmp_path, token))
    assert message in str(caught.value)
