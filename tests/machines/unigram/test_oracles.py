"""Cases from the Unigram tests of other projects: the rows of ``oracles/bpe_unigram/*.jsonl`` that have a ``tokenizer.json`` of Unigram."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from support import kept
from support.machines.oracles import NOT_BPE, REASONS, ROWS, Row, file_of
from support.shared_data import needs_shared
from support.tiers import thinned

import fst
from fst.compile.files import parse_json
from fst.compile.sources.tokenizer_json import of_document

pytestmark = needs_shared

RUN = [pytest.param(row, id=name) for (name, row), why in zip(ROWS, REASONS, strict=True) if why == NOT_BPE]


def document(vocab: Any) -> dict[str, Any]:
    """Return the tokenizer.json for a row, which contains the name of a file, a file with changes, or components."""
    if isinstance(vocab, str):
        path = file_of(vocab)
        text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text("utf-8")
        found: dict[str, Any] = parse_json(text, path)
        return found
    return {**vocab} if "base" not in vocab else edited(document(vocab["base"]), vocab.get("edits", {}))


def edited(found: dict[str, Any], edits: Mapping[str, Any]) -> dict[str, Any]:
    """Apply the edits of a row to the normalizer and the pre-tokenizer of a tokenizer.json."""
    whole = found["normalizer"]
    parts = whole["normalizers"] if whole["type"] == "Sequence" else [whole]
    kept_parts = [part for part in parts if part["type"] not in edits.get("normalizer_drop", ())]
    normalizer = {"type": "Sequence", "normalizers": [*kept_parts, *edits.get("normalizer_append", ())]}
    return {**found, "normalizer": normalizer, "pre_tokenizer": edits.get("pre_tokenizer", found["pre_tokenizer"])}


@cache
def tokenizer(vocab: str) -> fst.Tokenizer:
    """Compile the tokenizer of a vocabulary that is given as JSON."""
    return fst.Tokenizer(kept.assemble(of_document(document(json.loads(vocab)), Path("tokenizer.json")), "auto"))


@pytest.mark.slow
@pytest.mark.parametrize("row", thinned(RUN, 3))
def test_package_agrees_with_other_projects(row: Row) -> None:
    """The ids and texts equal the results that the test of another project expects."""
    tok, around = tokenizer(json.dumps(row["vocab"])), row["config"].get("add_special_tokens", False)
    ids = tok(row["input"], row.get("text_pair"), add_special_tokens=around)["input_ids"]
    numbers = (tok.token_to_id(token) if isinstance(token, str) else token for token in row["expected"])
    assert ids == [tok.header["unk_id"] if number is None else number for number in numbers]  # in this row, unknown text has no id
    if "expected_decoded" in row:
        assert tok.decode(ids, skip_special_tokens=False) == row["expected_decoded"]
    if row.get("offset_unit") == "characters":
        offsets = tok.encode_batch([row["input"]], add_special_tokens=around, offsets=True).offsets
        assert offsets is not None
        assert offsets.tolist() == row["expected_offsets"]
