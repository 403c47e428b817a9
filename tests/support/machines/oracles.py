"""Test cases from other projects, stored as rows of `oracles/bpe_unigram/*.jsonl` in the shared data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from support.shared_data import SHARED

Row = dict[str, Any]
NOT_BPE = "Unigram, not BPE"
SENTENCEPIECE = "a SentencePiece model, not a tokenizer.json"
UNKNOWN = "an unknown token that is none"
PARTS = "a part of a tokenizer by itself"
TRAINING = "training"
NOT_TEXT = "bytes that are not UTF-8, which tiktoken merges as they are"
MODES = {"train": TRAINING, "train_encode": TRAINING, "encode_bytes": NOT_TEXT}
MODES |= dict.fromkeys(("pre_tokenize", "decode_tokens", "normalize"), PARTS)
FILES = ("tokenizer.json", "tekken.json")


def rows() -> Iterator[tuple[str, Row]]:
    """Yield all rows with a name for each, except the rows for split patterns, which have separate tests."""
    for path in sorted((SHARED / "oracles/bpe_unigram").glob("*.jsonl")):
        if path.stem != "split_regex":
            with path.open(encoding="utf-8") as lines:
                for number, row in enumerate(map(json.loads, lines)):
                    yield f"{path.stem}/{number}-{row['case_id']}", row


def file_of(folder: str) -> Path:
    """The tokenizer.json, tekken.json or .tiktoken file in the folder of a vocabulary."""
    (path,) = (path for path in (SHARED / folder).iterdir() if path.name.startswith(FILES) or path.suffix == ".tiktoken")
    return path


def reason(row: Row) -> str | None:
    """The reason to leave out a row; None means that the row is run."""
    vocab, config = row["vocab"], row["config"]
    if config.get("mode") in MODES:
        return MODES[config["mode"]]
    if config.get("format") == "spm" or (isinstance(vocab, dict) and "sentencepiece" in vocab):
        return SENTENCEPIECE
    if isinstance(vocab, dict):
        return reason_of_parts(vocab)
    return NOT_BPE if vocab.startswith("vocab_unigram") else None


def reason_of_parts(vocab: Row) -> str | None:
    """The reason to leave out a row whose vocabulary consists of components of a tokenizer.json; None if the row is run."""
    if "base" not in vocab:
        model = vocab["model"]
        return NOT_BPE if model["type"] == "Unigram" else UNKNOWN if model["unk_token"] not in (None, *model["vocab"]) else None
    return NOT_BPE if vocab["base"].startswith("vocab_unigram") else None


ROWS = [*rows()] if SHARED.is_dir() else []
REASONS = [reason(row) for _, row in ROWS]
