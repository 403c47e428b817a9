"""The vocabularies of tokenizers; and token masks of real ones: every token is tried at every state of small patterns."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.conformance.samples import SAMPLES
from support.conformance.ways import table_of
from support.kept import tokenizer
from support.naive import vocabularies as naive
from support.shared_data import SHARED, needs_shared
from support.tiers import thinned

import fst
from fst.compile import guide
from fst.errors import UnsupportedError
from fst.machines.guide.vocabulary import trie_of, vocabulary_of
from fst.machines.guide.written import Strings, _decoded, _piece, written_by
from fst.tables.cleanup import CLEANED, first_piece_of, piece_of
from fst.tables.decoder_steps import LEADING, Plan
from fst.tables.header import Decoder
from fst.tables.strings import enclosed, stored, stored_bytes

TEXTS = ["true", "tree {é}", "12:30", " 世界 x", "\U0001f600", "it's", "don't. no", '{"name": "Zoë"}']
SLOW = [
    pytest.param(name, marks=pytest.mark.slow)
    for name in (
        *("vocab_bpe/cl100k_base/cl100k_base.tiktoken", "vocab_bpe/mistral01/tokenizer.json", "vocab_bpe/mistral01/tokenizer.model"),
        *("vocab_unigram/t5/tokenizer.json", "vocab_unigram/albert/spiece.model"),
    )
]
DRAWN = thinned(SLOW, 5)
REAL = [
    pytest.param(name, marks=pytest.mark.slow)
    for name in (
        *("vocab/bert-base-uncased", "vocab_bpe/gpt2/tokenizer.json", "vocab_bpe/gpt_neox/tokenizer.json"),
        "vocab_unigram/xlm-r/tokenizer.json.gz",
        *(each.values[0] for each in SLOW),
    )
]
KINDS = [name for name, sample in SAMPLES.items() if sample.kind in ("wordpiece", "bpe", "unigram")]
PARTS = [
    *("a", "b", "é", "世", "\U0001f600", " ", "▁", "##", ".", " '", "'s", "n't", "do not"),
    *("<0x", "20", "0xe2", ">", "<0xC3>", "<0x+9>", "</w>", "<unk>"),
]
NAMES = st.lists(st.lists(st.sampled_from(PARTS), max_size=6).map("".join), max_size=9)
CHARACTERS, COUNTS = st.sampled_from(["a", " ", "▁", "é", "\U0001f600"]), st.integers(0, 3)
ALONE = st.one_of(
    st.builds(
        lambda old, new: {"type": "Replace", "pattern": {"String": old}, "content": new},
        st.sampled_from(PARTS),
        st.sampled_from(["", *PARTS]),
    ),
    st.builds(lambda char, start, stop: {"type": "Strip", "content": char, "start": start, "stop": stop}, CHARACTERS, COUNTS, COUNTS),
    st.builds(
        lambda char, scheme: {"type": "Metaspace", "replacement": char, "prepend_scheme": scheme},
        CHARACTERS,
        st.sampled_from(["never", "first"]),
    ),
)
PIECES = st.builds(
    lambda unknown, leading: {"type": "SentencePiece", "unknown": unknown, "surface": " ⁇ ▁", "leading": leading},
    st.sampled_from(["<unk>", "▁", ""]),
    st.sampled_from(LEADING),
)
TAIL = st.builds(lambda char, start: {"type": "Strip", "content": char, "start": start, "stop": 0}, CHARACTERS, st.integers(0, 1))
PLANS = st.builds(Plan, st.lists(ALONE, max_size=3) | st.tuples(PIECES), st.booleans(), st.lists(TAIL, max_size=1))
TOKENS = st.lists(st.binary(max_size=3) | st.sampled_from([b"ab" * 6, b"ab" * 6 + b"c", b"a", b"\0", b"a\0", b"\xff" * 9]), max_size=9)


def listed(strings: Strings) -> list[bytes]:
    """The strings in two arrays."""
    data, ends = strings.data.tobytes(), strings.ends.tolist()
    return [data[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


def decoded(tok: fst.Tokenizer, ids: Sequence[int]) -> bytes:
    """The bytes of decoded ids."""
    return tok.decode_bytes(ids) if isinstance(tok, fst.BpeTokenizer) and tok._joins_bytes else tok.decode(ids).encode()


def contents(tok: fst.Tokenizer, before: Sequence[int]) -> list[bytes]:
    """The bytes that each token adds after some ids, by decoding; empty for special tokens."""
    start = len(decoded(tok, before))
    return [decoded(tok, [*before, number])[start:] for number in range(max(tok.get_vocab().values()) + 1)]


def known_texts(tok: fst.Tokenizer) -> dict[str, list[int]]:
    """Those of `TEXTS` that have no unknown token, after decoding, with their ids."""
    rows = [tok.encode(text, add_special_tokens=False).tolist() for text in TEXTS]
    return {tok.decode(ids): ids for ids in rows if not {"[UNK]", "<unk>"} & {tok.id_to_token(number) for number in ids}}


@needs_shared
@pytest.mark.parametrize("name", ["vocab/bert-base-uncased", pytest.param("vocab_bpe/gpt2/tokenizer.json", marks=pytest.mark.slow), *DRAWN])
def test_every_token(name: str) -> None:
    """In each state that the ids of some texts reach, a mask contains exactly the tokens whose bytes continue a text."""
    tok = fst.Tokenizer(tokenizer(SHARED / name))
    texts = known_texts(tok)
    pattern, data = "|".join(map(re.escape, texts)), [text.encode() for text in texts]
    found, late = fst.Guide(guide(tok, regex=pattern)), fst.Guide(tok, regex=pattern)
    first, later = contents(tok, []), contents(tok, tok.encode("a", add_special_tokens=False).tolist())
    unclear = {number for number, content in enumerate(later) if "\ufffd".encode() in content}  # bytes that alone are not UTF-8
    unknown = {tok.token_to_id(name) for name in ("[UNK]", "<unk>")}
    states = dict[int, list[int]]()
    for ids in texts.values():
        for length in range(len(ids) + 1):
            prefix, state = decoded(tok, ids[:length]), found.advance(found.start, ids[:length])
            rests = [text[len(prefix) :] for text in data if text.startswith(prefix)]
            next_bytes = {rest[:size] for rest in rests for size in range(1, len(rest) + 1)}
            expected = {number for number, content in enumerate(later if length else first) if content in next_bytes}
            if not length:
                expected |= {number for number, content in enumerate(first) if not content and later[number]}
            allowed = {*found.allowed(state).tolist()}
            assert (found.end_id in allowed) == (prefix in data) == found.is_final(state)
            assert allowed - unclear - {found.end_id} == expected - unclear - unknown
            states[state] = ids[:length]
    assert (found.masks([*states]) == late.masks([late.advance(late.start, ids) for ids in states.values()])).all()
    assert len(states) > len(texts) > 3


def check_vocabulary(table: Any) -> None:
    """Compare the vocabulary of a table with the slow twin's."""
    later, first, keeps_first = naive.written(table)
    written, found = written_by(table), vocabulary_of(table)
    assert [listed(written.later), listed(written.first), written.keeps_first] == [later, first, keeps_first]
    assert written.end_id == found.end_id == naive.end_of(table)
    assert found.silent.tolist() == [number for number, content in enumerate(later) if content and not first[number]]
    assert len(found.tokens.first_ends) == (0 if later == first else found.size)
    for trie, contents in ((found.trie, later), (found.first, first)):
        kept = {content: number for number, content in reversed([*enumerate(contents)]) if content}
        assert trie.tokens[trie.tokens < found.size].tolist() == [kept[content] for content in sorted(kept)]
        assert trie.twins.tolist() == naive.twins(dict(enumerate(contents)))


@pytest.mark.parametrize("name", KINDS)
def test_vocabulary(name: str) -> None:
    """A vocabulary has the bytes, the twins and the end that the tokens have one by one, for tokenizers of each kind."""
    table = table_of(name)
    try:
        naive.written(table)
    except UnsupportedError:
        with pytest.raises(UnsupportedError, match="text that depends on the tokens after it"):
            written_by(table)
        return
    check_vocabulary(table)


@needs_shared
@pytest.mark.parametrize("name", thinned(REAL, 3))
def test_real_vocabulary(name: str) -> None:
    """A real vocabulary has the bytes, the twins and the end that the tokens have one by one."""
    check_vocabulary(tokenizer(SHARED / name))


@given(NAMES, PLANS)
def test_decoders_of_all_tokens(names: list[str], by: Plan) -> None:
    """The steps of a decoder change all tokens at once as they change each token."""
    later, first = (listed(_decoded(enclosed(*stored(names)), by, is_first=is_first)) for is_first in (False, True))
    assert later == [by.content(name) for name in names]
    assert first == [by.first(name) for name in names]


@given(NAMES, st.none() | st.builds(Decoder, st.sampled_from(["##", "", "▁"]), st.booleans()))
def test_pieces_of_all_tokens(names: list[str], decoder: Decoder | None) -> None:
    """The decoder of WordPiece changes all tokens at once as it changes each token."""
    names += [name + new for name in names for pair in CLEANED for new in pair]
    later, first = (listed(_piece(enclosed(*stored(names)), decoder, is_first=is_first)) for is_first in (False, True))
    assert later == [piece_of(name, decoder).encode() for name in names]
    assert first == [first_piece_of(name, decoder).encode() for name in names]


@given(TOKENS, st.randoms(use_true_random=False))
def test_tries(contents: list[bytes], draw: random.Random) -> None:
    """A trie has exactly the nodes of the kept tokens, and all fields are those of its definition."""
    for kept in (None, [number for number in range(len(contents)) if draw.random() < 0.7]):
        trie = trie_of(*stored_bytes(contents), None if kept is None else np.array(kept, np.int64))
        expected = {number: contents[number] for number in (range(len(contents)) if kept is None else kept)}
        assert naive.nodes_of(trie, len(contents)) == naive.nodes(expected)
        assert trie.twins.tolist() == naive.twins(expected)
        assert {byte: node for byte, node in enumerate(trie.roots.tolist()) if node >= 0} == {
            node.path[0]: place for place, node in enumerate(naive.nodes(expected)) if len(node.path) == 1
        }
        sizes = [len(contents[number]) for number in trie.by_length]
        assert sizes == sorted(len(content) for content in {*expected.values()} if content)
        assert trie.length_ends.tolist() == [sum(size <= most for size in sizes) for most in range(trie.longest + 1)]
