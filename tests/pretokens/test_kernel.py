"""The kernel finds the pre-tokens of the splitter."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from support.machines.bpe import small
from support.pretokens.patterns import CL100K

import fst

# With few classes, windows have up to 20 symbols, and many need a search.
PATTERNS = {
    "two classes": r"\s+|\S+",
    "far begins": r"[ab]+|[\s\S]+",
    "a far end": r"a+b|[\s\S]",
    "three classes": r"a{1,3}|b+| ?[^ab]",
    "cl100k": CL100K,
}


@pytest.mark.mostly_slow
@pytest.mark.parametrize("has_products", [True, False])
@pytest.mark.parametrize("name", PATTERNS)
def test_pretokens_are_those_of_the_splitter(name: str, has_products: bool) -> None:
    """Batches of short and long texts are cut where the splitter cuts each text, whether 64 decisions are made at a time or one by one."""
    table, draw = small(PATTERNS[name], []).table, random.Random(name)
    if not has_products:
        table = replace(table, products=np.empty(0, np.uint8))
    texts = ["".join(draw.choices("aab x\né", k=draw.choice([0, 1, 2, 5, 20, 70, 300]))) for _ in range(100)]
    batch = fst.Tokenizer(table).encode_batch(texts, offsets=True)
    assert batch.words is not None
    lengths = [np.bincount(batch.words[begin:end]).tolist() for begin, end in pairwise(batch.row_splits)]  # each byte is a token
    assert lengths == [[len(text[begin:end].encode()) for begin, end in table.splitter.pretokens(text)] for text in texts]
