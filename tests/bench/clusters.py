"""Measure how many rows a second one and two actors of Ray Data encode with ``examples/ray_data.py``.

    python tests/bench/clusters.py [FOLDER]

FOLDER is as in ``figures.py``. The text is English books, a line a row, in Parquet files of 20 MB of text that lie in the disk's cache; the
vocabulary is bert-base-uncased. An actor reads a file, encodes it, and hands over the rows with their ids, which are dropped, so that it is
actors that are counted, and not what writes. Its time begins with its first block: Ray takes some seconds to start. Ratios are those of
neighbouring runs, the median of all; what machine and neighbours make of them is in ``LOG.md``.
"""

from __future__ import annotations

import logging
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from rows import BOOKS, FOLDER, UNCASED, documents

from fst.compile import wordpiece

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
BLOCKS = 60
TURNS = 2


def main() -> None:
    """Print the table."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    sys.path.insert(0, str(EXAMPLES))
    os.environ.update(PYTHONPATH=str(EXAMPLES), RAY_USAGE_STATS_ENABLED="0", RAY_DATA_DISABLE_PROGRESS_BARS="1")
    os.environ["RAY_DATA_PARQUET_BIN_PACKING_BYTES"] = "1"  # a file is a block
    import ray

    with tempfile.TemporaryDirectory() as scratch:
        table, corpus = Path(scratch, "table.npz"), Path(scratch, "corpus")
        wordpiece(folder / "vocab" / UNCASED / "tokenizer.json").save(table)
        rows = written(corpus, documents(folder / "corpora" / BOOKS))
        ray.init(num_cpus=3, include_dashboard=False, object_store_memory=1 << 30, log_to_driver=False, logging_level=logging.ERROR)
        try:
            print("| rows a second of one actor | of two | ratio | MB/s of text, one | two |\n| --- | --- | --- | --- | --- |", flush=True)
            ratios = []
            for _ in range(TURNS):
                one, two = (rate(ray, corpus, table, Path(tempfile.mkdtemp(dir=scratch)), actors) for actors in (1, 2))
                ratios.append(two / one)
                size = text_bytes(corpus) / rows / 1e6
                print(f"| {one:,.0f} | {two:,.0f} | {two / one:.2f} | {one * size:.0f} | {two * size:.0f} |", flush=True)
            print(f"\nmedian ratio {statistics.median(ratios):.2f}")
        finally:
            ray.shutdown()


def written(folder: Path, texts: list[str]) -> int:
    """Write a folder with one file under many names; the rows of that file."""
    folder.mkdir()
    pq.write_table(pa.table({"text": texts}), folder / "0.parquet")
    for number in range(1, BLOCKS):
        os.link(folder / "0.parquet", folder / f"{number}.parquet")
    return len(texts)


def text_bytes(folder: Path) -> int:
    """Bytes of text in a file."""
    column = pq.read_table(folder / "0.parquet")["text"]
    return sum(len(text.as_buffer()) for text in column)


def rate(ray: Any, corpus: Path, table: Path, notes: Path, actors: int) -> float:
    """Rows a second of all actors together, each from the beginning of its first block to that of its last."""
    from ray_data import encoded

    def noted(block: pa.Table) -> pa.Table:
        with (notes / str(os.getpid())).open("a") as file:
            file.write(f"{time.time()} {len(block)}\n")
        return block

    texts = ray.data.read_parquet(str(corpus)).map_batches(noted, batch_format="pyarrow", batch_size=None)
    for _ in encoded(texts, str(table), "text", actors).iter_internal_ref_bundles():
        pass
    found = [[line.split() for line in file.read_text().splitlines()] for file in notes.iterdir()]
    assert len(found) == actors
    return sum(sum(int(rows) for _, rows in own[:-1]) / (float(own[-1][0]) - float(own[0][0])) for own in found)


if __name__ == "__main__":
    main()
