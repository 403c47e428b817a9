"""A program that encodes texts with every method, and runs in a process that hides private parts of `numba`."""

from __future__ import annotations

from typing import Any

import fst
from fst.compile import wordpiece
from fst.compile.pretokens.splits import GPT2
from fst.compile.sources import tiktoken

TOKENS = ["[UNK]", "[CLS]", "[SEP]", "a", "##b", "un", "##able", "é", "😀", "!"]
TEXTS = ["ab unable!", "", "é 😀 ab" * 30, "a" * 70, "unab\ud800le", "x\u0301 [SEP]"]


def byte_level() -> fst.Tokenizer:
    """A tokenizer of byte-level BPE."""
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"un": 257, b" un": 258}
    return fst.Tokenizer(tiktoken.of_ranks(ranks, tiktoken.Encoding(GPT2, {"[SEP]": 300}), "ranks").table())


def encode_all(*, bytewise: bool) -> list[Any]:
    """Encode texts as str and as UTF-8, with spans and by a call, and with `bytewise` by byte-level BPE; return all ids and spans."""
    tokenizer = fst.Tokenizer(wordpiece(TOKENS))
    strings = tokenizer.encode_batch(TEXTS, errors="replace")
    utf_8 = tokenizer.encode_batch([text.encode("utf-8", "surrogatepass") for text in TEXTS], errors="replace")
    spans = tokenizer.encode_batch(TEXTS, errors="replace", offsets=True)
    called = tokenizer([text for text in TEXTS if text.isprintable()])["input_ids"]
    assert spans.offsets is not None
    others = [byte_level().encode_batch(TEXTS, errors="replace")] if bytewise else []
    return [*([row.tolist() for row in batch] for batch in (strings, utf_8, *others)), spans.offsets.tolist(), called]
