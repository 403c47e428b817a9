"""Rewrite rules with contexts as machines, compared with their definition, and with stored answers of pynini."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.naive.context_rules import Rule, rewritten
from support.tiers import ALL, examples, sample

from fst.compile.algebra.arcs import Arcs
from fst.compile.algebra.build import context_rule as module
from fst.compile.algebra.build.context_rule import DIRECTIONS, ContextRule, context_rule
from fst.compile.algebra.compose import compose
from fst.compile.algebra.machine import Fst
from fst.errors import UnsupportedError

ANSWERS = Path(__file__).with_name("context_rules.jsonl")  # answers of pynini 2.1.7 to random rules
STRINGS = st.text("ab", max_size=2)
RULES = st.builds(
    Rule,
    st.lists(st.tuples(st.text("ab", min_size=1, max_size=3), STRINGS, st.sampled_from([0.0, 0.0, 1.0])), min_size=1, max_size=3),
    st.lists(st.one_of(st.just(""), STRINGS, STRINGS.map("^{}".format)), min_size=1, max_size=2),
    st.lists(st.one_of(st.just(""), STRINGS, STRINGS.map("{}$".format)), min_size=1, max_size=2),
    st.sampled_from(DIRECTIONS),
    st.booleans(),
)


def machine_of(rule: Rule, alphabet: str) -> Arcs:
    """The machine of a rule over the characters of an alphabet."""
    tau, left, right, letters = (Fst.from_strings(part) for part in (rule.pairs, rule.left, rule.right, [*alphabet]))
    compiled = ContextRule(tau, left, right, letters.closure(), ord("^"), ord("$"))
    return context_rule(compiled, rule.direction, is_optional=rule.is_optional)  # type: ignore[arg-type]


def results(machine: Arcs, text: str) -> dict[str, float]:
    """All results of a text, with their weights."""
    outputs = Fst.of(compose(Fst.from_strings([text]), machine)).project("output").determinize()
    return {result: round(weight, 3) for result, _, weight in outputs.paths(1000)}


@pytest.mark.mostly_slow
@pytest.mark.parametrize("has_letters", [True, False])
@examples(800)
@given(rule=RULES, texts=st.lists(st.text("ab", max_size=6), min_size=3, max_size=3))
def test_rules_are_their_definitions(has_letters: bool, rule: Rule, texts: list[str]) -> None:
    """The machine of a rule has the results of the definition, with and without the short way for single letters."""
    with pytest.MonkeyPatch.context() as patch:
        if not has_letters:
            patch.setattr(module, "letters_of", lambda _: None)
        machine = machine_of(rule, "ab")
    for text in texts:
        assert results(machine, text) == rewritten(rule, text)


def cases() -> Sequence[dict[str, Any]]:
    """A sample of the stored cases."""
    lines = ANSWERS.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in (lines if ALL else sample(lines, 8))]


def test_rules_have_the_results_of_pynini() -> None:
    """Rules give pynini's results, also if they replace the empty string."""
    for case in cases():
        rule = Rule([(*entry,) for entry in case["tau"]], case["left"], case["right"], case["direction"], case["mode"] == "opt")
        machine = machine_of(rule, case["alphabet"])
        for text, expected in case["answers"].items():
            assert results(machine, text) == dict(expected), (case, text)


@pytest.mark.parametrize("part", ["left", "sigma_star"])
def test_weights_and_outputs_of_contexts_are_refused(part: str) -> None:
    """Contexts and alphabets are acceptors without weights."""
    parts = {name: Fst.from_strings(["a"]) for name in ("tau", "left", "right", "sigma_star")}
    for wrong, message in (([("a", "b")], "has outputs of its own"), ([("a", "a", 1)], "has weights")):
        with pytest.raises(UnsupportedError, match=message):
            context_rule(ContextRule(**{**parts, part: Fst.from_strings(wrong)}, begin=1, end=2))
