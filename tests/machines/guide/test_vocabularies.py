"""Token masks of real vocabularies: every token is tried at every state of small patterns."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from support.kept import tokenizer
from support.shared_data import SHARED, needs_shared
from support.tiers import thinned

import fst
from fst.compile import guide

TEXTS = ["true", "tree {é}", "12:30", " 世界 x", "\U0001f600", "it's", "don't. no", '{"name": "Zoë"}']
SLOW = [
    pytest.param(name, marks=pytest.mark.slow)
    for name in (
        *("vocab_bpe/cl100k_base/cl100k_base.tiktoken", "vocab_bpe/mistral01/tokenizer.json", "vocab_bpe/mistral01/tokenizer.model"),
        *("vocab_unigram/t5/tokenizer.json", "vocab_unigram/albert/spiece.model"),
    )
]
DRAWN = thinned(SLOW, 5)


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
