"""Measure `datasets.map` with `fst.hf`, with a tokenizer that encodes Arrow columns, and with the fast tokenizer of `transformers`.

    python tests/bench/maps.py [FOLDER]

``figures.py`` describes FOLDER. The rows are the lines of English books, in batches of 1,000. Each run is a separate process; its time is
the processor time of the map, which includes writing. The variants take turns.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from rows import BOOKS, FOLDER, UNCASED, documents

from fst.compile import wordpiece

TURNS = 5
ROWS = 50_000
MAPS = {
    "BertTokenizerFast": "tokenizer = transformers.BertTokenizerFast.from_pretrained(vocabulary)",
    "fst.hf": "tokenizer = fst.hf(fst.load(table))",
    "a tokenizer": "tokenizer = fst.load(table)",
    "encode_arrow": """
tokenizer = fst.load(table)
encode = lambda rows: rows.append_column("input_ids", tokenizer.encode_arrow(rows["text"]))
rows = rows.with_format("arrow")
""",
}
BEFORE = """
import sys, time
import datasets, fst, transformers
datasets.disable_caching(); datasets.disable_progress_bars()
vocabulary, table, sample, scratch = sys.argv[1:]
rows = datasets.Dataset.from_parquet(sample, cache_dir=scratch)
encode = lambda rows: tokenizer(rows["text"])
"""
AFTER = """
encode(rows[:10])
begun = time.process_time()
rows.map(encode, batched=True)
print(time.process_time() - begun)
"""


def main() -> None:
    """Print the figures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    vocabulary = folder / UNCASED
    texts = documents(folder / "corpora" / BOOKS)[:ROWS]
    seconds: dict[str, list[float]] = {name: [] for name in MAPS}
    with tempfile.TemporaryDirectory() as scratch:
        table, sample = (str(Path(scratch, name)) for name in ("t.npz", "sample.parquet"))
        wordpiece(vocabulary / "tokenizer.json").save(table)
        pq.write_table(pa.table({"text": texts}), sample)
        for _ in range(TURNS):
            for name, way in MAPS.items():
                words = [sys.executable, "-c", BEFORE + way + AFTER, str(vocabulary), table, sample, scratch]
                output = subprocess.run(words, stdout=subprocess.PIPE, check=True, text=True).stdout
                seconds[name].append(float(output.split()[-1]))
    print("| `datasets.map` with | seconds of processor time | times as fast |\n| --- | ---: | ---: |")
    medians = {name: statistics.median(found) for name, found in seconds.items()}
    for name, median in medians.items():
        print(f"| {name} | {median:.2f} | {medians['BertTokenizerFast'] / median:.1f} |")


if __name__ == "__main__":
    main()
