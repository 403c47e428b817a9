"""An explanation contains the rules that matched, and the contexts that failed."""

from __future__ import annotations

import fst
from fst.compile import cascade, rewrite


def outcomes(rewriter: fst.Rewriter, text: str) -> list[tuple[int, int, str, str]]:
    """The span, the outcome and the written string of each match."""
    return [(trial.start, trial.end, trial.outcome, trial.written) for trial in rewriter.explain(text).trials]


def test_contexts_that_fail() -> None:
    """A match whose contexts do not hold is listed with the context that fails, also for rules from right to left."""
    for direction in ("simultaneous", "ltr", "rtl"):
        rewriter = fst.Rewriter(rewrite("a -> xy / b _ c", direction=direction))
        found = outcomes(rewriter, "ba ac bac")
        expected = [(1, 2, "right context fails", ""), (3, 4, "left context fails", ""), (7, 8, "applied", "xy")]
        assert (found[::-1] if direction == "rtl" else found) == expected


def test_rules_that_compete() -> None:
    """If several rules match, those not applied are listed as shorter or later; matches inside the applied match are not listed."""
    rewriter = fst.Rewriter(rewrite(["a -> 1", "ab -> 2", "ab -> 3", "b -> 4"]))
    other = "another match is longer or comes first"
    assert outcomes(rewriter, "ab") == [(0, 1, other, ""), (0, 2, "applied", "2"), (0, 2, other, "")]


def test_insertions_and_stages() -> None:
    """An empty match is listed only where it is applied, and each stage is listed with its text."""
    explanation = fst.Rewriter(cascade(rewrite(" -> - / a _ b"), rewrite("- -> +"))).explain("abb")
    assert explanation.texts == ["abb", "a-bb", "a+bb"]
    assert [(trial.stage, trial.start, trial.end, trial.written) for trial in explanation.trials] == [(0, 1, 1, "-"), (1, 1, 2, "+")]
