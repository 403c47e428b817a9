"""Measure Ray: the rows per second that one and two actors encode with ``examples/ray_data.py``, and the MB per second that tasks count.

    python tests/bench/clusters.py [FOLDER]

``figures.py`` describes FOLDER. The texts are the lines of English books, in Parquet files of 20 MB of text that are in the disk cache; the
vocabulary is bert-base-uncased. An actor reads a file, encodes it, and returns the rows with their ids. The rows are then dropped, so the
figures exclude writing. The time begins with the first block, because Ray takes some seconds to start actors.

Runs with one and with two actors take turns; the ratio is the median over consecutive runs. The table contains rows per second of clock
time and rows per second of processor time. The two rates agree if each actor has a core; on a machine with other work, use processor time.

The second table contains MB of text per second of clock time: `fst.cluster.tasks.count_words`, with two tasks of 100 MB at a time and with
the merge; and `fst.train.words` with two threads. The splitter is GPT-2's. Runs take turns, after a first run that starts the processes.
"""

from __future__ import annotations

import logging
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rows import BOOKS, FOLDER, UNCASED, documents

from fst.compile import wordpiece

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
BLOCKS = 40
TURNS = 3
OF_PART = 5  # files that a task counts


def main() -> None:
    """Print the table."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    sys.path.insert(0, str(EXAMPLES))
    os.environ.update(PYTHONPATH=str(EXAMPLES), RAY_USAGE_STATS_ENABLED="0", RAY_DATA_DISABLE_PROGRESS_BARS="1")
    os.environ["RAY_DATA_PARQUET_BIN_PACKING_BYTES"] = "1"  # so that each file is one block
    import ray

    with tempfile.TemporaryDirectory() as scratch:
        table, corpus = Path(scratch, "table.npz"), Path(scratch, "corpus")
        wordpiece(folder / "vocab" / UNCASED / "tokenizer.json").save(table)
        written(corpus, documents(folder / "corpora" / BOOKS))
        counted = counting(ray, sorted(corpus.iterdir()), Path(scratch))
        ray.init(num_cpus=3, include_dashboard=False, object_store_memory=1 << 30, log_to_driver=False, logging_level=logging.ERROR)
        try:
            runs = []
            for _ in range(TURNS):
                runs.append([rates(ray, corpus, table, Path(tempfile.mkdtemp(dir=scratch)), actors) for actors in (1, 2)])
                print(runs[-1], file=sys.stderr, flush=True)
        finally:
            ray.shutdown()
    print("| | rows a second of one actor | of two | ratio |\n| --- | ---: | ---: | ---: |")
    for kind, what in enumerate(("by the clock", "by processor time")):
        one, two = (statistics.median(run[actors][kind] for run in runs) for actors in (0, 1))
        ratio = statistics.median(run[1][kind] / run[0][kind] for run in runs)
        print(f"| {what} | {one:,.0f} | {two:,.0f} | {ratio:.2f} |")
    print(f"\n| | MB a second |\n| --- | ---: |\n| two tasks of Ray | {counted[0]:.0f} |\n| two threads | {counted[1]:.0f} |")


def counting(ray: Any, files: list[Path], folder: Path) -> list[float]:
    """The MB of text per second that two tasks of Ray at a time count, and that two threads count; medians."""
    from fst import train
    from fst.cluster.ray import ray_map
    from fst.cluster.tasks import count_words

    def by_ray() -> None:
        count_words(parts, folder, folder / "words.parquet", run=ray_map, column="text", splitter="gpt2")

    def by_threads() -> None:
        train.words(files, column="text", splitter="gpt2", threads=2).save(folder / "words.parquet")

    parts = [files[begin : begin + OF_PART] for begin in range(0, len(files), OF_PART)]
    size = len(files) * sum(len(text.as_py()) for text in pq.read_table(files[0])["text"]) / 1e6
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=100 << 20, log_to_driver=False, logging_level=logging.ERROR)
    try:
        by_ray()
        by_threads()
        runs = [[size / taken(run) for run in (by_ray, by_threads)] for _ in range(TURNS)]
    finally:
        ray.shutdown()
    print(runs, file=sys.stderr, flush=True)
    return [statistics.median(run[way] for run in runs) for way in (0, 1)]


def taken(run: Callable[[], None]) -> float:
    """The clock time of a call in seconds."""
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


def written(folder: Path, texts: list[str]) -> None:
    """Write a folder that contains one file under several names."""
    folder.mkdir()
    pq.write_table(pa.table({"text": texts}), folder / "0.parquet")
    for number in range(1, BLOCKS):
        os.link(folder / "0.parquet", folder / f"{number}.parquet")


def rates(ray: Any, corpus: Path, table: Path, notes: Path, actors: int) -> list[float]:
    """Run the example; return the rows per second of all actors together, by the clock and by processor time.

    The time of an actor begins with its first block and ends with its last.
    """
    from ray_data import encoded

    def noted(block: pa.Table) -> pa.Table:
        with (notes / str(os.getpid())).open("a") as file:
            file.write(f"{len(block)} {time.monotonic()} {time.process_time()}\n")
        return block

    texts = ray.data.read_parquet(str(corpus)).map_batches(noted, batch_format="pyarrow", batch_size=None)
    for _ in encoded(texts, str(table), "text", actors).iter_internal_ref_bundles():
        pass
    found = [np.loadtxt(file) for file in notes.iterdir()]
    assert len(found) == actors
    return list(map(float, sum(own[:-1, 0].sum() / (own[-1, 1:] - own[0, 1:]) for own in found)))


if __name__ == "__main__":
    main()
