"""Look-up gives the analyses that other projects recorded for four languages."""

from __future__ import annotations

import gzip
import json
from functools import cache
from typing import Any

import pytest
from support.shared_data import SHARED, needs_shared

import fst
from fst.compile import lookup

MORPHOLOGY = SHARED / "oracles" / "morphology"
LANGUAGES = [*("hin", "eng"), *(pytest.param(name, marks=pytest.mark.slow) for name in ("spa", "fin"))]
GENERATED = ["hin", pytest.param("eng", marks=pytest.mark.slow), pytest.param("spa", marks=pytest.mark.slow)]


@cache
def rows(language: str, operation: str) -> list[dict[str, Any]]:
    """The recorded rows of an operation."""
    with gzip.open(MORPHOLOGY / f"{language}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [row for row in map(json.loads, lines) if row["op"] == operation]


@cache
def table(language: str) -> Any:
    """The table of a language; that of Finnish has only one direction."""
    return lookup(MORPHOLOGY / f"{language}.att.gz", inverse=language != "fin")


@needs_shared
@pytest.mark.parametrize("language", LANGUAGES)
def test_words_have_their_analyses(language: str) -> None:
    """The kernel, and for a sample the slow walk, give all words the analyses of HFST and foma."""
    recorded, made = rows(language, "analyse"), table(language)
    found = fst.Lookup(made).lookup_batch([row["word"] for row in recorded])
    assert [sorted(analyses) for analyses in found] == [row["outputs"] for row in recorded]
    assert found.is_complete.all()
    batch = found._batch
    for row in range(0, len(recorded), 40):
        assert made.run(recorded[row]["word"]) == batch[row].tolist()


@needs_shared
@pytest.mark.parametrize("language", GENERATED)
def test_analyses_have_their_words(language: str) -> None:
    """All analyses have the words that HFST and foma find with the inverted transducer."""
    recorded = rows(language, "generate")
    found = fst.Lookup(table(language)).inverted().lookup_batch([row["word"] for row in recorded])
    assert [sorted(words) for words in found] == [row["outputs"] for row in recorded]
