"""Tables of a greedy longest match give the tokens of its definition, by the automaton and the kernels of BPE."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.sources.rwkv import longest_match, vocabulary, written

import fst
from fst.cli.commands.export.small import small
from fst.compile import bpe
from fst.compile.machines.bpe.canonical_tokens import Spelled, without_automaton
from fst.compile.machines.bpe.item_sets import lay_out
from fst.compile.machines.bpe.longest_match import states_of
from fst.compile.pretokens.forced_boundaries import between_bytes
from fst.errors import TableError, UnsupportedError
from fst.machines.bpe import automaton
from fst.machines.bpe.dropout import Dropout

WORDS = ("aa", "aab", "abaabb", "ba", "baab", " a", "  ", "\n\n", "é", "éa", "日本", "<s")
TOKENS = [*map(str.encode, WORDS), b"\xe6\x97"]
PARTS = ("a", "b", "aab", "abaab", " ", "  ", "\n", "é", "日", "日本", "<", "s", "\U0001f600", "\0", "1")

words = st.lists(st.binary(min_size=1, max_size=6).map(lambda word: bytes(97 + byte % 3 for byte in word)), max_size=12)


def walk(tokens: list[bytes], text: bytes) -> list[int]:
    """The ids of a text by the walk over the automaton, which is proven first."""
    spelled = Spelled.of(vocabulary(tokens))
    rows = lay_out(spelled, states_of(spelled))
    automaton.prove(rows.entries, rows.lengths, rows.depths)
    return automaton.walk(rows.entries, rows.lengths, text)


@given(words, st.binary(max_size=40).map(lambda text: bytes(97 + byte % 3 for byte in text)))
def test_automaton_is_the_definition(tokens: list[bytes], text: bytes) -> None:
    """The last tokens of the automaton give the longest token at each position, for any tokens and any text."""
    assert walk(tokens, text) == longest_match(vocabulary(tokens), text)


def test_automaton_on_all_short_texts() -> None:
    """All texts of up to nine letters over two letters get the tokens of the definition."""
    tokens = [b"aa", b"aab", b"abaabb", b"ba", b"baaabab"]
    ids, spelled = vocabulary(tokens), Spelled.of(vocabulary(tokens))
    rows = lay_out(spelled, states_of(spelled))
    for size in range(10):
        for letters in product(b"ab", repeat=size):
            assert automaton.walk(rows.entries, rows.lengths, bytes(letters)) == longest_match(ids, bytes(letters))


def test_kernel_is_the_definition(tmp_path: Path) -> None:
    """Texts, batches and streams get the ids of the definition, and decode to the texts."""
    tok, ids, draw = fst.Tokenizer(bpe(written(tmp_path, TOKENS))), vocabulary(TOKENS), random.Random(0)
    texts = ["".join(draw.choices(PARTS, k=draw.randrange(40))) for _ in range(200)]
    expected = [longest_match(ids, text.encode()) for text in texts]
    assert [row.tolist() for row in tok.encode_batch(texts)] == expected == [tok.encode(text).tolist() for text in texts]
    assert tok.decode_batch(expected) == texts
    stream = tok.stream()
    streamed = list[int]()
    for text in texts:
        stream.write(text)
        streamed += stream.read().ids.tolist()
    assert streamed + stream.close().ids.tolist() == longest_match(ids, "".join(texts).encode())


def test_long_texts(tmp_path: Path) -> None:
    """Texts that are longer than a round of the kernel, and texts of one letter, get the ids of the definition."""
    tok, ids = fst.Tokenizer(bpe(written(tmp_path, TOKENS))), vocabulary(TOKENS)
    for text in ("a" * 100_001, "abaab" * 20_000, "é日本 " * 10_000):
        assert tok.encode(text).tolist() == longest_match(ids, text.encode())


def test_no_token_crosses_a_cut() -> None:
    """The splitter cuts no token that is text, and does not cut if a token has a part of a character next to another character."""
    split = between_bytes([*vocabulary(TOKENS)])
    assert split is not None
    assert [*split.pretokens("aab日本 a")] == [(0, 3), (3, 5), (5, 7)]
    for token in TOKENS:
        text = token.decode(errors="ignore")
        assert [*split.pretokens(text)] == [(0, len(text))] * (len(text) > 0)
    for part in (b"a\xe6", b"\xa9a", b"\x97\xe6", "é".encode() + b"\xf0\x9f"):
        assert between_bytes([*vocabulary([part])]) is None


def test_tokens_with_parts_of_characters(tmp_path: Path) -> None:
    """Tokens that begin or end inside a character next to other characters are found where they are the longest."""
    tokens = [b"a\xe6\x97", b"\xa5b", "日".encode(), b"\xa9a\xc3", b"\xff\xfe"]
    tok, ids, draw = fst.Tokenizer(bpe(written(tmp_path, tokens))), vocabulary(tokens), random.Random(1)
    for _ in range(100):
        text = "".join(draw.choices("ab日é旦c", k=12))
        assert tok.encode(text).tolist() == longest_match(ids, text.encode())


def test_added_tokens_are_cut_out(tmp_path: Path) -> None:
    """Added tokens are cut out before the longest match, and keep the cuts of the other text."""
    tok, ids = fst.Tokenizer(bpe(written(tmp_path, TOKENS))).with_added_tokens([{"content": "<s>", "special": True}]), vocabulary(TOKENS)
    number = tok.token_to_id("<s>")
    assert tok.encode("aab<s> aa<s").tolist() == [ids[b"aab"], number, *longest_match(ids, b" aa<s")]


def test_dropout_is_refused(tmp_path: Path) -> None:
    """There are no merges to skip."""
    with pytest.raises(UnsupportedError, match="the table takes the longest tokens"):
        fst.Tokenizer(bpe(written(tmp_path, TOKENS))).encode("aa", randomness=Dropout(0.5))


def test_documents_are_refused(tmp_path: Path) -> None:
    """No model of a tokenizer.json takes the longest tokens."""
    pytest.importorskip("transformers")
    tok = fst.Tokenizer(bpe(written(tmp_path, TOKENS)))
    with pytest.raises(UnsupportedError, match="a table of longest matches"):
        fst.hf(tok).save_pretrained(tmp_path / "saved")


def test_no_table_of_longest_matches_lacks_its_automaton(tmp_path: Path) -> None:
    """The smallest table for exports keeps the automaton, and a table without it, or with merges, is refused."""
    table = bpe(written(tmp_path, TOKENS))
    assert small(table) is table
    for damaged in (without_automaton(table), replace(table, merges=np.array([[97, 97, 257]], np.int32))):
        with pytest.raises(TableError, match="a longest match without an automaton, or with merges"):
            damaged.prove()


def test_automaton_without_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tokens whose states have too many transitions are refused before memory is allocated for them."""
    monkeypatch.setattr("fst.compile.machines.bpe.longest_match.MAX_SLOTS", 300)
    with pytest.raises(UnsupportedError, match="the automaton of these tokens has more than 300 transitions"):
        states_of(Spelled.of(vocabulary([b"a" * 100])))
