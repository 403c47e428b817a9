"""A mapping of many strings replaces the longest string at each position, as two passes do for a few strings."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.naive.rules import Rule, rewritten

import fst
from fst.compile import cascade, rewrite
from fst.compile.machines.rules.compiler import FEW_CHARACTERS
from fst.machines.rules.header import DIRECTIONS


def drawn(draw: random.Random, count: int) -> dict[str, str]:
    """Random strings with more than `FEW_CHARACTERS` characters, of which some begin, end or contain others."""
    pairs = [[draw.choices("abé世", k=draw.randint(1, 5)), draw.choices("xé世ab", k=draw.randint(0, 3))] for _ in range(count)]
    strings = {"".join(string): "".join(new) for string, new in pairs}
    assert sum(map(len, strings)) > FEW_CHARACTERS
    return strings


def texts(draw: random.Random) -> list[str]:
    """Random texts over the letters of the strings and others."""
    return ["".join(draw.choices("abé世c ", k=draw.randint(0, 30))) for _ in range(40)]


@pytest.mark.mostly_slow
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_many_strings_follow_the_definition(direction: str) -> None:
    """Many strings give the text of the definition, with the spans of the matches, in each direction and in streams."""
    draw = random.Random(direction)
    strings = drawn(draw, 120)
    table, some = rewrite(strings, direction=direction), texts(draw)
    rewriter, rules = fst.Rewriter(table), [Rule(string, new) for string, new in strings.items()]
    expected = [rewritten(rules, text, direction) for text in some]
    assert table.stages[0]["keys"] == len(strings)
    assert rewriter.apply_batch(some) == expected
    aligned, written = rewriter.align_batch(some), [table.written(text) for text in some]
    assert aligned.texts == ["".join(each.char for each in row) for row in written] == expected
    assert aligned.offsets.tolist() == [[each.start, each.end] for row in written for each in row]
    assert [rewriter.explain(text).texts[-1] for text in some[:9]] == expected[:9]
    stream = rewriter.stream()
    for text in some:
        stream.write(text + "-")
    assert stream.close() == rewriter.apply("-".join([*some, ""]))


def test_many_strings_in_cascades() -> None:
    """A stage of many strings reads the text that the stages before it wrote, and a cascade of cascades keeps its strings."""
    draw = random.Random(0)
    stages = [rewrite("a -> ab / _ b"), rewrite(drawn(draw, 130)), rewrite({"é": "e"}), rewrite(drawn(draw, 140), direction="rtl")]
    some = expected = texts(draw)
    for stage in stages:
        expected = fst.Rewriter(stage).apply_batch(expected)
    whole = cascade(cascade(*stages[:2]), cascade(*stages[2:]))
    whole.prove()
    assert fst.Rewriter(whole).apply_batch(some) == expected
    assert whole.summary["rules"] == 2 + stages[1].summary["rules"] + stages[3].summary["rules"]


@pytest.mark.slow
def test_a_hundred_thousand_strings() -> None:
    """A mapping of 100,000 strings compiles, and its explanation contains only the strings that occur in the text."""
    rewriter = fst.Rewriter(rewrite({f"<{number}>": f"({number + 1})" for number in range(100_000)}))
    assert rewriter.apply("<7><99999><100000>") == "(8)(100000)<100000>"
    assert str(rewriter.explain("<7>")) == "<7>\n  0-3 '<7>'  <7> -> (8)  applied: '(8)'\n(8)"


def test_strings_that_are_too_long_are_refused() -> None:
    """In a mapping of many strings, a string with more than 4,096 bytes is refused, and so is an entry that is not text."""
    with pytest.raises(fst.UnsupportedError, match="has 4,097 bytes; expected at most 4,096"):
        rewrite({"a" * 4097: "b"})
    wrong: dict[Any, Any] = {"a" * 300: 3}
    with pytest.raises(fst.VocabularyError, match="expected a str"):
        rewrite(wrong)


@pytest.mark.parametrize(
    ("data", "ends", "message"),
    [(b"x\xff", [0, 0, 1, 2], "not UTF-8 at byte 1"), ("xé".encode(), [0, 0, 2, 3], "begins inside a character")],
)
def test_strings_of_a_cascade_are_characters(data: bytes, ends: list[int], message: str) -> None:
    """A forged cascade whose strings are not UTF-8, or divide a character, is refused, so that every new text is UTF-8."""
    table = cascade(rewrite("a -> x"), rewrite("b -> é", direction="rtl"))
    assert len(table.string_ends) >= len(ends)
    ends += [len(data)] * (len(table.string_ends) - len(ends))
    forged = replace(table, string_bytes=np.frombuffer(data, np.uint8), string_ends=np.array(ends, np.int64))
    with pytest.raises(fst.TableError, match=message):
        forged.prove()
