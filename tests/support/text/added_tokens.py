"""Added tokens with every combination of flags, and comparisons with `tokenizers`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tokenizers import Tokenizer

import fst

CONTENTS = (
    *("foo", "Foo", "FOO", "ab", "abc", "bc", "<mask>", "<m>", "new york", "c-b", "c+", "-foo-", "你好", "好", "foo bar", "a", "_x"),
    *("é", "fóo", "İ", "x_", "<", "[MASK]", "ab<", "e b", "_", "1a", "ﬁ", "한", "c\u200d"),
)
PIECES = (
    *CONTENTS,
    *("Fóo", "fo\u0301o", "AB", "abcfoo", "sea", " ", "  ", "\t", "\n", "\u00a0", "\u2028", "New York", "new  york", "newyork", "-", "1"),
    *("你", "中", "\u0301", "\u200d", "\0", "\x0b", "x", "e\u0301", "foobar", "[mask]", "fi", "q" * 99, "q" * 120, "foo" * 50),
    *("😀", "\x85", "\u1b44", "\u302e\0\u1b44", "\u0301\u1b44"),
)


def check(of: Tokenizer, tokenizer: fst.Tokenizer, texts: Sequence[str]) -> None:
    """Check that ids, offsets and words of all texts match `tokenizers`. Ids must also match for bytes, on two threads, and for each text
    alone.
    """
    batch = tokenizer.encode_batch(texts, offsets=True)
    assert batch.offsets is not None
    assert batch.words is not None
    for row, expected in enumerate(of.encode_batch(texts)):
        ids = slice(batch.row_splits[row], batch.row_splits[row + 1])
        words = [-1 if word is None else word for word in expected.word_ids]
        found = (batch.ids[ids].tolist(), list(map(tuple, batch.offsets[ids].tolist())), batch.words[ids].tolist())
        assert found == (expected.ids, expected.offsets, words), texts[row]
    shared = tokenizer.encode_batch([text.encode() for text in texts], threads=2)
    np.testing.assert_array_equal(shared.ids, batch.ids)
    np.testing.assert_array_equal(tokenizer.count_tokens(texts), np.diff(batch.row_splits))
    for text in texts[:10]:
        assert tokenizer.encode(text).tolist() == of.encode(text).ids
