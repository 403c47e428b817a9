"""The tokens of a vocabulary as parts of strings of JSON."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.kept import tokenizer
from support.naive import vocabularies as naive
from support.shared_data import SHARED, needs_shared
from support.tiers import thinned

from fst.automata.rows import Array
from fst.machines.guide.arguments import Tokens
from fst.machines.guide.item_arguments import ESCAPED, OUTSIDE, PLAIN, QUOTED
from fst.machines.guide.vocabulary import Vocabulary, trie_of, vocabulary_of
from fst.runtime.machines.guide.string_tokens import CHECKPOINTS, classify, string_tokens
from fst.tables.strings import stored_bytes

PARTS = [
    *(b"a", b"b", b" ", b"/", b"\x7f", b"\x1f", b"\n", b"\0", b'"', b'", ', b"}", b"u", b"d", b"8", b"0", b"c", b"F"),
    *(b"\\", b"\\n", b'\\"', b"\\\\", b"\\/", b"\\x", b"\\u", b"\\u00", b"\\u0g", b"\\u00e9", b"\\ud83d\\ude00"),
    *(b"\\uD7fF", b"\\uDBFF", b"\\udc00", b"\\ud8", "é".encode(), "世".encode(), "\U0001f600".encode()),
    *(b"\xc2", b"\xc1", b"\xe0", b"\xed", b"\xed\xa0", b"\xf0", b"\xf4", b"\xf5", b"\x80", b"\x9f", b"\xa0"),
]
TOKENS = st.lists(st.lists(st.sampled_from(PARTS), max_size=6).map(b"".join) | st.just(b"ab" * CHECKPOINTS), max_size=20)
REAL = [
    pytest.param(name, marks=pytest.mark.slow)
    for name in (
        *("vocab_bpe/gpt2/tokenizer.json", "vocab_bpe/qwen3/tokenizer.json.gz", "vocab_bpe/o200k_base", "vocab_bpe/cl100k_base"),
        *("vocab_bpe/gpt_neox/tokenizer.json", "vocab_bpe/mistral01/tokenizer.json", "vocab_unigram/t5/tokenizer.json"),
    )
]


def check_kinds(contents: list[bytes]) -> None:
    """Compare the kinds of tokens with the slow twin's."""
    kinds, chars, quotes = np.empty(len(contents), np.uint8), np.empty(len(contents), np.int64), np.empty(len(contents), np.int64)
    classify.call(*stored_bytes(contents), kinds, chars, quotes)
    for content, kind, count, quote in zip(contents, kinds.tolist(), chars.tolist(), quotes.tolist(), strict=True):
        found = (kind, None if kind == OUTSIDE and content else count, quote if kind == QUOTED else None)
        assert found == naive.classify(content), content


@given(TOKENS)
def test_kinds(contents: list[bytes]) -> None:
    """The kind of a token and its number of characters are those of the characters of JSON that it has, the last of which may be cut."""
    check_kinds(contents)


@needs_shared
@pytest.mark.parametrize("name", ["vocab/bert-base-uncased", *thinned(REAL, 2)])
def test_kinds_in_a_real_vocabulary(name: str) -> None:
    """The kinds of all tokens of a real vocabulary are those of their characters."""
    vocabulary = vocabulary_of(tokenizer(SHARED / name))
    check_kinds([*map(vocabulary.content, range(vocabulary.size))])


def ids_of(mask: Array) -> set[int]:
    """The ids in a mask."""
    return {*np.flatnonzero(np.unpackbits(mask.astype("<u4").view(np.uint8), bitorder="little")).tolist()}


@given(TOKENS)
def test_tokens_of_strings(contents: list[bytes]) -> None:
    """The masks, lists and tries of tokens in strings contain the tokens of the right kinds, and the rests after quotation marks."""
    strings = stored_bytes(contents)
    empty = np.empty(0, np.int64)
    tokens = Tokens(*strings, empty.astype(np.uint8), empty, np.array([-1]), np.array([False]))
    vocabulary = Vocabulary(tokens, trie_of(*strings), trie_of(*strings), empty, {})
    found, kinds = string_tokens(vocabulary), [naive.classify(content) for content in contents]
    within = {number: chars or 0 for number, (kind, chars, _) in enumerate(kinds) if kind in (PLAIN, ESCAPED)}
    assert ids_of(found.plain) == {number for number, (kind, *_) in enumerate(kinds) if kind == PLAIN}
    assert [ids_of(row) for row in found.within] == [
        {number for number, chars in within.items() if not most or chars <= most} for most in range(CHECKPOINTS)
    ]
    far = sorted(((chars, number) for number, chars in within.items() if chars >= CHECKPOINTS), key=lambda each: (-each[0], each[1]))
    assert [*zip(found.longer_chars.tolist(), found.longer.tolist(), strict=True)] == far
    others = {number: contents[number] for number, (kind, *_) in enumerate(kinds) if kind != PLAIN}
    assert naive.nodes_of(found.others, len(contents)) == naive.nodes(others)
    rests = dict[bytes, list[tuple[int, int]]]()
    for number, (_, chars, quote) in enumerate(kinds):
        if quote is not None:
            rests.setdefault(contents[number][quote + 1 :], []).append((number, chars or 0))
    numbers = {node.path: node.token for node in naive.nodes_of(found.after, len(found.after_ends)) if node.token is not None} | {b"": 0}
    ends, quoted = [0, *found.after_ends.tolist()], [*zip(found.quoted.tolist(), found.quoted_chars.tolist(), strict=True)]
    assert {rest: quoted[ends[number] : ends[number + 1]] for rest, number in numbers.items()} == {b"": [], **rests}
