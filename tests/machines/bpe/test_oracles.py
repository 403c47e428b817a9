"""Cases from the BPE tests of other projects give the results that these projects expect.

Each row of `oracles/bpe_unigram/*.jsonl` is run, or left out for one of the reasons in `LEFT_OUT`. Other tests compare patterns.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from support import kept
from support.machines.oracles import (
    NOT_BPE,
    NOT_TEXT,
    PARTS,
    REASONS,
    ROWS,
    SENTENCEPIECE,
    TRAINING,
    UNKNOWN,
    Row,
    file_of,
)
from support.shared_data import needs_shared
from support.tiers import thinned

import fst
from fst.compile.sources.tokenizer_json import of_document
from fst.runtime.machines.bpe.tokenizer import BpeTokenizer

pytestmark = needs_shared


LEFT_OUT = {
    NOT_BPE: 158,
    SENTENCEPIECE: 159,
    UNKNOWN: 2,
    PARTS: 74,
    TRAINING: 3,
    NOT_TEXT: 1,
}
QUICK = tuple(f"vocab_bpe/{name}" for name in ("gpt2", "mistral01", "sqlpilot", "hw_doc_summarizer"))  # already compiled by other tests


@cache
def tokenizer(vocab: str) -> fst.Tokenizer:
    """Compile a vocabulary, which is a folder or a JSON object of components."""
    if not vocab.startswith("{"):
        return fst.Tokenizer(kept.bpe(file_of(vocab)))
    parts = json.loads(vocab)
    document = json.loads(file_of(parts.pop("base")).read_text(encoding="utf-8")) if "base" in parts else {"added_tokens": []}
    document["added_tokens"] += parts.pop("add_tokens", [])
    return fst.Tokenizer(kept.assemble(of_document({**document, **parts}, Path("tokenizer.json")), "auto"))


def tokenizer_of(row: Row) -> fst.Tokenizer:
    """Compile the tokenizer for a row."""
    return tokenizer(row["vocab"] if isinstance(row["vocab"], str) else json.dumps(row["vocab"]))


RUN = [pytest.param(row, id=name) for (name, row), why in zip(ROWS, REASONS, strict=True) if why is None and row["vocab"] in QUICK]
OTHERS = [
    pytest.param(row, id=name, marks=pytest.mark.slow)
    for (name, row), why in zip(ROWS, REASONS, strict=True)
    if why is None and row["vocab"] not in QUICK
]


@pytest.mark.parametrize("row", [*RUN, *thinned(OTHERS, 4)])
def test_package_agrees_with_other_projects(row: Row) -> None:
    """The ids and texts equal the results that the test of another project expects."""
    tok, text, around = tokenizer_of(row), row["input"], row["config"].get("add_special_tokens", False)
    is_split = row["config"].get("is_pretokenized", False)
    ids = tok(text, row.get("text_pair"), add_special_tokens=around, is_split_into_words=is_split)["input_ids"]
    if isinstance(tok, BpeTokenizer) and tok.dropout:
        ids = tok.encode_batch([text], add_special_tokens=around, randomness=fst.Dropout(tok.dropout)).ids.tolist()
    if row["expected_kind"] == "ids":
        assert ids == row["expected"]
    elif row["expected_kind"] == "tokens":
        # An expected token may have additional whitespace at its ends, which the token in the vocabulary does not have.
        assert ids == [tok.token_to_id(token) or tok.token_to_id(token.strip()) for token in row["expected"]]
    else:
        assert row["expected_kind"] == "starts"
        offsets = tok.encode_batch([text], add_special_tokens=around, offsets=True).offsets
        assert offsets is not None
        assert offsets[:, 0].tolist() == row["expected"]


def test_every_row_is_run_or_left_out_for_a_reason() -> None:
    """The numbers of rows that are run, and that are left out for each reason, add up to the number of rows in the files."""
    assert Counter(why for why in REASONS if why) == LEFT_OUT
    assert len(RUN) + len(OTHERS) + sum(LEFT_OUT.values()) == len(ROWS)
