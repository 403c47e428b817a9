"""Compiled rules give the same texts as their definition."""

from __future__ import annotations

import random
from itertools import product

import pytest
from support.machines.rules import EDGES, TEXTS, expression, rule, spelled
from support.naive.rules import Rule, rewritten
from support.tiers import sample

import fst
from fst.compile import cascade, rewrite
from fst.machines.rules.header import DIRECTIONS


@pytest.mark.mostly_slow
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_rules_follow_the_definition(direction: str) -> None:
    """One rule or several parallel rules give the text of the definition for every short text over three letters, in each direction."""
    for seed in sample(range(240), 48):
        draw = random.Random(f"{direction} {seed}")
        rules = [rule(draw) for _ in range(draw.choice((1, 1, 2, 3)))]
        rewriter = fst.Rewriter(rewrite([*map(spelled, rules)], direction=direction))
        texts = draw.sample(TEXTS, 150)
        assert dict(zip(texts, rewriter.apply_batch(texts), strict=True)) == {
            text: rewritten(rules, text, direction) for text in texts
        }, (rules, direction)
        for text in texts[:5]:
            assert rewriter.explain(text).texts[-1] == rewritten(rules, text, direction)


@pytest.mark.mostly_slow
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_edges_of_words_follow_the_definition(direction: str) -> None:
    """A context with the edge of a word, at the match, inside the context or repeated, holds at the same positions as in `re`, in each
    direction.
    """
    texts = ["".join(letters) for size in range(6) for letters in product("ab-", repeat=size)]
    for seed in sample(range(120), 24):
        draw = random.Random(f"{direction} {seed}")
        pieces = expression(draw).replace("c", "-"), draw.choice(("x", "", "ab", "-a"))
        rules = [Rule(pieces[0] if draw.random() < 0.8 else "", pieces[1], draw.choice((*EDGES, r"^\b")), draw.choice((*EDGES, r"\b$")))]
        rewriter = fst.Rewriter(rewrite([*map(spelled, rules)], direction=direction))
        tried = draw.sample(texts, 100)
        assert rewriter.apply_batch(tried) == [rewritten(rules, text, direction) for text in tried], (rules, direction)
        for text in tried[:5]:
            assert rewriter.explain(text).texts[-1] == rewritten(rules, text, direction)


@pytest.mark.slow
def test_stages_read_what_the_stage_before_wrote() -> None:
    """A cascade gives the result of its stages one after the other, in every combination of directions."""
    draw = random.Random(0)
    for directions in product(DIRECTIONS, repeat=2):
        stages = [rewrite(spelled(rule(draw)), direction=direction) for direction in directions]
        texts = draw.sample(TEXTS, 100)
        expected: list[str] = texts
        for stage in stages:
            expected = fst.Rewriter(stage).apply_batch(expected)
        assert fst.Rewriter(cascade(*stages)).apply_batch(texts) == expected


@pytest.mark.slow
def test_compositions_give_the_texts_of_their_stages() -> None:
    """Adjacent stages of one direction become one pass, and texts, streams and spans do not change."""
    for seed in sample(range(60), 8):
        draw = random.Random(seed)
        parallel = [[spelled(rule(draw)) for _ in range(draw.choice((1, 2)))] for _ in range(3)]
        stages = [rewrite(rules, direction=draw.choice(("simultaneous", "ltr"))) for rules in parallel]
        table, texts = cascade(*stages), draw.sample(TEXTS, 150)
        assert len(table.path) < 3
        rewriter = fst.Rewriter(table)
        assert rewriter.apply_batch(texts) == ["".join(map(chr, table.run(text))) for text in texts], seed
        assert rewriter.align_batch(texts).texts == rewriter.apply_batch(texts)
        stream = rewriter.stream()
        for text in texts:
            stream.write(text + "-")
        assert stream.close() == rewriter.apply("-".join([*texts, ""]))


def test_compositions_that_are_too_large_stay_stages() -> None:
    """A stage is applied separately if its composition with the stages before it is too large."""
    large = rewrite("a -> b / _ [ab]{7}c")
    table = cascade(large, large, large, rewrite("x -> y"), rewrite("y -> x", direction="rtl"))
    assert 1 < len(table.path) < 5
    texts = ["abbabaabc" * 3, "aaaaaaaaaxyc"]
    assert fst.Rewriter(table).apply_batch(texts) == ["".join(map(chr, table.run(text))) for text in texts]


@pytest.mark.slow
def test_strings_are_longest_and_of_equal_ones_the_first() -> None:
    """Of many strings, the longest that begins at a position is replaced, and of rules with equal matches the first is applied."""
    strings = {"".join(letters): f"<{number}>" for number, letters in enumerate(product("ab", repeat=3))} | {"ab": "X", "b": "Y"}
    rules = [Rule(string, new) for string, new in strings.items()]
    rewriter = fst.Rewriter(rewrite(strings))
    assert rewriter.apply_batch(TEXTS) == [rewritten(rules, text, "simultaneous") for text in TEXTS]
    assert fst.Rewriter(rewrite(["a|b -> 1", "a -> 2", "aa -> 3"])).apply("aab") == "31"


def test_empty_phi_inserts_once_at_each_position() -> None:
    """A rule with an empty left side inserts at every position where both contexts hold, also at both ends of the text."""
    assert fst.Rewriter(rewrite(" -> -")).apply_batch(["ab", ""]) == ["-a-b-", "-"]
    assert fst.Rewriter(rewrite({"": "-"}, left="[aeiou]", right="[^aeiou]")).apply("banana") == "ba-na-na"
    assert fst.Rewriter(rewrite(" -> - / _ $", direction="rtl")).apply("ab") == "ab-"
