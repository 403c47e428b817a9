"""Masks compared with those of outlines-core and llguidance; see `support.machines.mask_differences`."""

from __future__ import annotations

from typing import Any

import pytest
from support.kept import tokenizer
from support.machines.mask_differences import FREEDOMS, UNEXPLAINED, LlGuidance, Outlines, Tokens, cases, compared
from support.shared_data import SHARED, needs_shared

import fst

PATTERNS = [r"-?(0|[1-9][0-9]{0,2})(\.[0-9]{1,6})?", r"([A-Z][a-z]{1,9} ){1,3}é?\.", r"[^\n]{1,9}"]
SHARE, WALKS = 80, 1
KNOWN = {*FREEDOMS, "formats", "a name twice"}  # texts that only this package refuses, see docs/exactness.md


@pytest.mark.slow
@needs_shared
@pytest.mark.parametrize("kind", [Outlines, LlGuidance])
def test_every_difference_has_a_cause(kind: Any) -> None:
    """Where masks differ, this package allows no wrong token, and refuses a right token only for a documented reason."""
    for library in ("jsonschema", "outlines_core" if kind is Outlines else "llguidance"):
        pytest.importorskip(library, reason=f"{library} is not installed")
    tokens = Tokens(fst.Tokenizer(tokenizer(SHARED / "vocab_bpe" / "gpt2" / "tokenizer.json")))
    found = [each for source, values in cases(PATTERNS, SHARE) for each in compared(tokens, kind, source, values, WALKS)]
    assert found
    for each in found:
        verdict, _, causes = each.cause.partition(": ")
        assert UNEXPLAINED not in causes, each
        assert each.allows != "fst" or verdict not in ("wrong", "a dead end"), each
        assert each.allows == "fst" or verdict != "right" or {*causes.split(" + ")} <= KNOWN, each
