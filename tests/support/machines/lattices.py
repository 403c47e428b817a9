"""Small dictionaries of `jieba` and MeCab, and segmentation by the walk, the slow definition of the kernel."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.naive.search import MecabDictionary
from support.shared_data import SHARED

import fst
from fst.machines.segmentation.mecab import MecabTable

ORACLES = SHARED / "oracles" / "toolkit"
JIEBA = [
    *(("研究", 5), ("研究生", 3), ("生命", 4), ("命", 1), ("生", 0), ("a生", 7)),
    *(("ab", 2), ("1号", 9), ("12", 3), ("C+", 2), ("命命命命", 3)),
]
JIEBA_LETTERS = "研究生命ab1C2+-。 \r\n世𠮷"


def by_units(text: str, start: int, end: int) -> str:
    """The part of a text between two positions in UTF-16 units."""
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")


def walked(table: Any, text: str) -> list[str]:
    """Segment a text by the walk, and return the tokens."""
    nodes = table.walk(text)[:-1] if isinstance(table, MecabTable) else table.walk(text)
    return [by_units(text, node.start, node.end) for node in nodes]


CATEGORIES = ["DEFAULT", "SPACE", "ONE", "TWO"]
Files = dict[str, str]


def dictionary(draw: random.Random, costs: int, *, related: bool = True) -> tuple[MecabDictionary, Files]:
    """A random MeCab dictionary and its files; with `related`, some characters belong to two categories."""
    ids = draw.randint(1, 4)

    def cost() -> int:
        return draw.randint(-costs, costs)

    def entry(name: str) -> tuple[str, int, int, int]:
        return name, draw.randrange(ids), draw.randrange(ids), cost()

    words = [entry("".join(draw.choices("abcdあ😀", k=draw.randint(1, 4)))) for _ in range(draw.randint(1, 12))]
    unknowns = [entry(name) for name in CATEGORIES for _ in range(draw.randint(1, 2))]
    matrix = [[cost() for _ in range(ids)] for _ in range(ids)]
    categories = {name: (draw.random() < 0.4, draw.random() < 0.5, draw.randint(0, 3)) for name in CATEGORIES}
    shown: dict[str, tuple[str, ...]] = {"a": ("ONE",), "b": ("ONE",), "c": ("TWO",), "あ": ("TWO",), " ": ("SPACE",)}
    if related:
        shown |= {"b": ("ONE", "TWO"), "あ": ("TWO", "DEFAULT")}
    most = draw.choice([1, 2, 24])
    files = {
        "lex.csv": "".join(f"{','.join(map(str, word))},word {number}\n" for number, word in enumerate(words)),
        "unk.def": "".join(f"{','.join(map(str, unknown))},unknown {number}\n" for number, unknown in enumerate(unknowns)),
        "matrix.def": f"{ids} {ids}\n" + "".join(f"{right} {left} {matrix[right][left]}\n" for right in range(ids) for left in range(ids)),
        "char.def": "".join(f"{name} {invoke:d} {group:d} {length}\n" for name, (invoke, group, length) in categories.items())
        + "".join(f"0x{ord(char):04X} {' '.join(names)} # of tests\n" for char, names in shown.items()),
        "dicrc": "cost-factor = 800\nbos-feature = BOS/EOS\n",
    }
    return MecabDictionary(words, unknowns, matrix, categories, shown, most), files


def written(folder: Path, files: Files) -> Path:
    """Write files to a folder, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_text(content, encoding="utf-8")
    return folder


def refused(table: Any, member: str, place: Any, value: Any, message: str) -> None:
    """Damage a table, and check that it is refused."""
    array = getattr(table, member).copy()
    array[place] = value
    with pytest.raises(fst.TableError, match=message):
        replace(table, **{member: array}).prove()
