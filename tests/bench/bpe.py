"""Measure the figures of byte-level BPE in docs/figures.md that ``peers.py`` and ``decoding.py`` do not measure, and print a table.

    python tests/bench/bpe.py [FOLDER]

``figures.py`` describes FOLDER. A time is the median of several runs; a ratio is the median of the ratios of consecutive runs.
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

DOCUMENT = 10**8  # number of characters
Figures = Iterator[tuple[str, str]]


def main() -> None:
    """Print a column of figures for each vocabulary."""
    show(more, GPT2, CL100K, O200K)


def show(own: Callable[[fst.Tokenizer, list[str], Path], Figures], *names: str) -> None:
    """Print a column of figures for each vocabulary, measured on English books; `own` yields figures that only one kind of table has."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    english = documents(folder / "corpora" / BOOKS)
    columns = {name: dict(figures(source(folder / name), english, own)) for name in names}
    print(f"| figure | {' | '.join(Path(name).name for name in columns)} |\n| --- {'| --- ' * len(columns)}|")
    for figure in columns[names[0]]:
        print(f"| {figure} | {' | '.join(column[figure] for column in columns.values())} |")


def figures(vocabulary: Path, english: list[str], own: Callable[[fst.Tokenizer, list[str], Path], Figures]) -> Figures:
    """Yield the figures that every kind of table has, then the figures of `own`."""
    with tempfile.TemporaryDirectory() as scratch:
        table = Path(scratch) / "table.npz"
        yield from built(vocabulary, table)
        tok = fst.Tokenizer.load(table)
        yield from speeds(tok, english)
        yield from own(tok, english, table)


def built(vocabulary: Path, table: Path) -> Figures:
    """Yield the times to compile and to load a table, and the size of the table."""
    compile_table = partial(run, [*FST, "compile", str(vocabulary), "-o", str(table)])
    compile_table()
    yield "compile, whole process, second run", f"{seconds(compile_table, 3):.1f} s"
    yield "file", f"{table.stat().st_size / 1e6:.0f} MB"
    fst.load(table)
    yield "`fst.load`, verified", f"{seconds(lambda: fst.load(table), 15) * 1e3:.0f} ms"


def speeds(tok: fst.Tokenizer, english: list[str]) -> Figures:
    """Yield times, and ratios of times, on one thread."""
    ids = partial(tok.encode_batch, english, threads=1)
    yield "time with offsets against ids alone", f"{ratio(partial(tok.encode_batch, english, offsets=True, threads=1), ids):.2f}"
    yield "`encode` of a sentence", f"{seconds(lambda: [tok.encode(SENTENCE) for _ in range(1000)], 9) * 1e3:.1f} µs"
    whole = len("\n".join(english).encode())
    for name, rows in worst():
        size = len("".join(rows).encode()) / whole
        yield f"{name}, bytes a second against English", f"{size * ratio(ids, partial(tok.encode_batch, rows, threads=1)):.2f}"


def more(tok: fst.Tokenizer, english: list[str], table: Path) -> Figures:
    """The figures that only byte-level BPE has."""
    yield from threads(tok, english)
    cold = {**os.environ, "NUMBA_CACHE_DIR": str(table.with_name("cold"))}
    first = partial(subprocess.run, [sys.executable, "-c", FIRST, str(table)], check=True, capture_output=True, env=cold)
    yield "first ids in a new process, no kernels kept from before", f"{seconds(first, 1):.1f} s"


def threads(tok: fst.Tokenizer, english: list[str]) -> Figures:
    """The speed of two threads relative to one."""
    book = "\n".join(english)
    one_text = [(book * (DOCUMENT // len(book) + 1))[:DOCUMENT]]
    for name, texts in {"rows": english, "one text of 100 MB": one_text}.items():
        one, two = (partial(tok.encode_batch, texts, threads=count) for count in (1, 2))
        yield f"two threads against one, {name}", f"{ratio(one, two):.2f} ×"


def worst() -> Iterator[tuple[str, list[str]]]:
    """Texts that are slow to encode, by name."""
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
