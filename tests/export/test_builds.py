"""Kernels that build arrays of a table: their results equal the arrays in the table."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from support.kept import tokenizer
from support.shared_data import SHARED, needs_shared
from support.tiers import thinned

import fst
from fst.compile.machines.bpe.canonical_tokens import without_automaton
from fst.machines.bpe.table import BpeTable
from fst.runtime.exporting.builds import builds
from fst.runtime.exporting.contents import contents


@needs_shared
@pytest.mark.slow
@pytest.mark.parametrize("source", [*thinned(["vocab_bpe/cl100k_base", "vocab_bpe/gpt2"], 2), "vocab_unigram/t5", "merges of gpt2"])
def test_all_arrays_are_built(source: str) -> None:
    """For byte-level BPE and T5, words, short words and spans are built from the tokens, and pairs from a list of merges."""
    if has_merges := source == "merges of gpt2":
        table: Any = without_automaton(cast(BpeTable, tokenizer(SHARED / "vocab_bpe/gpt2")))
    else:
        table = tokenizer(SHARED / source)
    tok = fst.Tokenizer(table)
    found = builds(tok, contents(tok))
    merges = ["build_merges", "fill_slots"] * has_merges
    assert [call.kernel.name for call in found] == ["build_spans", "build_words", "build_short_words", *merges]
    for call in found:
        *arguments, expected = call.arguments
        built = np.zeros_like(expected)
        call.kernel.call(*arguments, built)
        assert np.array_equal(built, expected)
