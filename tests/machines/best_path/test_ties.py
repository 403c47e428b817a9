"""Ties are all new texts of least weight."""

from __future__ import annotations

import random
from math import inf

import pytest
from support.naive.best_path import least_weight

import fst
from fst.compile import best_path, rewrite
from fst.compile.algebra.machine import Fst
from fst.errors import TextError
from fst.machines.best_path.ties import ties

OUTPUTS = ("a", "b", "é", "ab", "")
WEIGHTS = (0, 0, 0.25, 0.5, 1)


def drawn(draw: random.Random) -> Fst:
    """A small machine; some arcs that read nothing lead to higher states, so no cycle of them exists."""
    states, arcs = draw.randint(1, 5), []
    for _ in range(draw.randint(2, 14)):
        source, target, read = draw.randrange(states), draw.randrange(states), draw.choice(["a", "b", "é", ""])
        if read or source < target:
            arcs.append((source, target, read, draw.choice(OUTPUTS), draw.choice(WEIGHTS)))
    return Fst.from_arcs(arcs, {draw.randrange(states): draw.choice(WEIGHTS), states - 1: 0})


def test_ties_are_the_texts_of_least_weight() -> None:
    """`ties` finds exactly the outputs of all paths of least weight, each once, up to the limit."""
    many = 0
    for number in range(50):
        draw = random.Random(number)
        machine = drawn(draw)
        table = best_path(machine)
        for text in ("".join(draw.choices("aabé", k=draw.randrange(5))) for _ in range(2)):
            paths = [*(Fst.from_strings([text]) @ machine).paths()] if len(text) < 4 else []
            least, found = least_weight(machine, text), [data.decode() for data in ties(table, text.encode(), 1000)]
            assert found == sorted({*found}, key=str.encode)
            assert bool(found) == (least < inf)
            assert all(least_weight(machine, text, output) == least for output in found)
            assert not paths or found == sorted({output for _, output, weight in paths if weight == least}, key=str.encode)
            assert [data.decode() for data in ties(table, text.encode(), 2)] == found[:2]
            many += len(found) > 1
    assert many > 5


def test_first_is_the_text_of_apply() -> None:
    """The first of the ties is the text that `apply` returns, rules give one text, and wrong arguments are refused."""
    hundreds = [("100", "one hundred", 1.0), ("100", "a hundred", 1.0), ("1", "one", 0.5), ("00", " oh oh", 0.5)]
    words = Fst.from_strings([*hundreds, ("2", "two", 1.0)])
    rewriter = fst.Rewriter(best_path(words.closure()))
    assert rewriter.ties("100") == [rewriter.apply("100"), *sorted({"one hundred", "a hundred", "one oh oh"} - {rewriter.apply("100")})]
    assert rewriter.ties("2") == ["two"]
    assert rewriter.ties("100" * 12, limit=3)[0] == rewriter.apply("100" * 12)
    assert len(rewriter.ties("100" * 12, limit=3)) == 3
    assert fst.Rewriter(best_path(words, unknown="copy")).ties("x") == ["x"]
    assert fst.Rewriter(rewrite("a -> b")).ties("a") == ["b"]
    with pytest.raises(TextError, match="no path"):
        rewriter.ties("x")
    with pytest.raises(ValueError, match="limit is 0"):
        rewriter.ties("2", limit=0)


def test_ties_that_are_not_text() -> None:
    """If a new text of least weight ends inside a character, a `TextError` is raised, not an error of the decoder."""
    arcs = [(0, 1, ord("a"), 0xC3), (1, 2, ord("b"), 0xA9), (0, 2, ord("a"), ord("x")), (2, 3, ord("b"), 0), (1, 3, ord("b"), 0)]
    rewriter = fst.Rewriter(best_path(Fst.from_arcs(arcs, [2, 3], unit="utf-8")))
    assert rewriter.ties("a") == ["x"]
    with pytest.raises(TextError, match="not UTF-8"):
        rewriter.ties("ab")
