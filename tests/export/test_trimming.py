"""Spans of exported programs: a kernel changes them as `_trim` of a tokenizer does."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support.core.drives import words
from support.core.exports import check_calls
from support.kept import tokenizer
from support.shared_data import SHARED, needs_shared
from support.tiers import sample

import fst
from fst.runtime.exporting.calls import calls, trim_of
from fst.tables.kernel_call import State

pytestmark = [pytest.mark.slow, needs_shared]

WORDS = "words"
FALLBACK = "vocab_unigram/spm_fixtures/test_sentencepiece_with_bytefallback.model"


@pytest.mark.parametrize("source", ["vocab_bpe/roberta", "vocab_unigram/t5", "vocab_bpe/mistral01", FALLBACK, WORDS])
def test_spans_are_those_of_batches(source: str) -> None:
    """For random ids and spans, the kernel and the method give equal results, whether or not the table trims."""
    tok = words(["a"], byte_fallback=True) if source == WORDS else fst.Tokenizer(tokenizer(SHARED / source))
    draw = random.Random(11)
    before, after = map(len, tok._special_ids)
    known = sorted(tok._tokens_by_id)
    state, ids, offsets, earlier = State(), np.zeros(100, np.int32), np.zeros(200, np.int32), np.zeros(1, np.uint64)
    call = trim_of(tok, ids, offsets, state, earlier)
    for count in range(before + after, 100):
        ids[:count] = draw.choices(known, k=count)
        begins = np.array(draw.choices(range(6), k=count), np.int32)
        expected = np.stack([begins, begins + draw.choices(range(5), k=count)], axis=1).astype(np.int32)
        offsets[: 2 * count], state.count = expected.ravel(), count
        tok._trim(ids[:count].copy(), expected, np.array([before] if before + after < count else [], np.int64))
        if call:
            assert call.kernel.call(*call.arguments) == 0
        assert offsets[: 2 * count].tolist() == expected.ravel().tolist()


@pytest.mark.parametrize("byte_fallback", [False, True])
def test_spans_of_words_are_those_of_python(byte_fallback: bool) -> None:
    """With a vocabulary of words, exported calls find the ids and the spans of Python in lines of all corpora."""
    lines = [line[:300] for file in sorted((SHARED / "corpora").iterdir()) for line in file.read_text(errors="replace").split("\n")]
    known = {word for line in random.Random(12).sample(lines, 300) for word in line.split()}
    tok = words(known, byte_fallback=byte_fallback)
    check_calls(tok, calls(tok, 1200), ["", " ", "☕☕ a☕", *sample(random.Random(13).sample(lines, 2000), 5)])
