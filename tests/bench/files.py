"""Measure the encoding of files, including reading and writing: by `fst encode` from Parquet to Parquet, and by `datasets.map` with the
fast tokenizer of `transformers`.

    python tests/bench/files.py [FOLDER]

``figures.py`` describes FOLDER. The input is 25 copies of the lines of English books: 500 MB of text in row groups of 100,000, compressed
with snappy. Each run is a separate process, timed from start to end. The memory of a run is the maximum during the run, minus the maximum
during a run on a file of one row. `datasets.map` gets a sample of the rows, in batches of 1,000 with one process; its time includes only
the map. All variants take turns. The table also contains the processor time, which hardly changes when the machine has other work. JSON
lines and `.npy` are compared by processor time, both with 500,000 short lines of the same books.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from rows import BOOKS, FOLDER, UNCASED, documents

from fst.compile import wordpiece

TIMES = 25
SAMPLE = 20_000  # number of rows
TURNS = 3
SHORT_LINES, WORDS = 500_000, 7
THREADS = "2"

FST = """
import re, sys
from pathlib import Path
from fst.cli.main import main
try:
    main()
finally:
    print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""
MAP = """
import sys, time
import datasets
from transformers import BertTokenizerFast
datasets.disable_caching(); datasets.disable_progress_bars()
tokenizer = BertTokenizerFast.from_pretrained(sys.argv[1])
rows = datasets.Dataset.from_parquet(sys.argv[2], cache_dir=sys.argv[3])
begun = time.perf_counter()
rows.map(lambda batch: {"input_ids": tokenizer(batch["text"])["input_ids"]}, batched=True, remove_columns=["text"])
print(time.perf_counter() - begun)
"""


def main() -> None:
    """Print the figures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    texts = documents(folder / "corpora" / BOOKS)
    size = sum(len(text.encode()) for text in texts)
    with tempfile.TemporaryDirectory() as scratch:
        table, small, big, sample = (str(Path(scratch, name)) for name in ("t.npz", "small.parquet", "big.parquet", "sample.parquet"))
        wordpiece(folder / UNCASED / "tokenizer.json").save(table)
        write(texts[:1], 1, small)
        write(texts, TIMES, big)
        write(texts[:SAMPLE], 1, sample)
        sampled = sum(len(text.encode()) for text in texts[:SAMPLE])
        short = str(Path(scratch, "short.txt"))
        Path(short).write_text("".join(f"{line}\n" for line in islice(short_lines(texts), SHORT_LINES)), encoding="utf-8")
        for source in (small, short):
            encoded(table, source, scratch)  # compiles kernels
        seconds, worked, ratios, beyond, slower = [], [], [], [], []
        for _ in range(TURNS):
            taken, processor, memory = encoded(table, big, scratch)
            words = [sys.executable, "-c", MAP, str(folder / UNCASED), sample, scratch]
            mapped = sampled / float(run(words).split()[-1])
            seconds.append(taken)
            worked.append(processor)
            ratios.append(size * TIMES / taken / mapped)
            beyond.append(memory - encoded(table, small, scratch)[2])
            slower.append(encoded(table, short, scratch, "jsonl")[1] / encoded(table, short, scratch, "npy")[1])
    megabytes = size * TIMES / 1e6
    print("| figure | |\n| --- | --- |")
    show(f"Parquet to Parquet, {megabytes:,.0f} MB of text, {THREADS} threads, MB/s", megabytes / statistics.median(seconds))
    show(f"the same, best of {TURNS} runs", megabytes / min(seconds))
    show("MB of text for each second that a core works", megabytes / statistics.median(worked))
    show("times as fast as `datasets.map` with BertTokenizerFast", statistics.median(ratios))
    show("memory beyond interpreter and libraries, at most, in MB", max(beyond) / 1e3)
    print(f"| JSON lines of {SHORT_LINES:,} short lines, times the processor time of `.npy` | {statistics.median(slower):.2f} |")


def show(figure: str, value: float) -> None:
    """Print a line of the table."""
    print(f"| {figure} | {value:,.0f} |")


def write(texts: list[str], times: int, path: str) -> None:
    """Write texts as Parquet."""
    rows = pa.table({"number": range(len(texts)), "text": texts})
    with pq.ParquetWriter(path, rows.schema, compression="snappy") as writer:
        for _ in range(times):
            writer.write_table(rows, 100_000)


def short_lines(texts: list[str]) -> Iterator[str]:
    """The words of texts, in lines of a few words each."""
    for text in texts:
        words = text.split()
        yield from (" ".join(words[first : first + WORDS]) for first in range(0, len(words), WORDS))


def encoded(table: str, source: str, folder: str, ending: str = "parquet") -> tuple[float, float, int]:
    """Encode a file; return the seconds by the clock and by the processor, and the maximum memory in kilobytes."""
    column = ["--column", "text"] if source.endswith(".parquet") else []
    words = ["encode", table, source, *column, "-o", f"{folder}/out.{ending}", "--threads", THREADS]
    begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    output = run([sys.executable, "-c", FST, *words])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    worked = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - begun, worked, int(output)


def run(words: list[str]) -> str:
    """Run a process, and return its output."""
    return subprocess.run(words, stdout=subprocess.PIPE, check=True, text=True).stdout


if __name__ == "__main__":
    main()
