"""Measure compilation, loading, memory and speed for two real vocabularies, and print the table in docs/figures.md.

    python tests/bench/figures.py [FOLDER]

FOLDER contains ``vocab/NAME/tokenizer.json`` and ``corpora/`` (default: ``../shared/data`` next to this repository). Each figure is the
median of several runs. In a comparison, the ids of both libraries are compared first; then the libraries take turns in one process, each
with one thread.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["TOKENIZERS_PARALLELISM"] = "false"  # set before the import of `tokenizers`, which reads it once

from rows import BOOKS, CASED, FOLDER, SENTENCES, UNCASED, documents
from tokenizers import Tokenizer

import fst

JOBS = {UNCASED: BOOKS, CASED: SENTENCES}
FST = [str(Path(sys.executable).with_name("fst"))]


def main() -> None:
    """Print a column of figures for each vocabulary."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    columns = {name: figures(folder, name, corpus) for name, corpus in JOBS.items()}
    names = list(columns)
    print(f"| figure | {' | '.join(names)} |")
    print("| --- " * (len(names) + 1) + "|")
    for figure in columns[names[0]]:
        print(f"| {figure} | {' | '.join(columns[name][figure] for name in names)} |")


def figures(folder: Path, name: str, corpus: str) -> dict[str, str]:
    """All figures of one vocabulary."""
    source = folder / "vocab" / name / "tokenizer.json"
    texts = documents(folder / "corpora" / corpus)
    with tempfile.TemporaryDirectory() as scratch:
        table, small = Path(scratch) / "table.npz", Path(scratch) / "small.txt"
        small.write_text("A small file.\n")
        compile_command = [*FST, "compile", str(source), "-o", str(table)]
        subprocess.run(compile_command, check=True, capture_output=True)
        encode_command = [*FST, "encode", str(table), str(small)]
        subprocess.run(encode_command, check=True, capture_output=True)
        tok = fst.Tokenizer.load(table)
        fst.load(table)
        found = {
            "compile, whole process, second run": f"{seconds(lambda: run(compile_command), 5):.2f} s",
            "file": f"{table.stat().st_size / 1e6:.1f} MB",
            "`fst.load`, verified": f"{seconds(lambda: fst.load(table), 15) * 1e3:.1f} ms",
            "`fst encode` of a small file, process start to end": f"{seconds(lambda: run(encode_command), 7):.2f} s",
        }
        return found | comparison(tok, source, texts)


def comparison(tok: fst.Tokenizer, source: Path, texts: list[str]) -> dict[str, str]:
    """The number of texts whose ids differ from `tokenizers`, and the speeds of both libraries."""
    reference = Tokenizer.from_file(str(source))
    reference.no_truncation()
    reference.no_padding()
    size = sum(len(text.encode()) for text in texts) / 1e6
    ours = tok.encode_batch(texts, threads=1)
    differences = sum(encoding.ids != row.tolist() for encoding, row in zip(reference.encode_batch_fast(texts), ours, strict=True))
    theirs, own = [], []
    for _ in range(3):
        theirs.append(seconds(lambda: reference.encode_batch_fast(texts), 1))
        own.append(seconds(lambda: tok.encode_batch(texts, threads=1), 5))
    slow, fast = statistics.median(theirs), statistics.median(own)
    return {
        "differences from the reference": f"{differences} of {len(texts)} texts",
        "tokenizers `encode_batch_fast`, one thread": f"{size / slow:.1f} MB/s",
        "`encode_batch`, one thread": f"{size / fast:.0f} MB/s",
        "ratio": f"{slow / fast:.1f} ×",
    }


def run(command: list[str]) -> None:
    """Run a process, and fail if it fails."""
    subprocess.run(command, check=True, capture_output=True)


def seconds(action: Callable[[], Any], runs: int) -> float:
    """The median time of `runs` runs."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


if __name__ == "__main__":
    main()
