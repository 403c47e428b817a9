"""Small tables have the ids and the spans of the tables of which they are made."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support.conformance.samples import SAMPLES
from support.conformance.ways import table_of, texts_of
from support.kept import tokenizer
from support.shared_data import SHARED, needs_shared

import fst
from fst.cli.commands.export.small import small
from fst.errors import UnsupportedError

TOKENIZERS = ("wordpiece", "bpe", "unigram")


def check(table: object, texts: list[str]) -> None:
    """Check that a small table has the ids and the spans of a table."""
    expected, found = (fst.Tokenizer(each).encode_batch(texts, offsets=True) for each in (table, small(table)))
    assert np.array_equal(found.ids, expected.ids)
    assert np.array_equal(found.row_splits, expected.row_splits)
    assert expected.offsets is not None
    assert found.offsets is not None
    assert np.array_equal(found.offsets, expected.offsets)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("name", [name for name, sample in SAMPLES.items() if sample.kind in TOKENIZERS])
def test_samples(name: str) -> None:
    """A small table of each kind gives random texts the same ids and spans."""
    texts = texts_of(SAMPLES[name], random.Random(50), count=60, longest=60)
    table = table_of(name)
    try:
        fst.Tokenizer(table).encode_batch(texts, offsets=True)
    except UnsupportedError:
        return
    check(table, texts)


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize("name", ["vocab/bert-base-uncased", "vocab_unigram/t5", "vocab_unigram/albert"])
def test_corpora(name: str) -> None:
    """A small table gives lines of many languages, and long texts without a space, the same ids and spans."""
    lines = [line for file in sorted((SHARED / "corpora").iterdir()) for line in file.read_text(errors="replace").split("\n")[:300]]
    check(tokenizer(SHARED / name), [*lines, "".join(lines).replace(" ", "")[:100_000]])


def test_other_tables_are_the_same() -> None:
    """A table that is no tokenizer has no small form."""
    table = table_of("keywords standard")
    assert small(table) is table
