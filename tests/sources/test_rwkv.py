"""Vocabularies of RWKV's World models are read without evaluating them, and give the ids of their reference."""

from __future__ import annotations

from pathlib import Path

import pytest
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
