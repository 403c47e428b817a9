"""Measure `fst encode` to the formats of training programs relative to the format npy, by processor time, in one process, in turns.

    python tests/bench/shards.py [FOLDER]

``figures.py`` describes FOLDER. The inputs are lines of English books as Parquet, and the same words in 500,000 lines of seven words each.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from files import SHORT_LINES, short_lines, write
from rows import BOOKS, FOLDER, UNCASED, documents

from fst.cli.main import main as run
from fst.compile import wordpiece
from fst.runtime.files.shards.formats import FORMATS

TURNS = 5


def main() -> None:
    """Print the figures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    texts = documents(folder / "corpora" / BOOKS)
    with tempfile.TemporaryDirectory() as scratch:
        table, books, short = f"{scratch}/t.npz", f"{scratch}/books.parquet", f"{scratch}/short.parquet"
        wordpiece(folder / UNCASED / "tokenizer.json").save(table)
        write(texts, 1, books)
        write(list(islice(short_lines(texts), SHORT_LINES)), 1, short)
        print("| format, speed relative to npy | books | lines of seven words |\n| --- | --- | --- |")
        found = {form: [f"{ratio:.2f}" for ratio in ratios(table, form, [books, short], scratch)] for form in FORMATS}
        print("\n".join(f"| {form} | {' | '.join(figures)} |" for form, figures in found.items()))


def ratios(table: str, form: str, sources: list[str], scratch: str) -> list[float]:
    """The median speed of a format relative to npy, for each source."""
    found = []
    for source in sources:
        encoded(table, source, form, scratch)
        found.append(
            statistics.median(encoded(table, source, "npy", scratch) / encoded(table, source, form, scratch) for _ in range(TURNS))
        )
    return found


def encoded(table: str, source: str, form: str, scratch: str) -> float:
    """The seconds of processor time to encode a file into a folder."""
    begun = time.process_time()
    words = ["encode", table, source, "--column", "text", "--format", form, "-o", f"{scratch}/{form}/", "--overwrite", "--threads", "1"]
    run(words, standalone_mode=False)
    return time.process_time() - begun


if __name__ == "__main__":
    main()
