"""The part of the fuzzer that encodes with tables whose sources need kernels of their own."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from support.conformance.samples import SAMPLES
from support.conformance.ways import table_of, texts_of
from support.core.drives import bytewise, ids_of, tokenizer

import fst

NAMES = ("bpe codes", "unigram other ids", "mecab wordpiece in lower case", "mecab characters")
OF_NAMES = ("ΑΣ ΟΔΟΣ. ΣΑ", ">>fra<< a", ">>x<<a", ">>x")  # a final Σ; codes of languages
NUMBERS = ("1234567 a12", "1", "12345a678")


def counted(draw: random.Random) -> dict[str, Any]:
    """Draw a vocabulary whose texts are cut before every third digit from the right."""
    split = {"type": "Split", "pattern": {"Regex": r"(?=(\d{3})+(?!\d))"}, "behavior": "Isolated", "invert": False}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    return bytewise(draw) | {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level]}}


def drive_sources(draw: random.Random, texts: Sequence[str]) -> None:
    """Encode texts with spans, and check that the ids are those of the walk."""
    for name in NAMES:
        check(fst.Tokenizer(table_of(name)), [*texts_of(SAMPLES[name], draw, 3), *OF_NAMES])
    check(tokenizer(draw, counted), [*NUMBERS, *(text[:20] for text in texts[:3])])


def check(tok: Any, rows: Sequence[str]) -> None:
    """Check that batches have the ids of the walk."""
    assert ids_of(tok.encode_batch([*rows], offsets=True, add_special_tokens=False)) == [tok._table.run(row) for row in rows]
