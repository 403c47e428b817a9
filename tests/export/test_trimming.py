"""Spans of exported programs: a kernel changes them as `_trim` of a tokenizer does."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support.shared_data import SHARED, needs_shared

import fst
from fst.compile import tokenizer
from fst.runtime.exporting.calls import trim_of
from fst.tables.kernel_call import COUNT

pytestmark = [pytest.mark.slow, needs_shared]

FALLBACK = "vocab_unigram/spm_fixtures/test_sentencepiece_with_bytefallback.model"


@pytest.mark.parametrize("source", ["vocab_bpe/roberta", "vocab_unigram/t5", "vocab_bpe/mistral01", FALLBACK])
def test_spans_are_those_of_batches(source: str) -> None:
    """For random ids and spans, the kernel and the method have equal results, for tables that trim and for those that do not."""
    tok, draw = fst.Tokenizer(tokenizer(SHARED / source)), random.Random(11)
    before, after = map(len, tok._special_ids)
    known = sorted(tok._tokens_by_id)
    state, ids, offsets = np.zeros(7, np.uint64), np.zeros(100, np.int32), np.zeros(200, np.int32)
    call = trim_of(tok, ids, offsets, state)
    for count in range(before + after, 100):
        ids[:count] = draw.choices(known, k=count)
        begins = np.array(draw.choices(range(6), k=count), np.int32)
        expected = np.stack([begins, begins + draw.choices(range(5), k=count)], axis=1).astype(np.int32)
        offsets[: 2 * count], state[COUNT] = expected.ravel(), count
        tok._trim(ids[:count].copy(), expected, np.array([before] if before + after < count else [], np.int64))
        if call:
            assert call.kernel.call(*call.arguments) == 0
        assert offsets[: 2 * count].tolist() == expected.ravel().tolist()
