"""Texts in which rules rarely match are copied between the matches."""

from __future__ import annotations

import random

from support.tiers import sample

import fst
from fst.compile import cascade, rewrite
from fst.compile.algebra.machine import Fst
from fst.machines.rules.header import DIRECTIONS
from fst.machines.rules.table import RulesTable

PARTS = ("a", "b", "ab", "[a-f]", "[^a]", "é", "世", "(?:ab)+", "b*", ".", "foo")
RARE = (*"ab", "é", "世", "foo", "\U0001f600")


def rare(draw: random.Random, size: int) -> str:
    """A text that consists mostly of letters that few rules contain."""
    return "".join(draw.choice(RARE) if draw.random() < 0.06 else draw.choice("xyz ,ßж") for _ in range(size))


def tables(draw: random.Random) -> RulesTable:
    """A random rule, cascade or transducer."""
    if draw.random() < 0.1:
        entries = [("ab", "ba"), ("é", "世é"), ("foo", "o"), *"xyz ,ßж世😀"]
        return rewrite(Fst.from_strings(entries, unit=draw.choice(("character", "utf-8"))).closure().optimize())
    phi, left, right = ("".join(draw.choices(PARTS, k=draw.randint(least, 2))) for least in (1, 0, 0))
    contexts = f"{draw.choice(('', '^|'))}{left} _ {right}{draw.choice(('', '|$'))}"
    first = rewrite(f"{phi} -> {draw.choice(('', 'q', 'é😀a', 'ab'))} / {contexts}", direction=draw.choice(DIRECTIONS))
    return cascade(first, rewrite({"ab": "é", "fo": "世"})) if draw.random() < 0.3 else first


def test_rare_matches() -> None:
    """Texts with rare matches become the same texts as by the walk, whatever contexts the rules have."""
    for seed in sample(range(400), 120):
        draw = random.Random(seed)
        table = tables(draw)
        some = [rare(draw, size) for size in (0, 1, 2, 3, 40, 70, 150, 400)] * 2
        assert fst.Rewriter(table).apply_batch(some) == ["".join(map(chr, table.run(text))) for text in some], (seed, table.stages)


def test_unchanged_texts_are_the_same_objects() -> None:
    """A str that no rule changes is returned itself, and an equal str of a subclass becomes a str."""

    class Word(str):
        __slots__ = ()

    texts = ["x" * 9, "é" * 300, "世", "\U0001f600", "", Word("xyz"), "a", "x\u0153"]
    new = fst.Rewriter(rewrite("a -> b")).apply_batch(texts)
    assert new == [*texts[:6], "b", texts[7]]
    assert [one is other for one, other in zip(new, texts, strict=True)] == [True, True, True, False, True, False, False, True]
    assert {*map(type, new)} == {str}


def test_long_rows() -> None:
    """Rows that are too long for the kernel of strings, and rows with characters beyond 16 bits, are rewritten, too."""
    texts = ["a" + "x" * (1 << 16) + end for end in ("", "é", "\U0001f600", "a")] * 2
    assert fst.Rewriter(rewrite("a -> b")).apply_batch(texts) == [text.replace("a", "b") for text in texts]
