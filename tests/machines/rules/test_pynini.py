"""Transducers inside texts give the texts of pynini's `cdrewrite`, which runs in a process of its own."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import fst
from fst.compile import rewrite
from fst.compile.algebra.machine import Fst

pytestmark = [pytest.mark.slow, pytest.mark.skipif(find_spec("pynini") is None, reason="pynini is not installed: nothing to compare with")]
DIRECTIONS = {"simultaneous": "sim", "ltr": "ltr", "rtl": "rtl"}
LEFTS: tuple[list[str], ...] = ([], ["a"], ["b", "xa"], ["^"], ["^", "a"], ["aa", "b"])
RIGHTS: tuple[list[str], ...] = ([], ["b"], ["c", "ab"], ["$"], ["$", "a"], ["cc"])
TEXTS = ["".join(letters) for size in range(6) for letters in product("abc", repeat=size)]
SCRIPT = """
import json, sys, pynini
sigma = pynini.closure(pynini.union(*"abcx")).optimize()
def context(strings):
    return pynini.union(*({"^": "[BOS]", "$": "[EOS]"}.get(string, string) for string in strings)) if strings else ""
found = []
for case in json.load(sys.stdin):
    machine = pynini.Fst.read(case["path"])
    try:
        rule = pynini.cdrewrite(machine, context(case["left"]), context(case["right"]), sigma, direction=case["direction"])
    except pynini.FstOpError:  # some machines with cycles are refused, with "phi must be a unweighted acceptor"
        found.append(None)
        continue
    found.append([sorted({*(text @ rule).paths().ostrings()}) for text in case["texts"]])
print(json.dumps(found))
"""


def machines(draw: random.Random) -> Fst:
    """A random functional transducer that accepts no empty text."""
    while True:
        states = draw.randint(2, 4)
        arcs = [
            (draw.randrange(states), draw.randrange(states), draw.choice("aabbc"), draw.choice(["a", "b", "x", "", "c"]))
            for _ in range(draw.randint(2, 6))
        ]
        machine = Fst.from_arcs(arcs, final=[draw.randrange(1, states)], unit="utf-8").connect()
        if machine.states and not machine.find_ambiguity():
            return machine


def test_texts_of_cdrewrite(tmp_path: Path) -> None:
    """The text is the text that `cdrewrite` gives, or one of several if a match has several ends."""
    cases, found, draw = list[dict[str, Any]](), list[list[str]](), random.Random(0)
    for number in range(120):
        machine, left, right = machines(draw), draw.choice(LEFTS), draw.choice(RIGHTS)
        direction, texts = draw.choice([*DIRECTIONS]), ["".join(text) for text in draw.sample(TEXTS, 40)]
        machine.write_openfst(tmp_path / f"{number}.fst")
        case = {"path": f"{tmp_path}/{number}.fst", "left": left, "right": right, "direction": DIRECTIONS[direction], "texts": texts}
        cases.append(case)
        table = rewrite(machine, left="|".join(left), right="|".join(right), direction=direction)
        found.append(fst.Rewriter(table).apply_batch(texts))
    result = subprocess.run([sys.executable, "-c", SCRIPT], input=json.dumps(cases), check=True, stdout=subprocess.PIPE, text=True).stdout
    single = 0
    for case, texts, expected in zip(cases, found, json.loads(result), strict=True):
        for text, own, others in zip(case["texts"], texts, expected, strict=True) if expected else ():
            assert own in others, (case, text)
            single += len(others) == 1
    assert single > 3000
