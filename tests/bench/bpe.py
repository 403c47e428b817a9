"""Measure what docs/figures.md states of byte-level BPE, beside what ``peers.py`` and ``decoding.py`` measure, and print it as a table.

    python tests/bench/bpe.py [FOLDER]

FOLDER is as in ``figures.py``. A time is the median of several runs, and a ratio that of those of neighbouring runs.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from features import ratio
from figures import FST, run, seconds
from limits import FIRST, SENTENCE
from rows import BOOKS, CL100K, FOLDER, GPT2, O200K, documents, random_texts
from worker import source

import fst

DOCUMENT = 10**8  # characters


def main() -> None:
    """Print a column of figures for each vocabulary."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    english = documents(folder / "corpora" / BOOKS)
    columns = {name: dict(figures(source(folder / name), english)) for name in (GPT2, CL100K, O200K)}
    print(f"| figure | {' | '.join(Path(name).name for name in columns)} |\n| --- {'| --- ' * len(columns)}|")
    for figure in columns[GPT2]:
        print(f"| {figure} | {' | '.join(column[figure] for column in columns.values())} |")


def figures(vocabulary: Path, english: list[str]) -> Iterator[tuple[str, str]]:
    """All figures of a vocabulary."""
    with tempfile.TemporaryDirectory() as scratch:
        table = Path(scratch) / "table.npz"
        compile_table = partial(run, [*FST, "compile", str(vocabulary), "-o", str(table)])
        compile_table()
        yield "compile, whole process, second run", f"{seconds(compile_table, 3):.1f} s"
        yield "file", f"{table.stat().st_size / 1e6:.0f} MB"
        tok = fst.load(table)
        yield "`fst.load`, verified", f"{seconds(lambda: fst.load(table), 15) * 1e3:.0f} ms"
        yield from speeds(tok, english)
        cold = {**os.environ, "NUMBA_CACHE_DIR": str(Path(scratch) / "cold")}
        first = partial(subprocess.run, [sys.executable, "-c", FIRST, str(table)], check=True, capture_output=True, env=cold)
        yield "first ids in a new process, no kernels kept from before", f"{seconds(first, 1):.1f} s"


def speeds(tok: fst.Tokenizer, english: list[str]) -> Iterator[tuple[str, str]]:
    """Times and ratios of times."""
    book = "\n".join(english)
    one_text = [(book * (DOCUMENT // len(book) + 1))[:DOCUMENT]]
    ids = partial(tok.encode_batch, english, threads=1)
    yield "time with offsets against ids alone", f"{ratio(partial(tok.encode_batch, english, offsets=True, threads=1), ids):.2f}"
    yield "`encode` of a sentence", f"{seconds(lambda: [tok.encode(SENTENCE) for _ in range(1000)], 9) * 1e3:.1f} µs"
    yield "two threads against one, rows", f"{ratio(ids, partial(tok.encode_batch, english, threads=2)):.2f} ×"
    one, two = (partial(tok.encode_batch, one_text, threads=threads) for threads in (1, 2))
    yield "two threads against one, one text of 100 MB", f"{ratio(one, two):.2f} ×"
    for name, rows in worst():
        size = len("".join(rows).encode()) / len(book.encode())
        yield f"{name}, bytes a second against English", f"{size * ratio(ids, partial(tok.encode_batch, rows, threads=1)):.2f}"


def worst() -> Iterator[tuple[str, list[str]]]:
    """Texts made to be slow."""
    draw = random.Random(5)
    words: dict[str, Callable[[], str]] = {
        "words of 99 letters": lambda: "".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=99)),
        "words of 5,000 letters": lambda: "".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=5_000)),
        "digits and signs": lambda: "".join(draw.choices("0123456789+-*/()[]", k=20)),
        "characters of four bytes": lambda: "".join(chr(draw.randint(0x10400, 0x1044F)) for _ in range(20)),
        "one letter": lambda: "a" * 200,
    }
    yield "random letters", random_texts()
    for name, word in words.items():
        yield name, [" ".join(word() for _ in range(20)) for _ in range(200)]


if __name__ == "__main__":
    main()
