"""Spellers of a lexicon and an error model.

`SMALL` was compiled by HFST 3.16 from AT&T text; `ANSWERS` has a line for each word: the word; 1 if it is right, else 0; and up to six
suggestions of hfst-ospell 0.5.3 with their weights, those of equal weight in the order of code points.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np

from fst.compile.machines.speller.zhfst.archive import Archive
from fst.compile.machines.speller.zhfst.compiler import table_of
from fst.compile.sources.transducers.hfstol import Numbered
from fst.machines.speller.zhfst.table import ZhfstTable

FOLDER = Path(__file__).with_name("zhfst")
SMALL, ANSWERS = FOLDER / "small.zhfst", FOLDER / "answers.tsv"
WEIGHTS = (0, 0, 0.5, 1, 1.1, 2)
LEXICON = ("", "a", "b", "ab", "c", "@_IDENTITY_SYMBOL_@", "@P.F.X@", "@P.F.Y@", "@D.F.X@", "@R.F@", "@U.F.X@", "@C.F@")
ERRORS = ("", "a", "b", "ab", "@_UNKNOWN_SYMBOL_@", "@_IDENTITY_SYMBOL_@", "x")


def drawn_machine(draw: random.Random, names: tuple[str, ...], arcs: int) -> Numbered:
    """A random machine over some symbols. Every cycle of arcs has a weight, so that searches end."""
    states = draw.randint(2, 5)
    sources, targets = ([draw.randrange(states) for _ in range(arcs)] for _ in range(2))
    reads, writes = ([draw.randrange(len(names)) for _ in range(arcs)] for _ in range(2))
    weights = [max(draw.choice(WEIGHTS), 0.5 * (target <= source)) for source, target in zip(sources, targets, strict=True)]
    finals = [draw.choice((0, 0.5, np.inf)) for _ in range(states - 1)] + [0]
    return Numbered(
        names,
        len(names),
        np.array(sources),
        np.array(reads, np.uint16),
        np.array(writes, np.uint16),
        np.array(targets),
        np.array(weights, np.float32),
        np.array(finals, np.float32),
    )


def drawn_speller(draw: random.Random) -> ZhfstTable:
    """A random speller."""
    return table_of(Archive(drawn_machine(draw, LEXICON, draw.randint(6, 14)), drawn_machine(draw, ERRORS, draw.randint(5, 12)), {}))


def looped_speller() -> Any:
    """A speller with endless suggestions: "", "a", "aa" and so on."""
    return table_of(Archive(_loop(0), _loop(1), {}))


def _loop(weight: float) -> Numbered:
    """A machine that inserts "a" any number of times."""
    state, symbol = np.zeros(1, np.int64), np.ones(1, np.uint16)
    read = symbol if weight == 0 else np.zeros(1, np.uint16)
    return Numbered(("", "a"), 2, state, read, symbol, state, np.full(1, weight, np.float32), np.zeros(1, np.float32))
