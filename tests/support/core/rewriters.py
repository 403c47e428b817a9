"""The part of the fuzzer that applies rewrite rules."""

from __future__ import annotations

import random
from collections.abc import Sequence

import fst
from fst.compile import cascade, rewrite
from fst.machines.rules.header import DIRECTIONS
from fst.machines.rules.table import RulesTable

PARTS = ("a", "b", "ab", "foo", "[a-f]", "[^a]", "é", "世", "(?:ab)+", ".", "b*")


def drive_rules(draw: random.Random, texts: Sequence[str]) -> None:
    """Rewrite texts by random rules, in batches, with spans and in streams, and compare the results with those of the walk."""
    stages = []
    for direction in draw.sample(DIRECTIONS, 2):
        phi, left, right = ("".join(draw.choices(PARTS, k=draw.randint(0, 2))) for _ in range(3))
        stages.append(rewrite(f"{phi} -> {'é😀a' * draw.randint(0, 3)} / {left} _ {right}", direction=direction))
    table, some = cascade(*stages, many_strings(random.Random(len(texts[0])))), [text[:300] for text in texts]
    rewriter, written = fst.Rewriter(table), [table.written(text) for text in some]
    expected = ["".join(each.char for each in row) for row in written]
    assert rewriter.apply_batch(some, threads=2) == expected
    aligned = rewriter.align_batch([text.encode() for text in some])
    assert aligned.texts == expected
    assert aligned.offsets.tolist() == [[each.start, each.end] for row in written for each in row]
    for text, new in zip(some[:5], expected, strict=False):
        stream = rewriter.stream()
        for at in range(0, len(text), 7):
            stream.write(text[at : at + 7])
        assert stream.close() == new


def many_strings(draw: random.Random) -> RulesTable:
    """A random stage of many strings."""
    keys = {"".join(draw.choices(("a", "b", "fo", "é", "世", " "), k=draw.randint(1, 5))): draw.choice(("", "ab", "é")) for _ in range(150)}
    return rewrite(keys, direction=draw.choice(DIRECTIONS))
