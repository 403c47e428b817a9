"""Difficult texts for streams, and functions that cut them into parts."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from support.kept import assemble
from support.machines.documents import ADDED, PIECES, TOKENS, source_with
from tokenizers import AddedToken

import fst
from fst.runtime.rows.batch import Batch

Piece = str | bytes
Found = tuple[list[int], list[list[int]], list[int]]  # ids, offsets and words
WORDS_AND_NUMBERS = ({"type": "Whitespace"}, {"type": "Digits", "individual_digits": False})
MACHINES: dict[str, dict[str, Any]] = {
    "as BERT": {},
    "short words": {"max_input_chars_per_word": 5},
    "fences": {"pre_tokenizers": WORDS_AND_NUMBERS},
    "one word": {"pre_tokenizer": "none"},
    "marks stay": {"normalizers": ({"type": "NFD"},)},
    "composed": {"normalizers": ({"type": "NFC"},)},
    "composed in steps": {"normalizers": ({"type": "NFKD"}, {"type": "Lowercase"}, {"type": "NFC"})},
    "in context": {},
}
IN_CONTEXT = [
    *(AddedToken("b", lstrip=True, normalized=True), AddedToken("1", rstrip=True, normalized=False), AddedToken("東京", normalized=True)),
    *(AddedToken("x_y", single_word=True, normalized=False), AddedToken("don't", single_word=True, normalized=True)),
]
HOSTILE = (
    *PIECES,
    *(" ", "\n", "\t", " b ", "ab!", "[", "]", "a1a22!!b", "1", "²", "\r", "\x85", "\x1f", "\u200b", "\ufeff", "\ue000", "\ufffd"),
    *("東京タワー", "각", "\u1112\u1161\u11ab", "👩‍👩‍👧‍👦", "🇩🇪", "نّ", "ﷺ", "Ⅷ", "ß", "İ", "ǆ", "q\u0323\u0307", "क़", "\U0001d15e"),
    *("\u302e", "\u1b44", "x" * 99, "[MAS", "[CLS]", "[SEP", "</s", "<s>", "\U0001f600\U0001f601", "don't", "U.S.A.", "x_y", "…", "“a”"),
)
NOT_TEXT = (b"\x80", b"\xbf\xbf", b"\xe4\xb8", b"\xf0\x9f\x98", b"\xed\xa0\xbd", b"\xff", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"\xe0\x80")


@functools.cache
def made(name: str) -> fst.Tokenizer:
    """Make a tokenizer with few tokens, some of which are found in raw text."""
    added = {token: len(TOKENS) + number for number, token in enumerate(ADDED)}
    tokenizer = fst.Tokenizer(assemble(source_with(added, **MACHINES[name]), "auto"))
    return tokenizer.with_added_tokens(IN_CONTEXT if name == "in context" else [])


@functools.cache
def hostile(seed: int, size: int = 2000) -> str:
    """Make a text of strings that are difficult to cut, such as marks and incomplete special tokens."""
    draw = random.Random(seed)
    text = "".join(draw.choice(HOSTILE) for _ in range(size))
    begin = draw.randrange(len(text) - size)
    return text[begin : begin + size]


def cut(data: Piece, places: Iterable[int]) -> list[Any]:
    """Cut a text at some positions."""
    return [data[begin:end] for begin, end in pairwise([0, *sorted(places), len(data)])]


def whole(tok: fst.Tokenizer, text: Any, **options: Any) -> Found:
    """Encode an entire text in one call."""
    batch: Batch = tok.encode_batch([text], offsets=True, **options)
    assert batch.offsets is not None
    assert batch.words is not None
    return batch.ids.tolist(), batch.offsets.tolist(), batch.words.tolist()
