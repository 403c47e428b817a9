"""Cases that other projects test their BPE with.

Each row of `oracles/bpe_unigram/*.jsonl` is run, or left out for one of the reasons of `LEFT_OUT`. Patterns have tests of their own.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import kept
import pytest
from shared_data import SHARED, needs_shared

import fst
from fst.compile.sources.tokenizer_json import of_document
from fst.runtime.machines.bpe.tokenizer import BpeTokenizer

pytestmark = needs_shared

Row = dict[str, Any]

NOT_BPE = "Unigram, not BPE"
SENTENCEPIECE = "a SentencePiece model, not a tokenizer.json"
UNKNOWN = "an unknown token that is none"
PARTS = "a part of a tokenizer by itself"
TRAINING = "training"
NOT_TEXT = "bytes that are not UTF-8, which tiktoken merges as they are"

LEFT_OUT = {
    NOT_BPE: 158,
    SENTENCEPIECE: 159,
    UNKNOWN: 2,
    PARTS: 74,
    TRAINING: 3,
    NOT_TEXT: 1,
}
MODES = {"train": TRAINING, "train_encode": TRAINING, "encode_bytes": NOT_TEXT}
MODES |= dict.fromkeys(("pre_tokenize", "decode_tokens", "normalize"), PARTS)
FILES = ("tokenizer.json", "tekken.json")
QUICK = tuple(f"vocab_bpe/{name}" for name in ("gpt2", "mistral01", "sqlpilot", "hw_doc_summarizer"))  # compiled anyway


def rows() -> Iterator[tuple[str, Row]]:
    """All rows, each with a name; those of patterns have tests of their own."""
    for path in sorted((SHARED / "oracles/bpe_unigram").glob("*.jsonl")):
        if path.stem != "split_regex":
            with path.open(encoding="utf-8") as lines:
                for number, row in enumerate(map(json.loads, lines)):
                    yield f"{path.stem}/{number}-{row['case_id']}", row


def file_of(folder: str) -> Path:
    """The file of a vocabulary."""
    (path,) = (path for path in (SHARED / folder).iterdir() if path.name.startswith(FILES) or path.suffix == ".tiktoken")
    return path


def reason(row: Row) -> str | None:
    """Why a row is left out; None if it is run."""
    vocab, config = row["vocab"], row["config"]
    if config.get("mode") in MODES:
        return MODES[config["mode"]]
    if config.get("format") == "spm" or (isinstance(vocab, dict) and "sentencepiece" in vocab):
        return SENTENCEPIECE
    if isinstance(vocab, dict):
        return reason_of_parts(vocab)
    return NOT_BPE if vocab.startswith("vocab_unigram") else None


def reason_of_parts(vocab: Row) -> str | None:
    """Why a row with parts of a tokenizer.json is left out."""
    if "base" not in vocab:
        model = vocab["model"]
        return NOT_BPE if model["type"] == "Unigram" else UNKNOWN if model["unk_token"] not in (None, *model["vocab"]) else None
    return NOT_BPE if vocab["base"].startswith("vocab_unigram") else None


@cache
def tokenizer(vocab: str) -> fst.Tokenizer:
    """The tokenizer of a vocabulary, a folder or parts as JSON."""
    if not vocab.startswith("{"):
        return fst.Tokenizer(kept.bpe(file_of(vocab)))
    parts = json.loads(vocab)
    document = json.loads(file_of(parts.pop("base")).read_text(encoding="utf-8")) if "base" in parts else {"added_tokens": []}
    document["added_tokens"] += parts.pop("add_tokens", [])
    return fst.Tokenizer(kept.assemble(of_document({**document, **parts}, Path("tokenizer.json")), "auto"))


def tokenizer_of(row: Row) -> fst.Tokenizer:
    """The tokenizer of a row."""
    return tokenizer(row["vocab"] if isinstance(row["vocab"], str) else json.dumps(row["vocab"]))


ROWS = [*rows()] if SHARED.is_dir() else []
REASONS = [reason(row) for _, row in ROWS]
RUN = [
    pytest.param(row, id=name, marks=[] if row["vocab"] in QUICK else [pytest.mark.slow])
    for (name, row), why in zip(ROWS, REASONS, strict=True)
    if why is None
]


@pytest.mark.parametrize("row", RUN)
def test_package_agrees_with_other_projects(row: Row) -> None:
    """What the package makes of a text is what another project expects."""
    tok, text, around = tokenizer_of(row), row["input"], row["config"].get("add_special_tokens", False)
    is_split = row["config"].get("is_pretokenized", False)
    ids = tok(text, row.get("text_pair"), add_special_tokens=around, is_split_into_words=is_split)["input_ids"]
    if isinstance(tok, BpeTokenizer) and tok.dropout:
        ids = tok.encode_batch([text], add_special_tokens=around, dropout=tok.dropout).ids.tolist()
    if row["expected_kind"] == "ids":
        assert ids == row["expected"]
    elif row["expected_kind"] == "tokens":
        # The text of a token may include white space that the token takes along.
        assert ids == [tok.token_to_id(token) or tok.token_to_id(token.strip()) for token in row["expected"]]
    else:
        assert row["expected_kind"] == "starts"
        offsets = tok.encode_batch([text], add_special_tokens=around, offsets=True).offsets
        assert offsets is not None
        assert offsets[:, 0].tolist() == row["expected"]


def test_every_row_is_run_or_left_out_for_a_reason() -> None:
    """Rows that are run and rows that are left out, reason by reason, add up to the rows of the files."""
    assert Counter(why for why in REASONS if why) == LEFT_OUT
    assert len(RUN) + sum(LEFT_OUT.values()) == len(ROWS)
